package rerank_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/engine/models/onnx/onnxtest"
	"github.com/touchstone-eval/touchstone/engine/rerank"
)

var weights = map[string]float32{"otter": 3, "river": 1, "café": 9, "cafe": .5, "mud": -2}

func openToy(t testing.TB, o rerank.ModelOptions) *rerank.CrossEncoder {
	t.Helper()
	j, err := rerank.OpenModel(onnxtest.CrossEncoder(t, weights), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

func TestScores(t *testing.T) {
	j := openToy(t, rerank.ModelOptions{MaxTokens: 16})
	passages := []rerank.Passage{
		{ID: "words", Text: "otter river otter"},
		{ID: "title", Title: "Otter", Text: "the river"},
		{ID: "accents", Text: "CAFÉ"},
		{ID: "negative", Text: "mud"},
		{ID: "empty"},
		{ID: "unknown", Text: "東京"},
		{ID: "special tokens are text", Text: "[SEP] otter"},
		{ID: "cut at its end", Text: strings.Repeat("river ", 100) + "otter"},
	}
	got, err := j.Judge(t.Context(), "otter mud", passages)
	if err != nil {
		t.Fatal(err)
	}
	// 16 tokens less [CLS], two of the question and two [SEP].
	want := []float64{7, 4, .5, -2, 0, 0, 3, 11}
	if !slices.Equal(got, want) {
		t.Errorf("scores %v, want %v", got, want)
	}
}

// TestPassagesDoNotMatterToEachOther: nothing is lost or added, and a score
// does not depend on the others, nor on the size of a batch.
func TestPassagesDoNotMatterToEachOther(t *testing.T) {
	one, many := openToy(t, rerank.ModelOptions{Batch: 1}), openToy(t, rerank.ModelOptions{Batch: 7})
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringMatching(`((otter|river|mud|whale) ){0,60}`), 1, 40).Draw(t, "texts")
		passages := make([]rerank.Passage, len(texts))
		for i, text := range texts {
			passages[i] = rerank.Passage{ID: fmt.Sprint(i), Text: text}
		}
		hits, err := rerank.Order(context.Background(), many, "otter", passages)
		if err != nil || len(hits) != len(passages) {
			t.Fatalf("%d hits for %d passages: %v", len(hits), len(passages), err)
		}
		seen := map[string]bool{}
		for k, h := range hits {
			alone, err := one.Judge(context.Background(), "otter", passages[h.From-1:h.From])
			if err != nil || alone[0] != h.Score || seen[h.ID] || h.ID != passages[h.From-1].ID {
				t.Fatalf("hit %+v, alone %v (%v)", h, alone, err)
			}
			seen[h.ID] = true
			if k > 0 && (hits[k-1].Score < h.Score || hits[k-1].Score == h.Score && hits[k-1].From > h.From) {
				t.Fatalf("%+v before %+v", hits[k-1], h)
			}
		}
	})
}

func TestOutOfTime(t *testing.T) {
	passages := slices.Repeat([]rerank.Passage{{ID: "a", Text: strings.Repeat("otter ", 200)}}, 500)
	budget := openToy(t, rerank.ModelOptions{Budget: time.Nanosecond})
	_, err := rerank.Order(t.Context(), budget, "otter", passages)
	if !errors.Is(err, rerank.ErrDeadline) || !strings.Contains(err.Error(), "a budget of 1ns was over after 0 of 500 passages") {
		t.Errorf("budget: %v", err)
	}
	if !strings.Contains(budget.Name(), "budget=1ns") {
		t.Errorf("name %q does not tell the budget", budget.Name())
	}
	j := openToy(t, rerank.ModelOptions{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err = rerank.Order(ctx, j, "otter", passages)
	if !errors.Is(err, rerank.ErrDeadline) || !strings.Contains(err.Error(), "the deadline of the search passed after") {
		t.Errorf("deadline: %v", err)
	}
	if late := time.Since(start); late > 2*time.Second {
		t.Errorf("gave up after %s", late)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := rerank.Order(ctx, j, "otter", passages); !errors.Is(err, context.Canceled) || errors.Is(err, rerank.ErrDeadline) {
		t.Errorf("cancelled: %v, which is no deadline", err)
	}
}

// slow is a judge of another kind that ends with its context.
type slow struct{}

func (slow) Name() string { return "slow" }
func (slow) Judge(ctx context.Context, _ string, _ []rerank.Passage) ([]float64, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAnyJudgeRunsOutOfTime(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := rerank.Order(ctx, slow{}, "q", []rerank.Passage{{ID: "a"}})
	if !errors.Is(err, rerank.ErrDeadline) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want it to wrap ErrDeadline and the context's", err)
	}
}

func TestOpenModelRefuses(t *testing.T) {
	embedder := onnxtest.Embedder(t, map[string][]float32{"a": {1, 2}})
	good := onnxtest.CrossEncoder(t, weights)
	limited := onnxtest.CrossEncoder(t, weights)
	if err := os.WriteFile(filepath.Join(limited, "config.json"), []byte(`{"max_position_embeddings": 64}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, dir string
		o         rerank.ModelOptions
		want      string
	}{
		{"no folder", filepath.Join(good, "none"), rerank.ModelOptions{}, "want a folder with model.onnx and tokenizer.json"},
		{"an embedder", embedder, rerank.ModelOptions{}, "want one for a pair"},
		{"no room", good, rerank.ModelOptions{MaxTokens: 4}, "max tokens 4"},
		{"more tokens than positions", limited, rerank.ModelOptions{}, "max tokens 512; the model has 64 positions"},
		{"a budget below nothing", good, rerank.ModelOptions{Budget: -1}, "budget -1ns"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			j, err := rerank.OpenModel(tc.dir, tc.o)
			if err == nil || j != nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, %v; want it to say %q", j, err, tc.want)
			}
		})
	}
}

func TestClosedAndConcurrent(t *testing.T) {
	j := openToy(t, rerank.ModelOptions{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 5 {
				got, err := j.Judge(context.Background(), "q", []rerank.Passage{{Text: "otter"}, {Text: "mud"}})
				if err != nil || got[0] != 3 || got[1] != -2 {
					t.Error(got, err)
				}
			}
		})
	}
	wg.Wait()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Judge(t.Context(), "q", []rerank.Passage{{Text: "otter"}}); err == nil {
		t.Error("a closed model judged")
	}
}

// TestNumbersThatAreNone: a model that returns NaN makes no order.
func TestNumbersThatAreNone(t *testing.T) {
	j, err := rerank.OpenModel(onnxtest.CrossEncoder(t, map[string]float32{"nan": float32(math.NaN()), "otter": 1}), rerank.ModelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	_, err = j.Judge(t.Context(), "q", []rerank.Passage{{ID: "fine", Text: "otter"}, {ID: "bad", Text: "nan"}})
	if err == nil || !strings.Contains(err.Error(), "passage bad: the model returned NaN") {
		t.Errorf("%v, want the passage named", err)
	}
}

// TestCE3 reads pairs with the cross-encoder of the lock, where it is.
func TestCE3(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a model of 18 MB")
	}
	var dir string
	for _, models := range []string{os.Getenv("EVAL_MODELS"), "../../.touchstone/models"} {
		if _, err := os.Stat(filepath.Join(models, "ce3-int8", "model.onnx")); models != "" && err == nil {
			dir = filepath.Join(models, "ce3-int8")
			break
		}
	}
	if dir == "" {
		t.Skip("ce3-int8 is not here: set EVAL_MODELS to the folder that holds it")
	}
	j, err := rerank.OpenModel(dir, rerank.ModelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if !strings.HasPrefix(j.Name(), "ce3-int8@") || !strings.Contains(j.Name(), "max_tokens=192") {
		t.Errorf("name %q", j.Name())
	}
	passages := []rerank.Passage{
		{ID: "off", Text: "Whales are mammals that live in the sea."},
		{ID: "on", Title: "Configuration", Text: "The configuration file is config.toml in the home directory; see the flag -config."},
		{ID: "near", Text: "The home directory holds the user's files."},
	}
	hits, err := rerank.Order(t.Context(), j, "where is the configuration file?", passages)
	if err != nil {
		t.Fatal(err)
	}
	if hits[0].ID != "on" || hits[2].ID != "off" {
		t.Errorf("%+v, want on, near, off", hits)
	}
	slices.Reverse(passages)
	again, err := rerank.Order(t.Context(), j, "where is the configuration file?", passages)
	if err != nil || again[0].Score != hits[0].Score || again[2].Score != hits[2].Score {
		t.Errorf("%+v in another order, before %+v (%v)", again, hits, err)
	}
	t.Log(hits)
}
