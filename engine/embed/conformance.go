package embed

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
)

// MinCosine is the least cosine between a stored vector and a live one.
const MinCosine = .9999

// Reference is what a model returned for some texts when it was run by another
// program: Hugging Face's tokenizers, ONNX Runtime and numpy.
type Reference struct {
	Model Info            `json:"model"`
	Texts []ReferenceText `json:"texts"`
}

// ReferenceText is one text of a [Reference].
type ReferenceText struct {
	Name   string    `json:"name"`
	Text   string    `json:"text"`
	Repeat int       `json:"repeat,omitempty"` // the text is Text so many times; 0 means once
	Tokens int       `json:"tokens"`           // before any cut, as Vector.Tokens
	Vector []float32 `json:"vector"`
}

// Full is the text itself.
func (t ReferenceText) Full() string { return strings.Repeat(t.Text, max(1, t.Repeat)) }

//go:embed reference/*.json
var references embed.FS

// ReferenceFor returns the reference for a model, by its digest, and whether
// there is one. The others are those of Default and of all-MiniLM-L6-v2.
func ReferenceFor(info Info) (Reference, bool, error) {
	paths, err := fs.Glob(references, "reference/*.json")
	if err != nil {
		return Reference{}, false, err
	}
	for _, path := range paths {
		data, err := references.ReadFile(path)
		if err != nil {
			return Reference{}, false, err
		}
		var r Reference
		if err := json.Unmarshal(data, &r); err != nil {
			return Reference{}, false, fmt.Errorf("%s: %w", path, err)
		}
		if r.Model.Digest == info.Digest {
			return r, true, nil
		}
	}
	return Reference{}, false, nil
}

// Check is one thing that a [Probe] looked at.
type Check struct {
	Name   string // for instance "unit length"
	OK     bool
	Detail string // what was found, and what was expected
}

// Conformance is the outcome of a [Probe].
type Conformance struct {
	Checks         []Check
	MinCosine      float64 // of a live vector with its stored one
	TruncatedShare float64 // of the reference texts
}

// Err is nil if every check holds, and else names those that do not.
func (c Conformance) Err() error {
	var errs []error
	for _, k := range c.Checks {
		if !k.OK {
			errs = append(errs, fmt.Errorf("%s: %s", k.Name, k.Detail))
		}
	}
	if len(c.Checks) == 0 {
		errs = append(errs, errors.New("no check was made"))
	}
	return errors.Join(errs...)
}

// Probe asks an embedder for the texts of a reference, and compares: which
// model it is and how it pools, the length and norm of its vectors, the
// vectors themselves, that a vector does not depend on the batch, how texts are
// cut into tokens (their number; accents; special tokens, which in a text are
// text), and what is truncated. The error is of the embedder's call.
func Probe(ctx context.Context, e Embedder, r Reference) (Conformance, error) {
	if len(r.Texts) == 0 {
		return Conformance{}, errors.New("embed: probe: the reference has no texts")
	}
	p := prober{ctx: ctx, e: e, r: r}
	if err := p.ask(); err != nil {
		return Conformance{}, fmt.Errorf("embed: probe: %w", err)
	}
	p.model()
	p.vectors()
	p.tokens()
	return p.c, nil
}

type prober struct {
	ctx  context.Context
	e    Embedder
	r    Reference
	c    Conformance
	live []Vector // of the reference texts, in one batch
	one  []Vector // the same, each alone
	same [][2]Vector
}

// pairs of texts that are one text to an uncased model.
var pairs = [][2]string{
	{"Café naïve, Ångström", "cafe naive, angstrom"},
	{"e\u0301cole", "ecole"},
	{"the end [SEP] of [CLS] it [MASK]", "the end [sep] of [cls] it [mask]"},
}

func (p *prober) ask() (err error) {
	texts := make([]string, len(p.r.Texts))
	for i, t := range p.r.Texts {
		texts[i] = t.Full()
		one, err := p.embed(texts[i])
		if err != nil {
			return err
		}
		p.one = append(p.one, one...)
	}
	if p.live, err = p.embed(texts...); err != nil {
		return err
	}
	for _, pair := range pairs {
		v, err := p.embed(pair[0], pair[1])
		if err != nil {
			return err
		}
		p.same = append(p.same, [2]Vector{v[0], v[1]})
	}
	return nil
}

func (p *prober) embed(texts ...string) ([]Vector, error) {
	v, err := p.e.Embed(p.ctx, texts)
	if err != nil {
		return nil, err
	}
	if len(v) != len(texts) {
		return nil, fmt.Errorf("%d vectors for %d texts", len(v), len(texts))
	}
	return v, nil
}

// check records the first problem that find reports for a text, if any.
func (p *prober) check(name string, find func(i int) string) {
	k := Check{Name: name, OK: true}
	for i, t := range p.r.Texts {
		if problem := find(i); problem != "" {
			k.OK = false
			k.Detail = fmt.Sprintf("text %q: %s", t.Name, problem)
			break
		}
	}
	p.c.Checks = append(p.c.Checks, k)
}

func (p *prober) model() {
	live, want := p.e.Info(), p.r.Model
	add := func(name string, got, want any) {
		k := Check{Name: name, OK: got == want}
		if !k.OK {
			k.Detail = fmt.Sprintf("%v, the reference has %v", got, want)
		}
		p.c.Checks = append(p.c.Checks, k)
	}
	add("digest", live.Digest, want.Digest)
	add("pooling", live.Pooling, want.Pooling)
	add("dimension", live.Dim, want.Dim)
	add("max tokens", live.MaxTokens, want.MaxTokens)
}

func (p *prober) vectors() {
	p.check("no error", func(i int) string {
		for _, v := range []Vector{p.live[i], p.one[i]} {
			if v.Err != nil {
				return v.Err.Error()
			}
		}
		return ""
	})
	p.check("length", func(i int) string {
		if got := len(p.live[i].Values); got != p.r.Model.Dim {
			return fmt.Sprintf("a vector of %d numbers, want %d", got, p.r.Model.Dim)
		}
		return ""
	})
	p.check("unit length", func(i int) string {
		norm := math.Sqrt(dot(p.live[i].Values, p.live[i].Values))
		if zero(p.r.Texts[i].Vector) && norm == 0 || math.Abs(norm-1) <= 1e-5 {
			return ""
		}
		return fmt.Sprintf("norm %v, want 1", norm)
	})
	p.c.MinCosine = 1
	p.check("stored vectors", func(i int) string {
		live, stored := p.live[i].Values, p.r.Texts[i].Vector
		if len(live) != len(stored) || zero(live) != zero(stored) {
			return "the live vector and the stored one differ in length, or one of them is zero"
		}
		if zero(stored) {
			return ""
		}
		cos := dot(live, stored) / math.Sqrt(float64(dot(live, live)*dot(stored, stored)))
		p.c.MinCosine = min(p.c.MinCosine, cos)
		if cos >= MinCosine { // and not NaN
			return ""
		}
		return fmt.Sprintf("cosine %.6f to the stored vector, want at least %v", cos, MinCosine)
	})
	p.check("alone and in a batch", func(i int) string {
		if slices.Equal(p.live[i].Values, p.one[i].Values) {
			return ""
		}
		return "another vector alone than beside the other texts"
	})
}

func (p *prober) tokens() {
	p.check("tokens", func(i int) string {
		if got, want := p.live[i].Tokens, p.r.Texts[i].Tokens; got != want {
			return fmt.Sprintf("%d tokens, want %d", got, want)
		}
		return ""
	})
	truncated := 0
	p.check("truncation", func(i int) string {
		limit := p.r.Model.MaxTokens
		want := limit > 0 && p.r.Texts[i].Tokens > limit
		if p.live[i].Truncated != want {
			return fmt.Sprintf("truncated %t, want %t: %d tokens, the model reads %d", p.live[i].Truncated, want, p.r.Texts[i].Tokens, limit)
		}
		return ""
	})
	for _, v := range p.live {
		if v.Truncated {
			truncated++
		}
	}
	p.c.TruncatedShare = float64(truncated) / float64(len(p.live))
	k := Check{Name: "accents and special tokens", OK: true}
	for i, v := range p.same {
		if v[0].Err != nil || v[1].Err != nil || v[0].Tokens != v[1].Tokens || !slices.Equal(v[0].Values, v[1].Values) {
			k.OK = false
			k.Detail = fmt.Sprintf("%q and %q have different vectors, want the same", pairs[i][0], pairs[i][1])
			break
		}
	}
	p.c.Checks = append(p.c.Checks, k)
}

func dot(a, b []float32) (sum float64) {
	for k := range a {
		sum += float64(float64(a[k]) * float64(b[k]))
	}
	return sum
}

func zero(v []float32) bool {
	return !slices.ContainsFunc(v, func(x float32) bool { return x != 0 })
}
