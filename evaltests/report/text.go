package report

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Style of the terminal report.
type Style struct {
	Color bool
	All   bool // every broken case and all gates, not one screen
}

const (
	red    = "\x1b[31;1m"
	green  = "\x1b[32;1m"
	yellow = "\x1b[33;1m"
	reset  = "\x1b[0m"
)

// mostReasons are shown of a suite, unless all are asked for.
const mostReasons = 10

func (st Style) verdict(v string) string {
	v = clean(v)
	if !st.Color {
		return v
	}
	switch v {
	case gate.PASS:
		return green + v + reset
	case gate.REGRESSED:
		return red + v + reset
	case gate.NotRun:
		return v
	}
	return yellow + v + reset
}

// Text writes the terminal report: the verdict first, a row a suite, then
// what is wrong and what to do. A passing run fits on one screen.
func Text(w io.Writer, r Run, st Style) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  (tier %s)\n", st.verdict(r.Verdict), clean(r.Tier))
	reasons(&b, r.Reasons, st)
	table(&b, r, st)
	stores(&b, r)
	for _, s := range r.Suites {
		detail(&b, s, st)
	}
	notRun(&b, r)
	dir := clean(word(r.Dir))
	fmt.Fprintf(&b, "\nrecord  %s\nmore    touchstone report %s --all   |   touchstone explain %s CASE\n", clean(r.Dir), dir, dir)
	_, err := io.WriteString(w, b.String())
	return err
}

// stores says in a line a suite where its stores came from. What was let pass
// in a store, such as a capped pool, is never left out.
func stores(b *strings.Builder, r Run) {
	first := true
	for _, s := range r.Suites {
		if s.Seeding == nil {
			continue
		}
		if first {
			b.WriteString("\n")
			first = false
		}
		fmt.Fprintf(b, "%s: %s, %s\n", clean(s.Suite), clean(s.Seeding.Runner), s.Seeding.line())
		notes := s.Seeding.Notes
		for _, note := range notes[:min(3, len(notes))] {
			fmt.Fprintf(b, "  %s\n", clean(note))
		}
		if n := len(notes) - 3; n > 0 {
			fmt.Fprintf(b, "  and %d more, in the record\n", n)
		}
	}
}

func reasons(b *strings.Builder, list []string, st Style) {
	shown := list
	if !st.All {
		shown = list[:min(mostReasons, len(list))]
	}
	for _, reason := range shown {
		fmt.Fprintf(b, "  %s\n", clean(reason))
	}
	if n := len(list) - len(shown); n > 0 {
		fmt.Fprintf(b, "  and %d more\n", n)
	}
}

func table(b *strings.Builder, r Run, st Style) {
	// Those that were not run are named below: a row each would bury the rest.
	if !st.All && !slices.ContainsFunc(r.Suites, func(s Suite) bool { return s.Verdict != gate.NotRun }) {
		return
	}
	b.WriteString("\n")
	tw := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "SUITE\tSCORED\tHEADLINE (mean, 95% interval)\tGATES\tDRIFT\tVERDICT")
	for _, s := range r.Suites {
		name := s.Suite
		if s.Arm != "" && s.Arm != "base" {
			name += "/" + s.Arm
		}
		if s.Verdict == gate.NotRun && !st.All {
			continue
		}
		if s.Verdict == gate.NotRun {
			fmt.Fprintf(tw, "%s\t-\t-\t-\t-\tnot run\n", clean(name))
			continue
		}
		fmt.Fprintf(tw, "%s\t%d of %d\t%s\t%s\t%s\t%s\n", clean(name), s.Outcomes[record.Scored], s.Planned,
			headline(s.Headline), gates(s.Gates), drift(s.Gates), st.verdict(s.Verdict))
		for _, more := range s.Headline[min(1, len(s.Headline)):] {
			fmt.Fprintf(tw, "\t\t%s\t\t\t\n", figure(more))
		}
	}
	tw.Flush()
}

// notRun names the suites that were not run, those of one reason together.
func notRun(b *strings.Builder, r Run) {
	by := map[string][]string{}
	var reasons []string // in the order of the suites
	for _, s := range r.Suites {
		if s.Verdict != gate.NotRun {
			continue
		}
		reason := strings.Join(s.Reasons, "; ")
		if by[reason] == nil {
			reasons = append(reasons, reason)
		}
		by[reason] = append(by[reason], clean(s.Suite))
	}
	for i, reason := range reasons {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(b, "not run: %s: %s\n", strings.Join(by[reason], ", "), clean(reason))
	}
}

func headline(fs []Figure) string {
	if len(fs) == 0 {
		return "-"
	}
	return figure(fs[0])
}

func figure(f Figure) string {
	return fmt.Sprintf("%s %.4f [%.3f, %.3f] n=%d", clean(f.Measure), f.Mean, f.Lo, f.Hi, f.N)
}

func gates(gs []record.Gate) string {
	passed, all := 0, 0
	for _, g := range gs {
		if g.Name == "drift" || g.Verdict == gate.NotApplicable {
			continue
		}
		all++
		if g.Verdict == gate.Pass {
			passed++
		}
	}
	if all == 0 {
		return "none"
	}
	return fmt.Sprintf("%d of %d", passed, all)
}

func drift(gs []record.Gate) string {
	for _, g := range gs {
		if g.Name != "drift" {
			continue
		}
		switch {
		case g.Verdict == gate.NotApplicable:
			return "advisory"
		case g.Value == nil:
			return "not measured"
		}
		return fmt.Sprintf("RBO %.4f", *g.Value)
	}
	return "none"
}

// quiet says what a reader of a PASS must know all the same: that nothing was
// claimed, or that a gate did not block here.
func quiet(b *strings.Builder, s Suite) {
	for _, reason := range s.Reasons {
		fmt.Fprintf(b, "\n%s: %s\n", clean(s.Suite), clean(reason))
	}
	for _, g := range s.Gates {
		if g.Verdict == gate.NotApplicable && g.Reason != "" {
			fmt.Fprintf(b, "\n%s: gate %s did not count: %s\n", clean(s.Suite), clean(g.Name), clean(g.Reason))
		}
	}
}

func detail(b *strings.Builder, s Suite, st Style) {
	if s.Verdict == gate.NotRun {
		return // named by notRun
	}
	for _, text := range s.Breaks {
		fmt.Fprintf(b, "\n%s: %s\n", clean(s.Suite), clean(text))
	}
	passing := s.Verdict == gate.PASS
	notes := s.Notes
	if st.All {
		notes = slices.Concat(notes, s.Beside)
	}
	for i, note := range notes {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(b, "%s: %s\n", clean(s.Suite), clean(note))
	}
	if passing {
		quiet(b, s)
		if s.RunTwice != nil && !st.All && !s.RunTwice.Proven {
			fmt.Fprintf(b, "\n%s: %s\n", clean(s.Suite), clean(twice(*s.RunTwice)))
		}
	}
	if passing && !st.All {
		return
	}
	fmt.Fprintf(b, "\n%s: %s\n", clean(s.Suite), st.verdict(s.Verdict))
	reasons(b, s.Reasons, st)
	said := map[string]bool{"": true}
	for _, g := range s.Gates {
		if !said[g.Action] && (g.Verdict == gate.Regressed || g.Verdict == gate.CouldNotMeasure) {
			said[g.Action] = true
			fmt.Fprintf(b, "  do: %s\n", clean(g.Action))
		}
	}
	if st.All {
		gateTable(b, s.Gates)
		strataTable(b, s.Strata)
	}
	if len(s.Stages) > 0 {
		stageTable(b, s.Stages)
	}
	if s.Latency != nil && st.All {
		fmt.Fprintf(b, "  latency p50 %.1f ms, p95 %.1f ms, max %.1f ms\n", float64(s.Latency.P50)/1000, float64(s.Latency.P95)/1000, float64(s.Latency.Max)/1000)
	}
	if s.LatencyWhy != "" && st.All {
		fmt.Fprintf(b, "  latency means nothing: %s\n", clean(s.LatencyWhy))
	}
	if s.RunTwice != nil && st.All {
		fmt.Fprintf(b, "  %s\n", clean(twice(*s.RunTwice)))
	}
	shown := s.Broken
	if !st.All {
		shown = shown[:min(3, len(shown))]
	}
	if len(shown) > 0 {
		fmt.Fprintf(b, "  %d cases to look at%s\n", len(s.Broken), onlySome(len(shown), len(s.Broken)))
	}
	for _, c := range shown {
		fmt.Fprintf(b, "  - %s: %s\n", clean(c.Case), clip(clean(c.Question), 100))
		if c.Outcome != record.Scored {
			fmt.Fprintf(b, "      %s: %s\n", clean(string(c.Outcome)), clip(clean(c.Reason), 200))
		} else {
			fmt.Fprintf(b, "      expected %s\n      got      %s\n      lost     %s\n", list(c.Expected), list(c.Got), clean(c.Lost))
		}
		if c.Broke != "" {
			fmt.Fprintf(b, "      %s\n", clean(c.Broke))
		}
		if c.Rerun != "" {
			fmt.Fprintf(b, "      rerun    %s\n", clean(c.Rerun))
		}
	}
}

// twice says what the repeats tell of the subject's determinism.
func twice(p record.RunTwice) string {
	if p.Proven {
		return fmt.Sprintf("deterministic: %d cases ranked alike in all %d repeats (treatment %.12s)", p.Cases, p.Repeats, p.Treatment)
	}
	text := fmt.Sprintf("not proven deterministic: of %d cases asked %d times, %d ranked differently", p.Cases, p.Repeats, len(p.Differ))
	if len(p.Differ) > 0 {
		text += ": " + strings.Join(p.Differ[:min(5, len(p.Differ))], ", ")
	}
	if n := len(p.Differ) - 5; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

func onlySome(shown, all int) string {
	if shown == all {
		return ":"
	}
	return fmt.Sprintf(", first %d:", shown)
}

func gateTable(b *strings.Builder, gs []record.Gate) {
	tw := tabwriter.NewWriter(b, 2, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "  GATE\tVALUE\tTHRESHOLD\tCASES\tVERDICT")
	for _, g := range gs {
		value := "-"
		if g.Value != nil {
			value = fmt.Sprintf("%.4f", *g.Value)
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\t%d of %d\t%s\n", clean(g.Name), value, threshold(g), g.Denominator, g.Planned, clean(g.Verdict))
	}
	tw.Flush()
}

func threshold(g record.Gate) string {
	var parts []string
	if g.Floor != nil {
		parts = append(parts, fmt.Sprintf(">= %.4g", *g.Floor))
	}
	if g.Ceiling != nil {
		parts = append(parts, fmt.Sprintf("<= %.4g", *g.Ceiling))
	}
	if g.Target != nil {
		met := "not met"
		if g.TargetMet != nil && *g.TargetMet {
			met = "met"
		}
		parts = append(parts, fmt.Sprintf("target %.4g %s", *g.Target, met))
	}
	return strings.Join(parts, ", ")
}

func strataTable(b *strings.Builder, ss []Stratum) {
	if len(ss) == 0 {
		return
	}
	tw := tabwriter.NewWriter(b, 2, 0, 2, ' ', 0)
	for _, s := range ss {
		fmt.Fprintf(tw, "  %s", clean(s.Name))
		for _, f := range s.Figures {
			fmt.Fprintf(tw, "\t%s", figure(f))
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
}

func stageTable(b *strings.Builder, ss []StageFigures) {
	measures := map[string]bool{}
	for _, s := range ss {
		for m := range s.Means {
			measures[m] = true
		}
	}
	var names []string
	for m := range measures {
		names = append(names, m)
	}
	sort.Strings(names)
	tw := tabwriter.NewWriter(b, 2, 0, 2, ' ', 0)
	fmt.Fprint(tw, "  STAGE\tRAN")
	for _, m := range names {
		fmt.Fprintf(tw, "\t%s", clean(m))
	}
	fmt.Fprintln(tw)
	for _, s := range ss {
		fmt.Fprintf(tw, "  %s\t%d of %d", clean(s.Stage), s.Ran, s.Of)
		if s.Ran == 0 {
			fmt.Fprintf(tw, "\tskipped: %s\n", clean(s.Skipped))
			continue
		}
		for _, m := range names {
			if mean, ok := s.Means[m]; ok {
				fmt.Fprintf(tw, "\t%.4f", mean)
			} else {
				fmt.Fprint(tw, "\t-")
			}
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
}

func list(ids []string) string {
	if len(ids) == 0 {
		return "nothing"
	}
	const most = 3
	more := ""
	if len(ids) > most {
		more = fmt.Sprintf(" and %d more", len(ids)-most)
		ids = ids[:most]
	}
	return clean(strings.Join(ids, ", ")) + more
}

// clean makes hostile text harmless on a terminal: control characters, escape
// sequences among them, and characters that reorder or hide what is around
// them are shown as '?'. Joiners stay: scripts and emoji need them.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\r', r == '\u2028', r == '\u2029':
			return ' '
		case unicode.IsControl(r),
			r == '\u061c', r == '\u200b', r == '\u200e', r == '\u200f', r >= '\u202a' && r <= '\u202e',
			r >= '\u2060' && r <= '\u206f', r == '\ufeff', r >= '\ufff9' && r <= '\ufffb', r >= 0xe0000 && r <= 0xe007f:
			return '?'
		}
		return r
	}, s)
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "..."
	}
	return s
}
