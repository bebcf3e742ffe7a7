package engine_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/rerank"
)

// TestSameRanking: what the engine holds decides a ranking, not how it came
// to hold it.
func TestSameRanking(t *testing.T) {
	docs := corpus(120)
	rng := rand.New(rand.NewPCG(2, 2))
	shuffled := func() []engine.Document {
		out := slices.Clone(docs)
		rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		return out
	}
	build := func(t *testing.T, batch int, docs ...engine.Document) *engine.Engine {
		e := open(t, t.TempDir(), engine.Config{Chunk: small, BatchSize: batch})
		ingest(t, e, docs...)
		return e
	}
	reference := build(t, 50, docs...)
	want := rankings(t, reference)
	for q, r := range want {
		if len(r.Stages[0].Hits) == 0 {
			t.Fatalf("%s finds nothing: the test would show nothing", q)
		}
	}
	extra := engine.Document{ID: "extra", Title: "title1", Text: questions[6], Meta: map[string]string{"lang": "de"}}
	for _, tc := range []struct {
		name string
		make func(t *testing.T) *engine.Engine
	}{
		{"building again", func(t *testing.T) *engine.Engine { return build(t, 50, docs...) }},
		{"another order", func(t *testing.T) *engine.Engine { return build(t, 50, shuffled()...) }},
		{"batches of 1", func(t *testing.T) *engine.Engine { return build(t, 1, docs...) }},
		{"batches of 500 in another order", func(t *testing.T) *engine.Engine { return build(t, 500, shuffled()...) }},
		{"a call a document", func(t *testing.T) *engine.Engine {
			e := build(t, 50)
			for _, d := range shuffled() {
				ingest(t, e, d)
			}
			return e
		}},
		{"adding and deleting a document", func(t *testing.T) *engine.Engine {
			e := build(t, 50, append(shuffled(), extra)...)
			if err := e.Delete(t.Context(), "extra"); err != nil {
				t.Fatal(err)
			}
			return e
		}},
		{"ingesting the same documents again", func(t *testing.T) *engine.Engine {
			e := build(t, 50, docs...)
			if r := ingest(t, e, docs[10:60]...); r.Replaced != 50 {
				t.Errorf("%d documents replaced, want 50", r.Replaced)
			}
			return e
		}},
		{"the same document twice in a call", func(t *testing.T) *engine.Engine {
			old := docs[7]
			old.Text = extra.Text + ". " + extra.Text + ". " + extra.Text
			return build(t, 50, append([]engine.Document{old}, docs...)...)
		}},
		{"replacing a longer document", func(t *testing.T) *engine.Engine {
			old := docs[7]
			old.Text = extra.Text + ". " + extra.Text + ". " + extra.Text
			e := build(t, 50, old)
			ingest(t, e, docs...)
			return e
		}},
		{"deleting and adding again", func(t *testing.T) *engine.Engine {
			e := build(t, 7, docs...)
			for _, d := range docs[20:30] {
				if err := e.Delete(t.Context(), d.ID); err != nil {
					t.Fatal(err)
				}
			}
			ingest(t, e, docs[20:30]...)
			return e
		}},
		{"restarting", func(t *testing.T) *engine.Engine {
			dir := t.TempDir()
			for part := range slices.Chunk(docs, 50) {
				e := open(t, dir, engine.Config{Chunk: small})
				ingest(t, e, part...)
				shut(t, e)
			}
			return open(t, dir, engine.Config{Chunk: small})
		}},
		{"restarting read-only", func(t *testing.T) *engine.Engine {
			dir := t.TempDir()
			e := open(t, dir, engine.Config{Chunk: small})
			ingest(t, e, docs...)
			shut(t, e)
			return open(t, dir, engine.Config{Chunk: small, ReadOnly: true})
		}},
	} {
		t.Run(tc.name, func(t *testing.T) { same(t, tc.name, want, rankings(t, tc.make(t))) })
	}
	t.Run("the test itself can fail", func(t *testing.T) {
		e := build(t, 50, append(docs, extra)...)
		if cmp.Equal(want, rankings(t, e)) {
			t.Error("one more document changes nothing")
		}
	})
}

func TestExplainChangesNoRanking(t *testing.T) {
	e := open(t, t.TempDir(), engine.Config{Chunk: small})
	ingest(t, e, corpus(60)...)
	for _, q := range questions {
		plain := search(t, e, engine.Query{Text: q, K: 20})
		explained := search(t, e, engine.Query{Text: q, K: 20, Explain: true})
		for i := range explained.Hits {
			if explained.Hits[i].Explain == "" || plain.Hits[i].Explain != "" {
				t.Errorf("%q hit %d: explained %q, plain %q", q, i, explained.Hits[i].Explain, plain.Hits[i].Explain)
			}
			explained.Hits[i].Explain = ""
		}
		for i := range plain.Stages {
			a, b := plain.Stages[i], explained.Stages[i]
			a.Latency, b.Latency = 0, 0
			if diff := cmp.Diff(a, b); diff != "" {
				t.Errorf("%q stage %s (-plain +explained):\n%s", q, a.Name, diff)
			}
		}
	}
}

func TestSmallerKIsAPrefix(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, engine.Config{Chunk: small})
	ingest(t, e, corpus(150)...)
	shut(t, e)
	reverse := judge(func(i int, _ rerank.Passage) (float64, error) { return float64(i), nil })
	for name, cfg := range map[string]engine.Config{
		"without judge": {Chunk: small}, "small pool": {Chunk: small, PoolSize: 5}, "with judge": {Chunk: small, Judge: reverse, PoolSize: 30},
	} {
		t.Run(name, func(t *testing.T) {
			e := open(t, dir, cfg)
			defer shut(t, e)
			for _, unit := range []engine.Unit{engine.UnitChunk, engine.UnitDocument} {
				for _, q := range questions {
					all := search(t, e, engine.Query{Text: q, K: 100, Unit: unit})
					if len(all.Hits) < 40 {
						t.Fatalf("%q has %d hits: the test would show little", q, len(all.Hits))
					}
					for _, k := range []int{1, 10, 29, 30, 31, 99} {
						r := search(t, e, engine.Query{Text: q, K: k, Unit: unit})
						if diff := cmp.Diff(all.Hits[:min(k, len(all.Hits))], r.Hits); diff != "" {
							t.Errorf("%q, %s, k %d (-prefix of 100 +got):\n%s", q, unit, k, diff)
						}
					}
				}
			}
		})
	}
}
