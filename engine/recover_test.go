package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/chunk"
	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
	"github.com/touchstone-eval/touchstone/engine/lexical"
)

func copyDir(t *testing.T, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

func tryOpen(dir string, cfg engine.Config) error {
	if cfg.Embedder == nil {
		cfg.Embedder = embedtest.New(64)
	}
	e, err := engine.Open(context.Background(), dir, cfg)
	if err == nil {
		err = e.Close()
	}
	return err
}

// TestLexicalIndexIsRepaired: whatever happened to the lexical index, the
// engine either answers as before or says that it can't.
func TestLexicalIndexIsRepaired(t *testing.T) {
	docs := corpus(60)
	for _, tc := range []struct {
		name   string
		damage func(t *testing.T, dir string)
	}{
		{"deleted", func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, engine.LexicalDir)); err != nil {
				t.Fatal(err)
			}
		}},
		{"emptied", func(t *testing.T, dir string) {
			x, err := lexical.Create(filepath.Join(dir, engine.LexicalDir))
			if err != nil {
				t.Fatal(err)
			}
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
		}},
		{"segment files deleted", func(t *testing.T, dir string) {
			files, err := filepath.Glob(filepath.Join(dir, engine.LexicalDir, "store", "*.zap"))
			if err != nil || len(files) == 0 {
				t.Fatalf("%d files, %v", len(files), err)
			}
			for _, f := range files {
				if err := os.Remove(f); err != nil {
					t.Fatal(err)
				}
			}
		}},
		{"noise", func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, engine.LexicalDir, "store", "root.bolt"), make([]byte, 40_000), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"a passage lost, the state kept", func(t *testing.T, dir string) {
			x, err := lexical.Open(filepath.Join(dir, engine.LexicalDir), false)
			if err != nil {
				t.Fatal(err)
			}
			state, err := x.State()
			if err = errors.Join(err, x.Apply(nil, []string{"doc003#0"}, state), x.Close()); err != nil {
				t.Fatal(err)
			}
		}},
		{"older than the store", func(t *testing.T, dir string) {
			old := t.TempDir()
			copyDir(t, filepath.Join(dir, engine.LexicalDir), old)
			e := open(t, dir, engine.Config{Chunk: small})
			ingest(t, e, engine.Document{ID: "new", Text: "fox"})
			if err := e.Delete(t.Context(), "new"); err != nil {
				t.Fatal(err)
			}
			shut(t, e)
			copyDir(t, old, filepath.Join(dir, engine.LexicalDir))
		}},
		{"older, with as many passages", func(t *testing.T, dir string) {
			e := open(t, dir, engine.Config{Chunk: small})
			d := docs[3]
			d.Text = strings.ReplaceAll(d.Text, "word", "wort")
			ingest(t, e, d)
			shut(t, e)
			old := t.TempDir()
			copyDir(t, filepath.Join(dir, engine.LexicalDir), old)
			e = open(t, dir, engine.Config{Chunk: small})
			ingest(t, e, docs[3])
			shut(t, e)
			copyDir(t, old, filepath.Join(dir, engine.LexicalDir))
		}},
		{"newer than the store", func(t *testing.T, dir string) {
			old := t.TempDir()
			copyDir(t, dir, old)
			e := open(t, dir, engine.Config{Chunk: small})
			ingest(t, e, engine.Document{ID: "new", Text: "wordaa"})
			shut(t, e)
			newer := t.TempDir()
			copyDir(t, filepath.Join(dir, engine.LexicalDir), newer)
			copyDir(t, old, dir)
			copyDir(t, newer, filepath.Join(dir, engine.LexicalDir))
		}},
		{"of another store", func(t *testing.T, dir string) {
			other := t.TempDir()
			e := open(t, other, engine.Config{Chunk: small})
			changed := corpus(60)
			changed[7].Text = changed[8].Text
			ingest(t, e, changed...)
			shut(t, e)
			copyDir(t, filepath.Join(other, engine.LexicalDir), filepath.Join(dir, engine.LexicalDir))
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			e := open(t, dir, engine.Config{Chunk: small})
			ingest(t, e, docs...)
			want := rankings(t, e)
			shut(t, e)
			tc.damage(t, dir)

			err := tryOpen(dir, engine.Config{Chunk: small, ReadOnly: true})
			if !errors.Is(err, lexical.ErrStale) || !strings.Contains(err.Error(), "open it once for writing") {
				t.Errorf("read-only: %v, want it refused with what to do", err)
			}
			e = open(t, dir, engine.Config{Chunk: small})
			same(t, tc.name, want, rankings(t, e))
			substrates(t, e)
			shut(t, e)
			if err := tryOpen(dir, engine.Config{Chunk: small, ReadOnly: true}); err != nil {
				t.Errorf("read-only after the repair: %v", err)
			}
		})
	}
}

// TestRebuildCountsTermsAgain: the totals are those of the analyzer in use,
// even if another one counted when the documents came in.
func TestRebuildCountsTermsAgain(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, engine.Config{Chunk: small})
	ingest(t, e, corpus(60)...)
	want := rankings(t, e)
	shut(t, e)
	alter(t, dir, `UPDATE chunks SET tokens = tokens + ordinal * 50`)
	if err := os.RemoveAll(filepath.Join(dir, engine.LexicalDir)); err != nil {
		t.Fatal(err)
	}
	e = open(t, dir, engine.Config{Chunk: small})
	same(t, "a count of another analyzer", want, rankings(t, e))
}

// alter runs SQL on the store of a closed engine.
func alter(t *testing.T, dir, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(dir, engine.StoreFile))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
}

func TestOtherModelIsRefused(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, engine.Config{})
	ingest(t, e, corpus(5)...)
	shut(t, e)
	base := embedtest.New(64).Info()
	for name, change := range map[string]func() embedder{
		"other length": func() embedder { return embedder{Embedder: embedtest.New(32)} },
		"same length, other digest": func() embedder {
			info := base
			info.Digest = strings.Repeat("0", 64)
			return embedder{Embedder: embedtest.New(64), info: &info}
		},
		"same model, other pooling": func() embedder {
			info := base
			info.Pooling = "cls"
			return embedder{Embedder: embedtest.New(64), info: &info}
		},
	} {
		for _, readOnly := range []bool{false, true} {
			err := tryOpen(dir, engine.Config{Embedder: change(), ReadOnly: readOnly})
			if !errors.Is(err, engine.ErrOtherModel) || !strings.Contains(err.Error(), "ingest into a new folder") {
				t.Errorf("%s, read-only %v: %v", name, readOnly, err)
			}
		}
	}
	if err := tryOpen(dir, engine.Config{}); err != nil {
		t.Errorf("its own model: %v", err)
	}
}

// TestMixedModelsAreRefused: a store that holds vectors of two models is
// refused by both.
func TestMixedModelsAreRefused(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, engine.Config{})
	ingest(t, e, corpus(5)...)
	shut(t, e)
	alter(t, dir, `INSERT INTO models (digest, info) VALUES ('other', '{"Name":"other","Dim":64}');
		UPDATE vectors SET model = (SELECT model FROM models WHERE digest = 'other') WHERE chunk = 1`)
	if err := tryOpen(dir, engine.Config{}); !errors.Is(err, engine.ErrOtherModel) {
		t.Errorf("error %v", err)
	}
}

func TestEmptyFolderTakesAnyModelAndSettings(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, engine.Config{})
	ingest(t, e, corpus(3)...)
	for _, d := range corpus(3) {
		if err := e.Delete(t.Context(), d.ID); err != nil {
			t.Fatal(err)
		}
	}
	shut(t, e)
	e = open(t, dir, engine.Config{Embedder: embedtest.New(32), Chunk: small})
	ingest(t, e, corpus(3)...)
	if r := search(t, e, engine.Query{Text: "wordaa", K: 3}); len(r.Hits) == 0 {
		t.Error("nothing is found")
	}
	shut(t, e)
	if err := tryOpen(dir, engine.Config{Embedder: embedtest.New(32)}); !errors.Is(err, engine.ErrOtherChunks) {
		t.Errorf("with the settings it had before: %v", err)
	}
}

func TestOtherChunksAreRefused(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, engine.Config{Chunk: small})
	ingest(t, e, corpus(5)...)
	shut(t, e)
	for _, c := range []chunk.Config{{}, {MaxWords: 16}, {MaxWords: 15, Overlap: 1}} {
		for _, readOnly := range []bool{false, true} {
			err := tryOpen(dir, engine.Config{Chunk: c, ReadOnly: readOnly})
			if !errors.Is(err, engine.ErrOtherChunks) || !strings.Contains(err.Error(), "max_words=15 overlap=0") {
				t.Errorf("%+v, read-only %v: %v", c, readOnly, err)
			}
		}
	}
}

func TestDamagedVectorIsRefused(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, engine.Config{})
	ingest(t, e, corpus(5)...)
	shut(t, e)
	alter(t, dir, `UPDATE vectors SET data = substr(data, 5) WHERE chunk = 2`)
	if err := tryOpen(dir, engine.Config{}); err == nil || !strings.Contains(err.Error(), "doc001#0") {
		t.Errorf("error %v, want it to name the chunk", err)
	}
}

func TestOneWriterOrManyReaders(t *testing.T) {
	dir := t.TempDir()
	writer := open(t, dir, engine.Config{})
	ingest(t, writer, corpus(5)...)
	for _, readOnly := range []bool{false, true} {
		if err := tryOpen(dir, engine.Config{ReadOnly: readOnly}); !errors.Is(err, engine.ErrInUse) {
			t.Errorf("read-only %v beside a writer: %v", readOnly, err)
		}
	}
	shut(t, writer)
	one := open(t, dir, engine.Config{ReadOnly: true})
	two := open(t, dir, engine.Config{ReadOnly: true})
	same(t, "the second reader", rankings(t, one), rankings(t, two))
	if err := tryOpen(dir, engine.Config{}); !errors.Is(err, engine.ErrInUse) {
		t.Errorf("a writer beside readers: %v", err)
	}
	shut(t, one)
	shut(t, two)
	if err := tryOpen(dir, engine.Config{}); err != nil {
		t.Errorf("after all are closed: %v", err)
	}
}

func TestReadOnlyChangesNothing(t *testing.T) {
	if err := tryOpen(filepath.Join(t.TempDir(), "absent"), engine.Config{ReadOnly: true}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an absent folder: %v", err)
	}
	dir := t.TempDir()
	e := open(t, dir, engine.Config{})
	ingest(t, e, corpus(5)...)
	shut(t, e)
	files := func() map[string]string {
		out := map[string]string{}
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, "-shm") || strings.HasSuffix(path, "-wal") {
				return err
			}
			data, err := os.ReadFile(path)
			out[path] = string(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	before := files()
	e = open(t, dir, engine.Config{ReadOnly: true})
	search(t, e, engine.Query{Text: "wordaa", K: 3})
	_, err := e.Ingest(t.Context(), corpus(1)...)
	for name, err := range map[string]error{"ingest": err, "delete": e.Delete(t.Context(), "doc000")} {
		if err == nil || !strings.Contains(err.Error(), "read-only") {
			t.Errorf("%s: %v", name, err)
		}
	}
	shut(t, e)
	if diff := cmp.Diff(before, files()); diff != "" {
		t.Errorf("files changed:\n%.500s", diff)
	}
}

// TestHostileFolderNames: a folder's name is never part of a URI or pattern.
func TestHostileFolderNames(t *testing.T) {
	for _, name := range []string{"a b", "q?mode=memory", "h#x", "p%41", "'; --", "[a-z]*", "ü\n"} {
		dir := filepath.Join(t.TempDir(), name)
		for range 2 {
			e := open(t, dir, engine.Config{})
			ingest(t, e, engine.Document{ID: "a", Text: "fox"})
			shut(t, e)
		}
		if _, err := os.Stat(filepath.Join(dir, engine.StoreFile)); err != nil {
			t.Error(err)
		}
	}
}

func TestFolderThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := tryOpen(file, engine.Config{}); err == nil {
		t.Error("a file opens as a folder")
	}
	if err := tryOpen(filepath.Join(file, "below"), engine.Config{}); err == nil {
		t.Error("a folder below a file opens")
	}
}

func TestSubstratesNeverHideAnError(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, engine.Config{})
	ingest(t, e, corpus(5)...)
	alter(t, dir, `PRAGMA foreign_keys = 0; DELETE FROM vectors WHERE chunk = 1; ALTER TABLE documents RENAME TO gone`)
	for _, s := range e.Substrates(t.Context()) {
		switch s.Name {
		case engine.SubstrateDocuments, engine.SubstrateChunks:
			if s.Count.Known() || s.Enumerated.Known() {
				t.Errorf("%s of a missing table: %+v", s.Name, s)
			}
		case engine.SubstrateVectors:
			if s.Count.N == s.Enumerated.N {
				t.Errorf("vectors deleted behind the engine: %+v", s)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, s := range e.Substrates(ctx) {
		if s.Count.Known() && s.Enumerated.Known() {
			t.Errorf("%s is known though nobody could count: %+v", s.Name, s)
		}
	}
}

func TestSubstratesOfAnEmptyEngine(t *testing.T) {
	e := open(t, t.TempDir(), engine.Config{})
	want := map[string]int{"documents": 0, "chunks": 0, "lexical": 0, "vectors": 0,
		"entities": 0, "links": 0, "event_dates": 0, "pages": 0, "page_sources": 0, "episodes": 0}
	if diff := cmp.Diff(want, substrates(t, e)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := len(e.Substrates(t.Context())); n != len(want) {
		t.Errorf("%d substrates, want one of each: %s", n, fmt.Sprint(e.Substrates(t.Context())))
	}
}
