package embed

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchstone-eval/touchstone/engine/models/onnx"
)

// probe holds an embedder to the reference of its model.
func probe(t *testing.T, e Embedder) Conformance {
	t.Helper()
	r, found, err := ReferenceFor(e.Info())
	if err != nil || !found {
		t.Fatalf("no reference for %+v (%v)", e.Info(), err)
	}
	c, err := Probe(t.Context(), e, r)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: least cosine %.7f over %d texts, %.0f%% of them truncated", e.Info().Name, c.MinCosine, len(r.Texts), 100*c.TruncatedShare)
	return c
}

// notShort skips under the race detector, which runs short tests: a real model
// is some fifty times slower there.
func notShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs a real model")
	}
}

func TestDefaultConforms(t *testing.T) {
	notShort(t)
	if err := probe(t, openDefault(t)).Err(); err != nil {
		t.Error(err)
	}
}

// miniLM is the folder of the real model, where it is.
func miniLM(t testing.TB) string {
	t.Helper()
	const name = "all-MiniLM-L6-v2"
	for _, dir := range []string{os.Getenv("EVAL_MODELS"), "../../.touchstone/models"} {
		if _, err := os.Stat(filepath.Join(dir, name, "model.onnx")); dir != "" && err == nil {
			return filepath.Join(dir, name)
		}
	}
	t.Skipf("%s is not here: fetch it with `touchstone models get %s`", name, name)
	return ""
}

func openMiniLM(t testing.TB, o ModelOptions) Embedder {
	t.Helper()
	e, err := OpenModel(miniLM(t), o)
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

func TestMiniLMConforms(t *testing.T) {
	notShort(t)
	if err := probe(t, openMiniLM(t, ModelOptions{})).Err(); err != nil {
		t.Error(err)
	}
}

// broken is an embedder with one fault.
type broken struct {
	Embedder
	info  func(*Info)
	embed func(texts []string, out []Vector)
}

func (b broken) Info() Info {
	i := b.Embedder.Info()
	if b.info != nil {
		b.info(&i)
	}
	return i
}

func (b broken) Embed(ctx context.Context, texts []string) ([]Vector, error) {
	out, err := b.Embedder.Embed(ctx, texts)
	if b.embed != nil {
		b.embed(texts, out)
	}
	return out, err
}

// TestProbeFindsFaults: every check fires on the fault that it is for.
func TestProbeFindsFaults(t *testing.T) {
	notShort(t)
	e := openDefault(t)
	r, _, err := ReferenceFor(e.Info())
	if err != nil {
		t.Fatal(err)
	}
	each := func(f func(text string, v *Vector)) func([]string, []Vector) {
		return func(texts []string, out []Vector) {
			for i := range out {
				f(texts[i], &out[i])
			}
		}
	}
	for _, tc := range []struct {
		check string
		fault broken
	}{
		{"digest", broken{info: func(i *Info) { i.Digest = "0" }}},
		{"pooling", broken{info: func(i *Info) { i.Pooling = CLS }}},
		{"dimension", broken{info: func(i *Info) { i.Dim++ }}},
		{"max tokens", broken{info: func(i *Info) { i.MaxTokens = 512 }}},
		{"no error", broken{embed: each(func(text string, v *Vector) {
			if strings.Contains(text, "otter") {
				*v = Vector{Err: errors.New("no otters")}
			}
		})}},
		{"length", broken{embed: each(func(_ string, v *Vector) { v.Values = v.Values[1:] })}},
		{"unit length", broken{embed: each(func(_ string, v *Vector) {
			for k := range v.Values {
				v.Values[k] *= 1.01
			}
		})}},
		{"stored vectors", broken{embed: each(func(_ string, v *Vector) { v.Values[0], v.Values[1] = v.Values[1]+.1, v.Values[0] })}},
		{"alone and in a batch", broken{embed: func(texts []string, out []Vector) {
			if len(texts) > 3 {
				out[0].Values[0] += 1e-6
			}
		}}},
		{"tokens", broken{embed: each(func(_ string, v *Vector) { v.Tokens++ })}},
		{"truncation", broken{embed: each(func(_ string, v *Vector) { v.Truncated = v.Tokens > 256 })}},
		{"accents and special tokens", broken{embed: each(func(text string, v *Vector) {
			if strings.Contains(text, "Café naïve") {
				v.Tokens--
			}
		})}},
	} {
		t.Run(tc.check, func(t *testing.T) {
			tc.fault.Embedder = e
			c, err := Probe(t.Context(), tc.fault, r)
			if err != nil {
				t.Fatal(err)
			}
			red := false
			for _, k := range c.Checks {
				red = red || k.Name == tc.check && !k.OK
			}
			if !red || c.Err() == nil || !strings.Contains(c.Err().Error(), tc.check+": ") {
				t.Errorf("the check is green: %+v", c.Checks)
			}
		})
	}
}

func TestProbeRefuses(t *testing.T) {
	e := openDefault(t)
	if _, err := Probe(t.Context(), e, Reference{}); err == nil {
		t.Error("a reference without texts was taken for a conforming one")
	}
	if (Conformance{}).Err() == nil {
		t.Error("no check at all is no conformance")
	}
	r, _, err := ReferenceFor(e.Info())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Probe(ctx, e, r); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, found, err := ReferenceFor(Info{Digest: "none"}); found || err != nil {
		t.Errorf("an unknown model: found %t, %v", found, err)
	}
}

// TestFolderOfTheDefaultModel: a folder goes another way than Default, with
// special tokens and a cut, and must come to the same vectors where these do
// not matter: the default model has zero rows for special tokens.
func TestFolderOfTheDefaultModel(t *testing.T) {
	notShort(t)
	want := openDefault(t)
	m, err := OpenModel("model", ModelOptions{MaxTokens: 4096, Backend: onnx.Go})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	r, _, err := ReferenceFor(want.Info())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range r.Texts {
		a, b := embedAll(t, want, text.Full())[0], embedAll(t, m, text.Full())[0]
		if zero(a) && zero(b) {
			continue
		}
		if cos := cosine(a, b); cos < .999999 {
			t.Errorf("%s: cosine %v of the two ways", text.Name, cos)
		}
	}
	if m.Info().Digest != want.Info().Digest || m.Info().Dim != want.Info().Dim || m.Info().Name != "model" {
		t.Errorf("%+v, want digest and dimension of %+v", m.Info(), want.Info())
	}
}
