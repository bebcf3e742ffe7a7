package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sebdah/goldie/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/report"
	"github.com/touchstone-eval/touchstone/evaltests/selftest"
)

// compared is a comparison of the selftest, changed by edit.
func compared(t testing.TB, edit func(*selftest.ComparisonTrial)) *compare.Comparison {
	t.Helper()
	x := selftest.NewComparisonTrial()
	for _, s := range []compare.Side{x.Base, x.Treatment, x.AA} {
		s.File.Run.Identity.Class = "linux/amd64/v1" // goldens are of no platform
	}
	if edit != nil {
		edit(x)
	}
	c, err := compare.Compare(x.Base, []compare.Side{x.Treatment}, x.Options)
	require.NoError(t, err)
	return c
}

// TestComparisonGoldens: as a person reads it, for a change that helps, one that
// harms, and one cut short among others of its family.
func TestComparisonGoldens(t *testing.T) {
	g := goldie.New(t, goldie.WithFixtureDir("testdata"))
	for name, c := range map[string]*compare.Comparison{
		"comparison_helps": compared(t, nil),
		"comparison_harms": compared(t, func(x *selftest.ComparisonTrial) {
			x.Base.File.Rows, x.Treatment.File.Rows = x.Treatment.File.Rows, x.Base.File.Rows
			x.AA.File.Rows = x.Base.File.Rows
			r := &x.Treatment.File.Rows[2]
			r.Ranking = r.Ranking[:1] // nothing relevant any more
			r.Stages[2].Entries = r.Ranking
			x.Options.Control = nil // a failed case has no stages
			x.Treatment.File.Rows[5].Outcome = record.Outcome{State: record.Failed, Reason: "broke"}
		}),
		"comparison_partial": compared(t, func(x *selftest.ComparisonTrial) {
			x.Treatment.File.State, x.Treatment.File.Rows = record.Truncated, x.Treatment.File.Rows[:40]
			x.Options.Partial, x.Options.AA = true, nil
			x.Options.Family = []compare.Member{{V: 1, Treatment: "earlier", Label: "runs/earlier", Arm: "light", Measure: "RR@10", Mean: .01, P: .3}}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			var short, all, markdown bytes.Buffer
			require.NoError(t, report.Comparison(&short, c, report.Style{}))
			require.NoError(t, report.Comparison(&all, c, report.Style{All: true}))
			require.NoError(t, report.ComparisonMarkdown(&markdown, c))
			g.Assert(t, name+".text", short.Bytes())
			g.Assert(t, name+".md", markdown.Bytes())
			assert.GreaterOrEqual(t, all.Len(), short.Len())
			// What a person needs first comes first.
			at := -1
			for _, word := range []string{"suite toy", "pairs: ", "BROKEN", "FIXED", "net ", "P\n", "gate "} {
				next := strings.Index(short.String()[at+1:], word)
				require.GreaterOrEqual(t, next, 0, word)
				at += 1 + next
			}
		})
	}
}

// TestComparisonThatDisagrees is shown to nobody.
func TestComparisonThatDisagrees(t *testing.T) {
	c := compared(t, nil)
	c.Treatments[0].Sentences[0] = "44 cases are better, 4 are worse and 72 are equal: net +40."
	var b bytes.Buffer
	assert.ErrorContains(t, report.Comparison(&b, c, report.Style{}), "a sentence says")
	assert.ErrorContains(t, report.ComparisonMarkdown(&b, c), "a sentence says")
	assert.Empty(t, b.String())
}

func TestHostileComparisonIsHarmless(t *testing.T) {
	c := compared(t, func(x *selftest.ComparisonTrial) {
		for _, s := range []*compare.Side{&x.Base, &x.Treatment, &x.AA} {
			s.Label = hostile
			s.File.Run.Suite, s.File.Run.Arm, s.File.Run.Context.Commit = hostile, hostile, hostile
			for i := range s.File.Rows {
				r := &s.File.Rows[i]
				r.Suite, r.Arm, r.Question, r.Case = hostile, hostile, hostile, r.Case+hostile
				r.Stratum += hostile
				s.File.Run.Plan[i] = r.Case
				r.Stages = append(r.Stages, record.Stage{Name: hostile, State: record.SkippedStage, Reason: hostile})
			}
		}
		x.Treatment.File.Rows[1].Outcome = record.Outcome{State: record.Refused, Reason: hostile}
		x.Treatment.File.Run.Config["judge"] = record.Set{Value: hostile}
		hash, err := record.TreatmentHash(x.Treatment.File.Run.Config)
		require.NoError(t, err)
		x.Treatment.File.Run.Hashes.Treatment = hash
		x.Options.Family = []compare.Member{{V: 1, Treatment: "t", Label: hostile, Arm: hostile, Measure: "RR@10", P: .5}}
	})
	for _, st := range []report.Style{{}, {All: true}} {
		var b bytes.Buffer
		require.NoError(t, report.Comparison(&b, c, st))
		printed(t, b.String())
	}
	var b bytes.Buffer
	require.NoError(t, report.ComparisonMarkdown(&b, c))
	printed(t, b.String())
	bare := strings.NewReplacer("<details><summary>", "", "</summary>", "", "</details>", "").Replace(b.String())
	assert.False(t, strings.ContainsAny(bare, "<>`[]\\@~") || strings.Contains(bare, "://"), bare)
	cells := 0
	for _, line := range strings.Split(bare, "\n") {
		if !strings.HasPrefix(line, "|") {
			cells = 0
			continue
		}
		if n := strings.Count(line, "|"); cells == 0 {
			cells = n
		} else if n != cells && n > 2 { // a stage that did not run says why in one cell
			t.Errorf("%d cells where the head has %d: %q", n-1, cells-1, line)
		}
	}
}

// TestMarkBreaks: figures from before a defect was mended lose their standing.
func TestMarkBreaks(t *testing.T) {
	const commit = "0123456789012345678901234567890123456789"
	goldens := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(goldens, "alpha"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(goldens, "alpha", compare.BreaksFile), []byte(`{"v":1,"defect":"gold was swapped","first_sound":"`+commit+`"}`), 0o644))
	for name, tc := range map[string]struct {
		after compare.Ancestry
		says  string
	}{
		"before":  {func(_, _ string) (bool, error) { return false, nil }, "figures from before commit 012345678901 are not to be quoted"},
		"after":   {func(_, _ string) (bool, error) { return true, nil }, ""},
		"unknown": {nil, "cannot be told"},
	} {
		t.Run(name, func(t *testing.T) {
			f := passing("alpha").write(t, "alpha")
			f.Run.Context.Commit = "made"
			r := build(t, f)
			v := gate.RunVerdict{Suites: []gate.SuiteVerdict{{Suite: "alpha", File: f}}}
			require.NoError(t, r.MarkBreaks(v, goldens, tc.after))
			if tc.says == "" {
				assert.Empty(t, r.Suites[0].Breaks)
				return
			}
			assert.Equal(t, gate.Wiring, r.Suites[0].Use)
			assert.Contains(t, text(t, r, report.Style{}), tc.says)
			assert.Contains(t, markdown(t, r), "measurement break")
		})
	}
}
