package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"github.com/touchstone-eval/touchstone/engine/enrich"
)

// Survey is what the store knows of its own quality, each figure counted in
// one query.
type Survey struct {
	Documents  int
	Sources    int // that have a document
	Duplicates int // documents beyond the first of a source and id
	Enriched   int // documents that were enriched by the rules of enrich.Version
	Dated      int // documents with an event date
	Cued       int // documents that mention an entity or point to another document
	Vectors    int // of all models
	Truncated  int // vectors of passages that the model did not read to the end
	Zero       int // vectors without a direction, which match nothing
}

// Survey counts. An error names the figure that could not be taken.
func (s *Store) Survey(ctx context.Context) (v Survey, err error) {
	for _, q := range []struct {
		what  string
		into  *int
		query string
		args  []any
	}{
		{"documents", &v.Documents, `SELECT count(*) FROM documents`, nil},
		{"sources", &v.Sources, `SELECT count(DISTINCT source) FROM documents`, nil},
		{"duplicates", &v.Duplicates, `SELECT coalesce(sum(n - 1), 0) FROM (SELECT count(*) AS n FROM documents GROUP BY source, id)`, nil},
		{"enriched documents", &v.Enriched, `SELECT count(*) FROM enrichments JOIN documents USING (document) WHERE version = ?`, []any{enrich.Version}},
		{"dated documents", &v.Dated, `SELECT count(DISTINCT document) FROM event_dates JOIN documents USING (document)`, nil},
		{"cued documents", &v.Cued, `SELECT count(*) FROM documents d WHERE EXISTS (SELECT 1 FROM mentions m WHERE m.document = d.document)
			OR EXISTS (SELECT 1 FROM document_references r WHERE r.document = d.document)`, nil},
		{"vectors", &v.Vectors, `SELECT count(*) FROM vectors JOIN chunks USING (chunk)`, nil},
		{"truncated vectors", &v.Truncated, `SELECT count(*) FROM vectors JOIN chunks USING (chunk) WHERE truncated`, nil},
		{"zero vectors", &v.Zero, `SELECT count(*) FROM vectors JOIN chunks USING (chunk) WHERE data = zeroblob(length(data))`, nil},
	} {
		if *q.into, err = s.count(ctx, q.what, q.query, q.args...); err != nil {
			return Survey{}, err
		}
	}
	return v, nil
}

// content lists all that a store holds, row by row, without the numbers that
// SQLite gave the rows.
var content = []struct{ table, query string }{
	{"documents", `SELECT d.id, s.name, d.title, d.text, d.date FROM documents d JOIN sources s USING (source) ORDER BY d.document`},
	{"document_meta", `SELECT d.id, m.key, m.value FROM documents d JOIN document_meta m USING (document) ORDER BY m.document, m.key`},
	{"chunks", `SELECT id, ordinal, start_byte, end_byte, tokens FROM chunks ORDER BY chunk`},
	{"vectors", `SELECT c.id, m.digest, v.tokens, v.truncated, v.data FROM vectors v JOIN chunks c USING (chunk) JOIN models m USING (model) ORDER BY v.chunk, m.digest`},
	{"skipped_steps", `SELECT d.id, k.step, k.reason FROM skipped_steps k JOIN documents d USING (document) ORDER BY k.document, k.step, k.reason`},
	{"enrichments", `SELECT d.id, e.version FROM enrichments e JOIN documents d USING (document) ORDER BY e.document`},
	{"moments", `SELECT d.id, m.seconds FROM moments m JOIN documents d USING (document) ORDER BY m.document`},
	{"event_dates", `SELECT d.id, e.in_title, e.start_byte, e.end_byte, e.first_day, e.last_day FROM event_dates e JOIN documents d USING (document) ORDER BY e.document, e.in_title, e.start_byte`},
	{"mentions", `SELECT d.id, e.kind, e.name, m.times FROM mentions m JOIN documents d USING (document) JOIN entities e USING (entity) ORDER BY m.document, m.entity`},
	{"entities", `SELECT kind, name, documents FROM entities ORDER BY entity`},
	{"names", `SELECT d.id, n.name, n.alias FROM names n JOIN documents d USING (document) ORDER BY n.document, n.name`},
	{"sections", `SELECT d.id, s.ordinal, p.title, s.start_byte, s.end_byte, s.tokens FROM sections s JOIN documents d USING (document) JOIN pages p USING (page) ORDER BY s.section`},
	{"section_terms", `SELECT d.id, s.ordinal, t.term, t.times FROM section_terms t JOIN sections s USING (section) JOIN documents d USING (document) ORDER BY t.section, t.term`},
	{"document_references", `SELECT d.id, r.ordinal, r.kind, r.target, s.ordinal FROM document_references r JOIN documents d USING (document) LEFT JOIN sections s USING (section) ORDER BY r.document, r.ordinal`},
}

// ContentDigest is SHA-256 over all that is stored of documents, in the order
// in which they were stored: passages, vectors and what was read out of them
// included, notes left out. Two stores with one digest answer alike.
func (s *Store) ContentDigest(ctx context.Context) (string, error) {
	digest, err := contentDigest(ctx, s.read)
	if err != nil {
		return "", fmt.Errorf("store %s: content digest: %w", s.path, err)
	}
	return digest, nil
}

// ReadContentDigest is [Store.ContentDigest] of the file at path, also of one
// that a former version wrote and that lacks tables: those it has are read, as
// that version did.
func ReadContentDigest(ctx context.Context, path string) (string, error) {
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("store %s: %w", path, err)
	}
	db := openPool(path, "mode=ro", "_query_only=1")
	digest, err := contentDigest(ctx, db)
	if err = errors.Join(err, db.Close()); err != nil {
		return "", fmt.Errorf("store %s: content digest: %w", path, err)
	}
	return digest, nil
}

func contentDigest(ctx context.Context, db *sql.DB) (string, error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // one state for all tables
	if err != nil {
		return "", err
	}
	defer tx.Rollback()
	h := sha256.New()
	for _, c := range content {
		var exists bool
		if err := tx.QueryRowContext(ctx, `SELECT count(*) > 0 FROM sqlite_schema WHERE type = 'table' AND name = ?`, c.table).Scan(&exists); err != nil {
			return "", err
		}
		if !exists {
			continue
		}
		fmt.Fprintf(h, "%s\n", c.table)
		if err := hashRows(ctx, tx, c.query, h.Write); err != nil {
			return "", fmt.Errorf("%s: %w", c.table, err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// hashRows writes each value as its length plus one and its bytes; a NULL is
// a zero alone.
func hashRows(ctx context.Context, q querier, query string, write func([]byte) (int, error)) error {
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values := make([]sql.RawBytes, len(columns))
	into := make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	var length [8]byte
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for _, v := range values {
			n := uint64(0)
			if v != nil {
				n = uint64(len(v)) + 1
			}
			binary.BigEndian.PutUint64(length[:], n)
			write(length[:]) // a hash never fails
			write(v)
		}
	}
	return rows.Err()
}
