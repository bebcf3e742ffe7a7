package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/engine/embed"
)

var model = embed.Info{Name: "test", Digest: "d1", Pooling: "mean", Dim: 2}

func open(t testing.TB, path string, opts Options) *Store {
	t.Helper()
	s, err := Open(context.Background(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func fresh(t testing.TB) *Store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "s.sqlite"), Options{})
}

// entry is a document of one passage a word.
func entry(id, text string) Entry {
	e := Entry{Document: Document{ID: id, Source: "src", Title: "title of " + id, Text: text}, Model: model}
	pos := 0
	for i, word := range strings.Fields(text) {
		start := pos + strings.Index(text[pos:], word)
		pos = start + len(word)
		e.Chunks = append(e.Chunks, Chunk{
			ID: fmt.Sprintf("%s#%d", id, i), Start: start, End: pos, Tokens: len(word),
			Vector: &embed.Vector{Values: []float32{float32(i), 1}, Tokens: 1},
		})
	}
	return e
}

func put(t testing.TB, s *Store, e Entry) (replaced []string, state State) {
	t.Helper()
	replaced, state, err := s.Put(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	return replaced, state
}

func TestRoundTrip(t *testing.T) {
	s := fresh(t)
	want := Document{
		Source: "a/b", ID: "weird id#%?\"';--", Title: "T\x00itle", Text: "one 狐狸\x00 two\n", Date: "2026-05-01",
		Meta: map[string]string{"lang": "en", "": "empty key", "nul": "a\x00b"},
	}
	e := Entry{Document: want, Model: model, Skipped: []Skip{{"dates", "none found"}, {"dates", "none found"}}, Chunks: []Chunk{
		{ID: "c0", Start: 0, End: 3, Tokens: 1, Vector: &embed.Vector{Values: []float32{.1, -3e-39}}},
		{ID: "c1", Start: 4, End: 11, Tokens: 2},
	}}
	put(t, s, e)
	got, err := s.Document(t.Context(), want.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	passages, err := s.Passages(t.Context(), "c1", "c0")
	if err != nil {
		t.Fatal(err)
	}
	wantPassages := []Passage{{"c1", want.ID, want.Title, "狐狸\x00", 2}, {"c0", want.ID, want.Title, "one", 1}}
	if diff := cmp.Diff(wantPassages, passages); diff != "" {
		t.Errorf("passages (-want +got):\n%s", diff)
	}
	vectors := map[string][]float32{}
	if err := s.EachVector(t.Context(), model, func(id string, v []float32) error { vectors[id] = v; return nil }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]float32{"c0": {.1, -3e-39}}, vectors); diff != "" {
		t.Errorf("vectors (-want +got):\n%s", diff)
	}
	skipped, err := s.Skipped(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]Skip{want.ID: {{"dates", "none found"}}}, skipped); diff != "" {
		t.Errorf("skipped steps (-want +got):\n%s", diff)
	}
}

// TestTotalsStayExact compares any sequence of writes with a map.
func TestTotalsStayExact(t *testing.T) {
	s := fresh(t)
	rapid.Check(t, func(rt *rapid.T) {
		id := rapid.SampledFrom([]string{"a", "b", "c"})
		e := entry(id.Draw(rt, "id"), rapid.StringMatching(`([a-z]{1,5} ){0,4}`).Draw(rt, "text"))
		put(t, s, e)
		if rapid.Bool().Draw(rt, "delete") {
			if _, _, err := s.Delete(context.Background(), e.Document.ID); err != nil {
				rt.Fatal(err)
			}
		}
		var want Totals
		if err := s.EachPassage(context.Background(), func(p Passage) error {
			want.Chunks++
			want.Tokens += len(p.Text)
			return nil
		}); err != nil {
			rt.Fatal(err)
		}
		got, err := s.Totals(context.Background())
		if err != nil || got != want {
			rt.Fatalf("totals %+v, %v, want %+v", got, err, want)
		}
		for _, table := range []Table{Documents, Chunks} {
			n, err1 := s.Count(context.Background(), table)
			m, err2 := s.Enumerate(context.Background(), table)
			if err := errors.Join(err1, err2); err != nil || n != m || table == Chunks && n != want.Chunks {
				rt.Fatalf("%s: count %d, enumerated %d, %v", table, n, m, err)
			}
		}
	})
}

func TestReplaceAndDelete(t *testing.T) {
	s := fresh(t)
	put(t, s, entry("a", "one two three"))
	put(t, s, entry("b", "four"))
	replaced, _ := put(t, s, entry("a", "five"))
	if diff := cmp.Diff([]string{"a#0", "a#1", "a#2"}, replaced); diff != "" {
		t.Errorf("replaced (-want +got):\n%s", diff)
	}
	if err := s.SetTokens(t.Context(), map[string]int{"a#0": 40}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Totals(t.Context()); err != nil || got != (Totals{2, 44}) {
		t.Errorf("totals %+v, %v", got, err)
	}
	_, before, err := s.Delete(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Delete(t.Context(), "a", "b"); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("delete with an unknown id: %v", err)
	}
	if after, err := s.State(t.Context()); err != nil || after != before {
		t.Errorf("a delete that failed moved the state from %v to %v, %v", before, after, err)
	}
	if _, err := s.Document(t.Context(), "a"); err != nil {
		t.Errorf("a delete that failed removed a document: %v", err)
	}
	for _, table := range []string{"vectors", "document_meta", "skipped_steps", "chunks"} {
		var n int
		if err := s.read.QueryRow(`SELECT count(*) FROM ` + table).Scan(&n); err != nil || n > 1 {
			t.Errorf("%s: %d rows left, %v", table, n, err)
		}
	}
}

func TestState(t *testing.T) {
	ctx := t.Context()
	write := func(entries ...Entry) State {
		s := fresh(t)
		var state State
		for _, e := range entries {
			_, state = put(t, s, e)
		}
		read, err := s.State(ctx)
		if err != nil || read != state {
			t.Fatalf("read state %v, %v, written %v", read, err, state)
		}
		return state
	}
	a, b := entry("a", "one"), entry("b", "two")
	if write() != (State{}) {
		t.Error("a new store has seen writes")
	}
	if write(a, b) != write(a, b) {
		t.Error("the same writes give two states")
	}
	other := entry("b", "tvo")
	for name, state := range map[string]State{"order": write(b, a), "text": write(a, other), "fewer": write(a), "more": write(a, b, b)} {
		if state == write(a, b) {
			t.Errorf("%s: other writes give the same state", name)
		}
	}
}

func TestMatching(t *testing.T) {
	s := fresh(t)
	for id, meta := range map[string]map[string]string{
		"a": {"lang": "en", "year": "2025"}, "b": {"lang": "en", "year": "2026"}, "c": {"lang": "de"}, "d": nil,
		"e": {"lang": "EN"}, "f": {"lang": "en%", "'; DROP TABLE chunks; --": "\x00"},
	} {
		e := entry(id, "x y")
		e.Document.Meta = meta
		put(t, s, e)
	}
	for _, tc := range []struct {
		name    string
		filters map[string]string
		want    string
	}{
		{"one", map[string]string{"lang": "en"}, "a#0 a#1 b#0 b#1"},
		{"both", map[string]string{"lang": "en", "year": "2026"}, "b#0 b#1"},
		{"no such value", map[string]string{"lang": "fr"}, ""},
		{"no such key", map[string]string{"language": "en"}, ""},
		{"no pattern", map[string]string{"lang": "e%"}, ""},
		{"hostile", map[string]string{"'; DROP TABLE chunks; --": "\x00"}, "f#0 f#1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := s.Matching(t.Context(), tc.filters)
			if err != nil {
				t.Fatal(err)
			}
			if ids := strings.Join(slices.Sorted(maps.Keys(got)), " "); ids != tc.want {
				t.Errorf("matching %q, want %q", ids, tc.want)
			}
		})
	}
	if _, err := s.Matching(t.Context(), nil); err == nil {
		t.Error("no filter is not an error: it would mean none, or all")
	}
}

func TestPutRefuses(t *testing.T) {
	s := fresh(t)
	good := entry("a", "one two")
	change := func(f func(*Entry)) Entry {
		e := entry("a", "one two")
		f(&e)
		return e
	}
	for _, tc := range []struct {
		name string
		e    Entry
		want string
	}{
		{"no id", change(func(e *Entry) { e.Document.ID = "" }), "the id is empty"},
		{"long id", change(func(e *Entry) { e.Document.ID = strings.Repeat("x", MaxIDBytes+1) }), "at most 1024"},
		{"id not utf-8", change(func(e *Entry) { e.Document.ID = "\xff" }), "not UTF-8"},
		{"id with a line break", change(func(e *Entry) { e.Document.ID = "a\nb" }), "control character"},
		{"text not utf-8", change(func(e *Entry) { e.Document.Text += "\xff" }), "its text is not UTF-8"},
		{"meta not utf-8", change(func(e *Entry) { e.Document.Meta = map[string]string{"k": "\xff"} }), `meta "k" is not UTF-8`},
		{"chunk beyond the text", change(func(e *Entry) { e.Chunks[1].End = 99 }), "bytes 4 to 99 of a text of 7"},
		{"chunk id twice", change(func(e *Entry) { e.Chunks[1].ID = "a#0" }), "UNIQUE"},
		{"short vector", change(func(e *Entry) { e.Chunks[1].Vector.Values = []float32{1} }), "vector of 1 numbers"},
		{"vector not a number", change(func(e *Entry) { e.Chunks[1].Vector.Values = []float32{1, float32(math.NaN())} }), "holds NaN"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			put(t, s, good)
			before, err := s.State(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := s.Put(t.Context(), tc.e); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error %v, want it to say %q", err, tc.want)
			}
			after, err := s.State(t.Context())
			if err != nil || after != before {
				t.Errorf("a write that failed moved the state, %v", err)
			}
			if got, err := s.Document(t.Context(), "a"); err != nil || got.Text != "one two" {
				t.Errorf("a write that failed changed the document: %+v, %v", got, err)
			}
		})
	}
}

func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sqlite")
	if _, err := Open(t.Context(), path, Options{ReadOnly: true}); err == nil {
		t.Fatal("an absent file opens read-only")
	}
	if _, err := os.Stat(path); err == nil {
		t.Fatal("opening read-only made the file")
	}
	w := open(t, path, Options{})
	put(t, w, entry("a", "one"))
	r := open(t, path, Options{ReadOnly: true})
	if d, err := r.Document(t.Context(), "a"); err != nil || d.Text != "one" {
		t.Errorf("what is in the write-ahead log is not seen: %+v, %v", d, err)
	}
	_, _, putErr := r.Put(t.Context(), entry("b", "two"))
	_, _, deleteErr := r.Delete(t.Context(), "a")
	for name, err := range map[string]error{
		"put": putErr, "delete": deleteErr, "meta": r.SetMeta(t.Context(), "k", "v"),
		"tokens": r.SetTokens(t.Context(), map[string]int{"a#0": 1}),
	} {
		if err == nil || !strings.Contains(err.Error(), "read-only") {
			t.Errorf("%s: %v, want it refused as read-only", name, err)
		}
	}
	if _, err := r.read.Exec(`DELETE FROM documents`); err == nil {
		t.Error("the connection itself can write")
	}
}

func TestMigrations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sqlite")
	s := open(t, path, Options{})
	put(t, s, entry("a", "one"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	alter := func(t *testing.T, statements string) {
		t.Helper()
		db, err := sql.Open("sqlite3", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(statements); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct{ name, statements, want string }{
		{"changed text", `UPDATE migrations SET hash = 'x' || hash`, "applied with another text"},
		{"newer", `UPDATE migrations SET hash = substr(hash, 2); INSERT INTO migrations VALUES (3, 'later.sql', 'y')`, "newer version"},
		{"gap", `DELETE FROM migrations WHERE number = 3; UPDATE migrations SET number = 3 WHERE number = 2`, "migration 3 is noted where 2 was expected"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			alter(t, tc.statements)
			for _, readOnly := range []bool{false, true} {
				if got, err := Open(t.Context(), path, Options{ReadOnly: readOnly}); err == nil || !strings.Contains(err.Error(), tc.want) {
					if got != nil {
						got.Close()
					}
					t.Errorf("read-only %v: %v, want it to say %q", readOnly, err, tc.want)
				}
			}
		})
	}
	alter(t, `UPDATE migrations SET number = 2 WHERE number = 3`)
	again := open(t, path, Options{})
	if d, err := again.Document(t.Context(), "a"); err != nil || d.Text != "one" {
		t.Errorf("refusing changed the store: %+v, %v", d, err)
	}
}

func TestReadOnlyDoesNotMigrate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sqlite")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, Options{ReadOnly: true}); err == nil || !strings.Contains(err.Error(), "needs migration 0001") {
		t.Errorf("error %v, want it to name the migration", err)
	}
}

func TestNotADatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sqlite")
	if err := os.WriteFile(path, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, Options{}); err == nil {
		t.Error("a text file opens as a store")
	}
}

// TestHostilePath: the path is part of a URI, where '?' begins parameters.
func TestHostilePath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?mode=memory#c%41&'\"")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s?.sqlite")
	put(t, open(t, path, Options{}), entry("a", "one"))
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		t.Errorf("the file is not where it was asked for: %v", err)
	}
}

// TestReadersAndWriter is "database is locked" (go-sqlite3 issues 204, 632):
// with readers and writers at once no call may fail, and none may see a
// store without tables or half a document.
func TestReadersAndWriter(t *testing.T) {
	s := fresh(t)
	put(t, s, entry("base", "one two three"))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var readers, writers sync.WaitGroup
	for range 16 {
		readers.Go(func() {
			for ctx.Err() == nil {
				n, err := s.Count(context.Background(), Chunks)
				if err != nil || n%3 != 0 || n == 0 {
					t.Errorf("%d chunks, %v: want a multiple of 3", n, err)
					return
				}
				if _, err := s.Passages(context.Background(), "base#0", "base#2"); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for w := range 2 {
		writers.Go(func() {
			for i := range 50 {
				if _, _, err := s.Put(context.Background(), entry(fmt.Sprint("doc", w, i%7), "x y z")); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	stop()
	readers.Wait()
}

func TestCountsAreUnknownNotZero(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sqlite")
	s := open(t, path, Options{})
	put(t, s, entry("a", "one"))
	if _, err := s.write.Exec(`PRAGMA foreign_keys = 0; DROP TABLE vectors; ALTER TABLE chunks RENAME TO gone`); err != nil {
		t.Fatal(err)
	}
	_, chunks := s.Count(t.Context(), Chunks)
	_, walked := s.Enumerate(t.Context(), Chunks)
	_, vectors := s.CountVectors(t.Context(), model)
	_, walkedVectors := s.EnumerateVectors(t.Context(), model)
	_, models := s.Models(t.Context())
	_, unknown := s.Count(t.Context(), "nonsense")
	_, unknownToo := s.Enumerate(t.Context(), "nonsense")
	for name, err := range map[string]error{
		"count chunks": chunks, "enumerate chunks": walked, "count vectors": vectors, "enumerate vectors": walkedVectors,
		"models": models, "count nonsense": unknown, "enumerate nonsense": unknownToo,
	} {
		if err == nil {
			t.Errorf("%s: no error for a missing table", name)
		}
	}
}

func TestDamagedVectors(t *testing.T) {
	for name, data := range map[string]any{
		"cut short": []byte{1, 2, 3}, "empty": []byte{}, "too long": make([]byte, 12),
		"not a number": []byte{0, 0, 0xc0, 0x7f, 0, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := fresh(t)
			put(t, s, entry("a", "one"))
			if _, err := s.write.Exec(`UPDATE vectors SET data = ?`, data); err != nil {
				t.Fatal(err)
			}
			err := s.EachVector(t.Context(), model, func(string, []float32) error { return nil })
			if err == nil || !strings.Contains(err.Error(), "a#0") {
				t.Errorf("error %v, want one that names the chunk", err)
			}
		})
	}
}

func TestModels(t *testing.T) {
	s := fresh(t)
	put(t, s, entry("a", "one"))
	other := entry("b", "two")
	other.Model.Digest = "d2"
	put(t, s, other)
	models, err := s.Models(t.Context())
	if err != nil || len(models) != 2 {
		t.Fatalf("%d models, %v, want 2", len(models), err)
	}
	for _, m := range models {
		n, err1 := s.CountVectors(t.Context(), m)
		k, err2 := s.EnumerateVectors(t.Context(), m)
		if err := errors.Join(err1, err2); err != nil || n != 1 || k != 1 {
			t.Errorf("model %s: %d vectors, %d enumerated, %v", m.Digest, n, k, err)
		}
	}
	if _, _, err := s.Delete(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	if models, err := s.Models(t.Context()); err != nil || len(models) != 1 || models[0] != model {
		t.Errorf("models %+v, %v: one without vectors is still listed", models, err)
	}
	for _, change := range []func(*embed.Info){
		func(i *embed.Info) { i.Name = "x" }, func(i *embed.Info) { i.Digest = "x" }, func(i *embed.Info) { i.Pooling = "cls" },
		func(i *embed.Info) { i.Dim = 3 }, func(i *embed.Info) { i.MaxTokens = 128 },
	} {
		changed := model
		change(&changed)
		if ModelDigest(changed) == ModelDigest(model) {
			t.Errorf("%+v and %+v have one digest", changed, model)
		}
	}
}

func TestClosed(t *testing.T) {
	s := fresh(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, count := s.Count(t.Context(), Documents)
	_, _, write := s.Put(t.Context(), entry("a", "one"))
	if count == nil || write == nil {
		t.Errorf("a closed store answers: %v, %v", count, write)
	}
}
