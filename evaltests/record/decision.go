package record

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/digest"
	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

// Decision is the [decision] table of suite.toml: how a comparison of two runs
// will be read, fixed before they are made.
type Decision struct {
	Primary    string   `json:"primary" toml:"primary"`                 // the one measure that decides, for instance "nDCG@10"
	Strata     []string `json:"strata,omitempty" toml:"strata"`         // strata that may be spoken of by themselves
	Margin     float64  `json:"margin,omitempty" toml:"margin"`         // a mean difference within it is none in practice; 0: not stated
	N          int      `json:"n,omitempty" toml:"n"`                   // pairs that the comparison is planned for; 0: not stated
	Correction string   `json:"correction,omitempty" toml:"correction"` // over the treatments of a family; default bh
	Q          float64  `json:"q,omitempty" toml:"q"`                   // level of the corrected test; default .10
	Alpha      float64  `json:"alpha,omitempty" toml:"alpha"`           // two-sided level at which a loss blocks; default .05
	Ship       string   `json:"ship,omitempty" toml:"ship"`             // what a change needs: ShipSignal, ShipEquivalent, or empty
	Vary       []string `json:"vary,omitempty" toml:"vary"`             // keys in which a run may differ from the baseline that EVAL_BASELINE names; no part of the rule
}

// Ship rules.
const (
	ShipSignal     = "signal"     // a SIGNAL, and so a valid floor
	ShipEquivalent = "equivalent" // a SIGNAL, or equivalence within the margin
)

// Defaults of a decision.
const (
	DefaultQ     = 0.10
	DefaultAlpha = 0.05
)

// Filled returns d with its defaults put in and the primary measure in its one
// spelling. It refuses a rule that could not decide anything.
func (d Decision) Filled() (Decision, error) {
	m, err := metric.Parse(d.Primary)
	if err != nil {
		return d, fmt.Errorf("primary: %w", err)
	}
	if !m.HigherIsBetter() || !m.Bounded() {
		return d, fmt.Errorf("primary = %q; want a measure in [0, 1] of which more is better", d.Primary)
	}
	d.Primary = m.String()
	if d.Correction == "" {
		d.Correction = string(stat.BH)
	}
	if d.Q == 0 {
		d.Q = DefaultQ
	}
	if d.Alpha == 0 {
		d.Alpha = DefaultAlpha
	}
	switch {
	case !slices.Contains(stat.Corrections(), stat.Correction(d.Correction)):
		return d, fmt.Errorf("correction = %q; want one of %v", d.Correction, stat.Corrections())
	case !(d.Q > 0 && d.Q < 1):
		return d, fmt.Errorf("q = %v; want above 0, below 1", d.Q)
	case !(d.Alpha > 0 && d.Alpha < 0.5):
		return d, fmt.Errorf("alpha = %v; want above 0, below .5", d.Alpha)
	case !(d.Margin >= 0) || math.IsInf(d.Margin, 0) || d.Margin >= 1:
		return d, fmt.Errorf("margin = %v; want a difference of at least 0, below 1", d.Margin)
	case d.N < 0:
		return d, fmt.Errorf("n = %d; want a number of pairs", d.N)
	case d.Ship != "" && d.Ship != ShipSignal && d.Ship != ShipEquivalent:
		return d, fmt.Errorf("ship = %q; want %q or %q", d.Ship, ShipSignal, ShipEquivalent)
	case d.Ship == ShipEquivalent && d.Margin == 0:
		return d, errors.New(`ship = "equivalent" without a margin; say how large a difference is none`)
	}
	return d, nil
}

// Hash is SHA-256 over the rule: two runs were made under one rule exactly if
// it is equal.
func (d Decision) Hash() (string, error) {
	return digest.Pairs("touchstone/decision/1", map[string]any{
		"primary": d.Primary, "strata": d.Strata, "margin": d.Margin, "n": d.N,
		"correction": d.Correction, "q": d.Q, "alpha": d.Alpha, "ship": d.Ship,
	})
}
