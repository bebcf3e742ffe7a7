package embedtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/touchstone-eval/touchstone/engine/embed"
)

// ErrClosed is the error of Embed after Close.
var ErrClosed = errors.New("embedtest: Embed after Close: open a new embedder")

// New returns an embedder of dim dimensions that hashes each lower-cased word
// (a run of letters and digits) to a signed dimension and scales the sum to
// unit length. A text without a word, or whose words cancel out, is the zero
// vector. It panics when dim is below one.
func New(dim int) embed.Embedder {
	if dim < 1 {
		panic(fmt.Sprintf("embedtest.New(%d): the dimension must be at least 1", dim))
	}
	name := fmt.Sprintf("fake-%d", dim)
	sum := sha256.Sum256([]byte("embedtest/v1/" + name))
	return &fake{info: embed.Info{
		Name: name, Digest: hex.EncodeToString(sum[:]), Pooling: "mean", Dim: dim,
	}}
}

type fake struct {
	info   embed.Info
	closed atomic.Bool
}

func (f *fake) Info() embed.Info { return f.info }

func (f *fake) Close() error {
	f.closed.Store(true)
	return nil
}

func (f *fake) Embed(ctx context.Context, texts []string) ([]embed.Vector, error) {
	out := make([]embed.Vector, 0, len(texts))
	for _, text := range texts {
		if f.closed.Load() {
			return nil, ErrClosed
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("embedtest: stopped after %d of %d texts: %w", len(out), len(texts), err)
		}
		out = append(out, f.vector(text))
	}
	if f.closed.Load() {
		return nil, ErrClosed
	}
	return out, nil
}

func (f *fake) vector(text string) embed.Vector {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	// Whole numbers, so the sums do not depend on the order of the words.
	counts := make([]int, f.info.Dim)
	for _, w := range words {
		h := fnv.New64a()
		h.Write([]byte(w))
		// The high bits: FNV-1a's low bit is a mere parity of the input.
		bits := h.Sum64()
		sign := 1
		if bits>>63 == 1 {
			sign = -1
		}
		counts[(bits>>16)%uint64(f.info.Dim)] += sign
	}
	squares := 0
	for _, c := range counts {
		squares += c * c
	}
	values := make([]float32, f.info.Dim)
	if squares > 0 {
		norm := math.Sqrt(float64(squares))
		for i, c := range counts {
			values[i] = float32(float64(c) / norm)
		}
	}
	return embed.Vector{Values: values, Tokens: len(words)}
}
