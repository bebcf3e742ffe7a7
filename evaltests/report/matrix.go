package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/touchstone-eval/touchstone/evaltests/compare/sweep"
)

// Matrix writes suites by arms: one verdict a cell, then a sentence for each.
func Matrix(w io.Writer, m *sweep.Matrix) error {
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(tw, "SUITE\tBASE")
	for _, c := range m.Columns {
		fmt.Fprintf(tw, "\t%s", clean(c))
	}
	fmt.Fprintln(tw)
	for _, r := range m.Rows {
		fmt.Fprintf(tw, "%s\t%s %.4f n=%d", clean(r.Suite), clean(r.Measure), r.Base, r.N)
		for _, c := range r.Cells {
			if c.NotRun {
				fmt.Fprint(tw, "\tnot run")
				continue
			}
			fmt.Fprintf(tw, "\t%s %+.4f p %s", clean(c.Verdict), c.Difference, pValue(c.Adj))
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
	for _, r := range m.Rows {
		fmt.Fprintf(&b, "\n%s: %d of %d planned cases are pairs; noise floor %s\n", clean(r.Suite), r.N, r.Planned, clean(r.Floor))
		for _, c := range r.Cells {
			fmt.Fprintf(&b, "  %s\n", clean(CellSentence(c, r.Measure)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// CellSentence says what a cell says.
func CellSentence(c sweep.Cell, measure string) string {
	if c.NotRun {
		return c.Column + ": not run"
	}
	keys := make([]string, len(c.Differs))
	for i, d := range c.Differs {
		keys[i] = d.String()
	}
	s := fmt.Sprintf("%s, %s: %s, %s %.4f, %+.4f [%+.4f, %+.4f], %d better, %d worse, %d equal, sign flip p %s, adjusted %s", c.Column, strings.Join(keys, ", "),
		c.Verdict, measure, c.Mean, c.Difference, c.Lo, c.Hi, c.Wins, c.Losses, c.Ties, pValue(c.P), pValue(c.Adj))
	if c.Detectable != nil {
		s += ", not significant; " + c.Detectable.String()
	}
	return s
}
