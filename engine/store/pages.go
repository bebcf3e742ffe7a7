package store

import (
	"context"
	"encoding/json"
	"fmt"
)

// pageSources are pages and the documents that they cover: those with a
// section of that title, and those that such a section points to.
const pageSources = `
	SELECT page, document FROM sections
	UNION
	SELECT s.page, n.document FROM sections s JOIN ` + resolved + ` WHERE r.section = s.section`

// PageMatch is a page that has some of the terms asked for.
type PageMatch struct {
	Page   int64 // for [Store.PageSources]; means nothing in another store
	Title  string
	Tokens int            // terms of its sections, with repetitions
	Times  map[string]int // how often it has each term
}

// PageTotals are what BM25 needs to know of all pages.
type PageTotals struct {
	Pages  int
	Tokens int
}

// MatchPages returns the pages that have any of the terms, by title.
func (s *Store) MatchPages(ctx context.Context, terms []string) ([]PageMatch, PageTotals, error) {
	fail := func(err error) ([]PageMatch, PageTotals, error) {
		return nil, PageTotals{}, fmt.Errorf("store %s: match pages: %w", s.path, err)
	}
	var totals PageTotals
	err := s.read.QueryRowContext(ctx, `
		SELECT (SELECT count(*) FROM pages), (SELECT coalesce(sum(tokens), 0) FROM sections)`).Scan(&totals.Pages, &totals.Tokens)
	if err != nil {
		return fail(err)
	}
	list, err := json.Marshal(terms)
	if err != nil {
		return fail(err)
	}
	rows, err := s.read.QueryContext(ctx, `
		SELECT p.page, p.title, (SELECT sum(tokens) FROM sections WHERE page = p.page), t.term, sum(t.times)
		FROM section_terms t JOIN sections s USING (section) JOIN pages p USING (page)
		WHERE t.term IN (SELECT value FROM json_each(?))
		GROUP BY p.title, t.term ORDER BY p.title, t.term`, string(list))
	if err != nil {
		return fail(err)
	}
	defer rows.Close()
	var out []PageMatch
	for rows.Next() {
		m := PageMatch{Times: map[string]int{}}
		var term string
		var times int
		if err := rows.Scan(&m.Page, &m.Title, &m.Tokens, &term, &times); err != nil {
			return fail(err)
		}
		if len(out) == 0 || out[len(out)-1].Page != m.Page {
			out = append(out, m)
		}
		out[len(out)-1].Times[term] = times
	}
	if err := rows.Err(); err != nil {
		return fail(err)
	}
	return out, totals, nil
}

// PageSource is a document that a page covers.
type PageSource struct {
	Document string
	Start    int // byte offset of its first section on the page; -1 if a section only points to it
}

// PageSources returns the documents that a page covers: those with a section
// of its title before those that are only pointed to, then by id.
func (s *Store) PageSources(ctx context.Context, page int64) ([]PageSource, error) {
	rows, err := s.read.QueryContext(ctx, `
		SELECT d.id, min(s.start_byte), 0 FROM sections s JOIN documents d USING (document) WHERE s.page = ?1 GROUP BY d.id
		UNION
		SELECT DISTINCT d.id, -1, 1 FROM sections s JOIN `+resolved+` JOIN documents d ON d.document = n.document
		WHERE s.page = ?1 AND r.section = s.section AND NOT EXISTS (SELECT 1 FROM sections t WHERE t.page = ?1 AND t.document = d.document)
		ORDER BY 3, 1`, page)
	if err != nil {
		return nil, fmt.Errorf("store %s: read the sources of a page: %w", s.path, err)
	}
	defer rows.Close()
	var out []PageSource
	for rows.Next() {
		var p PageSource
		var pointed bool
		if err := rows.Scan(&p.Document, &p.Start, &pointed); err != nil {
			return nil, fmt.Errorf("store %s: read the sources of a page: %w", s.path, err)
		}
		out = append(out, p)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("store %s: read the sources of a page: %w", s.path, err)
	}
	return out, nil
}

func (s *Store) enumeratePageSources(ctx context.Context) (int, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT page FROM pages`)
	if err != nil {
		return 0, fmt.Errorf("store %s: enumerate pages: %w", s.path, err)
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		var page int64
		if err := rows.Scan(&page); err != nil {
			return 0, fmt.Errorf("store %s: enumerate pages: %w", s.path, err)
		}
		sources, err := s.PageSources(ctx, page)
		if err != nil {
			return 0, err
		}
		n += len(sources)
	}
	if err := rows.Err(); err != nil {
		return 0, fmt.Errorf("store %s: enumerate pages: %w", s.path, err)
	}
	return n, nil
}
