package gate

import (
	"fmt"

	"github.com/touchstone-eval/touchstone/evaltests/golden"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// PairedRegression is the gate on a measure against the golden's rankings of
// the same cases: a loss that the sign-flip test calls significant at a
// two-sided level of .05 is regressed. Its value is the mean difference. It
// is not applicable where nothing can be paired: the drift gate says why, and
// is not green then.
func PairedRegression(measure string, d golden.SuiteResult) record.Gate {
	g := record.Gate{Name: "paired " + measure, Planned: d.Planned}
	p, err := d.Paired(measure, true)
	if err != nil {
		g.Verdict, g.Reason = NotApplicable, err.Error()
		return g
	}
	g.Denominator, g.Value, g.Verdict, g.Reason = p.N, &p.Diff, Pass, p.String()
	if g.Broke, err = d.Losses(measure); err != nil {
		return unmeasured(g, err.Error(), "correct the suite file")
	}
	if !p.Lost() {
		return g
	}
	g.Verdict, g.Reason = Regressed, "significantly worse than the golden: "+p.String()
	g.Action = fmt.Sprintf("see what the moves cost (`touchstone golden show %s --run DIR`); undo the change or make it better", d.Suite)
	if p.Timeouts > 0 {
		without, err := d.Paired(measure, false)
		if err != nil || !without.Lost() {
			return unmeasured(g, fmt.Sprintf("worse with %d timeouts as the worst value, not without them", p.Timeouts), "find out what hangs, or raise the case timeout")
		}
	}
	if d.Advisory != "" {
		g.Verdict, g.Reason = NotApplicable, d.Advisory+"; "+g.Reason
	}
	return g
}
