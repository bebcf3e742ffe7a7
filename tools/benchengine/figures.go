package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/rank"
)

// Step is a part of build and evaluate.
type Step struct {
	Name string
	Wall time.Duration
}

// System is a side of the comparison, as it answers questions.
type System struct {
	Name   string // "this engine" or python
	Model  string // of its vectors; empty for BM25 alone
	Mode   string // BM25, dense or hybrid
	Index  time.Duration
	Bytes  int64           // on disk
	Search []time.Duration // one a question, in their order
	NDCG   float64         // mean nDCG@10 over the answerable questions
}

// python is the Name of the other side.
const python = "Python"

// endToEnd is what a user waits for: the index, and all questions in turn.
func (s System) endToEnd() time.Duration {
	sum := s.Index
	for _, t := range s.Search {
		sum += t
	}
	return sum
}

// Figures are all that is printed.
type Figures struct {
	Machine              string
	Pack                 string
	Documents, Questions int
	TextBytes            int
	Build                []Step // with the default embedder
	Systems              []System
	NotRun               []string
	Versions             string // of the Python packages
}

func newFigures(p *pack.Pack) Figures {
	f := Figures{Machine: machine(), Pack: p.Manifest.Name, Documents: len(p.Documents), Questions: len(p.Cases)}
	for _, d := range p.Documents {
		f.TextBytes += len(d.Title) + len(d.Text)
	}
	return f
}

var ndcg10 = func() metric.Measure {
	m, err := metric.Parse("nDCG@10")
	if err != nil {
		panic(err) // a constant of this file
	}
	return m
}()

// ndcg is the mean over the answerable questions, each of which must have a
// ranking; an empty one counts 0.
func ndcg(cases []pack.Case, rankings map[string][]string) (float64, error) {
	var values []float64
	for _, c := range cases {
		ids, ok := rankings[c.Question.ID]
		if !ok {
			return 0, fmt.Errorf("case %s: no ranking", c.Question.ID)
		}
		if !c.Gold.Answerable {
			continue
		}
		r, err := rank.New(ids, nil)
		if err != nil {
			return 0, fmt.Errorf("case %s: %w", c.Question.ID, err)
		}
		v, err := ndcg10.Eval(metric.Grades(c.Gold.Grades), r)
		if err != nil {
			return 0, fmt.Errorf("case %s: %w", c.Question.ID, err)
		}
		values = append(values, v)
	}
	return ndcg10.Aggregate(values)
}

// quantile is the smallest time that at least the share q (0 < q <= 1) of all
// does not exceed.
func quantile(times []time.Duration, q float64) (time.Duration, error) {
	if len(times) == 0 {
		return 0, errors.New("no question was timed")
	}
	sorted := slices.Sorted(slices.Values(times))
	at := int(q * float64(len(sorted)))
	if float64(at) < q*float64(len(sorted)) {
		at++
	}
	return sorted[at-1], nil
}
