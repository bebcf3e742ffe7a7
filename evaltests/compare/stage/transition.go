package stage

import (
	"fmt"
	"math"
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

// same is how close two values of a measure count as equal: sums of the same
// terms in another order.
const same = 1e-12

// transitions tests every step that ran in any case.
func (r *Report) transitions(cases []*sample, names []string, run record.Run) error {
	arms, steps := compare.Split(names)
	ran := func(name string) bool { return r.figures(name).Ran > 0 }
	arms = slices.DeleteFunc(slices.Clone(arms), func(n string) bool { return !ran(n) })
	steps = slices.DeleteFunc(slices.Clone(steps), func(n string) bool { return !ran(n) })
	type pair struct{ from, to string }
	var pairs []pair
	if len(steps) > 0 {
		for _, arm := range arms {
			pairs = append(pairs, pair{arm, steps[0]})
		}
		for i := 1; i < len(steps); i++ {
			pairs = append(pairs, pair{steps[i-1], steps[i]})
		}
		if r.BestArm = r.bestArm(arms); r.BestArm != "" && len(steps) > 1 {
			pairs = append(pairs, pair{r.BestArm, steps[len(steps)-1]})
		}
	}
	differences := make([][]float64, len(pairs))
	for i, p := range pairs {
		whole := i == len(pairs)-1 && p.from == r.BestArm && len(steps) > 1
		t, d := transition(cases, p.from, p.to, steps[len(steps)-1], whole)
		if t.N > 0 {
			if err := t.interval(d, stat.NewStream(1, run.Hashes.Question, run.Hashes.Treatment, p.from, p.to)); err != nil {
				return err
			}
		}
		r.Transitions = append(r.Transitions, t)
		differences[i] = d
	}
	return r.judge(differences)
}

// bestArm has the highest mean of the measure; the first of equal ones.
func (r *Report) bestArm(arms []string) string {
	best := ""
	for _, arm := range arms {
		f := r.figures(arm)
		if f.Means != nil && (best == "" || f.Means[r.Measure] > r.figures(best).Means[r.Measure]) {
			best = arm
		}
	}
	return best
}

// transition pairs two stages over the cases in which both ran.
func transition(cases []*sample, from, to, last string, whole bool) (Transition, []float64) {
	t := Transition{From: from, To: to}
	var d []float64
	said := counter{}
	for _, c := range cases {
		a, b := c.stages[from], c.stages[to]
		if !a.ran || !b.ran {
			continue
		}
		t.N++
		x := b.values[0] - a.values[0]
		if math.Abs(x) <= same {
			x = 0
		}
		d = append(d, x)
		switch {
		case x > 0:
			t.Wins++
		case x < 0:
			t.Losses++
		default:
			t.Ties++
		}
		if end := c.stages[last]; !whole && x != 0 && end.ran && math.Abs(end.values[0]-a.values[0]) <= same {
			t.Masked++
		}
		var any shape
		for i := range min(len(a.entries), len(b.entries)) {
			s := shapeOf(a.entries[i], b.entries[i])
			any = shape{any.reordered || s.reordered, any.joined || s.joined, any.left || s.left}
		}
		t.Reordered += count(any.reordered)
		t.Joined += count(any.joined)
		t.Members += count(any.joined || any.left)
		if b.reason != "" {
			said.add(b.reason)
		}
	}
	// What a stage says of itself in every case explains the row.
	if notes := said.counts(); len(notes) == 1 && notes[0].N == t.N {
		t.Note = notes[0].Name
	}
	return t, d
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (t *Transition) interval(d []float64, stream stat.Stream) error {
	b, err := stat.BootstrapMean(d, resamples, stream)
	if err != nil {
		return err
	}
	in, err := b.Percentile(confidence)
	t.Mean, t.Lo, t.Hi = b.Observed, in.Lo, in.Hi
	return err
}

// judge tests the transitions together and labels them.
func (r *Report) judge(differences [][]float64) error {
	if len(r.Transitions) == 0 {
		return nil
	}
	ps := make([]float64, len(r.Transitions))
	for i := range r.Transitions {
		t := &r.Transitions[i]
		s, err := stat.SignTest(t.Wins, t.Losses)
		if err != nil {
			return err
		}
		t.P, ps[i] = s.P, s.P
	}
	adjusted, significant, err := stat.Decide(stat.Holm, ps, r.Alpha)
	if err != nil {
		return err
	}
	p := powers{level: r.Alpha / float64(len(ps))}
	for i := range r.Transitions {
		t := &r.Transitions[i]
		t.Adj = adjusted[i]
		if t.Detectable, err = p.detectable(differences[i]); err != nil {
			return fmt.Errorf("%s to %s: %w", t.From, t.To, err)
		}
		if t.Effect, err = effect(*t, differences[i], significant[i], r.Margin); err != nil {
			return fmt.Errorf("%s to %s: %w", t.From, t.To, err)
		}
	}
	return nil
}

func effect(t Transition, d []float64, significant bool, margin float64) (Effect, error) {
	onlyCut := t.Members > 0 && t.Joined == 0 && t.Reordered == 0
	switch {
	case significant && t.Wins > t.Losses:
		return Helps, nil
	case significant && t.Wins < t.Losses:
		return Hurts, nil
	case onlyCut:
		return Truncation, nil
	case t.N == 0:
		return Unresolved, nil
	case t.Wins+t.Losses == 0:
		return NoEffect, nil
	case len(d) < 2:
		return Unresolved, nil
	}
	e, err := stat.EquivalenceTest(d, margin, defaultAlpha)
	if err != nil {
		return "", err
	}
	if e.Equivalent {
		return NoEffect, nil
	}
	return Unresolved, nil
}

// powers are statements of power at one level. What the t test detects grows
// with the standard deviation and with nothing else, so it is computed once for
// each number of cases, which the steps of a run mostly share.
type powers struct {
	level float64
	unit  map[int][2]float64 // normal and exact, for a deviation of 1
}

func (p *powers) mean(n int) (normal, exact float64, err error) {
	if u, ok := p.unit[n]; ok {
		return u[0], u[1], nil
	}
	if normal, exact, err = stat.PairedTMDE(n, 1, p.level, power); err != nil {
		return 0, 0, err
	}
	if p.unit == nil {
		p.unit = map[int][2]float64{}
	}
	p.unit[n] = [2]float64{normal, exact}
	return normal, exact, nil
}

// detectable says what n paired differences could have shown.
func (p *powers) detectable(d []float64) (Detectable, error) {
	level := p.level
	out := Detectable{Level: level}
	n, moved := len(d), 0
	for _, x := range d {
		moved += count(x != 0)
	}
	if n < 2 || moved == 0 {
		return out, nil
	}
	if sd := deviation(d); sd > 0 {
		normal, exact, err := p.mean(n)
		if err != nil {
			return out, err
		}
		out.Normal, out.Exact = sd*normal, sd*exact
	}
	// Any rate and correlation of the wanted discordance serve; the sign test
	// looks at nothing else.
	share := min(float64(moved), float64(n)-.5) / float64(n)
	difference, possible, err := stat.PairedProportions{P: .5, Rho: 1 - 2*share}.ExactMDE(n, level, power)
	if err != nil {
		return out, err
	}
	out.Attainable = possible
	out.Net = min(moved, int(math.Ceil(difference*float64(n)-1e-9)))
	return out, nil
}

func deviation(d []float64) float64 {
	mean := 0.0
	for _, x := range d {
		mean += x
	}
	mean /= float64(len(d))
	sum := 0.0
	for _, x := range d {
		sum += float64((x - mean) * (x - mean))
	}
	return math.Sqrt(sum / float64(len(d)-1))
}
