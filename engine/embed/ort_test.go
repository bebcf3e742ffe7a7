//go:build ORT

package embed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/daulet/tokenizers"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/engine/models/onnx"
)

// twenty texts of 3 to 250 tokens.
func twenty() (texts []string) {
	subjects := []string{"An otter", "The falcon above the harbour", "Der Müller", "func Open(dir string) error", "東京 station"}
	for i := range 20 {
		s := subjects[i%len(subjects)]
		texts = append(texts, strings.TrimSpace(strings.Repeat(fmt.Sprintf("%s waits %d hours for the ferry. ", s, i*i), 1+i)))
	}
	return texts
}

// TestBackendsAgree: ONNX Runtime and pure Go give the same vectors.
func TestBackendsAgree(t *testing.T) {
	texts := twenty()
	a := embedAll(t, openMiniLM(t, ModelOptions{Backend: onnx.ORT}), texts...)
	b := embedAll(t, openMiniLM(t, ModelOptions{Backend: onnx.Go}), texts...)
	least := 1.0
	for i := range texts {
		least = min(least, cosine(a[i], b[i]))
	}
	t.Logf("least cosine of %d texts: %.9f", len(texts), least)
	if least < MinCosine {
		t.Errorf("cosine %v, want at least %v", least, MinCosine)
	}
}

// TestThreadsDecideNoBit: a text by itself, which all cores work on, has the
// vector that it has among others, each on one thread.
func TestThreadsDecideNoBit(t *testing.T) {
	e := openMiniLM(t, ModelOptions{Backend: onnx.ORT})
	texts := twenty()
	for n := 1; n <= 260; n += 7 {
		texts = append(texts, strings.Repeat("ferry at dusk, ", n/5)+strings.Repeat("otter ", 1+n%5))
	}
	together := embedAll(t, e, texts...)
	for i, text := range texts {
		if alone := embedAll(t, e, text)[0]; !slices.Equal(alone, together[i]) {
			t.Errorf("text %d, %.40q: cosine %v to its vector among others, want the same bits", i, text, cosine(alone, together[i]))
		}
	}
}

// TestTokensAreHuggingFaces: the pure-Go tokenizer, behind our cleaning,
// agrees with Hugging Face's own, which a build with ONNX Runtime links.
func TestTokensAreHuggingFaces(t *testing.T) {
	config, err := os.ReadFile(filepath.Join(miniLM(t), "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := NewTokenizer(config)
	if err != nil {
		t.Fatal(err)
	}
	// The file's own cut and padding apart.
	config = []byte(strings.Replace(strings.Replace(string(config), `"max_length": 128`, `"max_length": 100000`, 1), `"Fixed": 128`, `"Fixed": 0`, 1))
	theirs, err := tokenizers.FromBytes(config)
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	alphabet := rapid.SampledFrom([]rune("aàåÅbcdeéèEFGhijklmnoöpqrstuüxyzßıİ0123456789 \t\n.,;:-_'’\"/()+*#@€漢字кирαβ🚀\u0301\u200b"))
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(alphabet, 0, 200, -1).Draw(t, "text")
		got, err := ours.IDs(context.Background(), text)
		if err != nil {
			t.Fatal(err)
		}
		ids, _ := theirs.Encode(text, false)
		want := make([]int, len(ids))
		for i, id := range ids {
			want[i] = int(id)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q: %v, Hugging Face's has %v", text, got, want)
		}
	})
}

func BenchmarkMiniLM(b *testing.B) {
	for _, backend := range []string{onnx.ORT, onnx.Go} {
		b.Run("backend="+strings.ToLower(backend), func(b *testing.B) {
			e := openMiniLM(b, ModelOptions{Backend: backend})
			texts := twenty()
			tokens := 0
			for b.Loop() {
				v, err := e.Embed(b.Context(), texts)
				if err != nil {
					b.Fatal(err)
				}
				tokens = 0
				for _, x := range v {
					tokens += x.Tokens
				}
			}
			b.ReportMetric(float64(len(texts)*b.N)/b.Elapsed().Seconds(), "texts/s")
			b.ReportMetric(float64(tokens*b.N)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}
