package report_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/compare/sweep"
	"github.com/touchstone-eval/touchstone/evaltests/report"
	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

// step is a row that is sound: wins and losses of 1 each.
func step(suite string, wins, losses, n int, adj float64) report.StepRow {
	s, err := stat.SignTest(wins, losses)
	if err != nil {
		panic(err)
	}
	d := float64(wins-losses) / float64(n)
	return report.StepRow{
		Suite: suite, Arm: "base", From: "lexical", To: "fusion", Setting: "weights.vector 0.3", N: n, Before: .5, After: .5 + d, Difference: d, Lo: d - .1, Hi: d + .1,
		Wins: wins, Losses: losses, Ties: n - wins - losses, SignP: s.P, P: min(adj, s.P), Adj: adj,
	}
}

func findings(rows ...report.StepRow) *report.Findings {
	return &report.Findings{
		Measure: "nDCG@10", Alpha: sweep.Alpha, Steps: rows,
		Runs: []report.FindingRun{{Suite: "toy", Arm: "base", Embedder: "static-256@abc", Command: "touchstone run --pack toy"}},
	}
}

// TestStatements: what is said of fusion follows the rows, whatever one would
// like to hear.
func TestStatements(t *testing.T) {
	for _, tc := range []struct {
		name string
		rows []report.StepRow
		says string
	}{
		{"nowhere", []report.StepRow{step("a", 6, 5, 40, 1), step("b", 3, 2, 40, 1)}, "With static-256, fusion is not shown to help on any of 2 suites."},
		{"worse is not better", []report.StepRow{step("a", 2, 30, 40, .001)}, "worse on a (-0.7000); not significant on none. With static-256, fusion is not shown to help on any of 1 suites."},
		{"on one", []report.StepRow{step("a", 30, 2, 40, .001), step("b", 3, 2, 40, 1)}, "better on a (+0.7000); worse on none; not significant on b (+0.0250). With static-256, fusion is shown to help on 1 of 2 suites, and not on the others."},
		{"everywhere", []report.StepRow{step("a", 30, 2, 40, .001)}, "With static-256, fusion helps on all 1 suites."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Contains(t, strings.Join(report.Statements(findings(tc.rows...)), "\n"), tc.says)
		})
	}
}

// TestFindingsContradiction: a row or a sentence that says other than its
// figures is an error.
func TestFindingsContradiction(t *testing.T) {
	f := findings(step("toy", 58, 55, 300, 1))
	var page strings.Builder
	require.NoError(t, report.FindingsMarkdown(&page, f))
	require.NoError(t, report.CheckFindings(page.String(), f))
	require.Contains(t, page.String(), "58 better, 55 worse, 187 equal (net +3)")

	for _, tc := range []struct{ name, old, new string }{
		{"net +3 is not 4 to 0", "58 better, 55 worse, 187 equal (net +3)", "4 better, 0 worse, 296 equal (net +3)"},
		{"another word", "not significant; ", "better; "},
		{"another figure in the table", "| 58 | 55 | 187 |", "| 58 | 5 | 187 |"},
		{"another claim on top", "is not shown to help on any of 1 suites", "helps on all 1 suites"},
		{"a sentence of nobody", "## Runs", "Fusion is great.\n\n## Runs"},
		{"the end cut off", "\n```\n", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.Contains(t, page.String(), tc.old)
			at := strings.LastIndex(page.String(), tc.old)
			changed := page.String()[:at] + tc.new + page.String()[at+len(tc.old):]
			assert.ErrorContains(t, report.CheckFindings(changed, f), "line ")
		})
	}
	for _, tc := range []struct {
		name   string
		change func(*report.StepRow)
		says   string
	}{
		{"counts", func(r *report.StepRow) { r.Wins = 4 }, "4 better, 55 worse and 187 equal are not 300 cases"},
		{"sign test", func(r *report.StepRow) { r.SignP = .01 }, "by the sign test"},
		{"mean", func(r *report.StepRow) { r.Difference = .2 }, "is not 0.2"},
		{"interval", func(r *report.StepRow) { r.Hi = -.5 }, "outside its interval"},
		{"adjusted", func(r *report.StepRow) { r.Adj, r.P = .001, .5 }, "below p"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := step("toy", 58, 55, 300, 1)
			tc.change(&r)
			assert.ErrorContains(t, report.FindingsMarkdown(&page, findings(r)), tc.says)
		})
	}
}

// TestFindingsAreText: what a record says is no markup of the page.
func TestFindingsAreText(t *testing.T) {
	f := findings(step("<img src=x>|[a](http://b)", 3, 2, 40, 1))
	f.Remarks = []string{"see `x` <b>"}
	var page strings.Builder
	require.NoError(t, report.FindingsMarkdown(&page, f))
	assert.NotContains(t, page.String(), "<img")
	assert.NotContains(t, page.String(), "](")
	assert.NotContains(t, page.String(), "http://")
	assert.NotContains(t, page.String(), "<b>")
}

// TestCommittedFindings holds docs/findings.md to the rows beside it.
func TestCommittedFindings(t *testing.T) {
	data, err := os.ReadFile("../../docs/findings.json")
	require.NoError(t, err)
	var f report.Findings
	require.NoError(t, json.Unmarshal(data, &f))
	text, err := os.ReadFile("../../docs/findings.md")
	require.NoError(t, err)
	require.NoError(t, report.CheckFindings(string(text), &f))
	assert.NotEmpty(t, f.Curves)
	assert.NotEmpty(t, f.Pools)
	assert.NotEmpty(t, f.AA)
}
