package trec

import (
	"fmt"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
)

// Missing says what a question without results is worth.
type Missing string

const (
	// Zero counts it as an empty list and keeps it in the mean: what was asked
	// and not answered is a failure. trec_eval's -c, the default here.
	Zero Missing = "zero"
	// Drop leaves it out of the mean, as trec_eval does without -c.
	Drop Missing = "drop"
)

// Options say how a run is measured. The zero value of each field is its
// default; at least one measure must be asked for.
type Options struct {
	Order    Order            // Trec if empty
	Measures []metric.Measure // under the names of package metric
	All      bool             // all of trec_eval's measures, under its names
	Official bool             // those that trec_eval prints unless asked (part of All)
	Missing  Missing          // Zero if empty
	// Level is the lowest relevant grade for measures that take one, as -l;
	// 0 is 1. A measure that names its own is then refused.
	Level int
	// Depth keeps only the first hits of each question, in order, as -M;
	// 0 keeps all.
	Depth int
	// JudgedOnly leaves out documents without a grade, after the cut at Depth,
	// as -J.
	JudgedOnly bool
	// Gains replaces gains of nDCG, as "1=1,2=3" (see metric.WithGains). Among
	// trec_eval's names it changes ndcg alone, as there.
	Gains string
	// TieRanges asks, for each question and in the summary, what each measure
	// is worth over all orders of hits with equal scores (metric.OverTies). It
	// takes time where ties are large, has no meaning for the order Input, and
	// does not go with Depth, whose cut may divide a tie.
	TieRanges bool
}

func (o Options) withDefaults() (Options, error) {
	if o.Order == "" {
		o.Order = Trec
	}
	if err := o.Order.check(); err != nil {
		return o, err
	}
	switch o.Missing {
	case "":
		o.Missing = Zero
	case Zero, Drop:
	default:
		return o, fmt.Errorf("missing questions %q: want %s or %s", string(o.Missing), Zero, Drop)
	}
	if o.Level < 0 {
		return o, fmt.Errorf("level %d: want a grade from 1", o.Level)
	}
	if o.Depth < 0 {
		return o, fmt.Errorf("depth %d: want a rank from 1, or 0 for all", o.Depth)
	}
	if o.TieRanges && (o.Order == Input || o.Depth > 0) {
		return o, fmt.Errorf("tie ranges with order %s and depth %d: want an order by score, and no depth", o.Order, o.Depth)
	}
	return o, nil
}

// checkGains refuses gains that nothing would use.
func (o *Options) checkGains(cols []Column) error {
	if o.Gains == "" {
		return nil
	}
	for _, c := range cols {
		if takesGains(c.Measure) {
			return nil
		}
	}
	return fmt.Errorf("gains %q: no measure uses them: only nDCG, DCG and iDCG do", o.Gains)
}

// Validate refuses options that contradict each other, before any file is
// read: an unknown order, no measure, a measure with its own level beside
// Level, gains that no measure uses. Score and Evaluate refuse the same.
func (o Options) Validate() error {
	_, err := newPlan(o)
	return err
}
