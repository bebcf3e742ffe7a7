package gate

import (
	"fmt"
	"math"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Verdicts of one gate.
const (
	Pass            = "pass"
	Regressed       = "regressed"
	CouldNotMeasure = "could-not-measure"
	NotApplicable   = "not-applicable"
)

// Evaluate computes one gate over the rows of a suite invocation.
func Evaluate(s Spec, rows []record.Row) record.Gate {
	if s.Count != "" {
		return evaluateCount(s, rows)
	}
	g := blank(s)
	m, err := metric.Parse(s.Measure)
	if err != nil {
		return unmeasured(g, err.Error(), "correct the suite file")
	}
	all, err := mean(m, s, rows, true)
	if err != nil {
		return unmeasured(g, err.Error(), "make the subject report it, or drop the gate")
	}
	g.Planned, g.Denominator = all.planned, all.n
	if all.planned == 0 {
		g.Verdict, g.Reason = NotApplicable, "no answerable case in this stratum"
		if s.Stratum != "" {
			// A stratum is named because it matters: none of it is no pass.
			return unmeasured(g, "no answerable case in this stratum", "correct the stratum or the limit")
		}
		return g
	}
	if all.n < max(1, s.Min) {
		return unmeasured(g, fmt.Sprintf("%d cases measured, at least %d needed", all.n, max(1, s.Min)),
			"see why the others were not scored")
	}
	g.Value, g.Numerator = &all.value, &all.sum
	judge(&g)
	if s.Certainty {
		g = certain(s, g, all.values)
	}
	if g.Verdict == Regressed && all.timeouts > 0 {
		if why := onlyTimeouts(m, s, g, rows, all); why != "" {
			return unmeasured(g, why, "find out what hangs, or raise the case timeout")
		}
	}
	return g
}

// onlyTimeouts says that g, which fails with timeouts at the worst value,
// would not fail without them; empty when it would.
func onlyTimeouts(m metric.Measure, s Spec, g record.Gate, rows []record.Row, all meanOf) string {
	without, err := mean(m, s, rows, false)
	if err != nil {
		return ""
	}
	if without.n == 0 {
		return fmt.Sprintf("all %d cases timed out", all.timeouts)
	}
	g.Value = &without.value
	if judge(&g); g.Verdict != Pass {
		return ""
	}
	return fmt.Sprintf("%.4f with %d timeouts as the worst value, %.4f without them", all.value, all.timeouts, without.value)
}

func evaluateCount(s Spec, rows []record.Row) record.Gate {
	g := blank(s)
	n := 0
	for _, r := range rows {
		if s.Stratum != "" && r.Stratum != s.Stratum {
			continue
		}
		g.Planned++
		g.Denominator++
		if string(r.Outcome.State) == s.Count {
			n++
		}
	}
	if g.Denominator < max(1, s.Min) {
		return unmeasured(g, fmt.Sprintf("%d cases reached, at least %d needed", g.Denominator, max(1, s.Min)), "see why the others were not reached")
	}
	value := float64(n)
	g.Value, g.Numerator = &value, &value
	judge(&g)
	if s.Target != nil {
		met := value <= *s.Target // of failures, fewer are better
		g.TargetMet = &met
	}
	if g.Verdict == Regressed && s.Count == string(record.TimedOut) {
		return unmeasured(g, fmt.Sprintf("%d cases timed out: %s", n, g.Reason), "find out what hangs, or raise the case timeout")
	}
	return g
}

func blank(s Spec) record.Gate {
	return record.Gate{
		Name: s.Name(), Measure: s.Measure, Count: s.Count, Latency: s.Latency, Stage: s.Stage, Stratum: s.Stratum,
		Floor: s.Floor, Ceiling: s.Ceiling, Target: s.Target,
	}
}

func unmeasured(g record.Gate, reason, action string) record.Gate {
	g.Verdict, g.Reason, g.Action = CouldNotMeasure, reason, action
	return g
}

// judge compares a value with the thresholds. The point estimate decides: the
// questions are fixed and the subject is deterministic.
func judge(g *record.Gate) {
	v := *g.Value
	g.Verdict = Pass
	if g.Floor != nil && v < *g.Floor {
		g.Verdict = Regressed
		g.Reason = fmt.Sprintf("%.4f is below the floor %.4f", v, *g.Floor)
		g.Action = "see the broken cases; undo the change or make it better"
	}
	if g.Ceiling != nil && v > *g.Ceiling {
		g.Verdict = Regressed
		g.Reason = fmt.Sprintf("%.4g is above the ceiling %.4g", v, *g.Ceiling)
		g.Action = "see the cases named below"
	}
	if g.Target != nil {
		met := v >= *g.Target
		g.TargetMet = &met
	}
}

type meanOf struct {
	value, sum           float64
	n, planned, timeouts int
	values               []float64
}

// mean averages m over the answerable cases that count: scored ones by their
// value, failed and timed-out ones (unless left out) by the worst value, 0.
func mean(m metric.Measure, s Spec, rows []record.Row, withTimeouts bool) (meanOf, error) {
	var out meanOf
	var values []float64
	name := m.String()
	for _, r := range rows {
		if !r.Ranked() || s.Stratum != "" && r.Stratum != s.Stratum {
			continue
		}
		out.planned++
		switch r.Outcome.State {
		case record.Scored:
			v, err := value(r, s.Stage, name)
			if err != nil {
				return meanOf{}, err
			}
			values = append(values, v)
		case record.TimedOut:
			if withTimeouts {
				out.timeouts++
				values = append(values, 0)
			}
		case record.Failed:
			values = append(values, 0)
		}
	}
	out.n, out.values = len(values), values
	if out.n == 0 {
		return out, nil
	}
	for _, v := range values {
		out.sum += v
	}
	var err error
	out.value, err = m.Aggregate(values)
	return out, err
}

func value(r record.Row, stage, measure string) (float64, error) {
	if stage == "" {
		stage = record.Final
	}
	values := r.Measures
	if stage != record.Final {
		s, ok := r.Stage(stage)
		if !ok || s.State != record.Executed {
			return 0, fmt.Errorf("case %s: stage %s was not executed", r.Case, stage)
		}
		values = s.Measures
	}
	v, ok := values[measure]
	if !ok {
		return 0, fmt.Errorf("case %s: no %s in the row; add it to measures in the suite file", r.Case, measure)
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		// Not below any floor, and so it would pass.
		return 0, fmt.Errorf("case %s: %s is %v, which is no value", r.Case, measure, v)
	}
	return v, nil
}
