package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// mostMoved are the cases of one kind that the terminal shows of a comparison.
const mostMoved = 5

// Comparison writes a comparison for the terminal, in the order of what a
// person needs first: what is compared, what broke, what was mended, how much,
// where, and what it comes to. It refuses one whose sentences its tables do not
// say.
func Comparison(w io.Writer, c *compare.Comparison, st Style) error {
	if err := compare.Verify(c); err != nil {
		return err
	}
	var b strings.Builder
	if c.Partial {
		b.WriteString("PARTIAL: fewer pairs than a comparison needs were accepted; nothing here is citable\n")
	}
	for _, line := range c.Warnings {
		fmt.Fprintf(&b, "%s\n", clean(line))
	}
	fmt.Fprintf(&b, "suite %s, base %s\n", clean(c.Suite), side(c.Base))
	for _, line := range premises(c) {
		fmt.Fprintf(&b, "  %s\n", clean(line))
	}
	for _, t := range c.Treatments {
		fmt.Fprintf(&b, "\n%s\n", side(t.Subject))
		for _, line := range scope(c, t) {
			fmt.Fprintf(&b, "  %s\n", clean(line))
		}
		for _, list := range movedLists(t) {
			cases(&b, t, list, st)
		}
		b.WriteString("\n")
		for _, s := range t.Sentences {
			fmt.Fprintf(&b, "  %s\n", clean(s))
		}
		b.WriteString("\n")
		grid(&b, figureRows(t, st.All))
		grid(&b, strataRows(t))
		grid(&b, missRows(t))
		grid(&b, latencyRows(c, t))
		fmt.Fprintf(&b, "\n  %s   gate %s   %s\n", clean(t.Words()), st.verdict(t.Gate), clean(t.Advice))
		if t.GateWhy != "" {
			fmt.Fprintf(&b, "  gate: %s\n", clean(t.GateWhy))
		}
	}
	family(&b, c)
	_, err := io.WriteString(w, b.String())
	return err
}

// ComparisonMarkdown writes the same for a summary of CI.
func ComparisonMarkdown(w io.Writer, c *compare.Comparison) error {
	if err := compare.Verify(c); err != nil {
		return err
	}
	var b strings.Builder
	if c.Partial {
		b.WriteString("**PARTIAL: fewer pairs than a comparison needs were accepted; nothing here is citable**\n\n")
	}
	for _, line := range c.Warnings {
		fmt.Fprintf(&b, "**%s**\n\n", md(line))
	}
	fmt.Fprintf(&b, "## %s against %s\n\n", md(c.Suite), md(side(c.Base)))
	for _, line := range premises(c) {
		fmt.Fprintf(&b, "- %s\n", md(line))
	}
	for _, t := range c.Treatments {
		fmt.Fprintf(&b, "\n### %s: %s, gate %s, %s\n\n", md(side(t.Subject)), md(t.Words()), md(t.Gate), md(t.Advice))
		for _, line := range scope(c, t) {
			fmt.Fprintf(&b, "- %s\n", md(line))
		}
		for _, list := range movedLists(t) {
			if len(list.cases) == 0 {
				continue
			}
			fmt.Fprintf(&b, "\n<details><summary>%s %d (%s)</summary>\n\n| case | question | %s | first relevant | diverges at |\n|---|---|---|---|---|\n", list.name, len(list.cases), md(list.what), md(t.Primary.Measure))
			for i, x := range list.cases {
				row := fmt.Sprintf("| %s | %s | %.4f to %.4f | %s to %s | %s |\n", md(x.Case), md(clip(x.Question, 200)), x.Base, x.Treatment, rank(x, 0), rank(x, 1), md(x.Diverges))
				if b.Len()+len(row) > mostMarkdown-8192 {
					fmt.Fprintf(&b, "\n%d more are in the JSON.\n", len(list.cases)-i)
					break
				}
				b.WriteString(row)
			}
			b.WriteString("\n</details>\n")
		}
		b.WriteString("\n")
		for _, s := range t.Sentences {
			fmt.Fprintf(&b, "- %s\n", md(s))
		}
		for _, rows := range [][][]string{figureRows(t, false), strataRows(t), missRows(t), latencyRows(c, t)} {
			mdTable(&b, rows)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func side(s compare.Subject) string {
	text := fmt.Sprintf("%s (arm %s", s.Label, s.Arm)
	if s.Mode != "default" {
		text += ", mode " + s.Mode
	}
	if s.Commit != "" {
		text += fmt.Sprintf(", commit %.12s", s.Commit)
		if s.Dirty != 0 {
			text += " and changes"
		}
	}
	return clean(text + ")")
}

// premises say what every treatment is held to.
func premises(c *compare.Comparison) []string {
	r := c.Rule
	rule := fmt.Sprintf("rule: %s decides, %s at %.4g over the family, a loss blocks at %.4g", r.Primary, r.Correction, r.Q, r.Alpha)
	if r.Margin > 0 {
		rule += fmt.Sprintf(", margin %.4g", r.Margin)
	}
	out := []string{rule}
	for _, why := range c.Exploratory {
		out = append(out, "exploratory, not citable: "+why)
	}
	switch {
	case c.Floor.Source == compare.FloorProof:
		out = append(out, "floor: 0 by proof")
	case c.Floor.Valid():
		out = append(out, fmt.Sprintf("floor: %.4f, of %d A/A runs", c.Floor.Value, len(c.Floor.Runs)))
	default:
		out = append(out, "floor: none: "+c.Floor.Problem)
	}
	for _, r := range c.Floor.Runs {
		out = append(out, fmt.Sprintf("A/A %s: mean %+.4f, half-width %.4f, %d moved, %d touched", r.Label, r.Mean, r.Half, r.Moved, r.Touched))
	}
	return append(out, c.Floor.Notes...)
}

// scope says what is compared and what was left out.
func scope(c *compare.Comparison, t *compare.Treatment) []string {
	var out []string
	for _, m := range t.Differs {
		out = append(out, "differs in "+m.String())
	}
	if len(t.Differs) == 0 {
		text := "differs in no key of the configuration"
		if len(c.Warnings) > 0 {
			text = "differs in nothing that it tells"
		}
		out = append(out, text)
	}
	pairs := fmt.Sprintf("pairs: %d of %d cases with something to find", t.Pairs, t.Planned)
	if t.Ungraded > 0 {
		pairs += fmt.Sprintf("; %d without are in no ranking measure", t.Ungraded)
	}
	out = append(out, pairs)
	for _, l := range []struct {
		name string
		list []compare.LeftOut
	}{{"only in the base", t.OnlyBase}, {"only in the treatment", t.OnlyTreated}, {"in neither", t.Neither}} {
		if len(l.list) == 0 {
			continue
		}
		var some []string
		for _, x := range l.list[:min(mostMoved, len(l.list))] {
			some = append(some, fmt.Sprintf("%s (%s)", x.Case, x.Why))
		}
		text := fmt.Sprintf("left out, %s: %d: %s", l.name, len(l.list), strings.Join(some, ", "))
		if n := len(l.list) - len(some); n > 0 {
			text += fmt.Sprintf(" and %d more", n)
		}
		out = append(out, text)
	}
	if t.Worst != [2]int{} {
		out = append(out, fmt.Sprintf("failed or timed out, at the worst value: %d in the base, %d in the treatment", t.Worst[0], t.Worst[1]))
	}
	if t.Skew != nil {
		text := fmt.Sprintf("sample: the shares of its strata differ from the pack's by up to %.3f; with the pack's shares the difference is %+.4f", t.Skew.Largest, t.Skew.Reweighted)
		if t.Skew.Capped {
			text += "; no more than a direction can be claimed"
		}
		out = append(out, text)
	}
	for _, s := range []compare.Subject{c.Base, t.Subject} {
		if s.Use != "" && s.Use != "citable" {
			out = append(out, fmt.Sprintf("use of %s: %s (%s)", s.Label, s.Use, s.UseWhy))
		}
	}
	return append(out, t.Notes...)
}

// movedList is one kind of moved case.
type movedList struct {
	name, what string
	cases      []compare.Case
	always     bool // also when it is empty
}

func movedLists(t *compare.Treatment) []movedList {
	within := fmt.Sprintf("the first %d", t.Depth)
	return []movedList{
		{"BROKEN", "relevant in " + within + " before, not now", t.Broken(), true},
		{"WORSE", "a lower " + t.Primary.Measure + ", not broken", t.Worse(), false},
		{"FIXED", "relevant in " + within + " now, not before", t.Fixed(), true},
		{"BETTER", "a higher " + t.Primary.Measure + ", not fixed", t.Better(), false},
	}
}

func cases(b *strings.Builder, t *compare.Treatment, l movedList, st Style) {
	if len(l.cases) == 0 {
		if l.always {
			fmt.Fprintf(b, "\n%s none\n", l.name)
		}
		return
	}
	shown := l.cases
	if !st.All {
		most := mostMoved
		if !l.always {
			most = 2
		}
		shown = shown[:min(most, len(shown))]
	}
	fmt.Fprintf(b, "\n%s %d: %s%s\n", l.name, len(l.cases), clean(l.what), onlySome(len(shown), len(l.cases)))
	for _, x := range shown {
		fmt.Fprintf(b, "  - %s: %s\n      %s %.4f -> %.4f, first relevant at %s -> %s", clean(x.Case), clip(clean(x.Question), 100),
			clean(t.Primary.Measure), x.Base, x.Treatment, rank(x, 0), rank(x, 1))
		if x.Diverges != "" {
			fmt.Fprintf(b, ", diverges at %s", clean(x.Diverges))
		}
		if x.Missed[1] != "" {
			fmt.Fprintf(b, ", %s", clean(x.Missed[1]))
		}
		b.WriteString("\n")
	}
}

func rank(x compare.Case, i int) string {
	switch {
	case x.States[i] != record.Scored:
		return string(x.States[i])
	case x.Ranks[i] == 0:
		return "-"
	}
	return fmt.Sprint(x.Ranks[i])
}

// grid writes rows as a table, the first being its head. A head alone is no
// table.
func grid(b *strings.Builder, rows [][]string) {
	if len(rows) < 2 {
		return
	}
	tw := tabwriter.NewWriter(b, 2, 0, 2, ' ', 0)
	for _, r := range rows {
		for i, cell := range r {
			if i > 0 {
				fmt.Fprint(tw, "\t")
			}
			if i == 0 {
				fmt.Fprint(tw, "  ")
			}
			fmt.Fprint(tw, clean(cell))
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
}

func mdTable(b *strings.Builder, rows [][]string) {
	if len(rows) < 2 {
		return
	}
	b.WriteString("\n")
	for i, r := range rows {
		for _, cell := range r {
			fmt.Fprintf(b, "| %s ", md(cell))
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(r)) + "|\n")
		}
	}
}

func figureRow(f compare.Figure, tests string) []string {
	span := fmt.Sprintf("[%+.4f, %+.4f]", f.Lo, f.Hi)
	if f.N < 2 {
		span = "-" // one pair has none
	}
	return []string{f.Stage, f.Measure, fmt.Sprint(f.N), fmt.Sprintf("%.4f", f.Base), fmt.Sprintf("%.4f", f.Treatment), fmt.Sprintf("%+.4f", f.Mean),
		span, fmt.Sprintf("%d/%d/%d", f.Wins, f.Losses, f.Ties), tests}
}

func figureRows(t *compare.Treatment, all bool) [][]string {
	rows := [][]string{{"STAGE", "MEASURE", "N", "BASE", "TREATMENT", "CHANGE", "95% INTERVAL", "W/L/T", "P"},
		figureRow(t.Primary, fmt.Sprintf("flip %.3g, sign %.3g, Wilcoxon %.3g", t.P, t.Primary.SignP, t.WilcoxonP))}
	for _, f := range t.Others {
		if all || f.Stage == record.Final || f.Measure == t.Primary.Measure {
			rows = append(rows, figureRow(f, fmt.Sprintf("sign %.3g", f.SignP)))
		}
	}
	for _, why := range t.NotRun {
		rows = append(rows, []string{why})
	}
	return rows
}

func strataRows(t *compare.Treatment) [][]string {
	if len(t.Strata) == 0 {
		return nil
	}
	rows := [][]string{{"STRATUM", "N", "BASE", "TREATMENT", "CHANGE", "W/L/T", "FLOOR", ""}}
	for _, s := range t.Strata {
		f := s.Figure
		floor := fmt.Sprintf("%.4f", s.Floor)
		if s.Fallback {
			floor += " (of all)"
		}
		rows = append(rows, []string{s.Name, fmt.Sprint(f.N), fmt.Sprintf("%.4f", f.Base), fmt.Sprintf("%.4f", f.Treatment), fmt.Sprintf("%+.4f", f.Mean),
			fmt.Sprintf("%d/%d/%d", f.Wins, f.Losses, f.Ties), floor, s.Word})
	}
	return rows
}

func missRows(t *compare.Treatment) [][]string {
	rows := [][]string{{"WRONG ANSWERS", fmt.Sprintf("BASE (%d of %d)", t.Wrong[0], t.Pairs), fmt.Sprintf("TREATMENT (%d of %d)", t.Wrong[1], t.Pairs)}}
	for _, m := range t.Misses {
		rows = append(rows, []string{m.Where, fmt.Sprintf("%d of %d", m.Base, t.Wrong[0]), fmt.Sprintf("%d of %d", m.Treatment, t.Wrong[1])})
	}
	return rows
}

func latencyRows(c *compare.Comparison, t *compare.Treatment) [][]string {
	rows := [][]string{{"LATENCY (not a test)", "P50 ms", "P95 ms", "CALLS", "LOAD"}}
	for i, s := range []compare.Subject{c.Base, t.Subject} {
		l := t.Latency[i]
		if l.N == 0 {
			continue
		}
		rows = append(rows, []string{[]string{"base", "treatment"}[i], fmt.Sprintf("%.1f", l.P50/1000), fmt.Sprintf("%.1f", l.P95/1000), fmt.Sprint(l.N), s.Load})
	}
	return rows
}

// family shows what else was compared with the base.
func family(b *strings.Builder, c *compare.Comparison) {
	if len(c.Family) == 0 {
		return
	}
	fmt.Fprintf(b, "\nfamily so far: %d earlier comparisons with this base\n", len(c.Family))
	rows := [][]string{{"TREATMENT", "ARM", "MEASURE", "CHANGE", "P"}}
	for _, m := range c.Family {
		rows = append(rows, []string{m.Label, m.Arm, m.Measure, fmt.Sprintf("%+.4f", m.Mean), fmt.Sprintf("%.3g", m.P)})
	}
	grid(b, rows)
}
