package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/embed"
	"github.com/touchstone-eval/touchstone/engine/fuse"
	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/adapt/builtin"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// depth is how many passages each side ranks: what the fusion takes of an arm.
const depth = engine.DefaultDepth

// warm questions are asked before the clock runs.
const warm = 20

// weights are what a mode of search is made with.
var weights = map[string]fuse.Weights{"BM25": {Lexical: 1}, "dense": {Vector: 1}, "hybrid": {}}

// engine builds a store with an embedder (nil for the default), evaluates the
// pack on it, and times searches of some modes.
func (b bench) engine(ctx context.Context, name string, embedder embed.Embedder, modes ...string) ([]Step, []System, error) {
	dir := filepath.Join(b.base, "engine-"+name)
	fmt.Fprintf(b.progress, "benchengine: this engine, %s: build\n", name)
	steps, index, err := b.build(ctx, dir, embedder)
	if err != nil {
		return nil, nil, err
	}
	stored, err := folderBytes(dir)
	if err != nil {
		return nil, nil, err
	}
	var systems []System
	for _, mode := range modes {
		s := System{Name: "this engine", Model: name, Mode: mode, Index: index, Bytes: stored}
		if mode == "BM25" {
			s.Model = "" // built with the rest, and timed with it
		}
		fmt.Fprintf(b.progress, "benchengine: this engine, %s: %s\n", name, mode)
		if err := b.ask(ctx, dir, engine.Config{Embedder: embedder, Weights: weights[mode], ReadOnly: true}, &s); err != nil {
			return nil, nil, fmt.Errorf("this engine, %s, %s: %w", name, mode, err)
		}
		systems = append(systems, s)
	}
	return steps, systems, nil
}

// build ingests and evaluates. It returns the steps in order, and the time of
// those that make the index.
func (b bench) build(ctx context.Context, dir string, embedder embed.Embedder) (steps []Step, index time.Duration, err error) {
	steps = append(steps, Step{"read the pack", b.read})
	start := time.Now()
	e, err := engine.Open(ctx, dir, engine.Config{Embedder: embedder})
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	steps = append(steps, Step{"open an empty store, load the model", time.Since(start)})

	docs := make([]engine.Document, len(b.pack.Documents))
	for i, d := range b.pack.Documents {
		docs[i] = engine.Document{ID: d.ID, Title: d.Title, Text: d.Text, Date: d.Date, Meta: d.Meta}
	}
	start = time.Now()
	report, err := e.Ingest(ctx, docs...)
	if err != nil {
		return nil, 0, err
	}
	if report.Documents != len(docs) {
		return nil, 0, fmt.Errorf("the engine took %d of %d documents", report.Documents, len(docs))
	}
	index = time.Since(start)
	rest := index
	for _, s := range report.Steps {
		steps = append(steps, Step{s.Name, s.Wall})
		rest -= s.Wall
	}
	steps = append(steps, Step{"rest of the ingest", max(0, rest)})
	if err := builtin.AssertLive(ctx, e); err != nil {
		return nil, 0, err
	}

	start = time.Now()
	folder, err := record.NewFolder(filepath.Join(b.base, "runs"), ".", "benchengine", nil)
	if err != nil {
		return nil, 0, err
	}
	s, err := evaltests.NewSuite(b.pack, evaltests.Env{Tier: "smoke", CaseTimeout: b.timeout})
	if err != nil {
		return nil, 0, err
	}
	done, err := evaltests.Evaluate(ctx, s.In(folder), stored{builtin.Over(e)})
	if err != nil {
		return nil, 0, err
	}
	if done.Verdict.Verdict != gate.PASS {
		return nil, 0, fmt.Errorf("evaluate: %s: %v", done.Verdict.Verdict, done.Verdict.Reasons)
	}
	steps = append(steps, Step{fmt.Sprintf("search and evaluate, %d questions", len(b.pack.Cases)), time.Since(start)})
	return steps, index, nil
}

// ask times one search after the other.
func (b bench) ask(ctx context.Context, dir string, cfg engine.Config, s *System) (err error) {
	e, err := engine.Open(ctx, dir, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if err := builtin.AssertLive(ctx, e); err != nil {
		return err
	}
	search := func(c pack.Case) ([]string, error) {
		r, err := e.Search(ctx, engine.Query{Text: c.Question.Text, K: depth, Unit: engine.UnitDocument})
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", c.Question.ID, err)
		}
		ids := make([]string, len(r.Hits))
		for i, h := range r.Hits {
			ids[i] = h.DocumentID
		}
		return ids, nil
	}
	for _, c := range b.pack.Cases[:min(warm, len(b.pack.Cases))] {
		if _, err := search(c); err != nil {
			return err
		}
	}
	rankings := map[string][]string{}
	for _, c := range b.pack.Cases {
		start := time.Now()
		ids, err := search(c)
		if err != nil {
			return err
		}
		s.Search = append(s.Search, time.Since(start))
		rankings[c.Question.ID] = ids
	}
	s.NDCG, err = ndcg(b.pack.Cases, rankings)
	return err
}

// stored is an engine that holds the corpus already.
type stored struct{ s *builtin.Subject }

func (x stored) Search(ctx context.Context, q pack.Question) (record.Observation, error) {
	return x.s.Search(ctx, q)
}

func (x stored) Fingerprint(ctx context.Context) (evaltests.Fingerprint, error) {
	return x.s.Fingerprint(ctx)
}

func (x stored) Substrates(ctx context.Context) ([]evaltests.Substrate, error) {
	return x.s.Substrates(ctx)
}

func folderBytes(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
