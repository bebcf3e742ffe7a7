package engine

import (
	"context"
	"slices"

	"github.com/touchstone-eval/touchstone/engine/embed"
	"github.com/touchstone-eval/touchstone/engine/store"
)

// Names of the substrates.
const (
	SubstrateDocuments = "documents"
	SubstrateChunks    = "chunks"
	SubstrateLexical   = "lexical"
	SubstrateVectors   = "vectors"
)

// Substrate is something that a search depends on, counted in two ways that
// must agree.
type Substrate struct {
	Name       string
	Model      string // of vectors: which model made them
	Count      Tally  // asked for as a number
	Enumerated Tally  // counted one by one, the way a search gets at them
}

// Tally is a count, or the reason why there is none. The zero Tally is
// neither, and stands for nothing.
type Tally struct {
	N   int
	Err error // not nil: unknown, and N means nothing
}

// Known says whether N is the count.
func (t Tally) Known() bool { return t.Err == nil }

func tally(n int, err error) Tally {
	if err != nil {
		return Tally{Err: err}
	}
	return Tally{N: n}
}

// Substrates counts documents, chunks, passages of the lexical index, and the
// vectors of each model (always those of the engine's own). What cannot be
// counted is unknown, never 0.
func (e *Engine) Substrates(ctx context.Context) []Substrate {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed {
		closed := Tally{Err: ErrClosed}
		var all []Substrate
		for _, name := range []string{SubstrateDocuments, SubstrateChunks, SubstrateLexical, SubstrateVectors} {
			all = append(all, Substrate{Name: name, Count: closed, Enumerated: closed})
		}
		return all
	}
	all := []Substrate{
		{Name: SubstrateDocuments, Count: tally(e.store.Count(ctx, store.Documents)), Enumerated: tally(e.store.Enumerate(ctx, store.Documents))},
		{Name: SubstrateChunks, Count: tally(e.store.Count(ctx, store.Chunks)), Enumerated: tally(e.store.Enumerate(ctx, store.Chunks))},
		{Name: SubstrateLexical, Count: tally(e.lexical.Count()), Enumerated: e.enumerateLexical(ctx)},
	}
	return append(all, e.vectorSubstrates(ctx)...)
}

func (e *Engine) enumerateLexical(ctx context.Context) Tally {
	n := 0
	err := e.lexical.Each(ctx, func(string) error { n++; return nil })
	return tally(n, err)
}

func (e *Engine) vectorSubstrates(ctx context.Context) []Substrate {
	models, err := e.store.Models(ctx)
	if err != nil {
		unknown := Tally{Err: err}
		return []Substrate{{Name: SubstrateVectors, Count: unknown, Enumerated: unknown}}
	}
	if !slices.Contains(models, e.model) {
		models = append(models, e.model)
	}
	var all []Substrate
	for _, m := range models {
		all = append(all, Substrate{
			Name: SubstrateVectors, Model: modelName(m),
			Count: tally(e.store.CountVectors(ctx, m)), Enumerated: e.enumerateVectors(ctx, m),
		})
	}
	return all
}

// enumerateVectors counts the engine's own vectors in memory, where a search
// reads them.
func (e *Engine) enumerateVectors(ctx context.Context, m embed.Info) Tally {
	if m == e.model {
		return Tally{N: e.dense.Len()}
	}
	return tally(e.store.EnumerateVectors(ctx, m))
}
