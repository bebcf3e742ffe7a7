package gate

import (
	"fmt"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// BaselineRegression is the gate on a comparison with a recorded run: a
// significant loss is regressed. Its value is the mean difference. A comparison
// that was refused, or that lost through timeouts alone, could not be measured.
func BaselineRegression(name string, t *compare.Treatment, err error) record.Gate {
	g := record.Gate{Name: name}
	if err != nil {
		return unmeasured(g, err.Error(), "name a run of the same questions, store and configuration in EVAL_BASELINE, or declare what differs in [decision] vary")
	}
	mean := t.Primary.Mean
	g.Value, g.Denominator, g.Planned = &mean, t.Pairs, t.Planned
	g.Reason = fmt.Sprintf("%s %.4f -> %.4f (%+.4f, p = %.3g) over %d cases, %d better, %d worse; %s",
		t.Primary.Measure, t.Primary.Base, t.Primary.Treatment, mean, t.P, t.Pairs, t.Primary.Wins, t.Primary.Losses, t.Detectable)
	for _, c := range t.Cases {
		if c.Diff() < 0 {
			g.Broke = append(g.Broke, record.Moved{Case: c.Case, Before: c.Base, Now: c.Treatment, Wrong: c.Broke()})
		}
	}
	g.Broke = record.WorstMoved(g.Broke)
	switch t.Gate {
	case compare.GateRegressed:
		g.Verdict, g.Reason = Regressed, "significantly worse than the baseline: "+g.Reason
		g.Action = "see the cases that broke; undo the change or make it better"
	case compare.GateCNM:
		return unmeasured(g, t.GateWhy, "compare with the floor of A/A runs: `touchstone compare BASE RUN --aa RUN ...`")
	default:
		g.Verdict = Pass
	}
	return g
}
