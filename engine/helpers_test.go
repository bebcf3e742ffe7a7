package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/chunk"
	"github.com/touchstone-eval/touchstone/engine/embed"
	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
	"github.com/touchstone-eval/touchstone/engine/rerank"
)

// open opens an engine that the test closes.
func open(t testing.TB, dir string, cfg engine.Config) *engine.Engine {
	t.Helper()
	if cfg.Embedder == nil {
		cfg.Embedder = embedtest.New(64)
	}
	e, err := engine.Open(context.Background(), dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, e) })
	return e
}

func shut(t testing.TB, e *engine.Engine) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func ingest(t testing.TB, e *engine.Engine, docs ...engine.Document) engine.IngestReport {
	t.Helper()
	report, err := e.Ingest(context.Background(), docs...)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func search(t testing.TB, e *engine.Engine, q engine.Query) *engine.Result {
	t.Helper()
	r, err := e.Search(context.Background(), q)
	if err != nil {
		t.Fatalf("search %.60q: %v", q.Text, err)
	}
	return r
}

func stage(t testing.TB, r *engine.Result, name string) engine.Stage {
	t.Helper()
	s, ok := r.Stage(name)
	if !ok {
		t.Fatalf("no stage %s", name)
	}
	return s
}

func documents(hits []engine.Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, h.DocumentID)
	}
	return out
}

func chunks(hits []engine.Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, h.ChunkID)
	}
	return out
}

// small makes several passages of most documents of corpus.
var small = chunk.Config{MaxWords: 15}

// corpus makes n documents over a small vocabulary; every fifth has the text
// of another, so that there are ties in both arms.
func corpus(n int) []engine.Document {
	rng := rand.New(rand.NewPCG(1, 1))
	docs := make([]engine.Document, n)
	for i := range docs {
		var b strings.Builder
		for range 1 + rng.IntN(5) {
			for range 3 + rng.IntN(9) {
				fmt.Fprintf(&b, "word%c%c ", 'a'+rng.IntN(7), 'a'+rng.IntN(7))
			}
			b.WriteString("end. ")
		}
		docs[i] = engine.Document{
			Source: fmt.Sprint("source", i%2), ID: fmt.Sprintf("doc%03d", i), Title: fmt.Sprint("title", i%9), Text: b.String(),
			Meta: map[string]string{"lang": []string{"en", "de", "fr"}[i%3], "rare": fmt.Sprint(i == n/2)},
		}
		if i%5 == 4 {
			docs[i].Title, docs[i].Text = docs[i-2].Title, docs[i-2].Text
		}
	}
	return docs
}

var questions = []string{
	"wordaa", "wordab wordcd title3", "the wordfg of wordgf", "title1", "quite elsewhere", "absent wordbb",
	"wordaa wordab wordac wordba wordbb wordbc wordca wordcb wordcc worddd wordee wordff wordaf wordfa title1 title2",
}

// ranked is what must not change: all stages, without times.
type ranked struct {
	Stages   []engine.Stage
	Channels []engine.Channel
}

func rankings(t testing.TB, e *engine.Engine) map[string]ranked {
	t.Helper()
	out := map[string]ranked{}
	for _, q := range questions {
		for _, filters := range []map[string]string{nil, {"lang": "de"}} {
			r := search(t, e, engine.Query{Text: q, K: 25, Filters: filters})
			for i := range r.Stages {
				r.Stages[i].Latency = 0
			}
			out[fmt.Sprint(q, filters)] = ranked{r.Stages, r.Channels}
		}
	}
	return out
}

func same(t testing.TB, what string, want, got map[string]ranked) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s changes rankings (-want +got):\n%.3000s", what, diff)
	}
}

// embedder passes its calls through what a test wants to go wrong.
type embedder struct {
	embed.Embedder
	info  *embed.Info
	embed func(texts []string, vectors []embed.Vector, err error) ([]embed.Vector, error)
}

func (e embedder) Info() embed.Info {
	if e.info != nil {
		return *e.info
	}
	return e.Embedder.Info()
}

func (e embedder) Embed(ctx context.Context, texts []string) ([]embed.Vector, error) {
	vectors, err := e.Embedder.Embed(ctx, texts)
	if e.embed == nil {
		return vectors, err
	}
	return e.embed(texts, vectors, err)
}

// judge scores a passage by a function of its position and text.
type judge func(i int, p rerank.Passage) (float64, error)

func (judge) Name() string { return "test judge" }

func (j judge) Judge(_ context.Context, _ string, passages []rerank.Passage) ([]float64, error) {
	scores := make([]float64, len(passages))
	for i, p := range passages {
		s, err := j(i, p)
		if err != nil {
			return nil, err
		}
		scores[i] = s
	}
	return scores, nil
}
