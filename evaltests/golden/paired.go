package golden

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/rank"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

// Level is the two-sided level at which a paired loss counts, and Power that
// at which the smallest detectable difference is given.
const (
	Level = 0.05
	Power = 0.8
)

// resamples of the sign-flip test when there are too many cases for all signs.
const resamples = 10000

// Paired compares a labelled measure of the same cases, as blessed and live.
// Both lists are cut at the golden's depth.
type Paired struct {
	Measure    string  `json:"measure"`
	K          int     `json:"k"`
	N          int     `json:"n"` // cases paired
	Better     int     `json:"better"`
	Worse      int     `json:"worse"`
	Golden     float64 `json:"golden"` // means
	Live       float64 `json:"live"`
	Diff       float64 `json:"diff"`                 // mean of live less golden
	P          float64 `json:"p"`                    // two-sided, sign-flip test
	Detectable float64 `json:"detectable,omitempty"` // smallest mean difference found with a power of .8 (paired t); 0 when no two differences differ
	Timeouts   int     `json:"timeouts,omitempty"`   // cases that timed out and count as 0
}

// Lost reports a significant loss.
func (p Paired) Lost() bool { return p.Diff < 0 && p.P < Level }

// String is the comparison in one line.
func (p Paired) String() string {
	name := p.Measure
	if m, err := metric.Parse(p.Measure); err == nil && (m.Cutoff() == 0 || m.Cutoff() > p.K) {
		name += fmt.Sprintf(" (to depth %d)", p.K)
	}
	s := fmt.Sprintf("%s %.4f -> %.4f (%+.4f, p = %.3g) over %d cases, %d better, %d worse", name, p.Golden, p.Live, p.Diff, p.P, p.N, p.Better, p.Worse)
	if p.Detectable > 0 {
		s += fmt.Sprintf("; smallest detectable difference %.4f", p.Detectable)
	}
	return s
}

// pair is one case with two rankings.
type pair struct {
	gold      map[string]int
	old, live []string
	timedOut  bool
}

// ErrNoPairs is what a comparison of no case returns, wrapped.
var ErrNoPairs = errors.New("no labelled case can be paired with the golden")

func compare(measure string, k int, pairs []pair, stream stat.Stream) (Paired, error) {
	p := Paired{Measure: measure, K: k, N: len(pairs)}
	m, err := metric.Parse(measure)
	if err != nil {
		return p, err
	}
	if !m.HigherIsBetter() {
		return p, fmt.Errorf("%s has no better direction, so nothing can be lost", measure)
	}
	if len(pairs) == 0 {
		return p, ErrNoPairs
	}
	value := func(ids []string, gold map[string]int) (float64, error) {
		r, err := rank.New(ids[:min(k, len(ids))], nil)
		if err != nil {
			return 0, err
		}
		return m.Eval(metric.Grades(gold), r)
	}
	diffs := make([]float64, len(pairs))
	for i, x := range pairs {
		old, err := value(x.old, x.gold)
		if err != nil {
			return p, err
		}
		live, err := value(x.live, x.gold)
		if err != nil {
			return p, err
		}
		diffs[i] = live - old
		p.Golden += old
		p.Live += live
		switch {
		case diffs[i] > 0:
			p.Better++
		case diffs[i] < 0:
			p.Worse++
		}
		if x.timedOut {
			p.Timeouts++
		}
	}
	p.Golden, p.Live = p.Golden/float64(p.N), p.Live/float64(p.N)
	test, err := stat.SignFlipTest(diffs, resamples, stream)
	if err != nil {
		return p, err
	}
	p.Diff, p.P = test.Mean, test.P
	if sd := deviation(diffs, p.Diff); p.N > 1 && sd > 0 {
		if _, p.Detectable, err = stat.PairedTMDE(p.N, sd, Level, Power); err != nil {
			return p, err
		}
	}
	return p, nil
}

func deviation(x []float64, mean float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64((v - mean) * (v - mean))
	}
	return math.Sqrt(sum / float64(max(1, len(x)-1)))
}

// Paired compares a measure of the golden's rankings with the live ones, over
// the cases that have both and gold. A live case that failed counts as 0, and
// so does one that timed out unless timeouts are left out. An error says why
// there is nothing to compare; it is ErrNoPairs when there is a golden.
func (res SuiteResult) Paired(measure string, timeouts bool) (Paired, error) {
	if res.golden == nil {
		return Paired{}, errors.New("there is no golden to pair with")
	}
	blessed := index(res.golden, "")
	var pairs []pair
	for _, r := range res.rows {
		g, ok := blessed[r.Case]
		if !ok || g.Digest != r.Digest || !r.Ranked() || !r.Outcome.State.Counts() {
			continue
		}
		late := r.Outcome.State == record.TimedOut
		if late && !timeouts {
			continue
		}
		live, _, _ := record.Documents(r.Ranking)
		if r.Outcome.State != record.Scored {
			live = nil
		}
		pairs = append(pairs, pair{r.Gold, g.IDs, live, late})
	}
	return compare(measure, res.k, pairs, stat.NewStream(0, "golden", res.golden.Digest, measure))
}

// Effect is what the moves of a suite did to its labelled measures, one
// comparison each, over the moved cases alone.
func (res SuiteResult) Effect(measures []string) ([]Paired, error) {
	var pairs []pair
	for _, c := range res.Cases {
		if c.Gold != nil && c.Current.State != Identical {
			pairs = append(pairs, pair{gold: c.Gold, old: c.Golden.IDs, live: c.Live.IDs})
		}
	}
	var out []Paired
	for _, name := range measures {
		p, err := compare(name, res.k, pairs, stat.NewStream(0, "moves", name))
		if errors.Is(err, ErrNoPairs) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// Values are a labelled measure of a case before and after its move, to the
// golden's depth.
func (res SuiteResult) Values(c CaseResult, measure string) (before, after float64, err error) {
	p, err := compare(measure, res.k, []pair{{gold: c.Gold, old: c.Golden.IDs, live: c.Live.IDs}}, stat.Stream{})
	return p.Golden, p.Live, err
}

// Labelled are the measures of the gates that look at the final ranking, in
// their order, and the headline where no gate does.
func Labelled(f *record.File) []string {
	var names []string
	for _, g := range f.Gates {
		if g.Measure != "" && (g.Stage == "" || g.Stage == record.Final) && !slices.Contains(names, g.Measure) {
			names = append(names, g.Measure)
		}
	}
	if len(names) == 0 {
		names = f.Run.Headline
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		m, err := metric.Parse(name)
		return err != nil || !m.HigherIsBetter()
	})
}
