package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/embed"
	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
)

func substrates(t testing.TB, e *engine.Engine) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, s := range e.Substrates(context.Background()) {
		if !s.Count.Known() || !s.Enumerated.Known() || s.Count.N != s.Enumerated.N {
			t.Errorf("%s: count %+v, enumerated %+v", s.Name, s.Count, s.Enumerated)
		}
		out[s.Name] += s.Count.N
	}
	return out
}

// without leaves out the steps of one name.
func without(skipped []engine.SkippedStep, step string) []engine.SkippedStep {
	return slices.DeleteFunc(slices.Clone(skipped), func(s engine.SkippedStep) bool { return s.Step == step })
}

func TestIngestReport(t *testing.T) {
	e := open(t, t.TempDir(), engine.Config{Chunk: small, BatchSize: 2})
	long := strings.Repeat("word ", 40)
	report := ingest(t, e,
		engine.Document{ID: "a", Text: long},
		engine.Document{ID: "b", Title: "only a title"},
		engine.Document{ID: "c", Text: " \n"},
		engine.Document{ID: "d", Text: "short"},
		engine.Document{ID: "d", Text: "short again"},
	)
	if report.Documents != 4 || report.Chunks != 5 || report.Replaced != 1 {
		t.Errorf("report %+v", report)
	}
	if diff := cmp.Diff([]engine.SkippedStep{{DocumentID: "c", Step: "chunk", Reason: "no title and no text"}}, without(report.Skipped, "episodes")); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	var steps []string
	for _, s := range report.Steps {
		steps = append(steps, s.Name)
		if s.Wall < 0 {
			t.Errorf("step %s took %v", s.Name, s.Wall)
		}
	}
	if diff := cmp.Diff([]string{"chunk", "count", "enrich", "embed", "store", "lexical", "dense"}, steps); diff != "" {
		t.Errorf("steps, each once (-want +got):\n%s", diff)
	}
	want := map[string]int{"documents": 4, "chunks": 5, "lexical": 5, "vectors": 5,
		"entities": 0, "links": 0, "event_dates": 0, "pages": 0, "page_sources": 0, "episodes": 0}
	if diff := cmp.Diff(want, substrates(t, e)); diff != "" {
		t.Errorf("substrates (-want +got):\n%s", diff)
	}
	if r := search(t, e, engine.Query{Text: "title", K: 1}); len(r.Hits) != 1 || r.Hits[0].ChunkID != "b#0" {
		t.Errorf("a document of a title alone: hits %+v", r.Hits)
	}
}

func TestIdsThatLookAlike(t *testing.T) {
	e := open(t, t.TempDir(), engine.Config{Chunk: small})
	ids := []string{"a", "a#0", "a#0#0", "a%230", "a#1", "../a", "a b", "шум", "'; --", "a?x=1&y"}
	for _, id := range ids {
		ingest(t, e, engine.Document{ID: id, Text: strings.Repeat("fox ", 20)})
	}
	r := search(t, e, engine.Query{Text: "fox", K: 100, Unit: engine.UnitDocument})
	got := documents(r.Hits)
	slices.Sort(got)
	slices.Sort(ids)
	if diff := cmp.Diff(ids, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := e.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if got := substrates(t, e)["chunks"]; got != 2*(len(ids)-1) {
		t.Errorf("%d chunks after a delete of one document", got)
	}
}

// TestOneBadText: a text that the model cannot take costs its own vector and
// nothing else.
func TestOneBadText(t *testing.T) {
	for name, spoil := range map[string]func(*embed.Vector){
		"error":        func(v *embed.Vector) { *v = embed.Vector{Err: errors.New("too odd")} },
		"not a number": func(v *embed.Vector) { v.Values[3] = float32(math.NaN()) },
	} {
		t.Run(name, func(t *testing.T) {
			model := embedder{Embedder: embedtest.New(64), embed: func(texts []string, vectors []embed.Vector, err error) ([]embed.Vector, error) {
				for i, text := range texts {
					if strings.Contains(text, "poison") {
						spoil(&vectors[i])
					}
				}
				return vectors, err
			}}
			e := open(t, t.TempDir(), engine.Config{Embedder: model})
			docs := corpus(100)
			docs[42].Text = "poison xyzzy"
			report := ingest(t, e, docs...)
			if skipped := without(report.Skipped, "episodes"); report.Documents != 100 || len(skipped) != 1 || skipped[0].DocumentID != "doc042" || skipped[0].Step != "embed" {
				t.Errorf("%d documents, skipped %+v", report.Documents, skipped)
			}
			got := substrates(t, e)
			if got["vectors"] != got["chunks"]-1 || got["lexical"] != got["chunks"] {
				t.Errorf("substrates %v", got)
			}
			if r := search(t, e, engine.Query{Text: "xyzzy", K: 1}); r.Hits[0].DocumentID != "doc042" {
				t.Errorf("without a vector it is not found by its words: %v", documents(r.Hits))
			}
		})
	}
}

func TestTruncatedChunksAreNamed(t *testing.T) {
	model := embedder{Embedder: embedtest.New(64), embed: func(texts []string, vectors []embed.Vector, err error) ([]embed.Vector, error) {
		for i := range texts {
			vectors[i].Truncated = vectors[i].Tokens > 10
		}
		return vectors, err
	}}
	e := open(t, t.TempDir(), engine.Config{Embedder: model})
	report := ingest(t, e, engine.Document{ID: "a", Text: "short"}, engine.Document{ID: "b", Text: strings.Repeat("long ", 11)})
	if diff := cmp.Diff([]string{"b#0"}, report.Truncated); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r := search(t, e, engine.Query{Text: strings.Repeat("long ", 11), K: 1})
	if s := stage(t, r, engine.StageVector); !strings.Contains(s.Reason, "of 11 tokens") {
		t.Errorf("a truncated question: reason %q", s.Reason)
	}
}

func TestEmbedderThatBreaksItsPromise(t *testing.T) {
	broken := errors.New("broken")
	for _, tc := range []struct {
		name  string
		embed func([]string, []embed.Vector, error) ([]embed.Vector, error)
		want  string
	}{
		{"fewer vectors", func(_ []string, v []embed.Vector, err error) ([]embed.Vector, error) { return v[1:], err }, "1 vectors for 2 texts"},
		{"other length", func(_ []string, v []embed.Vector, err error) ([]embed.Vector, error) {
			v[1].Values = v[1].Values[:3]
			return v, err
		}, "a vector of 3 numbers"},
		{"error", func([]string, []embed.Vector, error) ([]embed.Vector, error) { return nil, broken }, "broken"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := open(t, t.TempDir(), engine.Config{Embedder: embedder{Embedder: embedtest.New(64), embed: tc.embed}})
			report, err := e.Ingest(t.Context(), corpus(2)...)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want it to say %q", err, tc.want)
			}
			if report.Documents != 0 || substrates(t, e)["documents"] != 0 {
				t.Errorf("%d documents reported, substrates %v", report.Documents, substrates(t, e))
			}
		})
	}
}

func TestIngestIsAllValidOrNothing(t *testing.T) {
	e := open(t, t.TempDir(), engine.Config{})
	for name, bad := range map[string]engine.Document{
		"the id is empty": {Text: "x"}, "its text is not UTF-8": {ID: "bad", Text: "\xff"}, "control character": {ID: "a\x00b"},
	} {
		_, err := e.Ingest(t.Context(), engine.Document{ID: "good", Text: "fox"}, bad)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if got := substrates(t, e)["documents"]; got != 0 {
			t.Errorf("%s: %d documents ingested", name, got)
		}
	}
}

// TestCancelledIngest ends between two documents, and what is in is in all
// indexes.
func TestCancelledIngest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	model := embedder{Embedder: embedtest.New(64), embed: func(_ []string, v []embed.Vector, err error) ([]embed.Vector, error) {
		if calls++; calls == 3 {
			cancel()
		}
		return v, err
	}}
	dir := t.TempDir()
	e := open(t, dir, engine.Config{Embedder: model, BatchSize: 10})
	report, err := e.Ingest(ctx, corpus(100)...)
	if !errors.Is(err, context.Canceled) || report.Documents != 20 {
		t.Errorf("%d documents, %v, want 20 and %v", report.Documents, err, context.Canceled)
	}
	if got := substrates(t, e); got["documents"] != 20 {
		t.Errorf("substrates %v", got)
	}
	ingest(t, e, corpus(100)...)
	if got := substrates(t, e); got["documents"] != 100 {
		t.Errorf("after another ingest: substrates %v", got)
	}
}

func TestDelete(t *testing.T) {
	e := open(t, t.TempDir(), engine.Config{Chunk: small})
	ingest(t, e, corpus(10)...)
	if err := e.Delete(t.Context()); err != nil {
		t.Errorf("delete of nothing: %v", err)
	}
	if err := e.Delete(t.Context(), "doc001", "absent"); !errors.Is(err, engine.ErrNotFound) || !strings.Contains(err.Error(), "absent") {
		t.Errorf("delete of an absent document: %v", err)
	}
	if got := substrates(t, e)["documents"]; got != 10 {
		t.Errorf("a delete that failed left %d documents", got)
	}
	for i := range 10 {
		if err := e.Delete(t.Context(), fmt.Sprintf("doc%03d", i)); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]int{"documents": 0, "chunks": 0, "lexical": 0, "vectors": 0,
		"entities": 0, "links": 0, "event_dates": 0, "pages": 0, "page_sources": 0, "episodes": 0}
	if diff := cmp.Diff(want, substrates(t, e)); diff != "" {
		t.Errorf("substrates (-want +got):\n%s", diff)
	}
	if r := search(t, e, engine.Query{Text: "wordaa", K: 5}); len(r.Hits) != 0 {
		t.Errorf("deleted documents are found: %v", documents(r.Hits))
	}
}

// TestReplacedTextIsNotFound: no stale hit for a word that only the old text
// had.
func TestReplacedTextIsNotFound(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, engine.Config{Chunk: small})
	ingest(t, e, engine.Document{ID: "a", Text: "fox " + strings.Repeat("filler ", 40)}, engine.Document{ID: "b", Text: "hound"})
	ingest(t, e, engine.Document{ID: "a", Text: "gamma"})
	for range 2 {
		r := search(t, e, engine.Query{Text: "fox filler", K: 5})
		if s := stage(t, r, engine.StageLexical); len(s.Hits) != 0 {
			t.Errorf("stale hits %v", chunks(s.Hits))
		}
		if r := search(t, e, engine.Query{Text: "gamma", K: 1}); len(r.Hits) != 1 || r.Hits[0].ChunkID != "a#0" {
			t.Errorf("the new text is not found: %+v", r.Hits)
		}
		shut(t, e)
		e = open(t, dir, engine.Config{Chunk: small})
	}
}
