package builtin

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/seed"
)

// Runner is the built-in engine as a subject that makes its own stores: from
// the cache where a seed of the same key lies there, one for each scope of the
// suite.
type Runner struct {
	cfg  engine.Config
	seed *seeds
}

var (
	_ evaltests.StoreOpener   = (*Runner)(nil)
	_ evaltests.Fingerprinter = (*Runner)(nil)
	_ evaltests.Store         = (*Store)(nil)
)

// NewRunner makes a runner of engines with a configuration. Close it when all
// stores are closed.
func NewRunner(cfg engine.Config) (*Runner, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s, err := newSeeds(cfg)
	if err != nil {
		return nil, err
	}
	return &Runner{cfg: s.cfg, seed: s}, nil
}

// Close frees the default model, if the runner opened it.
func (r *Runner) Close() error { return r.seed.Close() }

// Runner is cached wherever the source of the ingest and the versions of its
// libraries are known.
func (r *Runner) Runner() seed.Kind {
	if _, err := r.seed.Parts(context.Background()); err != nil {
		return seed.Ephemeral
	}
	return seed.Cached
}

// Seeds is the engine's side of [seed.Build].
func (r *Runner) Seeds() seed.Engine { return r.seed }

// Pool is the number of passages handed to the reranker.
func (r *Runner) Pool() int {
	if r.cfg.PoolSize == 0 {
		return engine.DefaultPoolSize
	}
	return r.cfg.PoolSize
}

// Search refuses: a question is asked of a store.
func (r *Runner) Search(context.Context, pack.Question) (record.Observation, error) {
	return record.Observation{}, errors.New("builtin: no store is open: call OpenStore, as a suite does")
}

// Fingerprint is that of the engine in a store, without one.
func (r *Runner) Fingerprint(context.Context) (evaltests.Fingerprint, error) {
	config := r.cfg.Effective()
	config["embedder"] = r.seed.embedder
	return fingerprint(config, r.seed.fingerprint())
}

// Store is an engine over a seed, opened to be read only.
type Store struct {
	*Subject
	seed *seed.Seed
}

// OpenStore makes or finds the seed and opens it read-only.
func (r *Runner) OpenStore(ctx context.Context, q seed.Request) (_ evaltests.Store, err error) {
	k := &keeper{seeds: r.seed}
	defer func() { err = errors.Join(err, k.drop()) }()
	s, err := seed.Build(ctx, k, q)
	if err != nil {
		return nil, err
	}
	for _, channel := range Channels(r.cfg) {
		if err := seed.AssertLive(channel, s.Survey); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	cfg := r.cfg
	cfg.ReadOnly = true
	capped := s.Result.Pool > 0 && s.Result.Pool < r.Pool()
	if capped {
		cfg.PoolSize = s.Result.Pool // as the suite allowed and the seed reports
	}
	e := k.take(s.Dir)
	if e == nil || capped {
		if e != nil {
			err = e.Close()
		}
		if err == nil {
			e, err = engine.Open(ctx, s.Dir, cfg)
		}
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return &Store{Subject: Over(e), seed: s}, nil
}

// keeper keeps the engine that surveyed a store open, for the search that
// follows: opening one reads and checks all of its index.
type keeper struct {
	*seeds
	engine *engine.Engine
	dir    string
}

// Survey counts what a store holds, and leaves it open to be read.
func (k *keeper) Survey(ctx context.Context, dir string) (seed.Survey, error) {
	if err := k.drop(); err != nil {
		return seed.Survey{}, err
	}
	cfg := k.cfg
	cfg.ReadOnly = true
	e, err := engine.Open(ctx, dir, cfg)
	if err != nil {
		return seed.Survey{}, err
	}
	k.engine, k.dir = e, dir
	return surveyOf(ctx, e)
}

// WriteStamp needs the store for itself.
func (k *keeper) WriteStamp(ctx context.Context, dir, text string) error {
	if err := k.drop(); err != nil {
		return err
	}
	return k.seeds.WriteStamp(ctx, dir, text)
}

// take hands over the engine that is open in dir, if there is one.
func (k *keeper) take(dir string) *engine.Engine {
	if k.dir != dir {
		return nil
	}
	e := k.engine
	k.engine, k.dir = nil, ""
	return e
}

func (k *keeper) drop() error {
	if k.engine == nil {
		return nil
	}
	e := k.engine
	k.engine, k.dir = nil, ""
	return e.Close()
}

// Seed is the seed below the store.
func (s *Store) Seed() *seed.Seed { return s.seed }

// Close closes the engine and lets go of the seed.
func (s *Store) Close() error { return errors.Join(s.engine.Close(), s.seed.Close()) }

// Channels lists the channels that a configuration has on, in the order of
// [record.Channels].
func Channels(cfg engine.Config) []string {
	weights := cfg.Weights
	if weights.Vector == 0 && weights.Lexical == 0 {
		weights = engine.DefaultWeights
	}
	on := map[string]bool{
		record.ChannelVector: weights.Vector > 0, record.ChannelLexical: weights.Lexical > 0,
		record.ChannelGraph: cfg.Channels.Graph.On, record.ChannelTemporal: cfg.Channels.Temporal.On,
		record.ChannelPages: cfg.Channels.Pages.On, record.ChannelEpisodes: cfg.Channels.Episodes.On,
		record.ChannelRerank: cfg.Judge != nil,
	}
	return slices.DeleteFunc(record.Channels(), func(name string) bool { return !on[name] })
}

// channelsOf are those that an open engine has on.
func channelsOf(settings map[string]engine.ConfigValue) []string {
	return slices.DeleteFunc(record.Channels(), func(name string) bool {
		switch name {
		case record.ChannelVector, record.ChannelLexical:
			return settings["weights."+name].Value == "0"
		case record.ChannelRerank:
			return settings["judge"].Value == "none"
		}
		return settings["channels."+name].Value != "true"
	})
}

// AssertLive refuses an open engine whose channels that are on have nothing to
// work on: see [seed.AssertLive]. Whoever opens a store to measure it without
// a suite calls it first.
func AssertLive(ctx context.Context, e *engine.Engine) error {
	v, err := surveyOf(ctx, e)
	if err != nil {
		return err
	}
	for _, channel := range channelsOf(e.Config()) {
		if err := seed.AssertLive(channel, v); err != nil {
			return err
		}
	}
	return nil
}

// Live opens the store in a folder to be read only, such as a snapshot, and
// asserts that it is live.
func Live(ctx context.Context, dir string, cfg engine.Config) (*Subject, error) {
	cfg.ReadOnly = true
	e, err := engine.Open(ctx, dir, cfg)
	if err != nil {
		return nil, err
	}
	if err := AssertLive(ctx, e); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, err), e.Close())
	}
	return &Subject{engine: e, close: e.Close}, nil
}
