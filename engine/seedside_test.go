package engine_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/embed"
	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
)

// TestConcurrencyStoresTheSame: batches that are prepared side by side leave
// the same store, also where two documents of different batches bring in the
// same new entity.
func TestConcurrencyStoresTheSame(t *testing.T) {
	docs := victims() // several share "Maria Lopez" and a letter, sections and references
	docs = append(docs,
		engine.Document{ID: "first", Source: "a", Title: "One", Text: "Ada Lovelace met Charles Babbage on 2024-05-01.", Date: "2024-05-02"},
		engine.Document{ID: "second", Source: "a", Title: "Two", Text: "Ada Lovelace wrote to Charles Babbage.", Date: "2024-05-03"},
		engine.Document{ID: "empty", Source: "b"},
	)
	digest := func(concurrency, batch int) (string, map[string]int) {
		e := open(t, t.TempDir(), engine.Config{Chunk: small, Concurrency: concurrency, BatchSize: batch})
		report := ingest(t, e, docs...)
		if report.Documents != len(docs) {
			t.Fatalf("%d of %d documents", report.Documents, len(docs))
		}
		d, err := e.ContentDigest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]int{}
		for _, s := range e.Substrates(t.Context()) {
			counts[s.Name] = s.Count.N
		}
		return d, counts
	}
	want, counts := digest(1, 1)
	if counts[engine.SubstrateEntities] == 0 || counts[engine.SubstrateLinks] == 0 {
		t.Fatalf("the documents share nothing: %v", counts)
	}
	for _, tc := range []struct{ concurrency, batch int }{{1, 10}, {2, 1}, {4, 1}, {4, 3}, {16, 1}, {8, 1000}} {
		if got, _ := digest(tc.concurrency, tc.batch); got != want {
			t.Errorf("concurrency %d, batches of %d: content %.12s, one by one %.12s", tc.concurrency, tc.batch, got, want)
		}
	}
}

// failing fails to embed a text with a word in it.
type failing struct{ embed.Embedder }

func (f failing) Embed(ctx context.Context, texts []string) ([]embed.Vector, error) {
	for _, text := range texts {
		if strings.Contains(text, "poison") {
			return nil, fmt.Errorf("cannot embed")
		}
	}
	return f.Embedder.Embed(ctx, texts)
}

// TestConcurrencyFails: an error ends the ingest after the documents before
// it, and none after it is stored.
func TestConcurrencyFails(t *testing.T) {
	docs := corpus(40)
	docs[20].Text = "poison"
	e := open(t, t.TempDir(), engine.Config{Chunk: small, Concurrency: 8, BatchSize: 1, Embedder: failing{embedtest.New(16)}})
	report, err := e.Ingest(t.Context(), docs...)
	if err == nil || report.Documents != 20 {
		t.Fatalf("%d documents, %v", report.Documents, err)
	}
	for _, s := range e.Substrates(t.Context()) {
		if s.Name == engine.SubstrateDocuments && s.Count.N != 20 {
			t.Errorf("%d documents are stored", s.Count.N)
		}
	}
}

// TestContentDigest: whatever a store holds is in its digest, a note is not.
func TestContentDigest(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, engine.Config{Chunk: small})
	ingest(t, e, victims()...)
	want, err := e.ContentDigest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.SetStamp(t.Context(), "a note"); err != nil {
		t.Fatal(err)
	}
	shut(t, e)
	if stamp, ok, err := engine.ReadStamp(t.Context(), dir); err != nil || !ok || stamp != "a note" {
		t.Fatalf("stamp %q, %t, %v", stamp, ok, err)
	}
	if got, err := engine.ReadContentDigest(t.Context(), dir); err != nil || got != want {
		t.Fatalf("closed: %.12s, %v; open: %.12s", got, err, want)
	}
	for _, statement := range []string{
		`UPDATE documents SET text = text || ' ' WHERE document = 3`,
		`UPDATE documents SET title = 'x' WHERE document = 3`,
		`UPDATE sources SET name = name || 'x'`,
		`INSERT INTO document_meta VALUES (3, 'k', 'v')`,
		`UPDATE chunks SET tokens = tokens + 1 WHERE chunk = 3`,
		`UPDATE vectors SET data = zeroblob(length(data)) WHERE chunk = 3`,
		`DELETE FROM vectors`,
		`DELETE FROM event_dates WHERE document = 3`,
		`DELETE FROM mentions WHERE document = 3`,
		`UPDATE sections SET start_byte = start_byte + 1 WHERE section = 3`,
		`UPDATE section_terms SET times = times + 1 WHERE section = 3`,
		`DELETE FROM document_references WHERE document = 3`,
		`UPDATE pages SET title = 'x' WHERE page = 1`,
		`UPDATE enrichments SET version = 'x'`,
		`DELETE FROM names WHERE document = 3`,
		`INSERT INTO skipped_steps VALUES (3, 'x', 'y')`,
	} {
		copied := filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		alterStore(t, copied, statement)
		got, err := engine.ReadContentDigest(t.Context(), copied)
		if err != nil {
			t.Fatal(err)
		}
		if got == want {
			t.Errorf("not in the digest: %s", statement)
		}
	}
	if _, ok, err := engine.ReadStamp(t.Context(), t.TempDir()); ok || err != nil {
		t.Errorf("a folder without a store has a stamp: %t, %v", ok, err)
	}
}

// alterStore runs a statement on a store behind its back, and fails if it changes
// nothing.
func alterStore(t *testing.T, dir, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(dir, engine.StoreFile))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r, err := db.Exec(statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	if n, _ := r.RowsAffected(); n == 0 {
		t.Fatalf("%s: changed nothing", statement)
	}
}

// TestSurvey: what is wrong with a store is counted.
func TestSurvey(t *testing.T) {
	e := open(t, t.TempDir(), engine.Config{Chunk: small})
	ingest(t, e,
		engine.Document{ID: "a", Source: "s", Text: "On 2024-05-01 Ada Lovelace came."},
		engine.Document{ID: "b", Source: "t", Text: "nothing to note here"},
	)
	v, err := e.Survey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v.Documents != 2 || v.Sources != 2 || v.Duplicates != 0 || v.Enriched != 2 || v.Dated != 1 || v.Cued != 1 || v.Vectors != 2 || v.Zero != 0 || v.Truncated != 0 {
		t.Errorf("%+v", v)
	}
	shut(t, e)
	if _, err := e.Survey(t.Context()); err == nil {
		t.Error("a closed engine counts")
	}
}

// bent turns vectors a little, as another quantisation does.
type bent struct {
	embed.Embedder
	by float32
}

func (b bent) Embed(ctx context.Context, texts []string) ([]embed.Vector, error) {
	vs, err := b.Embedder.Embed(ctx, texts)
	for i := range vs {
		vs[i].Values = append([]float32(nil), vs[i].Values...)
		vs[i].Values[0] += b.by
	}
	return vs, err
}

// TestProbeEmbedder: a model that calls itself what made the vectors, and is
// not, is found out by the vectors themselves.
func TestProbeEmbedder(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, engine.Config{Chunk: small})
	ingest(t, e, corpus(30)...)
	shut(t, e)
	for _, tc := range []struct {
		name string
		by   float32
		want string
	}{{"the same model", 0, ""}, {"within rounding", 1e-6, ""}, {"another quantisation", .1, "stored passages: chunk"}} {
		e := open(t, dir, engine.Config{Chunk: small, ReadOnly: true, Embedder: bent{embedtest.New(64), tc.by}})
		c, err := e.ProbeEmbedder(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		switch err := c.Err(); {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v", tc.name, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
	c, err := open(t, t.TempDir(), engine.Config{}).ProbeEmbedder(t.Context())
	if err != nil || c.Err() == nil {
		t.Errorf("a store without vectors conforms: %v, %v", c, err)
	}
}

func fileHash(t *testing.T, path string) (string, time.Time) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), info.ModTime()
}

// TestSnapshot: a copy of a store that a writer has open answers as the store
// does, and the store's file is as it was.
func TestSnapshot(t *testing.T) {
	for _, live := range []bool{true, false} {
		t.Run(fmt.Sprintf("live %t", live), func(t *testing.T) {
			dir := t.TempDir()
			e := open(t, dir, engine.Config{Chunk: small})
			ingest(t, e, corpus(60)...)
			want, err := e.ContentDigest(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !live {
				shut(t, e)
			}
			sum, changed := fileHash(t, filepath.Join(dir, engine.StoreFile))
			dest := filepath.Join(t.TempDir(), "deep", "copy")
			report, err := engine.Snapshot(t.Context(), dir, dest)
			if err != nil {
				t.Fatal(err)
			}
			if lexical := map[bool]string{true: "rebuilt", false: "copied"}[live]; report.Lexical != lexical || report.Bytes == 0 {
				t.Errorf("%+v, want the index %s", report, lexical)
			}
			if s, c := fileHash(t, filepath.Join(dir, engine.StoreFile)); s != sum || !c.Equal(changed) {
				t.Error("the snapshot changed the store's file")
			}
			copied := open(t, dest, engine.Config{Chunk: small, ReadOnly: true})
			if got, err := copied.ContentDigest(t.Context()); err != nil || got != want {
				t.Errorf("content %.12s, %v, want %.12s", got, err, want)
			}
			q := engine.Query{Text: corpus(60)[7].Text, K: 10}
			if !live {
				e = open(t, dir, engine.Config{Chunk: small, ReadOnly: true})
			}
			if got, want := search(t, copied, q).Hits, search(t, e, q).Hits; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("the copy answers %v, the store %v", got, want)
			}
			if _, err := engine.Snapshot(t.Context(), dir, dest); err == nil {
				t.Error("a snapshot overwrote a folder")
			}
		})
	}
	dest := filepath.Join(t.TempDir(), "x")
	if _, err := engine.Snapshot(t.Context(), t.TempDir(), dest); err == nil {
		t.Error("a snapshot of nothing")
	}
	if _, err := os.Stat(dest); err == nil {
		t.Error("a failed snapshot left a folder")
	}
}

// TestSnapshotWhileWriting: documents that are written meanwhile are in the
// copy whole or not at all.
func TestSnapshotWhileWriting(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, engine.Config{Chunk: small, BatchSize: 2})
	ingest(t, e, corpus(10)...)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		for i := 0; ctx.Err() == nil; i++ {
			d := corpus(60)[i%60]
			if _, err := e.Ingest(ctx, d); err != nil && ctx.Err() == nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for i := range 3 {
		dest := filepath.Join(t.TempDir(), fmt.Sprint(i))
		if _, err := engine.Snapshot(t.Context(), dir, dest); err != nil {
			t.Fatal(err)
		}
		c := open(t, dest, engine.Config{Chunk: small, ReadOnly: true})
		for _, s := range c.Substrates(t.Context()) {
			if !s.Count.Known() || s.Count.N != s.Enumerated.N {
				t.Errorf("snapshot %d: %+v", i, s)
			}
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// TestIngestSource: each part of the ingest has a hash, and the file that
// declares Ingest is among what is hashed.
func TestIngestSource(t *testing.T) {
	source := engine.IngestSource()
	seen := map[string]string{}
	for _, name := range []string{"chunk", "embed", "enrich", "lexical", "store", "ingest"} {
		hash, ok := source[name]
		if !ok || len(hash) != 64 {
			t.Errorf("%s: %q", name, hash)
		}
		if other := seen[hash]; other != "" {
			t.Errorf("%s and %s have one hash", name, other)
		}
		seen[hash] = name
	}
	if len(source) != len(seen) {
		t.Errorf("%d parts", len(source))
	}
	data, err := os.ReadFile("source.go")
	if err != nil {
		t.Fatal(err)
	}
	// What Ingest calls in this package is in the files that are hashed.
	for file, functions := range map[string][]string{
		"ingest.go":   {"func (e *Engine) Ingest(", "func (e *Engine) prepare(", "func (e *Engine) split(", "func passageText(", "func (e *Engine) embed("},
		"write.go":    {"func (e *Engine) publish("},
		"backfill.go": {"func (e *Engine) enrichAgain("},
		"lexical.go":  {"func (e *Engine) rebuildLexical("},
	} {
		if !strings.Contains(string(data), " "+file) {
			t.Errorf("%s is not hashed", file)
		}
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range functions {
			if !strings.Contains(string(code), f) {
				t.Errorf("%s) is no longer in %s: hash the file that has it", f, file)
			}
		}
	}
}
