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

	SubstrateEntities    = "entities"
	SubstrateLinks       = "links"
	SubstrateEventDates  = "event_dates"
	SubstratePages       = "pages"
	SubstratePageSources = "page_sources" // pairs of a page and a document that it covers
	SubstrateEpisodes    = "episodes"     // of at least two documents
)

// Substrate is something that a search depends on, counted in two ways that
// must agree.
type Substrate struct {
	Name       string
	Model      string // of vectors: which model made them
	Count      Tally  // asked for as a number
	Enumerated Tally  // counted one by one, the way a search gets at them
	Needed     bool   // a search with the engine's settings depends on it; of vectors, on those of the engine's own model
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

// enrichments are the substrates that enrichment makes, and the channels that
// find nothing without them.
var enrichments = []struct {
	name   string
	table  store.Table
	needed func(Channels) bool
}{
	{SubstrateEntities, store.Entities, func(Channels) bool { return false }}, // references alone make links
	{SubstrateLinks, store.Links, func(c Channels) bool { return c.Graph.On }},
	{SubstrateEventDates, store.EventDates, func(c Channels) bool { return c.Temporal.On }},
	{SubstratePages, store.Pages, func(c Channels) bool { return c.Pages.On }},
	{SubstratePageSources, store.PageSources, func(c Channels) bool { return c.Pages.On }},
	{SubstrateEpisodes, store.Episodes, func(c Channels) bool { return c.Episodes.On }},
}

// Substrates counts documents, chunks, passages of the lexical index, the
// vectors of each model (always those of the engine's own), and what
// enrichment made. What cannot be counted is unknown, never 0.
func (e *Engine) Substrates(ctx context.Context) []Substrate {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed {
		closed := Tally{Err: ErrClosed}
		var all []Substrate
		for _, name := range []string{SubstrateDocuments, SubstrateChunks, SubstrateLexical, SubstrateVectors} {
			all = append(all, Substrate{Name: name, Count: closed, Enumerated: closed})
		}
		for _, s := range enrichments {
			all = append(all, Substrate{Name: s.name, Count: closed, Enumerated: closed})
		}
		return all
	}
	count := func(t store.Table) Tally { return tally(e.store.Count(ctx, t)) }
	enumerate := func(t store.Table) Tally { return tally(e.store.Enumerate(ctx, t)) }
	all := []Substrate{
		{Name: SubstrateDocuments, Count: count(store.Documents), Enumerated: enumerate(store.Documents), Needed: true},
		{Name: SubstrateChunks, Count: count(store.Chunks), Enumerated: enumerate(store.Chunks), Needed: true},
		{Name: SubstrateLexical, Count: tally(e.lexical.Count()), Enumerated: e.enumerateLexical(ctx), Needed: e.cfg.Weights.Lexical > 0},
	}
	all = append(all, e.vectorSubstrates(ctx)...)
	for _, s := range enrichments {
		all = append(all, Substrate{Name: s.name, Count: count(s.table), Enumerated: enumerate(s.table), Needed: s.needed(e.cfg.Channels)})
	}
	return all
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
		return []Substrate{{Name: SubstrateVectors, Count: unknown, Enumerated: unknown, Needed: e.cfg.Weights.Vector > 0}}
	}
	if !slices.Contains(models, e.model) {
		models = append(models, e.model)
	}
	var all []Substrate
	for _, m := range models {
		all = append(all, Substrate{
			Name: SubstrateVectors, Model: modelName(m),
			Count: tally(e.store.CountVectors(ctx, m)), Enumerated: e.enumerateVectors(ctx, m),
			Needed: m == e.model && e.cfg.Weights.Vector > 0,
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
