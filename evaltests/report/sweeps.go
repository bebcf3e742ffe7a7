package report

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/touchstone-eval/touchstone/evaltests/compare/sweep"
)

// Curve writes a fusion sweep: the calibration, a row a weight, and what can be
// said of the best one. confirm is the command that would confirm it.
func Curve(w io.Writer, c *sweep.Curve, confirm string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s / %s: weight of the vector arm in the fusion, by %s; replayed, retrieval only; %d of %d planned cases\n",
		clean(c.Suite), clean(c.Arm), clean(c.Measure), c.N, c.Planned)
	b.WriteString(clean(CalibrationSentence(c)) + "\n")
	for _, n := range c.Notes {
		fmt.Fprintf(&b, "note: %s\n", clean(n))
	}
	if len(c.AfterFusion) > 0 {
		fmt.Fprintf(&b, "note: not replayed, and part of what users of this run saw: %s\n", clean(strings.Join(c.AfterFusion, ", ")))
	}
	b.WriteString("\n")
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	columns := []string{"nDCG@10", "RR@10", "R@5", "R@10"}
	fmt.Fprintf(tw, "WEIGHT\t%s [95%% INTERVAL]", clean(c.Measure))
	for _, m := range columns {
		if m != c.Measure {
			fmt.Fprintf(tw, "\t%s", m)
		}
	}
	if c.Unfaithful > 0 {
		fmt.Fprintf(tw, "\tWITHOUT THE %d", c.Unfaithful)
	}
	fmt.Fprintln(tw, "\tAGAINST CURRENT\tWIN\tLOSS\tTIE\tP\tHOLM\tSCORE TIES")
	for _, p := range c.Points {
		fmt.Fprintf(tw, "%s\t%.4f [%.3f, %.3f]", weight(p.Weight), p.Mean, p.Lo, p.Hi)
		for _, m := range columns {
			if m != c.Measure {
				fmt.Fprintf(tw, "\t%.4f", p.Means[m])
			}
		}
		if c.Unfaithful > 0 {
			fmt.Fprintf(tw, "\t%.4f", p.Faithful)
		}
		if p.Current {
			fmt.Fprintf(tw, "\tcurrent\t\t\t\t\t\t%d\n", p.ScoreTies)
			continue
		}
		fmt.Fprintf(tw, "\t%+.4f [%+.3f, %+.3f]\t%d\t%d\t%d\t%s\t%s\t%d\n", p.Difference, p.DiffLo, p.DiffHi, p.Wins, p.Losses, p.Ties, pValue(p.P), pValue(p.Adj), p.ScoreTies)
	}
	tw.Flush()
	fmt.Fprintf(&b, "\n%s\n", clean(CurveSentence(c)))
	if confirm != "" && c.Best != c.Settings.Vector {
		fmt.Fprintf(&b, "a default changes only on a run that confirms it:\n  %s\n", clean(confirm))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// CalibrationSentence says how well the replay is the engine's fusion.
func CalibrationSentence(c *sweep.Curve) string {
	most := 0.0
	for _, a := range c.Calibration.Aggregates {
		most = max(most, math.Abs(a.Recorded-a.Replayed))
	}
	return fmt.Sprintf("calibrated at weights.vector %s: %d of %d positions of the first %d agree (%.1f %%), %d cases under %.0f %%; means agree within %.1g, either arm alone too",
		weight(c.Settings.Vector), c.Calibration.Agree, c.Calibration.Positions, sweep.CalibratedTop, 100*c.Calibration.Share(), c.Unfaithful, 100*sweep.LeastAgreement, most)
}

// CurveSentence says what can be told of the best weight.
func CurveSentence(c *sweep.Curve) string {
	current, best := c.At(c.Settings.Vector), c.At(c.Best)
	tried := len(c.Points) - 1
	if best.Current {
		s := fmt.Sprintf("No weight is above the current one, %s (%s %.4f), of %d tried", weight(current.Weight), c.Measure, current.Mean, tried)
		return s + worse(c) + "; " + c.Detectable.String() + "."
	}
	compared := fmt.Sprintf("%s (%s %.4f) against %s, the current one (%.4f): %+.4f [%+.4f, %+.4f], %d better, %d worse, %d equal, sign flip p %s, %s by Holm over %d weights",
		weight(best.Weight), c.Measure, best.Mean, weight(current.Weight), current.Mean, best.Difference, best.DiffLo, best.DiffHi,
		best.Wins, best.Losses, best.Ties, pValue(best.P), pValue(best.Adj), tried)
	if c.Distinct {
		return "The best weight is better than the current one: " + compared + worse(c) + "."
	}
	return "No weight is distinguishable from the current one as better; the best is " + compared + worse(c) + "; " + c.Detectable.String() + "."
}

// worse names the weights that can be told from the current one as worse.
func worse(c *sweep.Curve) string {
	var ws []string
	for _, p := range c.Points {
		if !p.Current && p.Adj <= sweep.Alpha && p.Difference < 0 {
			ws = append(ws, weight(p.Weight))
		}
	}
	if ws == nil {
		return ""
	}
	return "; worse than the current one: " + strings.Join(ws, ", ")
}

func weight(w float64) string { return fmt.Sprintf("%.6g", w) }
