package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/rank"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// LeastOverlap is the share of the planned cases that must be pairs, unless the
// comparison is declared partial.
const LeastOverlap = 0.95

// Epsilon is the least difference of a case that counts as one: less is the
// rounding of sums.
const Epsilon = 1e-9

// Pairs are the cases that two runs both answered, and what was left out.
type Pairs struct {
	List        []CasePair
	Planned     int       // answerable cases of the plan
	Ungraded    int       // cases of the plan without anything to find, in no ranking measure
	OnlyBase    []LeftOut // cases without a counterpart
	OnlyTreated []LeftOut
	Neither     []LeftOut // cases that neither run measured
	Worst       [2]int    // pairs in which a side failed or timed out and has the worst value
}

// LeftOut is a case that is not paired, with the reason.
type LeftOut struct {
	Case string `json:"case"`
	Why  string `json:"why"`
}

// CasePair is one case in both runs, its repeats in order.
type CasePair struct {
	Case            string
	Base, Treatment []record.Row
}

// Overlap is the share of the planned cases that are pairs.
func (p Pairs) Overlap() float64 {
	if p.Planned == 0 {
		return 0
	}
	return float64(len(p.List)) / float64(p.Planned)
}

// Pair joins two records on their cases. A case takes part when every one of
// its repeats was scored, failed or timed out; one that was refused, skipped
// or not reached on a side is named there and is never scored as worst.
func Pair(base, treatment *record.File) (Pairs, error) {
	b, err := byCase(base)
	if err != nil {
		return Pairs{}, err
	}
	t, err := byCase(treatment)
	if err != nil {
		return Pairs{}, err
	}
	var p Pairs
	for _, id := range union(base.Run.Plan, treatment.Run.Plan) {
		bs, ts := b[id], t[id]
		if graded := slices.ContainsFunc(slices.Concat(bs, ts), record.Row.Ranked); !graded && len(bs)+len(ts) > 0 {
			p.Ungraded++
			continue
		}
		p.Planned++
		whyBase, whyTreated := missing(bs, base.Run), missing(ts, treatment.Run)
		switch {
		case whyBase == "" && whyTreated == "":
			if bs[0].Digest != ts[0].Digest {
				return Pairs{}, fmt.Errorf("case %s: question or gold differ although the question hashes are equal; one of the records is not what it says", id)
			}
			p.List = append(p.List, CasePair{id, bs, ts})
			for i, rows := range [][]record.Row{bs, ts} {
				if slices.ContainsFunc(rows, func(r record.Row) bool { return r.Outcome.State != record.Scored }) {
					p.Worst[i]++
				}
			}
		case whyBase == "":
			p.OnlyBase = append(p.OnlyBase, LeftOut{id, whyTreated})
		case whyTreated == "":
			p.OnlyTreated = append(p.OnlyTreated, LeftOut{id, whyBase})
		default:
			p.Neither = append(p.Neither, LeftOut{id, whyTreated})
		}
	}
	return p, nil
}

// byCase groups the rows of a record by case, repeats in order.
func byCase(f *record.File) (map[string][]record.Row, error) {
	out := map[string][]record.Row{}
	for _, r := range f.Rows {
		if r.Suite != f.Run.Suite || r.Arm != f.Run.Arm || r.Mode != f.Run.Mode {
			return nil, fmt.Errorf("%s: row %s is of another suite, arm or mode than the record's %s/%s/%s", f.Path, r.Identity(), f.Run.Suite, f.Run.Arm, f.Run.Mode)
		}
		out[r.Case] = append(out[r.Case], r)
	}
	for _, rows := range out {
		slices.SortStableFunc(rows, func(a, b record.Row) int { return a.Repeat - b.Repeat })
	}
	return out, nil
}

// union is plan a and what b has beside it.
func union(a, b []string) []string {
	seen := make(map[string]bool, len(a))
	var out []string
	for _, ids := range [][]string{a, b} {
		for _, id := range ids {
			if !seen[id] {
				seen[id] = true
				out = append(out, id)
			}
		}
	}
	return out
}

// missing says why rows of a case cannot take part, empty when they can.
func missing(rows []record.Row, run record.Run) string {
	if len(rows) < max(1, run.Repeats) {
		return string(record.NotReached)
	}
	for _, r := range rows {
		if !r.Outcome.State.Counts() {
			return string(r.Outcome.State) + ": " + r.Outcome.Reason
		}
	}
	return ""
}

// Value is a measure of a case at a stage, its repeats averaged: pooled as if
// they were cases they would find differences that are not there. A case that
// failed or timed out in any repeat counts as the worst value, 0, as in the
// headline of its run ([record.Average]). It is computed from the ranking and
// the gold of the row, and must be what the row says, if it says anything.
func Value(m metric.Measure, stage string, rows []record.Row) (float64, error) {
	values, err := Values([]metric.Measure{m}, stage, rows)
	if err != nil {
		return 0, err
	}
	return values[0], nil
}

// Values is Value for several measures. A stage that was not executed gives
// ErrNoStage.
func Values(ms []metric.Measure, stage string, rows []record.Row) ([]float64, error) {
	e, err := newEvaluation(ms)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(ms))
	return out, e.average(stage, rows, out)
}

// evaluation computes measures of rows, one case after another.
type evaluation struct {
	measures []metric.Measure
	names    []string
	each     *metric.Evaluator
	one      []float64
}

func newEvaluation(ms []metric.Measure) (*evaluation, error) {
	each, err := metric.NewEvaluator(ms)
	if err != nil {
		return nil, err
	}
	e := &evaluation{measures: ms, each: each, one: make([]float64, len(ms))}
	for _, m := range ms {
		e.names = append(e.names, m.String())
	}
	return e, nil
}

// NoStageError is a stage that a case did not go through.
type NoStageError struct{ Case, Stage string }

func (e *NoStageError) Error() string {
	return fmt.Sprintf("case %s: stage %s was not executed", e.Case, e.Stage)
}

// average writes the means over the repeats to out.
func (e *evaluation) average(stage string, rows []record.Row, out []float64) error {
	clear(out)
	if worst(rows) != record.Scored {
		return nil // the worst value of a bounded measure is 0
	}
	for _, r := range rows {
		s, ok := r.Stage(stage)
		if !ok || s.State != record.Executed {
			return &NoStageError{r.Case, stage}
		}
		said := s.Measures
		if stage == record.Final { // the ranking is what users see
			s.Entries, said = r.Ranking, r.Measures
		}
		if err := e.row(s.Entries, r.Gold); err != nil {
			return fmt.Errorf("case %s: %w", r.Case, err)
		}
		for i, v := range e.one {
			if was, ok := said[e.names[i]]; ok && was != v {
				return fmt.Errorf("case %s: the record says %s of stage %s is %v, its ranking and gold give %v", r.Case, e.names[i], stage, was, v)
			}
			out[i] += v
		}
	}
	for i := range out {
		out[i] /= float64(len(rows))
		if math.IsNaN(out[i]) || math.IsInf(out[i], 0) {
			return fmt.Errorf("case %s: %s is %v, which is no value", rows[0].Case, e.names[i], out[i])
		}
	}
	return nil
}

func (e *evaluation) row(entries []record.Entry, gold map[string]int) error {
	ids, _, _ := record.Documents(entries)
	ranking, err := rank.New(ids, nil)
	if err != nil {
		return err
	}
	return e.each.Eval(metric.Judge(metric.Grades(gold), ranking), e.one)
}
