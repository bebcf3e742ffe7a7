package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/touchstone-eval/touchstone/evaltests/compare/stage"
)

// Stages writes the account of a suite's stages: a row a stage, a row a
// transition, then where wrong answers were lost and what the channels did.
// One screen, unless all is wanted.
func Stages(w io.Writer, r *stage.Report, controls []stage.Control, all bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s / %s: stages by %s; %d of %d planned cases, in all stages alike\n", clean(r.Suite), clean(r.Arm), clean(r.Measure), r.Cases, r.Planned)
	if len(r.LeftOut) > 0 {
		fmt.Fprintf(&b, "left out: %s\n", tally(r.LeftOut))
	}
	if r.Repeats > 1 {
		fmt.Fprintf(&b, "up to %d repeats a case, averaged within the case first\n", r.Repeats)
	}
	for _, c := range controls {
		fmt.Fprintf(&b, "control %s: the same in all %d cases\n", clean(c.Stage), c.N)
	}
	if len(r.Stages) > 0 {
		b.WriteString("\n")
		stageMeans(&b, r)
	}
	if len(r.Transitions) > 0 {
		b.WriteString("\n")
		transitions(&b, r, all)
	}
	if r.Pool != nil {
		b.WriteString("\n" + clean(PoolSentence(r)) + "\n")
	}
	b.WriteString("\n")
	missTable(&b, r.Misses, all)
	if len(r.Channels) > 0 {
		b.WriteString("\n")
		channelTable(&b, r, all)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func tally(cs []stage.Count) string {
	parts := make([]string, len(cs))
	for i, c := range cs {
		parts[i] = fmt.Sprintf("%d %s", c.N, clean(c.Name))
	}
	return strings.Join(parts, ", ")
}

// stageColumns are the measures of the table, whatever decides.
var stageColumns = []string{"R@1", "R@5", "R@10", "RR@10", "nDCG@5", "nDCG@10"}

func stageMeans(b *strings.Builder, r *stage.Report) {
	columns := stageColumns
	if !contains(columns, r.Measure) {
		columns = append([]string{r.Measure}, columns...)
	}
	tw := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprint(tw, "STAGE\tRAN\tENTRIES")
	for _, c := range columns {
		fmt.Fprintf(tw, "\t%s", clean(c))
	}
	fmt.Fprintln(tw)
	for _, f := range r.Stages {
		fmt.Fprintf(tw, "%s\t%d of %d", clean(f.Stage), f.Ran, f.Of)
		switch {
		case f.Ran == 0:
			fmt.Fprintf(tw, "\t-\tdid not run: %s\n", tally(f.Why))
			continue
		case f.Means == nil:
			fmt.Fprintf(tw, "\t-\tran in too few cases to share the others': %s\n", tally(f.Why))
			continue
		}
		fmt.Fprintf(tw, "\t%.1f", f.Candidates)
		for _, c := range columns {
			fmt.Fprintf(tw, "\t%.4f", f.Means[c])
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func transitions(b *strings.Builder, r *stage.Report, all bool) {
	tw := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "STEP\tN\tWIN\tLOSS\tTIE\tMEAN [95% INTERVAL]\tP\tHOLM\tDETECTS\tREORD\tMEMBERS\tMASKED\tEFFECT")
	for _, t := range r.Transitions {
		fmt.Fprintf(tw, "%s > %s\t%d\t%d\t%d\t%d\t%+.4f [%+.3f, %+.3f]\t%s\t%s\t%s\t%d\t%d\t%d\t%s\n", clean(t.From), clean(t.To), t.N,
			t.Wins, t.Losses, t.Ties, t.Mean, t.Lo, t.Hi, pValue(t.P), pValue(t.Adj), detects(t), t.Reordered, t.Members, t.Masked, clean(string(t.Effect)))
	}
	tw.Flush()
	fmt.Fprintf(b, "p by the exact sign test, Holm over the %d steps; DETECTS: smallest mean difference and net surplus of cases seen with 80 %% power\n", len(r.Transitions))
	fmt.Fprintf(b, "at level %.4g (mean: exact, noncentral t; net: exact sign test); MASKED: cases moved here whose final result is as before the step\n", r.Alpha/float64(len(r.Transitions)))
	if r.BestArm != "" {
		fmt.Fprintf(b, "%s is the best arm on these very cases, which favours it in the last step\n", clean(r.BestArm))
	}
	if !all {
		return
	}
	for _, t := range r.Transitions {
		fmt.Fprintf(b, "  %s\n", clean(TransitionSentence(t, r.Measure)))
	}
}

// detects is a column for rows that are not significant as for those that are.
func detects(t stage.Transition) string {
	d := t.Detectable
	if d.Net == 0 {
		return "no case moved"
	}
	net := fmt.Sprintf("net %d", d.Net)
	if !d.Attainable {
		net = "net none"
	}
	if d.Exact == 0 {
		return net
	}
	return fmt.Sprintf("%.4f, %s", d.Exact, net)
}

func pValue(p float64) string {
	if p < .0001 {
		return "< .0001"
	}
	return fmt.Sprintf("%.4f", p)
}

func missTable(b *strings.Builder, m stage.Misses, all bool) {
	fmt.Fprintf(b, "wrong: %d of %d cases show nothing relevant in the first %d", m.Wrong, m.Of, m.Depth)
	if m.NoRanking > 0 {
		fmt.Fprintf(b, "; %d more have no gold to rank", m.NoRanking)
	}
	b.WriteString("\n")
	tw := tabwriter.NewWriter(b, 2, 0, 2, ' ', 0)
	for _, c := range m.Classes {
		cases := c.Cases
		more := ""
		if !all && len(cases) > 3 {
			more = fmt.Sprintf(" and %d more", len(cases)-3)
			cases = cases[:3]
		}
		fmt.Fprintf(tw, "  %s\t%d of %d\t%s%s\n", clean(c.Name), c.N, m.Wrong, clean(strings.Join(cases, ", ")), more)
	}
	tw.Flush()
}

func channelTable(b *strings.Builder, r *stage.Report, all bool) {
	tw := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "CHANNEL\tFIRED\tIN FIRST %d\tIN FINAL\tDORMANT\n", r.Misses.Depth)
	for _, c := range r.Channels {
		top := "not recorded"
		if c.Reached != nil {
			top = fmt.Sprintf("%d of %d", *c.Reached, c.Of)
		}
		fmt.Fprintf(tw, "%s\t%d of %d\t%s\t%d of %d\t%s\n", clean(c.Name), c.Fired, c.Of, top, c.Final, c.Of, dormant(c.Dormant, all))
	}
	tw.Flush()
}

func dormant(ds []stage.DormantCount, all bool) string {
	if len(ds) == 0 {
		return "never"
	}
	shown := ds
	if !all {
		shown = ds[:min(2, len(ds))]
	}
	parts := make([]string, len(shown))
	for i, d := range shown {
		parts[i] = fmt.Sprintf("%d %s", d.N, d.Why)
		if d.Reason != "" {
			parts[i] += " (" + clip(clean(d.Reason), 60) + ")"
		}
	}
	if n := len(ds) - len(shown); n > 0 {
		parts = append(parts, fmt.Sprintf("%d more reasons", n))
	}
	return strings.Join(parts, "; ")
}
