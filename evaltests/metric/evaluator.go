package metric

import (
	"fmt"
	"math"
	"slices"
)

// Evaluator computes a fixed set of measures for one question after another,
// sharing what they have in common and allocating nothing per question. It is
// not safe for concurrent use; give each goroutine its own.
type Evaluator struct {
	measures []compiled
	views    []view
}

type compiled struct {
	Measure
	gains gainTable
	view  int // index of the view that the measure reads
	old   bool
}

// An Option changes how an Evaluator computes.
type Option func(*Evaluator)

// OldInterpolation makes IPrec and IPrecAvg round the number of relevant
// documents at a recall level as trec_eval 9 does, (long)(x*R + 0.9), where
// 10.0 and the default round half away from zero.
func OldInterpolation() Option {
	return func(e *Evaluator) {
		for i := range e.measures {
			e.measures[i].old = true
		}
	}
}

// NewEvaluator prepares measures. Only one that was not made by Parse is
// refused.
func NewEvaluator(ms []Measure, options ...Option) (*Evaluator, error) {
	e := &Evaluator{measures: make([]compiled, len(ms))}
	for i, m := range ms {
		if m.kind == nil {
			return nil, errNoMeasure
		}
		c := compiled{Measure: m}
		if m.gains != "" {
			t, err := parseGains(m.gains, ":")
			if err != nil {
				return nil, fmt.Errorf("%v: %w", m, err)
			}
			c.gains = t
		}
		want := view{rel: m.rel, judgedOnly: m.judgedOnly, raw: m.kind.raw}
		if !m.kind.takes("rel") {
			want.rel = 1 // its hits are not used
		}
		c.view = slices.IndexFunc(e.views, func(v view) bool {
			return v.rel == want.rel && v.judgedOnly == want.judgedOnly && v.raw == want.raw
		})
		if c.view < 0 {
			c.view = len(e.views)
			e.views = append(e.views, want)
		}
		e.measures[i] = c
	}
	for _, option := range options {
		option(e)
	}
	return e, nil
}

// Eval writes the value of each measure to values, which has one place for
// each. After an error their content means nothing.
func (e *Evaluator) Eval(j Judged, values []float64) error {
	if len(values) != len(e.measures) {
		return fmt.Errorf("room for %d values of %d measures", len(values), len(e.measures))
	}
	for i := range e.views {
		e.views[i].fill(j)
	}
	for i := range e.measures {
		c := &e.measures[i]
		if err := c.checkGrades(j.Gold); err != nil {
			return fmt.Errorf("%v: %w", c.Measure, err)
		}
		v := c.kind.eval(&e.views[c.view], c)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%v: the value is %v, which no score may be: grades or gains are too large", c.Measure, v)
		}
		values[i] = v
	}
	return nil
}

// checkGrades refuses grades outside the scale that a measure is defined on.
func (c *compiled) checkGrades(g Gold) error {
	if len(g.levels) == 0 {
		return nil
	}
	highest := g.levels[0].grade
	switch {
	case c.maxGrade > 0 && highest > c.maxGrade:
		return fmt.Errorf("grade %d in the gold is above the scale's highest, %d: name the scale, as ERR(max=%d)", highest, c.maxGrade, highest)
	case c.exp && highest > 1000:
		return fmt.Errorf("grade %d in the gold makes a gain of 2^%d: use a smaller scale or dcg='log2'", highest, highest)
	}
	return nil
}

// view is one question as seen at one relevance level, with or without the
// documents that nobody judged.
type view struct {
	rel        int
	judgedOnly bool
	raw        bool

	grades []int // by rank
	hits   []int // indices into grades of the relevant documents
	gold   Gold
	r      int // relevant documents in the gold
	own    []int
}

func (v *view) fill(j Judged) {
	v.grades = j.Ranks
	if v.raw && j.Raw != nil {
		v.grades = j.Raw
	}
	if v.judgedOnly {
		v.own = v.own[:0]
		for _, g := range v.grades {
			if g >= 0 {
				v.own = append(v.own, g)
			}
		}
		v.grades = v.own
	}
	v.hits = v.hits[:0]
	for i, g := range v.grades {
		if g >= v.rel {
			v.hits = append(v.hits, i)
		}
	}
	v.gold = j.Gold
	v.r = j.Gold.Relevant(v.rel)
}

// within counts the hits among the first k ranks.
func (v *view) within(k int) int {
	n, _ := slices.BinarySearch(v.hits, k)
	return n
}

// depth is the cut-off, or the length of the list without one.
func (v *view) depth(c *compiled) int {
	if c.cut > 0 {
		return min(c.cut, len(v.grades))
	}
	return len(v.grades)
}

// ratio is a/b, and 0 where b is 0: a question without relevant documents, or
// an empty list, scores 0.
func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
