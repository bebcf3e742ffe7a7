package embed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

func openDefault(t testing.TB) Embedder {
	t.Helper()
	e, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func embedAll(t testing.TB, e Embedder, texts ...string) [][]float32 {
	t.Helper()
	vectors, err := e.Embed(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if len(vectors) != len(texts) {
		t.Fatalf("%d vectors for %d texts", len(vectors), len(texts))
	}
	out := make([][]float32, len(vectors))
	for i, v := range vectors {
		if v.Err != nil {
			t.Fatalf("text %d: %v", i, v.Err)
		}
		out[i] = v.Values
	}
	return out
}

func cosine(a, b []float32) (dot float64) {
	for k := range a {
		dot += float64(float64(a[k]) * float64(b[k]))
	}
	return dot
}

func TestDefaultFilesAreTheRecordedOnes(t *testing.T) {
	const limit = 5_000_000
	total := 0
	for _, f := range []struct {
		path, want string
		embedded   []byte
	}{
		{"model/model.onnx", defaultONNXSHA256, defaultONNX},
		{"model/tokenizer.json", defaultTokenizerSHA256, defaultTokenizer},
	} {
		disk, err := os.ReadFile(f.path)
		if err != nil {
			t.Fatal(err)
		}
		for where, data := range map[string][]byte{"disk": disk, "binary": f.embedded} {
			if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != f.want {
				t.Errorf("%s (%s): SHA-256 %x, want %s", f.path, where, sum, f.want)
			}
		}
		total += len(disk)
	}
	if total > limit {
		t.Errorf("model files take %d bytes, want at most %d", total, limit)
	}
}

func TestDefaultInfo(t *testing.T) {
	info := openDefault(t).Info()
	if info.Name != "static-256" || info.Dim != 256 || info.Pooling != "mean" || info.MaxTokens != 0 || len(info.Digest) != 64 {
		t.Errorf("info: %+v", info)
	}
}

func TestDefaultKnowsMeaning(t *testing.T) {
	e := openDefault(t)
	v := embedAll(t, e,
		"How do I close an open file?",
		"Call Close to release the file descriptor.",
		"The recipe needs two eggs and a cup of flour.",
	)
	if near, far := cosine(v[0], v[1]), cosine(v[0], v[2]); near < far+0.2 {
		t.Errorf("cosine to a passage on files %.3f, to a recipe %.3f: want a gap of 0.2", near, far)
	}
}

// words is generated text of n words, different for each seed.
func words(seed, n int) string {
	list := strings.Fields(`retrieval of cells in a protein response the index returns
		ranked documents for each question and measures recall under noise while vaccine
		trials report antibody levels after twelve weeks of treatment compared with placebo
		unquantifiability xylographers 2024 naïve β-catenin don't C++ e.g. (p<0.05)`)
	var b strings.Builder
	state := uint64(seed)*2654435761 + 1
	for range n {
		state = state*6364136223846793005 + 1442695040888963407
		b.WriteString(list[(state>>33)%uint64(len(list))])
		b.WriteByte(' ')
	}
	return b.String()
}

func mixedTexts() []string {
	texts := []string{"", " ", "a", "...", "[SEP] [CLS]", "日本語", "e\u0301te\u0301", "été"}
	for i := range 150 {
		texts = append(texts, words(i, 1+i*i%400))
	}
	return append(texts, words(1000, 3000))
}

func TestVectorDoesNotDependOnNeighbours(t *testing.T) {
	e := openDefault(t)
	texts := mixedTexts()
	all := embedAll(t, e, texts...)
	reversed := slices.Clone(texts)
	slices.Reverse(reversed)
	back := embedAll(t, e, reversed...)
	for i, text := range texts {
		if alone := embedAll(t, e, text); !slices.Equal(alone[0], all[i]) {
			t.Errorf("text %d: alone and in a batch differ", i)
		}
		if !slices.Equal(back[len(texts)-1-i], all[i]) {
			t.Errorf("text %d: differs in a reversed batch", i)
		}
	}
	for _, procs := range []int{1, 2, 3} {
		old := runtime.GOMAXPROCS(procs)
		again := embedAll(t, e, texts...)
		runtime.GOMAXPROCS(old)
		for i := range texts {
			if !slices.Equal(again[i], all[i]) {
				t.Errorf("text %d: differs on %d cores", i, procs)
			}
		}
	}
	other := embedAll(t, openDefault(t), texts...)
	for i := range texts {
		if !slices.Equal(other[i], all[i]) {
			t.Errorf("text %d: differs in another instance", i)
		}
	}
}

func TestVectorsAreUnitOrZero(t *testing.T) {
	e := openDefault(t)
	texts := mixedTexts()
	for i, v := range embedAll(t, e, texts...) {
		if len(v) != 256 {
			t.Fatalf("text %d: %d values, want 256", i, len(v))
		}
		norm := math.Sqrt(cosine(v, v))
		if norm != 0 && math.Abs(norm-1) > 1e-6 {
			t.Errorf("text %d: length %v, want 1", i, norm)
		}
		if zero := i < 2 || texts[i] == "..." || texts[i] == "日本語"; zero != (norm == 0) {
			t.Errorf("text %d %.20q: length %v, want zero: %v", i, texts[i], norm, zero)
		}
	}
}

func TestAccentsDoNotMatter(t *testing.T) {
	v := embedAll(t, openDefault(t), "a naive resume", "a naïve résumé", "A nai\u0308ve re\u0301sume\u0301")
	if !slices.Equal(v[0], v[1]) || !slices.Equal(v[0], v[2]) {
		t.Error("composed, decomposed and plain spelling give different vectors")
	}
}

func TestHostileTexts(t *testing.T) {
	e := openDefault(t)
	for name, text := range map[string]string{
		"nul":              "a\x00b \x00",
		"invalid utf-8":    "caf\xe9 \xff\xfe\xc0\x80 bar",
		"truncated rune":   "abc\xe2\x82",
		"surrogate half":   "x\xed\xa0\x80y",
		"replacement":      "\ufffd\ufffd",
		"long words":       strings.Repeat("word ", 20_000),
		"one long word":    strings.Repeat("a", 100_000),
		"long punctuation": strings.Repeat(".", 100_000),
		"long ideographs":  strings.Repeat("漢", 50_000),
		"long marks":       "a" + strings.Repeat("\u0301", 100_000),
		"long emoji":       strings.Repeat("👩‍👩‍👧‍👦", 10_000),
		"right to left":    "\u202eשלום עולם مرحبا",
		"blanks":           strings.Repeat(" \t\r\n\u00a0\u2028\u3000", 10_000),
		"zero width":       strings.Repeat("\u200b\ufeff", 10_000),
		"special tokens":   "[SEP] [CLS] [PAD] [UNK] [MASK] ##ing",
		"query syntax":     `"fox" AND -dog* title:x^2 ~1 \`,
		"case mapping":     "İstanbul ŉ ẞ ǅ ﬀ Ω",
	} {
		t.Run(name, func(t *testing.T) {
			v := embedAll(t, e, "before", text, "after")
			alone := embedAll(t, e, "before", "after")
			if !slices.Equal(v[0], alone[0]) || !slices.Equal(v[2], alone[1]) {
				t.Error("neighbours changed")
			}
			if n := cosine(v[1], v[1]); n != 0 && math.Abs(n-1) > 1e-6 {
				t.Errorf("squared length %v, want 0 or 1", n)
			}
		})
	}
}

func TestNoTexts(t *testing.T) {
	e := openDefault(t)
	for name, texts := range map[string][]string{"nil": nil, "empty": {}} {
		if got, err := e.Embed(context.Background(), texts); err != nil || got == nil || len(got) != 0 {
			t.Errorf("%s: %v, %v, want an empty slice", name, got, err)
		}
	}
}

func TestCloseThenEmbed(t *testing.T) {
	e, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, texts := range map[string][]string{"one": {"x"}, "none": nil} {
		if _, err := e.Embed(context.Background(), texts); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v, want %v", name, err, ErrClosed)
		}
	}
}

func TestCloseDuringEmbed(t *testing.T) {
	e, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				if _, err := e.Embed(context.Background(), []string{words(1, 50)}); err != nil && !errors.Is(err, ErrClosed) {
					t.Error(err)
				}
			}
		})
	}
	e.Close()
	wg.Wait()
}

func TestConcurrentUse(t *testing.T) {
	e := openDefault(t)
	texts := mixedTexts()[:40]
	want := embedAll(t, e, texts...)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := e.Embed(context.Background(), texts)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range got {
				if !slices.Equal(got[i].Values, want[i]) {
					t.Errorf("text %d differs", i)
				}
			}
		})
	}
	wg.Wait()
}

func TestCancelled(t *testing.T) {
	e := openDefault(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got, err := e.Embed(ctx, []string{"x"}); !errors.Is(err, context.Canceled) || got != nil {
		t.Errorf("%v, %v, want %v", got, err, context.Canceled)
	}
}
