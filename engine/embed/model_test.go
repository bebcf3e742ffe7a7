package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/engine/models/onnx"
	"github.com/touchstone-eval/touchstone/engine/models/onnx/onnxtest"
)

// toyRows has an axis for each word, and one each for [CLS] and [SEP].
var toyRows = map[string][]float32{
	"[CLS]": {1, 0, 0, 0}, "[SEP]": {0, 1, 0, 0}, "otter": {0, 0, 1, 0}, "river": {0, 0, 0, 1}, "cafe": {0, 0, 2, 2},
}

func openToy(t testing.TB, o ModelOptions) Embedder {
	t.Helper()
	m, err := OpenModel(onnxtest.Embedder(t, toyRows), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func unit(v ...float64) []float32 {
	squares := 0.0
	for _, x := range v {
		squares += float64(x * x)
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x / math.Sqrt(squares))
	}
	return out
}

// TestModelVectors: what goes into a vector, told by axes.
func TestModelVectors(t *testing.T) {
	for _, tc := range []struct {
		name   string
		o      ModelOptions
		text   string
		values []float32
		tokens int
		cut    bool
	}{
		{"mean of special tokens and words", ModelOptions{}, "otter river otter", unit(1, 1, 2, 1), 5, false},
		{"row of [CLS]", ModelOptions{Pooling: CLS}, "otter river", unit(1, 0, 0, 0), 4, false},
		{"at the limit", ModelOptions{MaxTokens: 4}, "otter river", unit(1, 1, 1, 1), 4, false},
		{"above it: the final [SEP] stays", ModelOptions{MaxTokens: 4}, "otter river river river", unit(1, 1, 1, 1), 6, true},
		{"far above it", ModelOptions{MaxTokens: 5}, "otter " + strings.Repeat("river ", 5000), unit(1, 1, 1, 2), 5003, true},
		{"accents", ModelOptions{}, "CAFÉ cafe\u0301", unit(1, 1, 4, 4), 4, false},
		{"special tokens are text", ModelOptions{}, "otter [SEP] [CLS]", unit(1, 1, 1, 0), 9, false},
		{"nothing known", ModelOptions{}, "東京 whale", unit(0, 0, 0, 0), 5, false},
		{"empty", ModelOptions{}, "", unit(0, 0, 0, 0), 2, false},
		{"NUL and broken UTF-8", ModelOptions{}, "otter\x00 \xff", unit(1, 1, 1, 0), 3, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := openToy(t, tc.o).Embed(t.Context(), []string{tc.text})
			if err != nil || got[0].Err != nil {
				t.Fatal(err, got)
			}
			if tc.values[0] != tc.values[0] { // unit of nothing
				tc.values = make([]float32, 4)
			}
			for k := range tc.values {
				if math.Abs(float64(got[0].Values[k]-tc.values[k])) > 1e-6 {
					t.Fatalf("values %v, want %v", got[0].Values, tc.values)
				}
			}
			if got[0].Tokens != tc.tokens || got[0].Truncated != tc.cut {
				t.Errorf("%d tokens, truncated %t; want %d, %t", got[0].Tokens, got[0].Truncated, tc.tokens, tc.cut)
			}
		})
	}
}

// TestModelNeighboursDoNotMatter: alone, in any batch, in any order.
func TestModelNeighboursDoNotMatter(t *testing.T) {
	e := openToy(t, ModelOptions{MaxTokens: 40})
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"otter", "river", "café", "whale", "[SEP]", ""})
		texts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(word, 0, 50).Draw(t, "words"), " ")
		}), 1, 70).Draw(t, "texts")
		all, err := e.Embed(context.Background(), texts)
		if err != nil || len(all) != len(texts) {
			t.Fatal(len(all), err)
		}
		i := rapid.IntRange(0, len(texts)-1).Draw(t, "i")
		one, err := e.Embed(context.Background(), texts[i:i+1])
		if err != nil || !slices.Equal(one[0].Values, all[i].Values) || one[0].Tokens != all[i].Tokens {
			t.Fatalf("text %d of %d: %v alone, %v beside the others (%v)", i, len(texts), one[0], all[i], err)
		}
	})
}

func TestModelEmptyClosedCancelled(t *testing.T) {
	e := openToy(t, ModelOptions{})
	if got, err := e.Embed(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("no texts: %v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Embed(ctx, []string{"otter"}); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "0 of 1 texts") {
		t.Errorf("cancelled: %v", err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 10 {
				if _, err := e.Embed(context.Background(), []string{"otter", "river"}); err != nil && !errors.Is(err, ErrClosed) {
					t.Error(err)
				}
			}
		})
	}
	if err := errors.Join(e.Close(), e.Close()); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	wg.Wait()
	for _, texts := range [][]string{nil, {"otter"}, {""}} {
		if _, err := e.Embed(t.Context(), texts); !errors.Is(err, ErrClosed) {
			t.Errorf("%q after close: %v, want %v", texts, err, ErrClosed)
		}
	}
}

// TestModelFailsABadTextAlone: the model returns nothing finite for one word.
func TestModelFailsABadTextAlone(t *testing.T) {
	e, err := OpenModel(onnxtest.Embedder(t, map[string][]float32{"otter": {1, 0}, "nan": {float32(math.NaN()), 0}}), ModelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	got, err := e.Embed(t.Context(), []string{"otter", "nan", "otter"})
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Err != nil || got[1].Err == nil || got[1].Values != nil || got[2].Err != nil || got[2].Values[0] != 1 {
		t.Errorf("%+v, want an error of the second alone", got)
	}
}

func TestOpenModelRefuses(t *testing.T) {
	edit := func(change func(tokenizer map[string]any)) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, "tokenizer.json")
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var m map[string]any
			if err := json.Unmarshal(data, &m); err != nil {
				t.Fatal(err)
			}
			change(m)
			if data, err = json.Marshal(m); err != nil {
				t.Fatal(err)
			}
			write(t, path, string(data))
		}
	}
	for _, tc := range []struct {
		name   string
		o      ModelOptions
		change func(*testing.T, string)
		want   string
	}{
		{"no weights", ModelOptions{}, func(t *testing.T, dir string) { remove(t, dir, "model.onnx") }, "want a folder with model.onnx and tokenizer.json"},
		{"no tokenizer", ModelOptions{}, func(t *testing.T, dir string) { remove(t, dir, "tokenizer.json") }, "want a folder with model.onnx and tokenizer.json"},
		{"no ONNX", ModelOptions{}, func(t *testing.T, dir string) { write(t, filepath.Join(dir, "model.onnx"), "hello") }, "load the model"},
		{"no JSON", ModelOptions{}, func(t *testing.T, dir string) { write(t, filepath.Join(dir, "tokenizer.json"), "{") }, "tokenizer.json"},
		{"unknown pooling", ModelOptions{Pooling: "max"}, nil, `pooling "max"`},
		{"no room for a token", ModelOptions{MaxTokens: 2}, nil, "max tokens 2"},
		{"more tokens than positions", ModelOptions{MaxTokens: 600}, func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "config.json"), `{"max_position_embeddings": 512}`)
		}, "max tokens 600; the model has 512 positions"},
		{"broken config", ModelOptions{}, func(t *testing.T, dir string) { write(t, filepath.Join(dir, "config.json"), "{") }, "config.json"},
		{"byte pairs", ModelOptions{}, edit(func(m map[string]any) { m["model"].(map[string]any)["type"] = "BPE" }), "type BPE; want WordPiece"},
		{"cased", ModelOptions{}, edit(func(m map[string]any) { m["normalizer"].(map[string]any)["lowercase"] = false }), "uncased BERT"},
		{"keeps accents", ModelOptions{}, edit(func(m map[string]any) { m["normalizer"].(map[string]any)["strip_accents"] = false }), "uncased BERT"},
		{"no normalizer", ModelOptions{}, edit(func(m map[string]any) { m["normalizer"] = nil }), "uncased BERT"},
		{"other words", ModelOptions{}, edit(func(m map[string]any) { m["pre_tokenizer"] = map[string]any{"type": "Whitespace"} }), "BertPreTokenizer"},
		{"longer words", ModelOptions{}, edit(func(m map[string]any) { m["model"].(map[string]any)["max_input_chars_per_word"] = 200 }), "max_input_chars_per_word 200"},
		{"no [SEP]", ModelOptions{}, edit(func(m map[string]any) { delete(m["model"].(map[string]any)["vocab"].(map[string]any), "[SEP]") }), `no "[SEP]"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := onnxtest.Embedder(t, toyRows)
			if tc.change != nil {
				tc.change(t, dir)
			}
			m, err := OpenModel(dir, tc.o)
			if err == nil || m != nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("%v, %v; want it to name the folder and say %q", m, err, tc.want)
			}
		})
	}
	if _, err := OpenModel(onnxtest.CrossEncoder(t, map[string]float32{"otter": 1}), ModelOptions{}); err == nil || !strings.Contains(err.Error(), "no row for each token") {
		t.Errorf("a cross-encoder as an embedder: %v", err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// TestModelDigest: a changed byte of either file is another model.
func TestModelDigest(t *testing.T) {
	dir := onnxtest.Embedder(t, toyRows)
	digest := func() string {
		f, err := ReadFiles(dir)
		if err != nil {
			t.Fatal(err)
		}
		return f.Digest
	}
	seen := map[string]bool{digest(): true}
	for _, name := range []string{"model.onnx", "tokenizer.json"} {
		path := filepath.Join(dir, name)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, string(data)+" ")
		if d := digest(); seen[d] {
			t.Errorf("%s changed, the digest did not", name)
		} else {
			seen[d] = true
		}
	}
}

func TestPair(t *testing.T) {
	tok := &Tokenizer{cls: 2, sep: 3}
	seq := func(from, n int) (out []int) {
		for i := range n {
			out = append(out, from+i)
		}
		return out
	}
	for _, tc := range []struct {
		name                string
		question, passage   []int
		limit               int
		question2, passage2 int // tokens left of each
	}{
		{"fits", seq(10, 3), seq(20, 4), 10, 3, 4},
		{"the passage is cut", seq(10, 3), seq(20, 40), 10, 3, 4},
		{"the question too, to half", seq(10, 30), seq(20, 40), 11, 4, 4},
		{"the question alone is long", seq(10, 30), seq(20, 2), 11, 6, 2},
		{"no passage", seq(10, 30), nil, 11, 8, 0},
		{"nothing", nil, nil, 8, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ids, types := tok.Pair(tc.question, tc.passage, tc.limit)
			want := slices.Concat([]int{2}, tc.question[:tc.question2], []int{3}, tc.passage[:tc.passage2], []int{3})
			if !slices.Equal(ids, want) || len(ids) > tc.limit {
				t.Errorf("%v, want %v", ids, want)
			}
			wantTypes := slices.Concat(make([]int, tc.question2+2), slices.Repeat([]int{1}, tc.passage2+1))
			if !slices.Equal(types, wantTypes) {
				t.Errorf("types %v, want %v", types, wantTypes)
			}
		})
	}
}

func ExampleOpenModel() {
	e, err := OpenModel("model", ModelOptions{Name: "mine", MaxTokens: 512, Backend: onnx.Go})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	v, err := e.Embed(context.Background(), []string{strings.Repeat("word ", 600)})
	fmt.Println(e.Info().Name, v[0].Tokens, v[0].Truncated, err)
	// Output: mine 602 true <nil>
}
