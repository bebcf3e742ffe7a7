package builtin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/seed"
)

// Depth is how many documents are asked for: deep enough for AP and for
// goldens, and the depth that fusion consumes.
const Depth = 100

// Subject is the built-in engine over an open store.
type Subject struct {
	engine *engine.Engine
	close  func() error // nil: the engine is its owner's to close
}

var (
	_ evaltests.Subject           = (*Subject)(nil)
	_ evaltests.Ingester          = (*Subject)(nil)
	_ evaltests.Fingerprinter     = (*Subject)(nil)
	_ evaltests.SubstrateReporter = (*Subject)(nil)
	_ evaltests.Surveyor          = (*Subject)(nil)
	_ evaltests.ChannelReporter   = (*Subject)(nil)
)

// New opens an empty engine. Close removes what it stored.
func New(ctx context.Context, cfg engine.Config) (*Subject, error) {
	dir, err := os.MkdirTemp("", "touchstone-engine-")
	if err != nil {
		return nil, err
	}
	e, err := engine.Open(ctx, dir, cfg)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &Subject{engine: e, close: func() error { return errors.Join(e.Close(), os.RemoveAll(dir)) }}, nil
}

// Over wraps an engine that the caller opened and closes.
func Over(e *engine.Engine) *Subject { return &Subject{engine: e} }

// Close closes the engine that New opened and removes its store.
func (s *Subject) Close() error {
	if s.close == nil {
		return nil
	}
	return s.close()
}

// Survey counts what the store holds, for a contract.
func (s *Subject) Survey(ctx context.Context) (seed.Survey, error) { return surveyOf(ctx, s.engine) }

// Ingest stores the corpus through the engine's own pipeline.
func (s *Subject) Ingest(ctx context.Context, corpus []pack.Document) error {
	docs := make([]engine.Document, len(corpus))
	for i, d := range corpus {
		docs[i] = document(d)
	}
	report, err := s.engine.Ingest(ctx, docs...)
	if err != nil {
		return err
	}
	if report.Documents != len(docs) {
		return fmt.Errorf("the engine took %d of %d documents", report.Documents, len(docs))
	}
	return nil
}

// Channels are those that are on.
func (s *Subject) Channels() []string { return channelsOf(s.engine.Config()) }

// Search asks the engine for documents.
func (s *Subject) Search(ctx context.Context, q pack.Question) (record.Observation, error) {
	r, err := s.engine.Search(ctx, engine.Query{Text: q.Text, K: Depth, Filters: q.Filters, AsOf: q.AsOf, Unit: engine.UnitDocument})
	if err != nil {
		return record.Observation{}, err
	}
	obs := record.Observation{Ranking: entries(r.Hits)}
	for _, st := range r.Stages {
		obs.Stages = append(obs.Stages, record.Stage{
			Name: st.Name, State: state(st.State), Reason: st.Reason, Entries: entries(st.Hits),
			Total: st.Total, CutAt: st.CutAt, Micros: st.Latency.Microseconds(),
		})
	}
	for _, ch := range r.Channels {
		obs.Channels = append(obs.Channels, record.Channel{
			Name: ch.Name, Fired: ch.Fired, Contributed: ch.Contributed, Skipped: ch.Skipped,
			Hits: entries(ch.Hits[:min(len(ch.Hits), record.MaxHits)]), Found: len(ch.Hits),
		})
	}
	return obs, nil
}

// state translates: a failed optional arm handed nothing on, as a skipped one.
func state(s engine.State) string {
	if s == engine.Executed {
		return record.Executed
	}
	return record.SkippedStage
}

func entries(hits []engine.Hit) []record.Entry {
	out := make([]record.Entry, len(hits))
	for i, h := range hits {
		out[i] = record.Entry{Chunk: h.ChunkID, Doc: h.DocumentID, Score: h.Score}
	}
	return out
}

// Fingerprint reports the effective configuration, and as seed key what the
// stored content depends on.
func (s *Subject) Fingerprint(context.Context) (evaltests.Fingerprint, error) {
	return fingerprint(s.engine.Config(), s.engine.Fingerprint())
}

// notOfTheRanking are settings that cannot change one: arms that differ in
// them only are one arm.
var notOfTheRanking = []string{"read_only", "concurrency"}

func fingerprint(settings map[string]engine.ConfigValue, print engine.Fingerprint) (evaltests.Fingerprint, error) {
	config := map[string]record.Set{}
	for name, v := range settings {
		if !slices.Contains(notOfTheRanking, name) {
			config[name] = record.Set{Value: v.Value, Default: v.Default}
		}
	}
	key, err := storeHash(print)
	return evaltests.Fingerprint{Config: config, SeedKey: key}, err
}

// Substrates counts what the engine searches.
func (s *Subject) Substrates(ctx context.Context) ([]evaltests.Substrate, error) {
	var out []evaltests.Substrate
	for _, sub := range s.engine.Substrates(ctx) {
		if empty := sub.Count == sub.Enumerated && sub.Count.Known() && sub.Count.N == 0; empty && !sub.Needed {
			continue // no channel that is on looks for it: a corpus without dates is no fault
		}
		out = append(out, evaltests.Substrate{
			Name: sub.Name, Counted: sub.Count.N, Enumerated: sub.Enumerated.N,
			Err: errors.Join(sub.Count.Err, sub.Enumerated.Err),
		})
	}
	return out, nil
}

// settings are the keys that Configure understands.
var settings = map[string]func(*engine.Config, string) error{
	"weights.vector":  func(c *engine.Config, v string) error { return weight(c, &c.Weights.Vector, v) },
	"weights.lexical": func(c *engine.Config, v string) error { return weight(c, &c.Weights.Lexical, v) },
	"rrf_k":           func(c *engine.Config, v string) error { return integer(&c.RRFK, v) },
	"depth":           func(c *engine.Config, v string) error { return integer(&c.Depth, v) },
	"pool_size":       func(c *engine.Config, v string) error { return integer(&c.PoolSize, v) },
	"chunk.max_words": func(c *engine.Config, v string) error { return integer(&c.Chunk.MaxWords, v) },
	"chunk.overlap":   func(c *engine.Config, v string) error { return integer(&c.Chunk.Overlap, v) },
	"embedder":        setEmbedder,
	"reranker":        setReranker,

	"channels.graph":    func(c *engine.Config, v string) error { return channel(&c.Channels.Graph, v) },
	"channels.temporal": func(c *engine.Config, v string) error { return channel(&c.Channels.Temporal, v) },
	"channels.pages":    func(c *engine.Config, v string) error { return channel(&c.Channels.Pages, v) },
	"channels.episodes": func(c *engine.Config, v string) error { return channel(&c.Channels.Episodes, v) },
	"boosts.title":      func(c *engine.Config, v string) error { return number(&c.Boosts.Title, v) },
	"boosts.recency":    func(c *engine.Config, v string) error { return number(&c.Boosts.Recency.Weight, v) },
}

// Configure applies key=value settings to cfg. An unknown key is an error
// that lists the known ones.
func Configure(cfg engine.Config, pairs []string) (engine.Config, error) {
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		apply, known := settings[key]
		if !ok || !known {
			names := make([]string, 0, len(settings))
			for name := range settings {
				names = append(names, name)
			}
			sort.Strings(names)
			return cfg, fmt.Errorf("setting %q: want key=value with one of %s", pair, strings.Join(names, ", "))
		}
		if err := apply(&cfg, value); err != nil {
			return cfg, fmt.Errorf("setting %q: %w", pair, err)
		}
	}
	return cfg, cfg.Validate()
}

// channel is "off", "on" or a weight above 0.
func channel(at *engine.ChannelSetting, value string) error {
	switch value {
	case "on", "off":
		*at = engine.ChannelSetting{On: value == "on"}
		return nil
	}
	if err := number(&at.Weight, value); err != nil || at.Weight == 0 {
		return fmt.Errorf("%q; want on, off or a weight above 0", value)
	}
	at.On = true
	return nil
}

func weight(c *engine.Config, at *float64, value string) error {
	// One weight given alone leaves the other at its default, not at zero.
	if c.Weights.Vector == 0 && c.Weights.Lexical == 0 {
		c.Weights = engine.DefaultWeights
	}
	return number(at, value)
}

func number(at *float64, value string) error {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return fmt.Errorf("%q is not a number", value)
	}
	*at = v
	return nil
}

func integer(at *int, value string) error {
	v, err := strconv.Atoi(value)
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a number of at least 0", value)
	}
	*at = v
	return nil
}
