package embed

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/knights-analytics/hugot"
	"pgregory.net/rapid"
)

// A tokenizer that fails on some texts cannot be had from the real one, whose
// known crashes are cleaned away, so these tests put one in its place.
func withTokens(t *testing.T, tokens func(context.Context, string) ([]int, error)) Embedder {
	t.Helper()
	e := openDefault(t).(*static)
	e.tokens = tokens
	return e
}

func TestOneBadTextFailsAlone(t *testing.T) {
	bad := errors.New("cannot be cut")
	e := withTokens(t, func(_ context.Context, text string) ([]int, error) {
		if text == "bad" {
			return nil, bad
		}
		return []int{100, 200}, nil
	})
	texts := slices.Repeat([]string{"good"}, group+3)
	texts[1], texts[group] = "bad", "bad"
	got, err := e.Embed(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		switch texts[i] {
		case "bad":
			if !errors.Is(v.Err, bad) || v.Values != nil {
				t.Errorf("text %d: error %v with %d values, want %v with none", i, v.Err, len(v.Values), bad)
			}
		default:
			if v.Err != nil || len(v.Values) != 256 || v.Tokens != 2 {
				t.Errorf("text %d: %v, %d values, %d tokens, want 256 and 2", i, v.Err, len(v.Values), v.Tokens)
			}
		}
	}
}

func TestTokenizerPanicIsAnErrorOfItsText(t *testing.T) {
	broken := wordPieces{nil}
	ids, err := broken.ids(context.Background(), "x")
	if err == nil || !strings.Contains(err.Error(), "panicked") || ids != nil {
		t.Errorf("%v, %v, want an error that says so", ids, err)
	}
}

func TestCancelledBetweenGroups(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	e := withTokens(t, func(ctx context.Context, text string) ([]int, error) {
		if text == "last of the first group" {
			cancel()
		}
		return []int{100}, nil
	})
	texts := slices.Repeat([]string{"x"}, 3*group)
	texts[group-1] = "last of the first group"
	got, err := e.Embed(ctx, texts)
	if !errors.Is(err, context.Canceled) || got != nil {
		t.Errorf("%d vectors, %v, want none and %v", len(got), err, context.Canceled)
	}
}

func TestCancelledWithinOneText(t *testing.T) {
	tok, err := newTokenizer(defaultTokenizer)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := tok.ids(ctx, "word"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

// The pieces together must have the tokens of the whole: a cut anywhere else
// than between tokens would change the vector of long texts only.
func TestPiecesHaveTheTokensOfTheWhole(t *testing.T) {
	tok, err := newTokenizer(defaultTokenizer)
	if err != nil {
		t.Fatal(err)
	}
	alphabet := []rune("abcdez019 \t.,-+$€©'_()日本а́çßΩ\u0901\u0903\u200b😀")
	rapid.Check(t, func(t *rapid.T) {
		unit := string(rapid.SliceOfN(rapid.SampledFrom(alphabet), 1, 150).Draw(t, "unit"))
		text := strings.Repeat(unit, 1+2*maxPiece/len(unit))
		var whole strings.Builder
		n := 0
		for p := range func(yield func(string) bool) { pieces(text, yield) } {
			whole.WriteString(p)
			if n++; len(p) > maxPiece+(maxWord+2)*utf8.UTFMax {
				t.Fatalf("piece of %d bytes", len(p))
			}
		}
		enc, err := tok.tk.EncodeSingle(whole.String(), false)
		if err != nil {
			t.Fatal(err)
		}
		got, err := tok.ids(context.Background(), text)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, enc.Ids) {
			t.Fatalf("%d pieces of %q: %d tokens, whole %d", n, unit, len(got), len(enc.Ids))
		}
	})
}

// The model's own calls are serialised; the tokenizer's are not. Cheap enough
// for the race detector, unlike the model.
func TestTokenizerIsSafeForConcurrentUse(t *testing.T) {
	tok, err := newTokenizer(defaultTokenizer)
	if err != nil {
		t.Fatal(err)
	}
	texts := mixedTexts()[:20]
	want := make([][]int, len(texts))
	for i, text := range texts {
		if want[i], err = tok.ids(context.Background(), text); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i, text := range texts {
				if got, err := tok.ids(context.Background(), text); err != nil || !slices.Equal(got, want[i]) {
					t.Errorf("text %d: %v, %v, want %v", i, got, err, want[i])
				}
			}
		})
	}
	wg.Wait()
}

func TestPiecesAreClean(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", ""},
		{"case", "ABC", "abc"},
		{"composed accents", "Été", "ete"},
		{"decomposed accents", "E\u0301te\u0301", "ete"},
		{"white space", "a\tb\r\nc\u00a0d\u2028e", "a b  c d e"},
		{"control", "a\x00b\x07c\x7f", "abc"},
		{"format", "a\u200bb\u202ec\ufeff", "abc"},
		{"invalid", "caf\xe9 \xff!", "caf !"},
		{"dotted i", "İ", "i"},
		{"over-long word", strings.Repeat("x", 500) + " y", strings.Repeat("x", 101) + " y"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got strings.Builder
			pieces(c.text, func(s string) bool { got.WriteString(s); return true })
			if got.String() != c.want {
				t.Errorf("got %q, want %q", got.String(), c.want)
			}
		})
	}
}

func TestPiecesStopWhenAsked(t *testing.T) {
	n := 0
	pieces(strings.Repeat("word ", 10*maxPiece), func(string) bool { n++; return false })
	if n != 1 {
		t.Errorf("%d pieces after the first was refused", n-1)
	}
}

// The embedded files are an ordinary model: hugot's own pipeline, with its own
// tokenisation and pooling, gives the same vectors.
func TestStockPipelineAgrees(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string][]byte{"model.onnx": defaultONNX, "tokenizer.json": defaultTokenizer} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	session, err := hugot.NewGoSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Destroy()
	config := hugot.FeatureExtractionConfig{ModelPath: dir, Name: "stock"}
	pipeline, err := hugot.NewPipeline(session, config)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{"", "Hello, World!", words(1, 30), words(2, 300), strings.ToUpper(words(3, 40))}
	for i := range texts {
		texts[i] = strings.Map(func(r rune) rune {
			if r > unicode.MaxASCII {
				return -1
			}
			return r
		}, texts[i])
	}
	stock, err := pipeline.RunPipeline(texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range embedAll(t, openDefault(t), texts...) {
		want := stock.Embeddings[i]
		norm := math.Sqrt(cosine(want, want))
		if norm == 0 {
			norm = 1
		}
		for k := range got {
			if diff := math.Abs(float64(got[k]) - float64(want[k])/norm); diff > 1e-6 {
				t.Fatalf("text %d, value %d: %v, stock pipeline %v", i, k, got[k], float64(want[k])/norm)
			}
		}
	}
}

func TestTableRefusesWrongBytes(t *testing.T) {
	if _, err := newTable([]byte("not a model"), 256); err == nil {
		t.Error("no error for bytes that are no model")
	}
	if _, err := newTable(defaultONNX, 128); err == nil || !strings.Contains(err.Error(), "128") {
		t.Errorf("wrong dimension: %v, want an error that names it", err)
	}
	if _, err := newTokenizer([]byte("{")); err == nil {
		t.Error("no error for a tokenizer that is no JSON")
	}
}

func FuzzEmbed(f *testing.F) {
	for _, s := range []string{"", "fox AND", "a\x00b", "\xff\xfe", "e\u0301", "漢字 kana", "👩‍👩‍👧", "[SEP]##x"} {
		f.Add(s)
	}
	e := openDefault(f)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := e.Embed(context.Background(), []string{text, "other"})
		if err != nil || got[0].Err != nil {
			t.Fatalf("%q: %v, %v", text, err, got[0].Err)
		}
		if n := cosine(got[0].Values, got[0].Values); n != 0 && math.Abs(n-1) > 1e-6 {
			t.Fatalf("%q: squared length %v", text, n)
		}
	})
}

// zipfText is n words of the model's vocabulary, which is in order of
// frequency: the share of rare words is about that of real text.
func zipfText(b *testing.B, r *rand.Rand, n int) string {
	b.Helper()
	vocabularyOnce.Do(func() {
		var file struct {
			Model struct{ Vocab map[string]int }
		}
		if err := json.Unmarshal(defaultTokenizer, &file); err != nil {
			b.Fatal(err)
		}
		for word := range file.Model.Vocab {
			if len(word) > 1 && !strings.HasPrefix(word, "##") && !strings.HasPrefix(word, "[") {
				vocabulary = append(vocabulary, word)
			}
		}
		slices.SortFunc(vocabulary, func(x, y string) int { return file.Model.Vocab[x] - file.Model.Vocab[y] })
	})
	var text strings.Builder
	for i := range n {
		// Uniform in the logarithm of the rank: Zipf's law with exponent one.
		rank := int(math.Exp(r.Float64() * math.Log(float64(len(vocabulary)))))
		text.WriteString(vocabulary[min(rank, len(vocabulary)-1)])
		if i%12 == 11 {
			text.WriteByte('.')
		}
		text.WriteByte(' ')
	}
	return text.String()
}

var (
	vocabularyOnce sync.Once
	vocabulary     []string
)

// BenchmarkEmbed embeds texts of about 337 tokens, the mean of a scientific
// abstract, and reports texts a second.
func BenchmarkEmbed(b *testing.B) {
	e := openDefault(b)
	r := rand.New(rand.NewPCG(1, 2))
	texts := make([]string, 256)
	for i := range texts {
		texts[i] = zipfText(b, r, 311)
	}
	vectors, err := e.Embed(context.Background(), texts)
	if err != nil {
		b.Fatal(err)
	}
	tokens := 0
	for _, v := range vectors {
		tokens += v.Tokens
	}
	n := 0
	for b.Loop() {
		embedAll(b, e, texts...)
		n += len(texts)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "texts/s")
	b.ReportMetric(float64(tokens)/float64(len(texts)), "tokens/text")
}

// BenchmarkQuery embeds one short question: what a search waits for.
func BenchmarkQuery(b *testing.B) {
	e := openDefault(b)
	for b.Loop() {
		embedAll(b, e, "where are the settings of the http client read from?")
	}
}
