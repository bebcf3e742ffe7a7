package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// FindingsMarkdown writes findings. Nothing in it is written by hand: every
// sentence is made of the row that it speaks of.
func FindingsMarkdown(w io.Writer, f *Findings) error {
	if err := f.Check(); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString(`# Findings

What measured runs show about the parts of the engine. This page is written by ` + "`touchstone report --findings`" + ` from the rows in
findings.json, which a test holds it to; the commands that make such runs are at its end. Differences are over the same cases, intervals are 95 %
by bootstrap, and "not significant" is no claim of equality: it names the smallest difference that the run could have detected.

## In short

`)
	for _, s := range Statements(f) {
		fmt.Fprintf(&b, "- %s\n", page(s))
	}
	f.stepsMarkdown(&b)
	f.curvesMarkdown(&b)
	f.poolsMarkdown(&b)
	f.aaMarkdown(&b)
	if len(f.Remarks) > 0 {
		b.WriteString("\n## Remarks\n\nWritten by a person; no row is behind them.\n\n")
		for _, r := range f.Remarks {
			fmt.Fprintf(&b, "- %s\n", page(r))
		}
	}
	f.runsMarkdown(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// page escapes what a record says for a page of prose: no markup, no table
// cell, no link. Measures and intervals stay readable in the source.
func page(s string) string { return pageMarkup.Replace(clean(s)) }

var pageMarkup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "&#124;", "`", "&#96;", "*", "&#42;", "_", "&#95;", "](", "]&#40;", "][", "]&#91;", "://", ":&#47;&#47;")

// Statements are the sentences on top, one for each question.
func Statements(f *Findings) []string {
	var out []string
	for _, step := range findingSteps {
		var rows []StepRow
		for _, r := range f.Steps {
			if r.From == step.from && r.To == step.to {
				rows = append(rows, r)
			}
		}
		if len(rows) > 0 {
			out = append(out, stepStatement(rows, f))
		}
	}
	if len(f.Curves) > 0 {
		out = append(out, curveStatement(f))
	}
	for _, p := range f.Pools {
		for _, a := range p.Axes {
			out = append(out, fmt.Sprintf("%s, %d cases: %s.", p.Suite, p.N, AxisSentence(a)))
		}
	}
	if len(f.AA) > 0 {
		out = append(out, aaStatement(f))
	}
	return out
}

var stepTitles = map[[2]string]string{
	{"lexical", "fusion"}:    "Fusion against BM25 alone",
	{"vector", "fusion"}:     "Fusion against the vector arm alone",
	{"candidates", "rerank"}: "Reranking the fused candidates",
	{"lexical", "final"}:     "Fused and reranked against BM25 alone",
}

// stepStatement says on which suites a step is better, worse and neither.
func stepStatement(rows []StepRow, f *Findings) string {
	on := map[string][]string{}
	for _, r := range rows {
		word := r.Word(f.Alpha)
		on[word] = append(on[word], fmt.Sprintf("%s (%+.4f)", r.Suite, r.Difference))
	}
	parts := []string{}
	for _, word := range []string{"better", "worse", "not significant"} {
		suites := "none"
		if len(on[word]) > 0 {
			suites = strings.Join(on[word], ", ")
		}
		parts = append(parts, word+" on "+suites)
	}
	settings := []string{}
	for _, r := range rows {
		if !slices.Contains(settings, r.Setting) {
			settings = append(settings, r.Setting)
		}
	}
	s := fmt.Sprintf("%s (%s), %s: %s.", stepTitles[[2]string{rows[0].From, rows[0].To}], strings.Join(settings, "; "), f.Measure, strings.Join(parts, "; "))
	if rows[0].From == "lexical" && rows[0].To == "fusion" {
		s += " " + fusionVerdict(len(on["better"]), len(rows), embedders(f))
	}
	return s
}

// fusionVerdict is the answer to whether fusion helps with the embedder of these
// runs.
func fusionVerdict(better, of int, embedder string) string {
	switch better {
	case 0:
		return fmt.Sprintf("With %s, fusion is not shown to help on any of %d suites.", embedder, of)
	case of:
		return fmt.Sprintf("With %s, fusion helps on all %d suites.", embedder, of)
	}
	return fmt.Sprintf("With %s, fusion is shown to help on %d of %d suites, and not on the others.", embedder, better, of)
}

func embedders(f *Findings) string {
	var names []string
	for _, r := range f.Runs {
		name, _, _ := strings.Cut(r.Embedder, "@")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " and ")
}

func curveStatement(f *Findings) string {
	var distinct, none []string
	tried := 0
	for _, c := range f.Curves {
		tried = max(tried, len(c.Points)-1)
		if c.Distinct {
			distinct = append(distinct, fmt.Sprintf("%s (%s)", c.Suite, weight(c.Best)))
		} else {
			none = append(none, c.Suite)
		}
	}
	s := fmt.Sprintf("Fusion weight, up to %d weights beside the current one: ", tried)
	if len(distinct) == 0 {
		return s + "no weight is distinguishable from the current one as better on any of " + strings.Join(none, ", ") + "."
	}
	s += "better than the current one on " + strings.Join(distinct, ", ")
	if len(none) > 0 {
		s += "; none distinguishable as better on " + strings.Join(none, ", ")
	}
	return s + "."
}

func aaStatement(f *Findings) string {
	n, moved, identical := 0, 0, 0
	for _, a := range f.AA {
		n, moved, identical = n+a.N, moved+a.Moved, identical+a.Identical
	}
	return fmt.Sprintf("A/A, %d pairs of runs of one treatment: %d of %d cases moved, %d of %d final lists are identical entry by entry.", len(f.AA), moved, n, identical, n)
}

// StepSentence says what a row of the table of steps says.
func StepSentence(r StepRow, measure string, alpha float64) string {
	s := fmt.Sprintf("%s, %s to %s (%s): %s from %.4f to %.4f, %+.4f [%+.4f, %+.4f] over %d cases, %d better, %d worse, %d equal (net %+d); sign flip p %s, Holm %s: %s",
		r.Suite, r.From, r.To, r.Setting, measure, r.Before, r.After, r.Difference, r.Lo, r.Hi, r.N, r.Wins, r.Losses, r.Ties, r.Wins-r.Losses,
		pValue(r.P), pValue(r.Adj), r.Word(alpha))
	if r.Adj > alpha {
		s += "; " + r.Detectable.String()
	}
	return s + "."
}

func (f *Findings) stepsMarkdown(b *strings.Builder) {
	if len(f.Steps) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## Lexical, fused, reranked\n\n%s at two stages of the same run; sign flip, Holm over all %d rows; sign p is the exact sign test, not adjusted.\n\n", page(f.Measure), len(f.Steps))
	b.WriteString("| suite | step | setting | n | before | after | difference | better | worse | equal | sign p | p | Holm | finding |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range f.Steps {
		fmt.Fprintf(b, "| %s | %s to %s | %s | %d | %.4f | %.4f | %+.4f [%+.4f, %+.4f] | %d | %d | %d | %s | %s | %s | %s |\n", page(r.Suite), page(r.From), page(r.To), page(r.Setting), r.N,
			r.Before, r.After, r.Difference, r.Lo, r.Hi, r.Wins, r.Losses, r.Ties, page(pValue(r.SignP)), page(pValue(r.P)), page(pValue(r.Adj)), r.Word(f.Alpha))
	}
	b.WriteString("\n")
	for _, r := range f.Steps {
		fmt.Fprintf(b, "- %s\n", page(StepSentence(r, f.Measure, f.Alpha)))
	}
}

func (f *Findings) curvesMarkdown(b *strings.Builder) {
	if len(f.Curves) == 0 {
		return
	}
	b.WriteString("\n## Fusion weight\n\nReplayed from the recorded arms, retrieval only; each weight against the current one on the same cases, Holm over the weights of a suite.\n")
	for _, c := range f.Curves {
		fmt.Fprintf(b, "\n### %s\n\n%s.\n\n| weight | %s | RR@10 | R@10 | against current | better | worse | equal | p | Holm |\n|---|---|---|---|---|---|---|---|---|---|\n", page(c.Suite), page(CalibrationSentence(c)), page(c.Measure))
		for _, p := range c.Points {
			fmt.Fprintf(b, "| %s | %.4f [%.4f, %.4f] | %.4f | %.4f |", weight(p.Weight), p.Mean, p.Lo, p.Hi, p.Means["RR@10"], p.Means["R@10"])
			if p.Current {
				b.WriteString(" current | | | | | |\n")
				continue
			}
			fmt.Fprintf(b, " %+.4f [%+.4f, %+.4f] | %d | %d | %d | %s | %s |\n", p.Difference, p.DiffLo, p.DiffHi, p.Wins, p.Losses, p.Ties, page(pValue(p.P)), page(pValue(p.Adj)))
		}
		fmt.Fprintf(b, "\n%s\n", page(CurveSentence(c)))
	}
}

func (f *Findings) poolsMarkdown(b *strings.Builder) {
	if len(f.Pools) == 0 {
		return
	}
	b.WriteString("\n## Pool size and reranker\n\nEvery arm was run on its own. Latencies are of the machine and the hour of the run, with the load that the table of runs names; compare them within one table only.\n")
	for _, p := range f.Pools {
		fmt.Fprintf(b, "\n### %s\n\n%d of %d planned cases in every arm, %d documents; base %s; %d cases are buried (no gold in the base's first 10).\n\n", page(p.Suite), p.N, p.Planned, p.Documents, page(p.Base), p.Buried)
		fmt.Fprintf(b, "| arm | %s | R@5 | recall@pool | coverage | mean pool | P50 ms | P95 ms | P99 ms | reranker's share | buried in / out / raised | front |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n", page(p.Measure))
		for _, a := range p.Arms {
			front := "yes"
			switch {
			case a.Knee:
				front = "yes, the knee"
			case a.Dominated != "":
				front = "no: " + a.Dominated + " dominates"
			}
			fmt.Fprintf(b, "| %s | %.4f [%.4f, %.4f] | %.4f | %.4f | %.4f | %.1f | %s | %s | %s | %.0f %% | %d / %d / %d | %s |\n", page(a.Name), a.Mean, a.Lo, a.Hi, a.Recall5, a.RecallPool, a.Coverage, a.Effective,
				millis(a.P50), millis(a.P95), millis(a.P99), 100*a.Share, a.Inside, a.Outside, a.Raised, page(front))
		}
		b.WriteString("\n")
		for _, t := range p.Tests {
			fmt.Fprintf(b, "- %s.\n", page(TestSentence(t, p.Measure)))
		}
		for _, a := range p.Axes {
			fmt.Fprintf(b, "- %s.\n", page(AxisSentence(a)))
		}
		for _, n := range p.Notes {
			fmt.Fprintf(b, "- %s.\n", page(n))
		}
	}
}

func (f *Findings) aaMarkdown(b *strings.Builder) {
	if len(f.AA) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## A/A\n\nTwo runs of the base's own treatment.\n\n| suite | n | cases moved | identical lists | mean difference of %s | floor |\n|---|---|---|---|---|---|\n", page(f.Measure))
	for _, a := range f.AA {
		fmt.Fprintf(b, "| %s | %d | %d | %d | %+.4f | %s |\n", page(a.Suite), a.N, a.Moved, a.Identical, a.Mean, page(a.Floor))
	}
}

func (f *Findings) runsMarkdown(b *strings.Builder) {
	b.WriteString("\n## Runs\n\n| suite | arm | scored | documents | pack | embedder | reranker | platform | treatment | load |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range f.Runs {
		fmt.Fprintf(b, "| %s | %s | %d of %d | %d | %.12s | %s | %s | %s | %.12s | %s |\n", page(r.Suite), page(r.Arm), r.Scored, r.Planned, r.Documents, r.Pack,
			page(r.Embedder), page(r.Reranker), page(r.Class), r.Treatment, page(r.Load))
	}
	b.WriteString("\nTo make them again (EVAL_PACKS and EVAL_MODELS say where packs and models lie), then `touchstone report --findings RUN...`:\n\n```\n")
	var seen []string
	for _, r := range f.Runs {
		if !slices.Contains(seen, r.Command) {
			seen = append(seen, r.Command)
			fmt.Fprintf(b, "%s\n", clean(r.Command))
		}
	}
	b.WriteString("```\n")
}

// CheckFindings holds a page to its rows: it must be what they say, line by
// line.
func CheckFindings(text string, f *Findings) error {
	var b strings.Builder
	if err := FindingsMarkdown(&b, f); err != nil {
		return err
	}
	got, want := strings.Split(text, "\n"), strings.Split(b.String(), "\n")
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Errorf("line %d is missing; the rows give %q", i+1, clip(want[i], 200))
		case i >= len(want):
			return fmt.Errorf("line %d, %q, has no row behind it", i+1, clip(got[i], 200))
		case got[i] != want[i]:
			return fmt.Errorf("line %d says %q; its rows give %q; write the page again with `touchstone report --findings`", i+1, got[i], want[i])
		}
	}
	return nil
}
