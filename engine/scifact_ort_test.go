//go:build ORT

package engine_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/embed"
	"github.com/touchstone-eval/touchstone/engine/fuse"
)

// TestSciFactMiniLM holds the dense arm to all-MiniLM-L6-v2's measured quality
// on a sample: the abstracts that the first 40 claims cite, and every 25th of
// the others. docs/models.md has the figure of the whole.
func TestSciFactMiniLM(t *testing.T) {
	docs, claims := readSciFact(t)
	const name = "all-MiniLM-L6-v2"
	var dir string
	for _, models := range []string{os.Getenv("EVAL_MODELS"), "../.touchstone/models"} {
		if _, err := os.Stat(filepath.Join(models, name)); models != "" && err == nil {
			dir = filepath.Join(models, name)
			break
		}
	}
	if dir == "" {
		t.Skipf("%s is not here: fetch it with `touchstone models get %s`", name, name)
	}
	model, err := embed.OpenModel(dir, embed.ModelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()

	claims = claims[:40]
	cited := map[string]bool{}
	for _, c := range claims {
		for id := range c.cited {
			cited[id] = true
		}
	}
	var sample []engine.Document
	for i, d := range docs {
		if cited[d.ID] || i%25 == 0 {
			sample = append(sample, d)
		}
	}
	e := open(t, t.TempDir(), engine.Config{Embedder: model, Chunk: whole, Weights: fuse.Weights{Vector: 1}})
	if _, err := e.Ingest(t.Context(), sample...); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, c := range claims {
		r, err := e.Search(t.Context(), engine.Query{Text: c.text, K: 10})
		if err != nil {
			t.Fatalf("claim %s: %v", c.id, err)
		}
		vector, _ := r.Stage(engine.StageVector)
		sum += ndcg10(vector.Hits, c.cited)
	}
	got := sum / float64(len(claims))
	t.Logf("nDCG@10 %.4f over %d claims and %d abstracts", got, len(claims), len(sample))
	if math.Abs(got-sciFactSample) > .01 {
		t.Errorf("nDCG@10 of the dense arm is %.4f, want %.4f, give or take .01", got, sciFactSample)
	}
}

// sciFactSample was measured once, with these 40 claims. That the vectors are
// right is the conformance probe's to say; this is that the arm ranks by them.
const sciFactSample = .927
