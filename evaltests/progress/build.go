package progress

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

// New makes the line of a record from what a report shows of it, so that the
// two cannot disagree. started is when the run began, note what it measures,
// before the lines that the suite has. It refuses a record that was edited and
// one that already has a line.
func New(f *record.File, shown report.Suite, started time.Time, note string, before []Line) (Line, error) {
	run := f.Run
	l := Line{
		V: version, ID: IDOf(f), Suite: run.Suite, Arm: run.Arm, Tier: run.Tier, Date: started.UTC().Truncate(time.Second), Commit: run.Context.Commit,
		Dirty: run.Context.DirtyFiles, Record: Digest(f), Hashes: run.Hashes, Verdict: shown.Verdict, Planned: len(run.Plan),
		Scored: f.Counts()[record.Scored], Note: note, Status: Open, Evidence: Single,
	}
	switch {
	case f.State == record.Tampered:
		return l, fmt.Errorf("%s: the record was edited: %s; its figures are no evidence", f.Path, f.Detail)
	case slices.ContainsFunc(before, func(o Line) bool { return o.ID == l.ID }):
		return l, fmt.Errorf("%s: has a line already, %s", f.Path, l.ID)
	case f.State == record.Truncated:
		l.Evidence, l.Verdict = Interrupted, gate.CNM
		l.Limits = append(l.Limits, "interrupted: "+f.Detail)
	}
	for _, fig := range shown.Headline {
		l.Headline = append(l.Headline, Figure{Measure: fig.Measure, Mean: fig.Mean, N: fig.N, Planned: fig.Planned})
	}
	for _, s := range shown.Stages {
		l.Stages = append(l.Stages, Stage{Stage: s.Stage, Ran: s.Ran, Of: s.Of, Skipped: s.Skipped, Means: s.Means})
	}
	l.limits(f, shown)
	if l.Evidence == Single && run.Repeats > 1 {
		l.Evidence = Repeated
	}
	if l.Evidence != Interrupted && slices.ContainsFunc(before, l.reproduces) {
		l.Evidence = Reproduced
	}
	return l, l.validate(run.Suite)
}

// limits says how far the figures carry.
func (l *Line) limits(f *record.File, shown report.Suite) {
	add := func(format string, args ...any) { l.Limits = append(l.Limits, fmt.Sprintf(format, args...)) }
	if shown.Use != "" {
		text := shown.Use
		if shown.UseWhy != "" {
			text += ": " + shown.UseWhy
		}
		add("%s", text)
	}
	counts := f.Counts()
	for _, state := range record.SortedStates(counts) {
		if state != record.Scored {
			add("%d of %d %s", counts[state], l.Planned, state)
		}
	}
	if f.Run.Shard != "" {
		add("shard %s", f.Run.Shard)
	}
	left := 0
	for _, n := range f.Run.LeftOut {
		left += n
	}
	if left > 0 {
		add("a sample: %d cases left out", left)
	}
	if l.Commit == "" {
		add("made outside a git checkout: no commit says what was measured")
	} else if l.Dirty > 0 {
		add("%d changed files beside the commit", l.Dirty)
	}
	if shown.LatencyWhy != "" {
		add("latencies unusable: %s", shown.LatencyWhy)
	}
}

// reproduces reports whether o is another run of the same question over the
// same store with the same configuration, and has the same figures.
func (l Line) reproduces(o Line) bool {
	if o.Status == Withdrawn || o.Evidence == Interrupted || o.Arm != l.Arm || o.Hashes.Question != l.Hashes.Question ||
		o.Hashes.Treatment != l.Hashes.Treatment || o.Hashes.SeedKey != l.Hashes.SeedKey || len(l.Headline) == 0 {
		return false
	}
	return maps.EqualFunc(means(l), means(o), func(a, b float64) bool { return math.Abs(a-b) <= compare.Epsilon })
}

func means(l Line) map[string]float64 {
	out := map[string]float64{}
	for _, f := range l.Headline {
		out[f.Measure] = f.Mean
	}
	return out
}

// PairWith raises the evidence of a line by a comparison of its run with a
// base. One that found nothing significant is refused; that it was not fixed
// beforehand is among the line's limits.
func (l *Line) PairWith(base compare.Side, c *compare.Comparison) error {
	if len(c.Treatments) != 1 {
		return fmt.Errorf("%d treatments; want this run against the base alone", len(c.Treatments))
	}
	t := c.Treatments[0]
	lost := t.Lost(c.Rule.Alpha)
	if !t.Significant && !lost {
		return fmt.Errorf("against %s: %s, adjusted p = %.3g over %d pairs; only a significant difference is evidence", base.Label, t.Verdict, t.Adjusted, t.Pairs)
	}
	l.Evidence = Paired
	l.Against = &Against{Record: Digest(base.File), Measure: t.Primary.Measure, Mean: t.Primary.Mean, P: t.Adjusted, Pairs: t.Pairs}
	if len(c.Exploratory) > 0 {
		l.Limits = append(l.Limits, "the comparison is exploratory: "+c.Exploratory[0])
	}
	return nil
}
