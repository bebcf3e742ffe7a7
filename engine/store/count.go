package store

import (
	"context"
	"fmt"

	"github.com/touchstone-eval/touchstone/engine/embed"
)

// Table is a kind of row that can be counted.
type Table string

// The tables that a search depends on.
const (
	Documents   Table = "documents"
	Chunks      Table = "chunks"
	EventDates  Table = "event_dates"
	Entities    Table = "entities"     // that some document mentions
	Links       Table = "links"        // see [Link]
	Pages       Table = "pages"        // that have a section
	PageSources Table = "page_sources" // pairs of a page and a document that it covers
	Episodes    Table = "episodes"     // of at least two documents
)

// Count asks SQLite for the number of rows.
func (s *Store) Count(ctx context.Context, t Table) (int, error) {
	query, ok := map[Table]string{
		Documents:   `SELECT count(*) FROM documents`,
		Chunks:      `SELECT count(*) FROM chunks JOIN documents USING (document)`,
		EventDates:  `SELECT count(*) FROM event_dates JOIN documents USING (document)`,
		Entities:    `SELECT count(*) FROM entities`,
		Links:       countLinks,
		Pages:       `SELECT count(*) FROM pages`,
		PageSources: `SELECT count(*) FROM (` + pageSources + `)`,
		Episodes:    countEpisodes,
	}[t]
	if !ok {
		return 0, fmt.Errorf("store %s: count %q: no such table", s.path, t)
	}
	return s.count(ctx, string(t), query)
}

// Enumerate walks over the rows and counts them, the way a search gets at
// them.
func (s *Store) Enumerate(ctx context.Context, t Table) (int, error) {
	switch t {
	case Links:
		return s.enumerateLinks(ctx)
	case PageSources:
		return s.enumeratePageSources(ctx)
	case Episodes:
		return s.enumerateEpisodes(ctx)
	}
	query, ok := map[Table]string{
		Documents:  `SELECT id FROM documents`,
		Chunks:     `SELECT c.id FROM chunks c JOIN documents d USING (document)`,
		EventDates: `SELECT d.id FROM event_dates e JOIN documents d USING (document)`,
		Entities:   `SELECT DISTINCT e.kind || ' ' || e.name FROM mentions m JOIN documents d USING (document) JOIN entities e USING (entity)`,
		Pages:      `SELECT DISTINCT p.title FROM pages p JOIN sections s USING (page) JOIN documents d USING (document)`,
	}[t]
	if !ok {
		return 0, fmt.Errorf("store %s: enumerate %q: no such table", s.path, t)
	}
	return s.enumerate(ctx, string(t), query)
}

// Any says whether there is any row, without counting them.
func (s *Store) Any(ctx context.Context, t Table) (bool, error) {
	query, ok := map[Table]string{
		EventDates: `SELECT EXISTS (SELECT 1 FROM event_dates)`,
		Pages:      `SELECT EXISTS (SELECT 1 FROM pages)`,
		Links:      anyLink,
		Episodes:   anyEpisode,
	}[t]
	if !ok {
		return false, fmt.Errorf("store %s: look into %q: no such table", s.path, t)
	}
	n, err := s.count(ctx, string(t), query)
	return n > 0, err
}

// CountVectors asks SQLite for the number of a model's vectors.
func (s *Store) CountVectors(ctx context.Context, model embed.Info) (int, error) {
	return s.count(ctx, "vectors", `
		SELECT count(*) FROM vectors JOIN models USING (model) JOIN chunks USING (chunk) WHERE digest = ?`, ModelDigest(model))
}

// EnumerateVectors walks over a model's vectors and counts them.
func (s *Store) EnumerateVectors(ctx context.Context, model embed.Info) (int, error) {
	n := 0
	err := s.EachVector(ctx, model, func(string, []float32) error { n++; return nil })
	return n, err
}

func (s *Store) count(ctx context.Context, what, query string, args ...any) (n int, err error) {
	if err := s.read.QueryRowContext(ctx, query, args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("store %s: count %s: %w", s.path, what, err)
	}
	return n, nil
}

func (s *Store) enumerate(ctx context.Context, what, query string, args ...any) (int, error) {
	ids, err := texts(s.read.QueryContext(ctx, query, args...))
	if err != nil {
		return 0, fmt.Errorf("store %s: enumerate %s: %w", s.path, what, err)
	}
	return len(ids), nil
}
