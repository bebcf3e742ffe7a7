package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/fuse"
	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/adapt/builtin"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Measures of the tables, by their canonical names. Binary counts every grade
// above 0 alike, as figures published for Cranfield often do.
var (
	linear      = canonical("nDCG@10")
	exponential = canonical("nDCG(dcg='exp-log2')@10")
	binary      = canonical("nDCG(gains={1:1, 2:1, 3:1, 4:1})@10")
	recall      = canonical("R@100")
)

func canonical(name string) string {
	m, err := metric.Parse(name)
	if err != nil {
		panic(err) // a constant of this file
	}
	return m.String()
}

// Curve is a pack measured with several weights of the vector arm.
type Curve struct {
	Pack    string
	Graded  bool // its grades differ, so that the gain matters
	Cases   int  // answerable questions
	Weights []float64
	Runs    []Run // one a weight
}

// Run holds the values of each answerable case, in the order of the pack, by
// stage and measure.
type Run struct {
	Values map[string]map[string][]float64
}

// At returns the values of the final ranking at a weight.
func (c Curve) At(weight float64, stage, measure string) ([]float64, error) {
	for i, w := range c.Weights {
		if w == weight {
			if v := c.Runs[i].Values[stage][measure]; len(v) == c.Cases && len(v) > 0 {
				return v, nil
			}
			return nil, fmt.Errorf("%s: weight %v: no %s of stage %s", c.Pack, weight, measure, stage)
		}
	}
	return nil, fmt.Errorf("%s: weight %v was not measured", c.Pack, weight)
}

// lab ingests each corpus once and opens it with one weight after another.
type lab struct {
	env      evaltests.Env
	folder   *record.Folder
	base     string // temporary, holds the stores
	stores   map[string]string
	subject  string // the embedder, as the engine names it
	progress io.Writer
}

func newLab(env evaltests.Env, progress io.Writer) (*lab, error) {
	out := env.Out
	if out == "" {
		out = record.Base(".")
	}
	folder, err := record.NewFolder(out, ".", "retrieval", nil)
	if err != nil {
		return nil, err
	}
	base, err := os.MkdirTemp("", "touchstone-retrieval-")
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(progress, "records: %s\n", folder.Dir)
	return &lab{env: env, folder: folder, base: base, stores: map[string]string{}, progress: progress}, nil
}

func (l *lab) close() error { return os.RemoveAll(l.base) }

// store returns a folder that holds the pack's corpus, which packs of one
// content and format share.
func (l *lab) store(ctx context.Context, p *pack.Pack) (dir string, err error) {
	key := p.Manifest.Format + " " + p.Content
	if dir, ok := l.stores[key]; ok {
		return dir, nil
	}
	dir = filepath.Join(l.base, strconv.Itoa(len(l.stores)))
	e, err := engine.Open(ctx, dir, engine.Config{})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	fmt.Fprintf(l.progress, "%s: ingest %d documents\n", p.Manifest.Name, len(p.Documents))
	if err := builtin.Over(e).Ingest(ctx, p.Documents); err != nil {
		return "", err
	}
	if err := builtin.AssertLive(ctx, e); err != nil {
		return "", err
	}
	l.stores[key] = dir
	return dir, nil
}

func (l *lab) sweep(ctx context.Context, p *pack.Pack, weights []float64) (Curve, error) {
	c := Curve{Pack: p.Manifest.Name, Weights: weights}
	grades := map[int]bool{}
	for _, k := range p.Cases {
		if k.Gold.Answerable {
			c.Cases++
		}
		for _, g := range k.Gold.Grades {
			grades[g] = g > 0
		}
	}
	delete(grades, 0)
	c.Graded = len(grades) > 1
	dir, err := l.store(ctx, p)
	if err != nil {
		return c, err
	}
	for _, w := range weights {
		fmt.Fprintf(l.progress, "%s: %d questions, weights.vector=%v\n", c.Pack, len(p.Cases), w)
		run, err := l.measure(ctx, p, dir, w)
		if err != nil {
			return c, fmt.Errorf("%s: weight %v: %w", c.Pack, w, err)
		}
		c.Runs = append(c.Runs, run)
	}
	return c, nil
}

func (l *lab) measure(ctx context.Context, p *pack.Pack, dir string, weight float64) (_ Run, err error) {
	e, err := engine.Open(ctx, dir, engine.Config{Weights: fuse.Weights{Vector: weight, Lexical: 1}, ReadOnly: true})
	if err != nil {
		return Run{}, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if err := builtin.AssertLive(ctx, e); err != nil {
		return Run{}, err
	}
	l.subject = e.Config()["embedder"].Value
	s, err := evaltests.NewSuite(p, l.env)
	if err != nil {
		return Run{}, err
	}
	if s.Measures, err = metric.ParseAll([]string{linear, exponential, binary, recall}); err != nil {
		return Run{}, err
	}
	s.StageMeasures, s.Headline = s.Measures, []string{s.Measures[0].String()}
	s.Arm = fmt.Sprintf("vector-%v", weight)
	done, err := evaltests.Evaluate(ctx, s.In(l.folder), stored{builtin.Over(e)})
	if err != nil {
		return Run{}, err
	}
	if done.Verdict.Verdict != gate.PASS {
		return Run{}, fmt.Errorf("%s: %v", done.Verdict.Verdict, done.Verdict.Reasons)
	}
	return values(done.Rows)
}

// values takes the measures out of the rows that count in a mean.
func values(rows []record.Row) (Run, error) {
	run := Run{Values: map[string]map[string][]float64{}}
	for _, r := range rows {
		if !r.Ranked() {
			continue
		}
		if r.Outcome.State != record.Scored {
			return Run{}, fmt.Errorf("case %s: %s: %s", r.Case, r.Outcome.State, r.Outcome.Reason)
		}
		for _, name := range []string{"vector", "lexical", record.Final} {
			stage, ok := r.Stage(name)
			if !ok || stage.State != record.Executed {
				continue // an arm of weight 0
			}
			if run.Values[name] == nil {
				run.Values[name] = map[string][]float64{}
			}
			measured := stage.Measures
			if name == record.Final {
				measured = r.Measures
			}
			for measure, v := range measured {
				run.Values[name][measure] = append(run.Values[name][measure], v)
			}
		}
	}
	return run, nil
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
