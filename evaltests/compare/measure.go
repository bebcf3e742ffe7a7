package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

// usersDepth is how far down users are taken to look, for a measure without a
// cutoff.
const usersDepth = 10

// measure computes everything of a treatment but its verdict.
func (t *Treatment) measure(c *Comparison, side Side, pairs Pairs, primary metric.Measure, o Options) error {
	t.Pairs, t.Planned, t.Ungraded = len(pairs.List), pairs.Planned, pairs.Ungraded
	t.OnlyBase, t.OnlyTreated, t.Neither, t.Worst = pairs.OnlyBase, pairs.OnlyTreated, pairs.Neither, pairs.Worst
	if t.Depth = primary.Cutoff(); t.Depth == 0 {
		t.Depth = usersDepth
	}
	each, err := newEvaluation([]metric.Measure{primary})
	if err != nil {
		return err
	}
	diffs := make([]float64, len(pairs.List))
	var moved []CasePair
	for i, p := range pairs.List {
		x, err := newCase(p, each, t.Depth)
		if err != nil {
			return err
		}
		if diffs[i] = x.Diff(); diffs[i] != 0 {
			moved = append(moved, p)
		}
		if x.States[1] == record.TimedOut {
			t.Timeouts++
		}
		t.Cases = append(t.Cases, x)
	}
	stream := stat.NewStream(o.Seed, c.base.Digest(), side.Digest())
	if err := t.test(c.Rule, diffs, o.Resamples, stream); err != nil {
		return err
	}
	if err := t.completed(c.Rule, o.Resamples, stream); err != nil {
		return err
	}
	if err := t.grid(c, side, pairs, o, stream); err != nil {
		return err
	}
	t.strata()
	t.Skew = newSkew(side.File.Run, t.Cases)
	t.misses()
	t.Latency = [2]Latency{newLatency(pairs, false), newLatency(pairs, true)}
	channels := o.Channels
	if len(channels) == 0 {
		channels = changed([][]Mismatch{t.Differs})
	}
	t.Attribution = Attribute(channels, moved)
	if len(moved) == 0 && len(t.Differs) > 0 && !slices.ContainsFunc(t.Cases, func(x Case) bool { return x.Diverges != "" }) {
		t.Notes = append(t.Notes, "SUSPECT: every ranking equals the base's although the configuration differs; the change may not have reached the subject")
	}
	if c.Rule.N > 0 && t.Pairs < c.Rule.N {
		t.Notes = append(t.Notes, fmt.Sprintf("%d pairs, and the decision was planned for %d", t.Pairs, c.Rule.N))
	}
	return nil
}

func newCase(p CasePair, each *evaluation, depth int) (Case, error) {
	b, x := p.Base[0], p.Treatment[0]
	out := Case{Case: p.Case, Question: x.Question, Stratum: x.Stratum, States: [2]record.State{worst(p.Base), worst(p.Treatment)}}
	var v [1]float64
	if err := each.average(record.Final, p.Base, v[:]); err != nil {
		return out, err
	}
	out.Base = v[0]
	if err := each.average(record.Final, p.Treatment, v[:]); err != nil {
		return out, err
	}
	out.Treatment = v[0]
	for i, rows := range [][]record.Row{p.Base, p.Treatment} {
		out.Right[i] = right(rows, depth)
		if rows[0].Outcome.State == record.Scored {
			out.Ranks[i] = goldRank(rows[0].Ranking, rows[0].Gold)
		}
		if !out.Right[i] {
			out.Missed[i] = Missed(wrongOf(rows, depth), depth)
		}
	}
	out.Diverges = Diverges(b, x)
	return out, nil
}

// worst is the state of the first repeat that was not scored.
func worst(rows []record.Row) record.State {
	for _, r := range rows {
		if r.Outcome.State != record.Scored {
			return r.Outcome.State
		}
	}
	return record.Scored
}

// right reports whether at least half of the repeats show something relevant
// within the depth.
func right(rows []record.Row, depth int) bool {
	n := 0
	for _, r := range rows {
		if isRight(r, depth) {
			n++
		}
	}
	return 2*n >= len(rows)
}

func isRight(r record.Row, depth int) bool {
	if r.Outcome.State != record.Scored {
		return false
	}
	at := goldRank(r.Ranking, r.Gold)
	return at > 0 && at <= depth
}

// wrongOf is the first repeat that is wrong.
func wrongOf(rows []record.Row, depth int) record.Row {
	for _, r := range rows {
		if !isRight(r, depth) {
			return r
		}
	}
	return rows[0]
}

// goldRank is the rank of the first relevant document, 0 when there is none.
func goldRank(entries []record.Entry, gold map[string]int) int {
	ids, _, _ := record.Documents(entries)
	for i, id := range ids {
		if gold[id] > 0 {
			return i + 1
		}
	}
	return 0
}

// Diverges is the first stage whose list differs between two rows, or that ran
// in one of them only; empty when nothing differs.
func Diverges(base, treatment record.Row) string {
	for _, s := range treatment.Stages {
		b, ok := base.Stage(s.Name)
		if !ok || b.State != s.State || !sameEntries(b.Entries, s.Entries) {
			return s.Name
		}
	}
	if base.Outcome.State != treatment.Outcome.State || !sameEntries(base.Ranking, treatment.Ranking) {
		return record.Final
	}
	return ""
}

// Deltas are treated less base, case by case, and how many of them are
// above, below and at 0. One of at most epsilon either way is 0: it is rounding,
// not a case that moved.
func Deltas(base, treated []float64, epsilon float64) (diffs []float64, wins, losses, ties int) {
	diffs = make([]float64, len(base))
	for i := range base {
		d := treated[i] - base[i]
		switch {
		case d > epsilon:
			wins++
		case d < -epsilon:
			losses++
		default:
			d = 0
			ties++
		}
		diffs[i] = d
	}
	return diffs, wins, losses, ties
}

// figure summarises differences; the interval is filled in by the caller.
func figure(stage, measure string, base, treated []float64) (Figure, []float64, error) {
	f := Figure{Stage: stage, Measure: measure, N: len(base), Base: mean(base), Treatment: mean(treated)}
	var diffs []float64
	diffs, f.Wins, f.Losses, f.Ties = Deltas(base, treated, Epsilon)
	f.Mean = mean(diffs)
	f.Lo, f.Hi = f.Mean, f.Mean
	sign, err := stat.SignTest(f.Wins, f.Losses)
	f.SignP = sign.P
	return f, diffs, err
}

// values are the two columns of the primary measure.
func (t *Treatment) values(keep func(Case) bool) (base, treated []float64) {
	for _, c := range t.Cases {
		if keep == nil || keep(c) {
			base, treated = append(base, c.Base), append(treated, c.Treatment)
		}
	}
	return base, treated
}

// test applies the tests to the primary measure.
func (t *Treatment) test(rule record.Decision, diffs []float64, resamples int, stream stat.Stream) error {
	base, treated := t.values(nil)
	var err error
	if t.Primary, _, err = figure(record.Final, rule.Primary, base, treated); err != nil {
		return err
	}
	flip, err := stat.SignFlipTest(diffs, resamples, stream)
	if err != nil {
		return err
	}
	t.P, t.Exact = flip.P, flip.Exact
	w, err := stat.WilcoxonTest(diffs, stat.ZerosWilcox)
	if err != nil {
		return err
	}
	t.WilcoxonP = w.P
	if err := t.Primary.bootstrap(diffs, resamples, stream); err != nil {
		return err
	}
	if rule.Margin > 0 && len(diffs) > 1 {
		e, err := stat.EquivalenceTest(diffs, rule.Margin, rule.Alpha)
		if err != nil {
			return err
		}
		t.Equivalent = e.Equivalent
		t.TOST = &TOST{Margin: rule.Margin, P: e.P, Lo: e.CI.Lo, Hi: e.CI.Hi}
	}
	return nil
}

// bootstrap sets the BCa interval of a headline figure; one pair has none.
func (f *Figure) bootstrap(diffs []float64, resamples int, stream stat.Stream) error {
	if len(diffs) < 2 {
		return nil
	}
	b, err := stat.BootstrapMean(diffs, resamples, stream)
	if err != nil {
		return err
	}
	in, err := b.BCa(Confidence)
	if err != nil {
		return err
	}
	f.Lo, f.Hi = in.Lo, in.Hi
	return nil
}

// completed is the secondary figure over the pairs that both sides completed,
// and whether the loss stands without timeouts.
func (t *Treatment) completed(rule record.Decision, resamples int, stream stat.Stream) error {
	if t.Worst == [2]int{} {
		return nil
	}
	base, treated := t.values(func(c Case) bool { return c.States == [2]record.State{record.Scored, record.Scored} })
	if len(base) > 0 {
		f, diffs, err := figure(record.Final, t.Primary.Measure, base, treated)
		if err != nil {
			return err
		}
		if err := f.bootstrap(diffs, resamples, stream); err != nil {
			return err
		}
		t.Completed = &f
	}
	base, treated = t.values(func(c Case) bool { return c.States[1] != record.TimedOut })
	if len(base) == 0 {
		return nil
	}
	f, diffs, err := figure(record.Final, t.Primary.Measure, base, treated)
	if err != nil {
		return err
	}
	flip, err := stat.SignFlipTest(diffs, resamples, stream)
	t.lostWithout = f.Mean < 0 && flip.P < rule.Alpha
	return err
}

// grid computes the other measures and stages, all of them on the same
// resamples.
func (t *Treatment) grid(c *Comparison, side Side, pairs Pairs, o Options, stream stat.Stream) error {
	names := slices.Clone(c.base.File.Run.Headline)
	if o.All {
		names = union(names, c.base.File.Run.Measures)
	}
	names = union([]string{c.Rule.Primary}, names)
	var ms []metric.Measure
	for _, name := range names {
		m, err := metric.Parse(name)
		if err != nil {
			return err
		}
		if m.HigherIsBetter() && m.Bounded() {
			ms = append(ms, m)
		}
	}
	for _, stage := range stages(pairs) {
		if slices.Contains(t.without, stage) {
			t.NotRun = append(t.NotRun, stage+": kept out by a measurement break")
			continue
		}
		columns, kept, why, err := columnsOf(ms, stage, pairs)
		if err != nil {
			return err
		}
		if kept == 0 {
			t.NotRun = append(t.NotRun, stage+": "+why)
			continue
		}
		var figures []Figure
		var diffs [][]float64
		for i, m := range ms {
			f, d, err := figure(stage, m.String(), columns[2*i], columns[2*i+1])
			if err != nil {
				return err
			}
			figures, diffs = append(figures, f), append(diffs, d)
		}
		if kept > 1 {
			bs, err := stat.BootstrapMeans(diffs, o.Resamples, stream)
			if err != nil {
				return err
			}
			for i, b := range bs {
				in, err := b.Percentile(Confidence)
				if err != nil {
					return err
				}
				figures[i].Lo, figures[i].Hi = in.Lo, in.Hi
			}
		}
		for _, f := range figures {
			if f.Stage != record.Final || f.Measure != c.Rule.Primary {
				t.Others = append(t.Others, f)
			}
		}
	}
	return nil
}

// stages lists the stages that the rows of either side report, in their order,
// the final ranking first.
func stages(pairs Pairs) []string {
	out := []string{record.Final}
	for _, c := range pairs.List {
		for _, r := range slices.Concat(c.Base, c.Treatment) {
			for _, s := range r.Stages {
				if !slices.Contains(out, s.Name) {
					out = append(out, s.Name)
				}
			}
		}
	}
	return out
}

// columnsOf are base and treatment of every measure at a stage, over the pairs
// in which both went through it.
func columnsOf(ms []metric.Measure, stage string, pairs Pairs) (columns [][]float64, kept int, why string, err error) {
	each, err := newEvaluation(ms)
	if err != nil {
		return nil, 0, "", err
	}
	columns = make([][]float64, 2*len(ms))
	base, treated := make([]float64, len(ms)), make([]float64, len(ms))
	why = "no case went through it in both runs"
	for _, c := range pairs.List {
		var none *NoStageError
		err := errors.Join(each.average(stage, c.Base, base), each.average(stage, c.Treatment, treated))
		if errors.As(err, &none) {
			for _, r := range slices.Concat(c.Base, c.Treatment) {
				if s, ok := r.Stage(stage); ok && s.State == record.SkippedStage {
					why = "skipped: " + s.Reason
				}
			}
			continue
		}
		if err != nil {
			return nil, 0, "", err
		}
		kept++
		for i := range ms {
			columns[2*i] = append(columns[2*i], base[i])
			columns[2*i+1] = append(columns[2*i+1], treated[i])
		}
	}
	return columns, kept, why, nil
}

// Stratum is the primary measure over one stratum.
type Stratum struct {
	Name     string  `json:"name"`
	Figure   Figure  `json:"figure"`
	Floor    float64 `json:"floor"`
	Fallback bool    `json:"fallback"` // the floor is the aggregate's
	Word     string  `json:"word,omitempty"`
}

func (t *Treatment) strata() {
	var names []string
	for _, c := range t.Cases {
		if !slices.Contains(names, c.Stratum) {
			names = append(names, c.Stratum)
		}
	}
	if len(names) < 2 {
		return
	}
	for _, name := range names {
		base, treated := t.values(func(c Case) bool { return c.Stratum == name })
		f, diffs, err := figure(record.Final, t.Primary.Measure, base, treated)
		if err != nil {
			continue // counts of a table that was just made
		}
		if half, err := halfWidth(diffs); err == nil {
			f.Lo, f.Hi = f.Mean-half, f.Mean+half
		}
		t.Strata = append(t.Strata, Stratum{Name: name, Figure: f})
	}
}

// speak gives a stratum a word only where it was declared, or none was, it
// passes its own floor, and its interval leaves out 0: where the floor is 0 by
// proof every difference passes it.
func (t *Treatment) speak(c *Comparison) {
	for i := range t.Strata {
		s := &t.Strata[i]
		s.Floor, s.Fallback = c.Floor.Of(s.Name)
		declared := len(c.Rule.Strata) == 0 || slices.Contains(c.Rule.Strata, s.Name)
		switch {
		case !declared || !c.Floor.Valid() || math.Abs(s.Figure.Mean) <= s.Floor, s.Figure.Lo <= 0 && s.Figure.Hi >= 0:
		case s.Figure.Mean > 0:
			s.Word = "better"
		default:
			s.Word = "worse"
		}
	}
}

// Skew says how far the strata of the pairs are from those of the population
// that the pack is.
type Skew struct {
	Shares     []Share `json:"shares"`
	Largest    float64 `json:"largest"`
	Reweighted float64 `json:"reweighted"` // mean difference with the population's shares
	Capped     bool    `json:"capped"`     // past the limit: no more than a direction
}

// Share is a stratum's part of the pairs and of the population.
type Share struct {
	Stratum    string  `json:"stratum"`
	Sample     float64 `json:"sample"`
	Population float64 `json:"population"`
}

// skewLimit is the difference of shares from which on a claim is a direction.
const skewLimit = 0.05

// newSkew is nil for a run that asked all questions of its pack.
func newSkew(run record.Run, cases []Case) *Skew {
	if len(run.LeftOut) == 0 {
		return nil
	}
	sample, population, sums := map[string]float64{}, map[string]float64{}, map[string]float64{}
	total := 0.0
	for _, c := range cases {
		sample[c.Stratum]++
		population[c.Stratum]++
		sums[c.Stratum] += c.Diff()
		total++
	}
	for name, n := range run.LeftOut {
		population[name] += float64(n)
		total += float64(n)
	}
	names := make([]string, 0, len(population))
	for name := range population {
		names = append(names, name)
	}
	sort.Strings(names)
	s := &Skew{}
	for _, name := range names {
		share := Share{name, sample[name] / float64(len(cases)), population[name] / total}
		s.Shares = append(s.Shares, share)
		s.Largest = max(s.Largest, math.Abs(share.Sample-share.Population))
		if sample[name] > 0 {
			s.Reweighted += float64(share.Population * (sums[name] / sample[name]))
		}
	}
	s.Capped = s.Largest > skewLimit
	return s
}

// Latency of the calls of the pairs, in microseconds, by nearest rank.
type Latency struct {
	N   int     `json:"n"`
	P50 float64 `json:"p50_us"`
	P95 float64 `json:"p95_us"`
}

func newLatency(pairs Pairs, treatment bool) Latency {
	var us []float64
	for _, c := range pairs.List {
		rows := c.Base
		if treatment {
			rows = c.Treatment
		}
		for _, r := range rows {
			if r.Outcome.State == record.Scored {
				us = append(us, float64(r.Micros))
			}
		}
	}
	at, err := stat.Percentiles(us, 50, 95)
	if err != nil {
		return Latency{}
	}
	return Latency{len(us), at[0], at[1]}
}
