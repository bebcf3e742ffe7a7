package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/touchstone-eval/touchstone/evaltests/compare/sweep"
)

// Pool writes a pool probe: a row an arm, the tests, and how each axis ends.
func Pool(w io.Writer, r *sweep.PoolReport) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: pool size and reranker by %s; %d of %d planned cases in every arm, %d documents; base %s\n",
		clean(r.Suite), clean(r.Measure), r.N, r.Planned, r.Documents, clean(r.Base))
	if r.Stratum != "" {
		fmt.Fprintf(&b, "stratum %s only\n", clean(r.Stratum))
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", clean(n))
	}
	b.WriteString("\n")
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "ARM\t%s [95%% INTERVAL]\tR@5\tR@POOL\tCOVERAGE\tPOOL\tP50\tP95\tP99\tRERANKER\tBURIED IN/OUT/RAISED\tFRONT\n", clean(r.Measure))
	for _, a := range r.Arms {
		front := "on it"
		switch {
		case a.Knee:
			front = "knee"
		case a.Dominated != "":
			front = "dominated by " + clean(a.Dominated)
		}
		fmt.Fprintf(tw, "%s\t%.4f [%.3f, %.3f]\t%.4f\t%.4f\t%.4f\t%.1f\t%s\t%s\t%s\t%.0f %%\t%d/%d/%d\t%s\n", clean(a.Name), a.Mean, a.Lo, a.Hi, a.Recall5, a.RecallPool,
			a.Coverage, a.Effective, millis(a.P50), millis(a.P95), millis(a.P99), 100*a.Share, a.Inside, a.Outside, a.Raised, front)
	}
	tw.Flush()
	fmt.Fprintf(&b, "latencies in ms, of the search as its caller sees it; buried: %d of %d cases, no gold in the first 10 of %s\n\n", r.Buried, r.N, clean(r.Base))
	for _, t := range r.Tests {
		fmt.Fprintf(&b, "%s\n", clean(TestSentence(t, r.Measure)))
	}
	b.WriteString("\n")
	for _, a := range r.Axes {
		fmt.Fprintf(&b, "%s\n", clean(AxisSentence(a)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func millis(us int64) string { return fmt.Sprintf("%.1f", float64(us)/1000) }

// TestSentence says what a paired test of two arms says.
func TestSentence(t sweep.Test, measure string) string {
	s := fmt.Sprintf("%s: %s to %s, %s %+.4f [%+.4f, %+.4f], %d better, %d worse, %d equal of %d, sign flip p %s, Holm %s",
		t.Axis, t.From, t.To, measure, t.Difference, t.Lo, t.Hi, t.Wins, t.Losses, t.Ties, t.N, pValue(t.P), pValue(t.Adj))
	if t.Adj <= sweep.Alpha {
		return s + ": significant"
	}
	return s + ": not significant; " + t.Detectable.String()
}

// AxisSentence says how an axis ends.
func AxisSentence(a sweep.Axis) string {
	s := fmt.Sprintf("%s: %s; ", a.Name, a.Finding)
	switch a.Finding {
	case sweep.Firm:
		return s + fmt.Sprintf("%d of %d tests significant after Holm, %d better and %d worse", a.Firm, a.Tests, a.Better, a.Worse)
	case sweep.Directional:
		if a.Firm > 0 {
			return s + fmt.Sprintf("%d of %d tests significant after Holm, but %d better and %d worse", a.Firm, a.Tests, a.Better, a.Worse)
		}
		return s + fmt.Sprintf("%d of %d tests significant alone and none after Holm, %d better and %d worse; a larger run can tell", a.Alone, a.Tests, a.Better, a.Worse)
	}
	return s + fmt.Sprintf("none of %d tests significant; decide on latency", a.Tests)
}
