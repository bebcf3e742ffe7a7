package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/touchstone-eval/touchstone/engine/embed"
	"github.com/touchstone-eval/touchstone/engine/enrich"
)

// MaxIDBytes is the length of the longest document id.
const MaxIDBytes = 1024

// ErrNotFound is wrapped by errors about a document that is not in the store.
var ErrNotFound = errors.New("not in the store")

// Document is a document as it was given.
type Document struct {
	Source string // where it comes from; may be empty
	ID     string // unique in the store
	Title  string
	Text   string
	Date   string // as given; empty if unknown
	Meta   map[string]string
}

// Validate refuses an id that could not be printed in a list of results, and
// text that is not UTF-8.
func (d Document) Validate() error {
	switch {
	case d.ID == "":
		return errors.New(`document "": the id is empty: give each document its own`)
	case len(d.ID) > MaxIDBytes:
		return fmt.Errorf("document %.40q...: the id has %d bytes, at most %d fit", d.ID, len(d.ID), MaxIDBytes)
	case !utf8.ValidString(d.ID):
		return fmt.Errorf("document %q: the id is not UTF-8", d.ID)
	case strings.ContainsFunc(d.ID, unicode.IsControl):
		return fmt.Errorf("document %q: the id holds a control character", d.ID)
	}
	for name, value := range map[string]string{"title": d.Title, "text": d.Text, "date": d.Date, "source": d.Source} {
		if !utf8.ValidString(value) {
			return fmt.Errorf("document %q: its %s is not UTF-8: convert it first", d.ID, name)
		}
	}
	for key, value := range d.Meta {
		if !utf8.ValidString(key) || !utf8.ValidString(value) {
			return fmt.Errorf("document %q: meta %q is not UTF-8: convert it first", d.ID, key)
		}
	}
	return nil
}

// Chunk is a passage to be stored.
type Chunk struct {
	ID         string
	Start, End int           // byte offsets into the document's text
	Tokens     int           // terms of title and passage, by the lexical analyzer
	Vector     *embed.Vector // nil if the passage has none
}

// Skip is a step of the ingest that a document went without.
type Skip struct {
	Step   string
	Reason string
}

// Entry is all that one document puts into the store.
type Entry struct {
	Document Document
	Chunks   []Chunk
	Model    embed.Info // of the vectors
	Skipped  []Skip
	Enriched *enrich.Result // nil leaves it to a later [Store.Enrich]
}

// Put stores a document, in place of the one with the same id, in one
// transaction. It returns the passages that the former document had.
func (s *Store) Put(ctx context.Context, e Entry) (replaced []string, state State, err error) {
	if err := e.Document.Validate(); err != nil {
		return nil, State{}, err
	}
	state, err = s.update(ctx, fmt.Sprintf("put document %q", e.Document.ID), "put "+e.digest(), func(tx *sql.Tx) error {
		replaced, err = removeDocument(ctx, tx, e.Document.ID)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		return e.insert(ctx, tx)
	})
	return replaced, state, err
}

// Delete removes documents in one transaction, and returns the passages that
// they had. If one is not in the store nothing is removed, and the error wraps
// [ErrNotFound].
func (s *Store) Delete(ctx context.Context, ids ...string) (removed []string, state State, err error) {
	h := sha256.New()
	for _, id := range ids {
		writeText(h, id)
	}
	state, err = s.update(ctx, "delete documents", "delete "+hex.EncodeToString(h.Sum(nil)), func(tx *sql.Tx) error {
		for _, id := range ids {
			chunks, err := removeDocument(ctx, tx, id)
			if err != nil {
				return err
			}
			removed = append(removed, chunks...)
		}
		return nil
	})
	if err != nil {
		return nil, State{}, err
	}
	return removed, state, nil
}

// SetTokens corrects the number of terms of passages. It is not a write in the
// sense of [State].
func (s *Store) SetTokens(ctx context.Context, tokens map[string]int) error {
	if len(tokens) == 0 {
		return nil
	}
	return s.quietly(ctx, "set token counts", func(tx *sql.Tx) error {
		for id, n := range tokens {
			if _, err := tx.ExecContext(ctx, `UPDATE chunks SET tokens = ? WHERE id = ?`, n, id); err != nil {
				return err
			}
		}
		return nil
	})
}

func removeDocument(ctx context.Context, tx *sql.Tx, id string) (chunks []string, err error) {
	var document int64
	err = tx.QueryRowContext(ctx, `SELECT document FROM documents WHERE id = ?`, id).Scan(&document)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("document %q: %w", id, ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	chunks, err = texts(tx.QueryContext(ctx, `SELECT id FROM chunks WHERE document = ? ORDER BY ordinal`, document))
	if err != nil {
		return nil, err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM documents WHERE document = ?`, document)
	return chunks, err
}

func (e Entry) insert(ctx context.Context, tx *sql.Tx) error {
	d := e.Document
	source, err := rowFor(ctx, tx, `INSERT INTO sources (name) VALUES (?) ON CONFLICT (name) DO UPDATE SET name = name RETURNING source`, d.Source)
	if err != nil {
		return fmt.Errorf("source %q: %w", d.Source, err)
	}
	document, err := rowFor(ctx, tx, `INSERT INTO documents (id, source, title, text, date) VALUES (?, ?, ?, ?, ?) RETURNING document`,
		d.ID, source, d.Title, d.Text, d.Date)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(d.Meta)) {
		if _, err := tx.ExecContext(ctx, `INSERT INTO document_meta VALUES (?, ?, ?)`, document, key, d.Meta[key]); err != nil {
			return fmt.Errorf("meta %q: %w", key, err)
		}
	}
	for _, skip := range e.Skipped {
		if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO skipped_steps VALUES (?, ?, ?)`, document, skip.Step, skip.Reason); err != nil {
			return fmt.Errorf("skipped step %q: %w", skip.Step, err)
		}
	}
	if e.Enriched != nil {
		if err := insertEnrichment(ctx, tx, row{document, source, d.ID, d.Text}, *e.Enriched); err != nil {
			return fmt.Errorf("enrichment: %w", err)
		}
	}
	var model int64
	for i, c := range e.Chunks {
		if c.Start < 0 || c.End < c.Start || c.End > len(d.Text) {
			return fmt.Errorf("chunk %s: bytes %d to %d of a text of %d", c.ID, c.Start, c.End, len(d.Text))
		}
		chunk, err := rowFor(ctx, tx, `INSERT INTO chunks (id, document, ordinal, start_byte, end_byte, tokens) VALUES (?, ?, ?, ?, ?, ?) RETURNING chunk`,
			c.ID, document, i, c.Start, c.End, c.Tokens)
		if err != nil {
			return fmt.Errorf("chunk %s: %w", c.ID, err)
		}
		if c.Vector == nil {
			continue
		}
		if model == 0 {
			if model, err = modelRow(ctx, tx, e.Model); err != nil {
				return fmt.Errorf("model %q: %w", e.Model.Name, err)
			}
		}
		data, err := encodeVector(c.Vector.Values, e.Model.Dim)
		if err != nil {
			return fmt.Errorf("chunk %s: %w", c.ID, err)
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO vectors VALUES (?, ?, ?, ?, ?)`,
			chunk, model, c.Vector.Tokens, c.Vector.Truncated, data); err != nil {
			return fmt.Errorf("vector of chunk %s: %w", c.ID, err)
		}
	}
	return nil
}

func rowFor(ctx context.Context, tx *sql.Tx, query string, args ...any) (row int64, err error) {
	err = tx.QueryRowContext(ctx, query, args...).Scan(&row)
	return row, err
}

func encodeVector(values []float32, dim int) ([]byte, error) {
	if len(values) != dim {
		return nil, fmt.Errorf("vector of %d numbers, the model makes %d", len(values), dim)
	}
	data := make([]byte, 0, 4*len(values))
	for i, v := range values {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("vector holds %v at %d", v, i)
		}
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	return data, nil
}

func decodeVector(data []byte, dim int) ([]float32, error) {
	if len(data) != 4*dim {
		return nil, fmt.Errorf("vector of %d bytes, the model makes %d", len(data), 4*dim)
	}
	values := make([]float32, dim)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		if f := float64(values[i]); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("vector holds %v at %d", values[i], i)
		}
	}
	return values, nil
}

// digest covers what an index built from the store depends on.
func (e Entry) digest() string {
	h := sha256.New()
	d := e.Document
	for _, text := range []string{d.ID, d.Source, d.Title, d.Text, d.Date} {
		writeText(h, text)
	}
	for _, key := range slices.Sorted(maps.Keys(d.Meta)) {
		writeText(h, key)
		writeText(h, d.Meta[key])
	}
	for _, c := range e.Chunks {
		writeText(h, fmt.Sprintf("%s %d %d %d", c.ID, c.Start, c.End, c.Tokens))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// writeText writes the length first, so that two lists of texts with the same
// concatenation differ.
func writeText(h hash.Hash, text string) { fmt.Fprintf(h, "%d:%s", len(text), text) }
