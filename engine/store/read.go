package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/touchstone-eval/touchstone/engine/embed"
)

// Totals are what BM25 needs to know of the whole collection.
type Totals struct {
	Chunks int
	Tokens int // over all chunks
}

// Totals returns the totals of the stored passages.
func (s *Store) Totals(ctx context.Context) (t Totals, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT chunks, tokens FROM totals`).Scan(&t.Chunks, &t.Tokens)
	if err != nil {
		return Totals{}, fmt.Errorf("store %s: read the totals: %w", s.path, err)
	}
	return t, nil
}

// Passage is a passage with what it takes to index it again.
type Passage struct {
	ID       string
	Document string
	Title    string // of the document
	Text     string
	Tokens   int // as counted when it was stored
}

// EachPassage calls fn for every passage, in the order of documents and
// positions in which they were stored, until fn fails.
func (s *Store) EachPassage(ctx context.Context, fn func(Passage) error) error {
	rows, err := s.read.QueryContext(ctx, `
		SELECT c.id, d.id, d.title, d.text, c.start_byte, c.end_byte, c.tokens
		FROM chunks c JOIN documents d USING (document) ORDER BY c.chunk`)
	if err != nil {
		return fmt.Errorf("store %s: read the passages: %w", s.path, err)
	}
	defer rows.Close()
	for rows.Next() {
		p, err := scanPassage(rows)
		if err != nil {
			return fmt.Errorf("store %s: read the passages: %w", s.path, err)
		}
		if err := fn(p); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("store %s: read the passages: %w", s.path, err)
	}
	return nil
}

func scanPassage(row interface{ Scan(...any) error }) (Passage, error) {
	var p Passage
	var start, end int
	if err := row.Scan(&p.ID, &p.Document, &p.Title, &p.Text, &start, &end, &p.Tokens); err != nil {
		return Passage{}, err
	}
	if start < 0 || end < start || end > len(p.Text) {
		return Passage{}, fmt.Errorf("chunk %s: bytes %d to %d of a text of %d", p.ID, start, end, len(p.Text))
	}
	p.Text = p.Text[start:end]
	return p, nil
}

// Passages returns the passages with these ids, in the same order. One that is
// absent is an error that wraps [ErrNotFound].
func (s *Store) Passages(ctx context.Context, ids ...string) ([]Passage, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := s.read.QueryContext(ctx, `
		SELECT c.id, d.id, d.title, d.text, c.start_byte, c.end_byte, c.tokens
		FROM chunks c JOIN documents d USING (document)
		WHERE c.id IN (SELECT value FROM json_each(?))`, string(list))
	if err != nil {
		return nil, fmt.Errorf("store %s: read passages: %w", s.path, err)
	}
	defer rows.Close()
	found := make(map[string]Passage, len(ids))
	for rows.Next() {
		p, err := scanPassage(rows)
		if err != nil {
			return nil, fmt.Errorf("store %s: read passages: %w", s.path, err)
		}
		found[p.ID] = p
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("store %s: read passages: %w", s.path, err)
	}
	out := make([]Passage, len(ids))
	for i, id := range ids {
		p, ok := found[id]
		if !ok {
			return nil, fmt.Errorf("store %s: chunk %s: %w", s.path, id, ErrNotFound)
		}
		out[i] = p
	}
	return out, nil
}

// EachVector calls fn for every vector of the model, until fn fails.
func (s *Store) EachVector(ctx context.Context, model embed.Info, fn func(chunk string, values []float32) error) error {
	rows, err := s.read.QueryContext(ctx, `
		SELECT c.id, v.data FROM models m JOIN vectors v USING (model) JOIN chunks c USING (chunk)
		WHERE m.digest = ? ORDER BY c.chunk`, ModelDigest(model))
	if err != nil {
		return fmt.Errorf("store %s: read the vectors: %w", s.path, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var data sql.RawBytes
		if err := rows.Scan(&id, &data); err != nil {
			return fmt.Errorf("store %s: read the vectors: %w", s.path, err)
		}
		values, err := decodeVector(data, model.Dim)
		if err != nil {
			return fmt.Errorf("store %s: chunk %s: %w: ingest its document again", s.path, id, err)
		}
		if err := fn(id, values); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("store %s: read the vectors: %w", s.path, err)
	}
	return nil
}

// Matching returns the ids of the passages whose documents have all of these
// meta values, compared byte by byte.
func (s *Store) Matching(ctx context.Context, filters map[string]string) (map[string]struct{}, error) {
	if len(filters) == 0 {
		return nil, fmt.Errorf("store %s: filter: no filter given", s.path)
	}
	var where []string
	var args []any
	for key, value := range filters {
		where = append(where, `(key = ? AND value = ?)`)
		args = append(args, key, value)
	}
	ids, err := texts(s.read.QueryContext(ctx, `
		SELECT c.id FROM chunks c WHERE c.document IN (
			SELECT document FROM document_meta WHERE `+strings.Join(where, " OR ")+`
			GROUP BY document HAVING count(*) = ?)`, append(args, len(filters))...))
	if err != nil {
		return nil, fmt.Errorf("store %s: filter: %w", s.path, err)
	}
	set := make(map[string]struct{}, len(ids))
	for _, id := range ids {
		set[id] = struct{}{}
	}
	return set, nil
}

// Document returns the document with this id, as it was given, or an error
// that wraps [ErrNotFound].
func (s *Store) Document(ctx context.Context, id string) (Document, error) {
	d := Document{ID: id}
	var row int64
	err := s.read.QueryRowContext(ctx, `
		SELECT d.document, s.name, d.title, d.text, d.date FROM documents d JOIN sources s USING (source) WHERE d.id = ?`, id).
		Scan(&row, &d.Source, &d.Title, &d.Text, &d.Date)
	if errors.Is(err, sql.ErrNoRows) {
		return Document{}, fmt.Errorf("store %s: document %q: %w", s.path, id, ErrNotFound)
	}
	if err != nil {
		return Document{}, fmt.Errorf("store %s: document %q: %w", s.path, id, err)
	}
	rows, err := s.read.QueryContext(ctx, `SELECT key, value FROM document_meta WHERE document = ?`, row)
	if err != nil {
		return Document{}, fmt.Errorf("store %s: document %q: %w", s.path, id, err)
	}
	defer rows.Close()
	for rows.Next() {
		var key, value string
		if err := rows.Scan(&key, &value); err != nil {
			return Document{}, fmt.Errorf("store %s: document %q: %w", s.path, id, err)
		}
		if d.Meta == nil {
			d.Meta = map[string]string{}
		}
		d.Meta[key] = value
	}
	return d, rows.Err()
}

// Skipped returns the steps that ingest skipped, by document id.
func (s *Store) Skipped(ctx context.Context) (map[string][]Skip, error) {
	rows, err := s.read.QueryContext(ctx, `
		SELECT d.id, k.step, k.reason FROM skipped_steps k JOIN documents d USING (document) ORDER BY d.id, k.step, k.reason`)
	if err != nil {
		return nil, fmt.Errorf("store %s: read the skipped steps: %w", s.path, err)
	}
	defer rows.Close()
	out := map[string][]Skip{}
	for rows.Next() {
		var id string
		var skip Skip
		if err := rows.Scan(&id, &skip.Step, &skip.Reason); err != nil {
			return nil, fmt.Errorf("store %s: read the skipped steps: %w", s.path, err)
		}
		out[id] = append(out[id], skip)
	}
	return out, rows.Err()
}

// texts collects a query's only column.
func texts(rows *sql.Rows, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, rows.Err()
}
