package compare

import (
	"fmt"
	"math"
	"sync"

	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

// Power that a smallest detectable difference is given for.
const Power = 0.8

// Forms of a statement of power.
const (
	FormT      = "paired t, noncentral form"                             // any measure; the normal form stands beside it
	FormExact  = "exact sign test"                                       // a measure that is 0 or 1 on every case
	FormFewest = "smallest attainable by the exact sign test (6/n form)" // no two values differ, so nothing is known of their spread
)

// Detectable is the smallest mean difference that a comparison of this size
// would have found.
type Detectable struct {
	Difference float64 `json:"difference"`
	Normal     float64 `json:"normal,omitempty"` // by the normal form, which is optimistic for few cases
	Form       string  `json:"form"`
	Possible   bool    `json:"possible"`          // false: no difference at all reaches the power with so few cases
	Need       int     `json:"need,omitempty"`    // pairs that would detect the margin; 0 when none is stated
	NeedIsMin  bool    `json:"need_or,omitempty"` // more than Need are needed, and how many is not known
	Margin     float64 `json:"margin,omitempty"`
	Level      float64 `json:"level,omitempty"` // of the test, two-sided
}

// String is the statement in words.
func (d Detectable) String() string {
	s, level := "", ""
	if d.Level > 0 {
		level = fmt.Sprintf(", level %.3g", d.Level)
	}
	switch {
	case !d.Possible:
		s = fmt.Sprintf("with so few pairs no difference is found with a power of %.0f %% (%s%s)", 100*Power, d.Form, level)
	case d.Form == FormFewest:
		s = fmt.Sprintf("smallest difference that could have been called one: %.4f (%s%s)", d.Difference, d.Form, level)
	default:
		s = fmt.Sprintf("smallest detectable difference %.4f (power %.0f %%%s, %s; normal form %.4f)", d.Difference, 100*Power, level, d.Form, d.Normal)
	}
	switch {
	case d.Need > 0 && d.NeedIsMin:
		s += fmt.Sprintf("; the margin %.4g needs more than %d pairs", d.Margin, d.Need)
	case d.Need > 0:
		s += fmt.Sprintf("; the margin %.4g needs %d pairs", d.Margin, d.Need)
	}
	return s
}

// detectable states the power of the test that decides, in a family of so many:
// at the level of the first step of the correction, which is what an effect has
// to pass when nothing else in the family is one.
func (t *Treatment) detectable(rule record.Decision, family int) (err error) {
	var diffs []float64
	for _, c := range t.Cases {
		diffs = append(diffs, c.Diff())
	}
	t.Detectable, err = NewDetectable(diffs, rule.Q/float64(max(1, family)), rule.Margin)
	return err
}

// mostPairs bounds the search for the pairs that a margin needs.
const mostPairs = 1 << 20

// NewDetectable states the power of a comparison with these differences.
func NewDetectable(diffs []float64, alpha, margin float64) (Detectable, error) {
	n := len(diffs)
	d := Detectable{Margin: margin, Level: alpha}
	differ, binary := 0, true
	for _, x := range diffs {
		if math.Abs(x) > Epsilon {
			differ++
			binary = binary && math.Abs(math.Abs(x)-1) <= Epsilon
		}
	}
	var err error
	switch {
	case differ == 0:
		d.Form = FormFewest
		d.Difference, d.Possible, err = stat.SmallestAttainable(n, alpha)
		return d, err
	case binary && float64(differ) <= 0.99*float64(n):
		return d.exact(n, float64(differ)/float64(n), alpha)
	}
	d.Form = FormT
	if n < 2 {
		return d, nil
	}
	sd := deviation(diffs)
	if sd == 0 { // every case moved by the same amount
		d.Form = FormFewest
		d.Difference, d.Possible, err = stat.SmallestAttainable(n, alpha)
		return d, err
	}
	d.Possible = true
	if d.Normal, d.Difference, err = detectableT(n, sd, alpha); err != nil || margin == 0 {
		return d, err
	}
	d.Need, d.NeedIsMin, err = fewest(func(n int) (bool, error) {
		_, t, err := detectableT(n, sd, alpha)
		return t <= margin, err
	})
	return d, err
}

// perDeviation remembers what differences of standard deviation 1 would show,
// by number of pairs and level: the smallest detectable difference grows with
// the deviation, and takes some ten milliseconds to find.
var perDeviation sync.Map

type pairsAt struct {
	n     int
	alpha float64
}

// detectableT is stat.PairedTMDE.
func detectableT(n int, sd, alpha float64) (normal, t float64, err error) {
	unit, ok := perDeviation.Load(pairsAt{n, alpha})
	if !ok {
		normal, t, err := stat.PairedTMDE(n, 1, alpha, Power)
		if err != nil {
			return 0, 0, err
		}
		unit = [2]float64{normal, t}
		perDeviation.Store(pairsAt{n, alpha}, unit)
	}
	u := unit.([2]float64)
	return float64(u[0] * sd), float64(u[1] * sd), nil
}

// exact is the form for outcomes that are right or wrong: discordance is the
// share of cases that differ.
func (d Detectable) exact(n int, discordance, alpha float64) (Detectable, error) {
	pp := stat.PairedProportions{P: 0.5, Rho: 1 - 2*discordance} // 2p(1-p)(1-rho) is the discordance
	d.Form = FormExact
	var err error
	if d.Difference, d.Possible, err = pp.ExactMDE(n, alpha, Power); err != nil {
		return d, err
	}
	if d.Normal, err = pp.NormalMDE(n, alpha, Power); err != nil || d.Margin == 0 {
		return d, err
	}
	if d.Need, err = pp.CasesFor(d.Margin, alpha, Power); err != nil {
		return d, err
	}
	return d, nil
}

// fewest is the least number of pairs that is enough, by bisection.
func fewest(enough func(n int) (bool, error)) (n int, isMin bool, err error) {
	lo, hi := 1, 2
	for {
		ok, err := enough(hi)
		if err != nil {
			return 0, false, err
		}
		if ok {
			break
		}
		if hi >= mostPairs {
			return hi, true, nil
		}
		lo, hi = hi, 2*hi
	}
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		ok, err := enough(mid)
		if err != nil {
			return 0, false, err
		}
		if ok {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, false, nil
}

func mean(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s / float64(len(x))
}

// deviation is the standard deviation, with n-1.
func deviation(x []float64) float64 {
	m, s := mean(x), 0.0
	for _, v := range x {
		s += float64((v - m) * (v - m))
	}
	return math.Sqrt(s / float64(max(1, len(x)-1)))
}

// Holm corrects the p-values of a family, and says of each test what it could
// have found: the level that a detectable difference is given at is that of the
// hardest step, alpha over the size of the family. diffs gives the differences
// of a test.
func Holm(ps []float64, diffs func(i int) []float64, alpha float64) (adjusted []float64, detectable []Detectable, err error) {
	if adjusted, err = stat.Adjust(stat.Holm, ps); err != nil {
		return nil, nil, err
	}
	detectable = make([]Detectable, len(ps))
	for i := range ps {
		if detectable[i], err = NewDetectable(diffs(i), alpha/float64(len(ps)), 0); err != nil {
			return nil, nil, err
		}
	}
	return adjusted, detectable, nil
}
