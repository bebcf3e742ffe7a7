package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/embed"
	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
	"github.com/touchstone-eval/touchstone/engine/fuse"
	"github.com/touchstone-eval/touchstone/engine/rerank"
)

// TestRawTexts: any text is a question. A passage with the same text is found,
// by both arms or by the one that can, and an arm that finds nothing says why.
func TestRawTexts(t *testing.T) {
	for _, text := range []string{
		"multi-agent", "POL-358", "don't", "ubuntu 20.04", "what is this?", "C++", "a@b.org", "fox AND", "-fox", `""`,
		`"`, "text:fox", "fo* fo? fox~2 fox^3", "/f.x/", "(((", "+-=&|><!{}[]", "'; DROP TABLE chunks; --", "../../etc/passwd", "$(reboot)",
		"😀", "🦊🦊", "👩‍👩‍👧 family", "שלום עולם", "ما هذا؟", "\u202eabc\u202c", "狐狸", "ที่นี่", "e\u0301t\u00e9",
		"\x00", "nul\x00inside", "tab\tand\nline", "\ufeffbom", "a\u00a0b", "%", "_", "#", "doc#0", "\\",
		strings.Repeat("word and another one, ", 455)[:10_000], strings.Repeat("x", 10_000), strings.Repeat("🦊", 2_500),
	} {
		t.Run(fmt.Sprintf("%.20q", text), func(t *testing.T) {
			e := open(t, t.TempDir(), engine.Config{})
			ingest(t, e, engine.Document{ID: "other", Text: "unrelated things"}, engine.Document{ID: "same", Text: text})
			r := search(t, e, engine.Query{Text: text, K: 10})
			if len(r.Hits) == 0 || r.Hits[0].DocumentID != "same" {
				t.Errorf("hits %v, want same first", documents(r.Hits))
			}
			if lexical := stage(t, r, engine.StageLexical); len(lexical.Hits) == 0 || lexical.State != engine.Executed {
				t.Errorf("the lexical arm is %s and finds nothing: %q", lexical.State, lexical.Reason)
			}
			for _, s := range r.Stages {
				if len(s.Hits) == 0 && s.Reason == "" {
					t.Errorf("stage %s is silently empty", s.Name)
				}
			}
		})
	}
}

func FuzzSearch(f *testing.F) {
	for _, q := range append(questions, "", "\xff", `""`, "#", "🦊", "what is this?") {
		f.Add(q, 10)
	}
	e := open(f, f.TempDir(), engine.Config{Chunk: small, Channels: allChannels, Boosts: engine.Boosts{Title: 1}})
	docs, more := allSets(f)
	ingest(f, e, append(corpus(30), docs...)...)
	for _, q := range more {
		f.Add(q.Text, 5)
	}
	f.Fuzz(func(t *testing.T, text string, k int) {
		r, err := e.Search(t.Context(), engine.Query{Text: text, K: k, AsOf: "2024-03-13"})
		if k < 1 {
			if err == nil {
				t.Errorf("k %d is not refused", k)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range r.Stages[:2] {
			if len(s.Hits) == 0 && s.Reason == "" {
				t.Errorf("%s is silently empty", s.Name)
			}
		}
	})
}

func TestQuestionsWithoutText(t *testing.T) {
	e := open(t, t.TempDir(), engine.Config{})
	ingest(t, e, corpus(5)...)
	for _, text := range []string{"", " ", "\n\t\u00a0"} {
		r := search(t, e, engine.Query{Text: text, K: 3})
		if len(r.Hits) != 0 {
			t.Errorf("%q finds %v", text, documents(r.Hits))
		}
		for _, s := range r.Stages[:2] {
			if s.State != engine.Executed || s.Reason != "the question has no text" {
				t.Errorf("%q: stage %s is %s, %q", text, s.Name, s.State, s.Reason)
			}
		}
	}
}

func TestQuestionNotUTF8(t *testing.T) {
	e := open(t, t.TempDir(), engine.Config{})
	ingest(t, e, engine.Document{ID: "a", Text: "red fox"})
	if r := search(t, e, engine.Query{Text: "fox \xff\xfe", K: 3}); len(r.Hits) != 1 {
		t.Errorf("hits %v", documents(r.Hits))
	}
}

func TestLiteralSearch(t *testing.T) {
	e := open(t, t.TempDir(), engine.Config{Depth: 3})
	for i, text := range []string{"🦊", "🦊🦊🦊 x", "none", "a 🦊🦊", "y 🦊🦊"} {
		ingest(t, e, engine.Document{ID: fmt.Sprint(i), Text: text, Meta: map[string]string{"even": fmt.Sprint(i%2 == 0)}})
	}
	r := search(t, e, engine.Query{Text: " 🦊 ", K: 5})
	lexical := stage(t, r, engine.StageLexical)
	if diff := cmp.Diff([]string{"1", "3", "4"}, documents(lexical.Hits)); diff != "" || lexical.Total != 4 || !strings.Contains(lexical.Reason, "literal") {
		t.Errorf("total %d, reason %q (-want +got):\n%s", lexical.Total, lexical.Reason, diff)
	}
	r = search(t, e, engine.Query{Text: "🦊", K: 5, Filters: map[string]string{"even": "true"}})
	if diff := cmp.Diff([]string{"4", "0"}, documents(stage(t, r, engine.StageLexical).Hits)); diff != "" {
		t.Errorf("filtered (-want +got):\n%s", diff)
	}
}

func TestFilters(t *testing.T) {
	docs := corpus(150)
	meta := map[string]map[string]string{}
	for _, d := range docs {
		meta[d.ID] = d.Meta
	}
	e := open(t, t.TempDir(), engine.Config{Chunk: small, Depth: 1000})
	ingest(t, e, docs...)
	cut := open(t, t.TempDir(), engine.Config{Chunk: small, Depth: 10})
	ingest(t, cut, docs...)
	for _, tc := range []struct {
		name    string
		filters map[string]string
		some    bool
	}{
		{"a third", map[string]string{"lang": "de"}, true},
		{"one document", map[string]string{"rare": "true"}, true},
		{"both", map[string]string{"lang": "en", "rare": "true"}, true},
		{"contradiction", map[string]string{"lang": "de", "rare": "true"}, false},
		{"no such value", map[string]string{"lang": "*"}, false},
		{"no such key", map[string]string{"title": "title1"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			passes := func(h engine.Hit) bool {
				for k, v := range tc.filters {
					if meta[h.DocumentID][k] != v {
						return false
					}
				}
				return true
			}
			for _, q := range questions {
				all := search(t, e, engine.Query{Text: q, K: 1000})
				got := search(t, cut, engine.Query{Text: q, K: 1000, Filters: tc.filters})
				for i, arm := range []string{engine.StageVector, engine.StageLexical} {
					var want []string
					for _, h := range stage(t, all, arm).Hits {
						if passes(h) {
							want = append(want, h.ChunkID)
						}
					}
					s := got.Stages[i]
					if s.Total != len(want) {
						t.Errorf("%q %s: total %d, want %d", q, arm, s.Total, len(want))
					}
					if diff := cmp.Diff(append([]string{}, want[:min(10, len(want))]...), chunks(s.Hits)); diff != "" {
						t.Errorf("%q %s (-want +got):\n%s", q, arm, diff)
					}
					if len(want) == 0 && !strings.Contains(s.Reason, "filters") {
						t.Errorf("%q %s: empty, reason %q", q, arm, s.Reason)
					}
				}
				if (len(got.Hits) > 0) != tc.some {
					t.Errorf("%q: %d hits", q, len(got.Hits))
				}
			}
		})
	}
}

// TestDeletedDocumentsTakeNoPlace: k live results come back when there are so
// many.
func TestDeletedDocumentsTakeNoPlace(t *testing.T) {
	e := open(t, t.TempDir(), engine.Config{Depth: 3})
	for i := range 8 {
		ingest(t, e, engine.Document{ID: fmt.Sprint("d", i), Text: "fox" + strings.Repeat(" hound", i)})
	}
	if err := e.Delete(t.Context(), "d0", "d1", "d2", "d0"); err != nil {
		t.Fatal(err)
	}
	r := search(t, e, engine.Query{Text: "fox", K: 3})
	if diff := cmp.Diff([]string{"d3", "d4", "d5"}, documents(r.Hits)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, s := range r.Stages[:2] {
		if s.Total != 5 || len(s.Hits) != 3 || s.CutAt != 3 {
			t.Errorf("%s: %d hits of %d, cut at %d", s.Name, len(s.Hits), s.Total, s.CutAt)
		}
	}
}

func TestStages(t *testing.T) {
	e := open(t, t.TempDir(), engine.Config{Chunk: small, Depth: 40, PoolSize: 12})
	ingest(t, e, corpus(80)...)
	r := search(t, e, engine.Query{Text: questions[6], K: 20})
	type line struct {
		Name  string
		State engine.State
		Hits  int
		CutAt int
		Why   string
	}
	var got []line
	for _, s := range r.Stages {
		got = append(got, line{s.Name, s.State, len(s.Hits), s.CutAt, s.Reason})
	}
	fused := len(stage(t, r, engine.StageFusion).Hits)
	want := []line{
		{"vector", engine.Executed, 40, 40, ""}, {"lexical", engine.Executed, 40, 40, ""},
		{"fusion", engine.Executed, fused, 0, ""}, {"boosted", engine.Executed, fused, 0, "identity: no boost is declared"},
		{"candidates", engine.Executed, 12, 12, ""}, {"rerank", engine.Skipped, 12, 0, "no model"},
		{"final", engine.Executed, 20, 20, ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(r.Stages[6].Hits, r.Hits); diff != "" {
		t.Errorf("the hits are not those of the final stage:\n%s", diff)
	}
	if diff := cmp.Diff(r.Stages[2].Hits[:20], r.Hits); diff != "" {
		t.Errorf("without boost and judge the final order is not the fused one:\n%s", diff)
	}
}

// TestFusionReplays: what the stages recorded is enough to fuse again, to the
// bit.
func TestFusionReplays(t *testing.T) {
	w := fuse.Weights{Vector: .3, Lexical: 1.7}
	e := open(t, t.TempDir(), engine.Config{Chunk: small, Depth: 30, Weights: w, RRFK: 20})
	ingest(t, e, corpus(80)...)
	for _, q := range questions {
		r := search(t, e, engine.Query{Text: q, K: 5})
		replay, err := fuse.RRF(chunks(r.Stages[0].Hits), chunks(r.Stages[1].Hits), w, 20)
		if err != nil {
			t.Fatal(err)
		}
		var want []engine.Hit
		for _, h := range replay {
			want = append(want, engine.Hit{ChunkID: h.ID, DocumentID: strings.Split(h.ID, "#")[0], Score: h.Score})
		}
		if diff := cmp.Diff(want, r.Stages[2].Hits); diff != "" {
			t.Errorf("%q (-replayed +recorded):\n%s", q, diff)
		}
	}
}

func TestOneEmptyArmIsTheOthersOrder(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, engine.Config{})
	ingest(t, e, corpus(40)...)
	shut(t, e)

	e = open(t, dir, engine.Config{})
	r := search(t, e, engine.Query{Text: "quite elsewhere", K: 40})
	if n := len(r.Stages[1].Hits); n != 0 {
		t.Fatalf("%d lexical hits: the test would show nothing", n)
	}
	if diff := cmp.Diff(chunks(r.Stages[0].Hits), chunks(r.Hits)); diff != "" || len(r.Hits) == 0 {
		t.Errorf("without lexical hits (-vector +final):\n%s", diff)
	}
	shut(t, e)

	blind := embedder{Embedder: embedtest.New(64), embed: func(_ []string, v []embed.Vector, err error) ([]embed.Vector, error) {
		for i := range v {
			v[i].Values = make([]float32, 64)
		}
		return v, err
	}}
	e = open(t, dir, engine.Config{Embedder: blind})
	r = search(t, e, engine.Query{Text: questions[6], K: 40})
	if s := r.Stages[0]; len(s.Hits) != 0 || s.Reason != "the model knows no part of the question" {
		t.Fatalf("%d vector hits, %q", len(s.Hits), s.Reason)
	}
	if diff := cmp.Diff(chunks(r.Stages[1].Hits), chunks(r.Hits)); diff != "" || len(r.Hits) == 0 {
		t.Errorf("without vector hits (-lexical +final):\n%s", diff)
	}
}

func TestWeightZeroLeavesAnArmOut(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, engine.Config{})
	ingest(t, e, corpus(30)...)
	shut(t, e)
	for arm, w := range map[int]fuse.Weights{0: {Lexical: 1}, 1: {Vector: 1}} {
		e := open(t, dir, engine.Config{Weights: w})
		r := search(t, e, engine.Query{Text: questions[6], K: 10})
		if s := r.Stages[arm]; s.State != engine.Skipped || len(s.Hits) != 0 || s.Reason != "its weight is 0" {
			t.Errorf("%s is %s with %d hits, %q", s.Name, s.State, len(s.Hits), s.Reason)
		}
		if diff := cmp.Diff(chunks(r.Stages[1-arm].Hits[:10]), chunks(r.Hits)); diff != "" {
			t.Errorf("(-the other arm +final):\n%s", diff)
		}
		want := engine.Channel{Name: r.Stages[arm].Name, Skipped: "its weight is 0"}
		if diff := cmp.Diff(want, r.Channels[arm]); diff != "" {
			t.Errorf("channel (-want +got):\n%s", diff)
		}
		shut(t, e)
	}
}

func TestArmsThatFail(t *testing.T) {
	broken := errors.New("broken")
	dir := t.TempDir()
	e := open(t, dir, engine.Config{})
	ingest(t, e, corpus(30)...)
	shut(t, e)
	dead := embedder{Embedder: embedtest.New(64), embed: func([]string, []embed.Vector, error) ([]embed.Vector, error) { return nil, broken }}
	for _, tc := range []struct {
		name            string
		vector, lexical bool // break it
		optional        engine.Arms
		fails           string // the arm whose error is returned; empty for none
	}{
		{"vector", true, false, engine.Arms{}, engine.StageVector},
		{"lexical", false, true, engine.Arms{}, engine.StageLexical},
		{"optional vector", true, false, engine.Arms{Vector: true}, ""},
		{"optional lexical", false, true, engine.Arms{Lexical: true}, ""},
		{"lexical, vector optional", false, true, engine.Arms{Vector: true}, engine.StageLexical},
		{"both, both optional", true, true, engine.Arms{Vector: true, Lexical: true}, engine.StageLexical},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := engine.Config{Optional: tc.optional}
			if tc.vector {
				cfg.Embedder = dead
			}
			e := open(t, dir, cfg)
			defer shut(t, e)
			if tc.lexical {
				e.BreakLexical(broken)
			}
			r, err := e.Search(t.Context(), engine.Query{Text: questions[6], K: 5})
			if tc.fails != "" {
				var arm *engine.ArmError
				if !errors.As(err, &arm) || arm.Arm != tc.fails || !errors.Is(err, broken) || r != nil {
					t.Fatalf("result %v, error %v, want the %s arm's", r, err, tc.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			at := 0
			if tc.lexical {
				at = 1
			}
			if s := r.Stages[at]; s.State != engine.Failed || !strings.Contains(s.Reason, "broken") || len(s.Hits) != 0 {
				t.Errorf("stage %+v", s)
			}
			if c := r.Channels[at]; c.Fired || c.Contributed || c.Skipped == "" {
				t.Errorf("channel %+v", c)
			}
			if diff := cmp.Diff(chunks(r.Stages[1-at].Hits[:5]), chunks(r.Hits)); diff != "" {
				t.Errorf("(-the other arm +final):\n%s", diff)
			}
		})
	}
}

func TestChannels(t *testing.T) {
	e := open(t, t.TempDir(), engine.Config{})
	ingest(t, e, engine.Document{ID: "a", Text: "red fox"}, engine.Document{ID: "b", Text: "blue hound"})
	for _, tc := range []struct {
		question string
		want     []engine.Channel
	}{
		{"fox", []engine.Channel{{Name: "vector", Fired: true, Contributed: true}, {Name: "lexical", Fired: true, Contributed: true}}},
		{"nothing of it", []engine.Channel{{Name: "vector", Fired: true, Contributed: true}, {Name: "lexical"}}},
	} {
		tc.want = append(tc.want, engine.Channel{Name: "graph", Skipped: "off"}, engine.Channel{Name: "temporal", Skipped: "off"},
			engine.Channel{Name: "pages", Skipped: "off"}, engine.Channel{Name: "episodes", Skipped: "off"})
		r := search(t, e, engine.Query{Text: tc.question, K: 1})
		if diff := cmp.Diff(tc.want, r.Channels); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tc.question, diff)
		}
	}
}

func TestUnits(t *testing.T) {
	e := open(t, t.TempDir(), engine.Config{Chunk: small})
	ingest(t, e, corpus(40)...)
	for _, q := range questions {
		byChunk := search(t, e, engine.Query{Text: q, K: 1000})
		byDocument := search(t, e, engine.Query{Text: q, K: 1000, Unit: engine.UnitDocument})
		var want []engine.Hit
		seen := map[string]bool{}
		for _, h := range byChunk.Hits {
			if !seen[h.DocumentID] {
				seen[h.DocumentID] = true
				want = append(want, h)
			}
		}
		if len(want) == len(byChunk.Hits) {
			t.Fatalf("%q finds one passage a document: the test would show nothing", q)
		}
		if diff := cmp.Diff(want, byDocument.Hits); diff != "" {
			t.Errorf("%q (-want +got):\n%s", q, diff)
		}
	}
}

func TestJudge(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, engine.Config{Chunk: small})
	ingest(t, e, corpus(60)...)
	plain := search(t, e, engine.Query{Text: questions[6], K: 40})
	shut(t, e)

	var seen []rerank.Passage
	reverse := judge(func(i int, p rerank.Passage) (float64, error) {
		seen = append(seen, p)
		return float64(i), nil
	})
	e = open(t, dir, engine.Config{Chunk: small, Judge: reverse, PoolSize: 10})
	r := search(t, e, engine.Query{Text: questions[6], K: 40})
	shut(t, e)
	want := chunks(plain.Hits)
	for i := range 5 {
		want[i], want[9-i] = want[9-i], want[i]
	}
	if diff := cmp.Diff(want, chunks(r.Hits)); diff != "" {
		t.Errorf("the pool reversed, then the rest (-want +got):\n%s", diff)
	}
	if len(seen) != 10 || !strings.HasPrefix(seen[0].Text, "word") || !strings.HasPrefix(seen[0].Title, "title") {
		t.Errorf("the judge saw %d passages, first %+v", len(seen), seen)
	}
	if s := stage(t, r, engine.StageRerank); s.State != engine.Executed || s.Hits[0].Score != 9 {
		t.Errorf("rerank is %s, first %+v", s.State, s.Hits[0])
	}

	broken := errors.New("broken")
	e = open(t, dir, engine.Config{Chunk: small, Judge: judge(func(int, rerank.Passage) (float64, error) { return 0, broken })})
	if r, err := e.Search(t.Context(), engine.Query{Text: questions[6], K: 5}); !errors.Is(err, broken) {
		t.Errorf("result %v, error %v, want the judge's", r, err)
	}
}

func TestSearchRefuses(t *testing.T) {
	e := open(t, t.TempDir(), engine.Config{})
	ingest(t, e, corpus(5)...)
	for name, q := range map[string]engine.Query{
		`as of "soon"`: {Text: "fox", K: 1, AsOf: "soon"},
		"k 0":          {Text: "fox"}, "k -1": {Text: "fox", K: -1}, `unit "page"`: {Text: "fox", K: 1, Unit: "page"},
	} {
		if _, err := e.Search(t.Context(), q); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := e.Search(ctx, engine.Query{Text: "wordaa", K: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, %v", r, err)
	}
	shut(t, e)
	_, searchErr := e.Search(t.Context(), engine.Query{Text: "wordaa", K: 1})
	_, ingestErr := e.Ingest(t.Context(), corpus(1)...)
	for name, err := range map[string]error{"search": searchErr, "ingest": ingestErr, "delete": e.Delete(t.Context(), "doc000")} {
		if !errors.Is(err, engine.ErrClosed) {
			t.Errorf("%s after close: %v", name, err)
		}
	}
	for _, s := range e.Substrates(t.Context()) {
		if s.Count.Known() || s.Enumerated.Known() {
			t.Errorf("%s is known after close: %+v", s.Name, s)
		}
	}
}

func TestEmptyEngine(t *testing.T) {
	e := open(t, t.TempDir(), engine.Config{})
	ingest(t, e)
	r := search(t, e, engine.Query{Text: "fox", K: 5})
	if len(r.Hits) != 0 || r.Stages[0].Reason == "" || r.Stages[1].Reason == "" {
		t.Errorf("%d hits, reasons %q, %q", len(r.Hits), r.Stages[0].Reason, r.Stages[1].Reason)
	}
}
