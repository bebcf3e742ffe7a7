package stage

import (
	"fmt"
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Options of [Analyse]. The zero value asks for the defaults.
type Options struct {
	Measure string  // that decides; default: the first headline of the run, else nDCG@10
	Alpha   float64 // familywise level over the transitions, default .05
	Margin  float64 // a mean difference within it is no effect, default .01
	Depth   int     // ranks that a user sees, for the misses and the channels; default 10
}

const (
	defaultAlpha  = .05
	defaultMargin = .01
	defaultDepth  = 10
	power         = .8
	confidence    = .95
	resamples     = 10_000
	// comparedShare of the cases must have run a stage for it to share the
	// cases of the table: a stage that runs in few is not to shrink it to those.
	comparedShare = .95
)

func (o Options) filled(run record.Run) (Options, error) {
	if o.Measure == "" {
		o.Measure = "nDCG@10"
		if len(run.Headline) > 0 {
			o.Measure = run.Headline[0]
		}
	}
	if o.Alpha == 0 {
		o.Alpha = defaultAlpha
	}
	if o.Margin == 0 {
		o.Margin = defaultMargin
	}
	if o.Depth == 0 {
		o.Depth = defaultDepth
	}
	if !(o.Alpha > 0 && o.Alpha < 1) || !(o.Margin > 0) || o.Depth < 1 {
		return o, fmt.Errorf("alpha %v, margin %v, depth %d: want a level between 0 and 1, a margin above 0, a depth of at least 1", o.Alpha, o.Margin, o.Depth)
	}
	return o, nil
}

// Analyse accounts for the stages of a record.
func Analyse(f *record.File, o Options) (*Report, error) {
	if err := readable(f); err != nil {
		return nil, err
	}
	run := f.Run
	o, err := o.filled(run)
	if err != nil {
		return nil, err
	}
	main, err := metric.Parse(o.Measure)
	if err != nil {
		return nil, err
	}
	if !main.HigherIsBetter() {
		return nil, fmt.Errorf("%s describes a list and does not grade it; choose a measure of quality", main)
	}
	ms, err := metric.ParseAll(standard)
	if err != nil {
		return nil, err
	}
	ms = append([]metric.Measure{main}, slices.DeleteFunc(ms, func(m metric.Measure) bool { return m == main })...)
	cases, names := collect(f.Rows)
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no row reports a stage; the subject must return its stages in the observation", run.Suite)
	}
	r := &Report{
		Suite: run.Suite, Arm: run.Arm, Mode: run.Mode, Measure: main.String(), Alpha: o.Alpha, Margin: o.Margin,
		Planned: len(run.Plan),
	}
	r.Misses = misses(run.Plan, cases, o.Depth)
	r.Channels = channels(cases, o.Depth)
	used := r.leaveOut(cases)
	for _, c := range used {
		r.Repeats = max(r.Repeats, len(c.rows))
		if err := c.measure(names, ms); err != nil {
			return nil, fmt.Errorf("%s: %w", run.Suite, err)
		}
	}
	if len(used) == 0 {
		return r, nil
	}
	r.table(used, names, ms)
	if err := r.transitions(used, names, run); err != nil {
		return nil, fmt.Errorf("%s: %w", run.Suite, err)
	}
	return r, r.pool(used, names, main)
}

// readable refuses a record that cannot be believed.
func readable(f *record.File) error {
	if f.State != record.Complete {
		return fmt.Errorf("%s: record is %s: %s; only a complete record is accounted for", f.Path, f.State, f.Detail)
	}
	if f.Run.NotRun != "" {
		return fmt.Errorf("%s: not run: %s", f.Run.Suite, f.Run.NotRun)
	}
	return nil
}

// leaveOut drops the cases whose stages cannot be followed, and counts them.
func (r *Report) leaveOut(cases []*sample) []*sample {
	var used []*sample
	left := counter{}
	for _, c := range cases {
		if why := c.usable(); why != "" {
			left.add(why)
			continue
		}
		used = append(used, c)
	}
	if n := r.Planned - len(cases); n > 0 {
		left.addN(string(record.NotReached), n)
	}
	r.LeftOut = left.counts()
	return used
}

// table takes the means of every stage over one set of cases: those in which
// all stages ran that ran in nearly all.
func (r *Report) table(cases []*sample, names []string, ms []metric.Measure) {
	var compared []string
	for _, name := range names {
		f := Figures{Stage: name, Of: len(cases)}
		why := counter{}
		for _, c := range cases {
			if s := c.stages[name]; s.ran {
				f.Ran++
			} else {
				why.add(s.reason)
			}
		}
		f.Why = why.counts()
		f.Compared = f.Ran > 0 && float64(f.Ran) >= comparedShare*float64(f.Of)
		if f.Compared {
			compared = append(compared, name)
		}
		r.Stages = append(r.Stages, f)
	}
	var common []*sample
	for _, c := range cases {
		if !slices.ContainsFunc(compared, func(name string) bool { return !c.stages[name].ran }) {
			common = append(common, c)
		}
	}
	r.Cases = len(common)
	for i := range r.Stages {
		f := &r.Stages[i]
		if !f.Compared || len(common) == 0 {
			continue
		}
		f.N, f.Means = len(common), make(map[string]float64, len(ms))
		for k, m := range ms {
			sum := 0.0
			for _, c := range common {
				sum += c.stages[f.Stage].values[k]
			}
			f.Means[m.String()] = sum / float64(len(common))
		}
		total, lists := 0, 0
		for _, c := range common {
			for _, es := range c.stages[f.Stage].entries {
				total, lists = total+len(es), lists+1
			}
		}
		f.Candidates = float64(total) / float64(lists)
	}
}

// figures returns the table's row of a stage.
func (r *Report) figures(name string) *Figures {
	i := slices.IndexFunc(r.Stages, func(f Figures) bool { return f.Stage == name })
	return &r.Stages[i]
}

// counter counts names in the order of their first use.
type counter struct {
	order []string
	n     map[string]int
}

func (c *counter) add(name string) { c.addN(name, 1) }

func (c *counter) addN(name string, n int) {
	if c.n == nil {
		c.n = map[string]int{}
	}
	if c.n[name] == 0 {
		c.order = append(c.order, name)
	}
	c.n[name] += n
}

func (c *counter) counts() []Count {
	var out []Count
	for _, name := range c.order {
		out = append(out, Count{name, c.n[name]})
	}
	return out
}
