package stage

import (
	"fmt"
	"math"
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/rank"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Fusion and Rerank are the stages that are treated as what their names say:
// the stages before a fusion are its arms, and what goes into a reranker is a
// pool.
const (
	Fusion = "fusion"
	Rerank = "rerank"
)

// standard are the measures of every stage table.
var standard = []string{"R@1", "R@5", "R@10", "RR@10", "nDCG@5", "nDCG@10"}

// agreement is how far a recomputed value may be from the recorded one.
const agreement = 1e-9

// sample is one case: all its repeats.
type sample struct {
	id     string
	rows   []record.Row
	stages map[string]*step
}

// step is what a stage did in one case, averaged over the repeats.
type step struct {
	ran     bool
	reason  string    // why it did not run, or what it said of itself
	values  []float64 // of the measures
	entries [][]record.Entry
}

// collect groups rows into cases in the order of their first row, and says
// which stages there are, in order.
func collect(rows []record.Row) (cases []*sample, names []string) {
	at := map[string]*sample{}
	for _, r := range rows {
		c, ok := at[r.Case]
		if !ok {
			c = &sample{id: r.Case, stages: map[string]*step{}}
			at[r.Case] = c
			cases = append(cases, c)
		}
		c.rows = append(c.rows, r)
		for _, s := range r.Stages {
			if !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	if len(names) > 0 && !slices.Contains(names, record.Final) {
		names = append(names, record.Final)
	}
	return cases, names
}

// usable is empty if every repeat of the case can be followed through the
// stages, else why not.
func (c *sample) usable() string {
	for _, r := range c.rows {
		switch {
		case r.Outcome.State != record.Scored:
			return string(r.Outcome.State)
		case !r.Ranked():
			return "no gold to rank"
		}
	}
	return ""
}

// measure fills the stages of a usable case.
func (c *sample) measure(names []string, ms []metric.Measure) error {
	for _, name := range names {
		s := &step{ran: true, values: make([]float64, len(ms))}
		for _, r := range c.rows {
			recorded, ok := r.Stage(name)
			switch {
			case !ok:
				s.ran, s.reason = false, "not reported"
			case recorded.State != record.Executed:
				s.ran, s.reason = false, orText(recorded.Reason, recorded.State)
			}
			if !s.ran {
				break
			}
			if s.reason == "" {
				s.reason = recorded.Reason
			}
			values, err := evaluate(ms, r.Gold, recorded.Entries)
			if err != nil {
				return fmt.Errorf("case %s: stage %s: %w", r.Case, name, err)
			}
			for i, v := range values {
				if was, ok := recorded.Measures[ms[i].String()]; ok && math.Abs(was-v) > agreement {
					return fmt.Errorf("case %s: stage %s: the record says %s %v, its entries and gold give %v; the record was changed, run it again",
						r.Case, name, ms[i], was, v)
				}
				s.values[i] += v
			}
			s.entries = append(s.entries, recorded.Entries)
		}
		if s.ran {
			for i := range s.values {
				s.values[i] /= float64(len(c.rows))
			}
		}
		c.stages[name] = s
	}
	return nil
}

// evaluate measures the documents of a list.
func evaluate(ms []metric.Measure, gold map[string]int, entries []record.Entry) ([]float64, error) {
	ids, _, _ := record.Documents(entries)
	list, err := rank.New(ids, nil)
	if err != nil {
		return nil, err
	}
	return metric.EvalAll(ms, metric.Grades(gold), list)
}

func orText(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// key tells entries of one list apart.
type key struct{ doc, chunk string }

func keyOf(e record.Entry) key { return key{e.Doc, e.Chunk} }

// shape says how a list became another, whatever is relevant in it.
type shape struct {
	reordered bool // two entries that are in both have changed places
	joined    bool // the second has an entry that the first has not
	left      bool // the first has an entry that the second has not
}

func shapeOf(from, to []record.Entry) shape {
	at := make(map[key]int, len(from))
	for i, e := range from {
		at[keyOf(e)] = i
	}
	var s shape
	last, kept := -1, 0
	for _, e := range to {
		i, ok := at[keyOf(e)]
		if !ok {
			s.joined = true
			continue
		}
		kept++
		s.reordered = s.reordered || i < last
		last = max(last, i)
	}
	s.left = kept < len(from)
	return s
}
