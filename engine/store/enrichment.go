package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/touchstone-eval/touchstone/engine/enrich"
)

// Unenriched returns the ids of the documents that were never enriched, or by
// other rules than [enrich.Version].
func (s *Store) Unenriched(ctx context.Context) ([]string, error) {
	ids, err := texts(s.read.QueryContext(ctx, `
		SELECT id FROM documents d WHERE NOT EXISTS
			(SELECT 1 FROM enrichments e WHERE e.document = d.document AND e.version = ?)
		ORDER BY document`, enrich.Version))
	if err != nil {
		return nil, fmt.Errorf("store %s: find documents to enrich: %w", s.path, err)
	}
	return ids, nil
}

// Enrich replaces what was read out of a document, in one transaction. It is
// not a write in the sense of [State], for nothing that is indexed changes.
func (s *Store) Enrich(ctx context.Context, id string, r enrich.Result) error {
	return s.quietly(ctx, fmt.Sprintf("enrich document %q", id), func(tx *sql.Tx) error {
		var document, source int64
		err := tx.QueryRowContext(ctx, `SELECT document, source FROM documents WHERE id = ?`, id).Scan(&document, &source)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
		if err != nil {
			return err
		}
		for _, statement := range []string{
			`DELETE FROM document_references WHERE document = ?`,
			`DELETE FROM sections WHERE document = ?`,
			`DELETE FROM names WHERE document = ?`,
			`DELETE FROM mentions WHERE document = ?`,
			`DELETE FROM event_dates WHERE document = ?`,
			`DELETE FROM moments WHERE document = ?`,
			`DELETE FROM enrichments WHERE document = ?`,
		} {
			if _, err := tx.ExecContext(ctx, statement, document); err != nil {
				return err
			}
		}
		for _, step := range enrich.Steps {
			if _, err := tx.ExecContext(ctx, `DELETE FROM skipped_steps WHERE document = ? AND step = ?`, document, step); err != nil {
				return err
			}
		}
		var text string
		if err := tx.QueryRowContext(ctx, `SELECT text FROM documents WHERE document = ?`, document).Scan(&text); err != nil {
			return err
		}
		return insertEnrichment(ctx, tx, row{document, source, id, text}, r)
	})
}

// row is a stored document.
type row struct {
	document, source int64
	id, text         string
}

func insertEnrichment(ctx context.Context, tx *sql.Tx, d row, r enrich.Result) error {
	w := &inserter{ctx: ctx, tx: tx}
	w.exec(`INSERT INTO enrichments VALUES (?, ?)`, d.document, enrich.Version)
	if r.Moment != nil {
		w.exec(`INSERT INTO moments VALUES (?, ?, ?, ?)`, d.document, d.source, d.id, r.Moment.Seconds)
	}
	for _, n := range r.Names {
		w.exec(`INSERT INTO names VALUES (?, ?, ?)`, d.document, n.Text, n.Alias)
	}
	for _, e := range r.Dates {
		w.exec(`INSERT INTO event_dates VALUES (?, ?, ?, ?, ?, ?)`, d.document, e.InTitle, e.Start, e.End, e.First, e.Last)
	}
	for _, e := range r.Entities {
		entity := w.row(`INSERT INTO entities (kind, name) VALUES (?, ?) ON CONFLICT (kind, name) DO UPDATE SET name = name RETURNING entity`, e.Kind, e.Name)
		w.exec(`INSERT INTO mentions VALUES (?, ?, ?)`, d.document, entity, e.Count)
	}
	sections := make([]int64, len(r.Sections))
	for i, section := range r.Sections {
		sections[i] = w.section(d, i, section)
	}
	for i, ref := range r.References {
		var section any
		if at := enrich.SectionAt(r.Sections, ref.Pos); at >= 0 {
			section = sections[at]
		}
		w.exec(`INSERT INTO document_references VALUES (?, ?, ?, ?, ?)`, d.document, i, ref.Kind, ref.Target, section)
	}
	for _, skip := range r.Skipped {
		w.exec(`INSERT OR IGNORE INTO skipped_steps VALUES (?, ?, ?)`, d.document, skip.Step, skip.Reason)
	}
	return w.err
}

// inserter keeps the first error and does nothing after it.
type inserter struct {
	ctx context.Context
	tx  *sql.Tx
	err error
}

func (w *inserter) exec(query string, args ...any) {
	if w.err == nil {
		_, w.err = w.tx.ExecContext(w.ctx, query, args...)
	}
}

func (w *inserter) row(query string, args ...any) (id int64) {
	if w.err == nil {
		id, w.err = rowFor(w.ctx, w.tx, query, args...)
	}
	return id
}

func (w *inserter) section(d row, ordinal int, s enrich.Section) int64 {
	page := w.row(`INSERT INTO pages (title) VALUES (?) ON CONFLICT (title) DO UPDATE SET title = title RETURNING page`, s.Title)
	terms := s.Terms(d.text)
	section := w.row(`INSERT INTO sections (page, document, ordinal, start_byte, end_byte, tokens) VALUES (?, ?, ?, ?, ?, ?) RETURNING section`,
		page, d.document, ordinal, s.Start, s.End, len(terms))
	times := map[string]int{}
	var different []string // in order, so that the same text makes the same rows
	for _, term := range terms {
		if times[term]++; times[term] == 1 {
			different = append(different, term)
		}
	}
	for _, term := range different {
		w.exec(`INSERT INTO section_terms VALUES (?, ?, ?)`, section, term, times[term])
	}
	return section
}
