package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/sebdah/goldie/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

// The goldens are renewed by `go test ./evaltests/report -update`, and read
// before they are committed.
func TestGoldens(t *testing.T) {
	runs := map[string][]*record.File{
		"passing":               {passing("alpha").write(t, "alpha"), suite{notRun: "pack omega is not here; set EVAL_PACKS"}.write(t, "omega")},
		"regressed":             {passing("alpha").write(t, "alpha"), regressed("beta").write(t, "beta")},
		"could_not_measure":     {refused("gamma").write(t, "gamma")},
		"not_run":               {suite{notRun: "tier deep, this run is full; set EVAL_TIER=deep"}.write(t, "omega")},
		"hostile":               {nasty("nasty").write(t, "nasty")},
		"a_record_not_believed": {suite{rows: passing("delta").rows, specs: passing("delta").specs, edit: func(v *record.Verdict) { v.Outcomes[record.Scored]-- }}.write(t, "delta")},
	}
	g := goldie.New(t, goldie.WithFixtureDir("testdata"))
	for name, files := range runs {
		t.Run(name, func(t *testing.T) {
			r := build(t, files...)
			g.Assert(t, name+".text", []byte(text(t, r, report.Style{})))
			g.Assert(t, name+".all", []byte(text(t, r, report.Style{All: true})))
			g.Assert(t, name+".md", []byte(markdown(t, r)))
			var b bytes.Buffer
			require.NoError(t, report.JSON(&b, r))
			g.Assert(t, name+".json", b.Bytes())
		})
	}
	for name, r := range map[string]record.Row{
		"explain_lost": regressed("beta").rows[0], "explain_failed": regressed("beta").rows[2],
		"explain_unanswerable": passing("alpha").rows[24], "explain_hostile": nasty("nasty").rows[0],
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, report.Explain(&b, record.Run{Suite: r.Suite, Arm: "base", Tier: "full", Test: "TestSuites/x", Package: "example.org/m"}, r, 5))
			g.Assert(t, name, b.Bytes())
		})
	}
}

// Every figure of the JSON, computed once more from the rows.
func TestJSONIsTheRows(t *testing.T) {
	for name, s := range map[string]suite{"alpha": passing("alpha"), "beta": regressed("beta"), "gamma": refused("gamma")} {
		t.Run(name, func(t *testing.T) {
			f := s.write(t, name)
			var b bytes.Buffer
			require.NoError(t, report.JSON(&b, build(t, f)))
			var got report.Run
			require.NoError(t, json.Unmarshal(b.Bytes(), &got))
			require.Len(t, got.Suites, 1)
			rs := got.Suites[0]

			mean := func(keep func(record.Row) bool, value func(record.Row) (float64, bool)) (float64, int) {
				sum, n := 0.0, 0
				for _, r := range f.Rows {
					if v, ok := value(r); ok && keep(r) {
						sum, n = sum+v, n+1
					}
				}
				return sum / float64(n), n
			}
			headline := func(measure string) func(record.Row) (float64, bool) {
				return func(r record.Row) (float64, bool) {
					switch {
					case !r.Answer, r.Outcome.State == record.Refused:
						return 0, false
					case r.Outcome.State == record.Scored:
						return r.Measures[measure], true
					}
					return 0, true // failed and timed out: the worst value
				}
			}
			figures := func(where string, fs []report.Figure, keep func(record.Row) bool) {
				require.Len(t, fs, 2, where)
				for i, measure := range []string{"RR", "R@5"} {
					want, n := mean(keep, headline(measure))
					assert.InDelta(t, want, fs[i].Mean, 1e-12, "%s %s", where, measure)
					assert.Equal(t, n, fs[i].N, where)
					planned := 0
					for _, r := range f.Rows {
						if keep(r) && r.Answer {
							planned++
						}
					}
					assert.Equal(t, planned, fs[i].Planned, where)
					assert.LessOrEqual(t, fs[i].Lo, fs[i].Mean)
					assert.GreaterOrEqual(t, fs[i].Hi, fs[i].Mean)
					assert.Less(t, fs[i].Lo, fs[i].Hi)
				}
			}
			figures("headline", rs.Headline, func(record.Row) bool { return true })
			require.Len(t, rs.Strata, 2)
			for _, st := range rs.Strata {
				figures(st.Name, st.Figures, func(r record.Row) bool { return r.Stratum == st.Name })
			}

			states := map[record.State]int{}
			var micros []int64
			for _, r := range f.Rows {
				states[r.Outcome.State]++
				if r.Outcome.State == record.Scored {
					micros = append(micros, r.Micros)
				}
			}
			assert.Equal(t, states, rs.Outcomes)
			assert.Equal(t, len(f.Rows), rs.Planned)
			slices.Sort(micros)
			rank := func(q float64) int64 { // nearest rank
				i := 0
				for float64(i+1) < q*float64(len(micros)) {
					i++
				}
				return micros[i]
			}
			assert.Equal(t, &report.Latency{P50: rank(.5), P95: rank(.95), Max: rank(1)}, rs.Latency)

			for _, st := range rs.Stages {
				ran, of := 0, 0
				for _, r := range f.Rows {
					if r.Outcome.State != record.Scored || !r.Answer {
						continue
					}
					for _, x := range r.Stages {
						if x.Name == st.Stage {
							of++
							if x.State == record.Executed {
								ran++
							}
						}
					}
				}
				assert.Equal(t, [2]int{ran, of}, [2]int{st.Ran, st.Of}, st.Stage)
				for measure, v := range st.Means {
					want, _ := mean(func(r record.Row) bool { return r.Answer }, func(r record.Row) (float64, bool) {
						x, ok := r.Stage(st.Stage)
						return x.Measures[measure], ok && r.Outcome.State == record.Scored
					})
					assert.InDelta(t, want, v, 1e-12, "%s %s", st.Stage, measure)
				}
			}
			require.Len(t, rs.Stages, 3)
			for i, g := range rs.Gates {
				again := gate.Evaluate(s.specs[i], f.Rows)
				assert.Equal(t, again.Value, g.Value, g.Name)
				assert.Equal(t, again.Verdict, g.Verdict, g.Name)
			}
			assert.Equal(t, build(t, f), build(t, f), "twice the same")
		})
	}
}

// A scored row without the headline's measure is no 0.
func TestBuildRefusesASilentZero(t *testing.T) {
	s := passing("alpha")
	s.specs = nil
	delete(s.rows[3].Measures, "R@5")
	v := gate.Judge(&record.Folder{Nonce: "nonce", Started: today}, []*record.File{s.write(t, "alpha")}, nil, "full", "linux/amd64/v1")
	r, err := report.Build("run", "full", v)
	require.NoError(t, err)
	assert.Empty(t, r.Suites[0].Headline)
	assert.Equal(t, gate.CNM, r.Verdict)
	assert.Equal(t, []string{"case q03: no R@5 in the row"}, r.Suites[0].Reasons)
}

// A stage that lacks a measure on some cases is averaged over the others.
func TestStageMeansOverTheCasesThatHaveThem(t *testing.T) {
	s := passing("alpha")
	s.rows[0].Stages[0].Measures = nil
	r := build(t, s.write(t, "alpha"))
	assert.Equal(t, 24, r.Suites[0].Stages[0].Ran)
	assert.InDelta(t, 1, r.Suites[0].Stages[0].Means["RR"], 1e-15)
}

// No figure of a record that cannot be believed.
func TestNoFigureOfAnUnsoundRecord(t *testing.T) {
	for name, f := range map[string]*record.File{
		"edited":    suite{rows: passing("a").rows, edit: func(v *record.Verdict) { v.Verdict = "REGRESSED" }}.write(t, "a"),
		"truncated": {Path: "x", State: record.Truncated, Detail: "no end line", Run: record.Run{Suite: "a", Nonce: "nonce"}, Rows: passing("a").rows},
	} {
		r := build(t, f)
		assert.Equal(t, gate.CNM, r.Verdict, name)
		s := r.Suites[0]
		assert.Empty(t, s.Headline, name)
		assert.Empty(t, s.Gates, name)
		assert.Empty(t, s.Stages, name)
		assert.Nil(t, s.Latency, name)
		assert.NotEmpty(t, s.Reasons, name)
	}
}

func TestPassingRunFitsOnAScreen(t *testing.T) {
	var files []*record.File
	for i := range 8 {
		name := fmt.Sprintf("s%d", i)
		files = append(files, passing(name).write(t, name))
	}
	assert.LessOrEqual(t, strings.Count(text(t, build(t, files...), report.Style{}), "\n"), 24)
}

func TestManyReasons(t *testing.T) {
	s := passing("alpha")
	for i := range 20 {
		s.rows[i] = ended("alpha", fmt.Sprintf("q%02d", i), record.Refused, fmt.Sprintf("reason %02d %s", i, strings.Repeat("x", 100_000)), "do")
	}
	r := build(t, s.write(t, "alpha"))
	require.Len(t, r.Suites[0].Reasons, 20)
	short := text(t, r, report.Style{})
	assert.Contains(t, short, "and 10 more")
	assert.NotContains(t, short, "reason 10")
	assert.Contains(t, text(t, r, report.Style{All: true}), "reason 19")
	assert.Less(t, len(markdown(t, r)), 1<<20)
}

func TestMarkdownStaysUnderTheLimit(t *testing.T) {
	s := passing("alpha")
	s.specs = nil
	for i := range 9000 {
		r := ended("alpha", fmt.Sprintf("f%d", i), record.Failed, strings.Repeat("|", 300), "")
		r.Question = strings.Repeat("<", 300)
		s.rows = append(s.rows, r)
	}
	out := markdown(t, build(t, s.write(t, "alpha")))
	assert.Less(t, len(out), 1<<20)
	assert.Regexp(t, `\n\d+ more are in the record\.\n\n</details>\n$`, out)
}

// printed fails the test unless s is lines of harmless text.
func printed(t testing.TB, s string) {
	t.Helper()
	for _, r := range s {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029') {
			t.Fatalf("%U in %q", r, s)
		}
	}
	if !utf8.ValidString(s) {
		t.Fatalf("not UTF-8: %q", s)
	}
}

var details = regexp.MustCompile(`</?details>|</?summary>`)

// inert fails the test unless the Markdown has no HTML, links or cells but our
// own.
func inert(t testing.TB, s string) {
	t.Helper()
	printed(t, s)
	if bare := details.ReplaceAllString(s, ""); strings.ContainsAny(bare, "<>`[]\\@~") || strings.Contains(bare, "://") {
		t.Fatalf("markup in %q", bare)
	}
	for _, line := range strings.Split(s, "\n") {
		if strings.HasPrefix(line, "|") && strings.Count(line, "|") != 7 {
			t.Fatalf("%d cells in %q", strings.Count(line, "|")-1, line)
		}
	}
}

func TestHostileTextIsHarmless(t *testing.T) {
	r := build(t, nasty("nasty").write(t, "nasty"))
	printed(t, text(t, r, report.Style{}))
	printed(t, text(t, r, report.Style{All: true}))
	inert(t, markdown(t, r))
	// Colour adds its own sequences and nothing else.
	codes := strings.NewReplacer("\x1b[31;1m", "", "\x1b[32;1m", "", "\x1b[33;1m", "", "\x1b[0m", "")
	coloured := text(t, r, report.Style{Color: true})
	assert.NotEqual(t, text(t, r, report.Style{}), coloured)
	printed(t, codes.Replace(coloured))
	for _, x := range nasty("nasty").rows[:3] {
		var b bytes.Buffer
		require.NoError(t, report.Explain(&b, record.Run{Suite: "nasty", Arm: "base", Test: "T", Package: "p"}, x, -1))
		printed(t, b.String())
	}
	// The machine form keeps the text as it was.
	var b bytes.Buffer
	require.NoError(t, report.JSON(&b, r))
	var got report.Run
	require.NoError(t, json.Unmarshal(b.Bytes(), &got))
	assert.Equal(t, hostile, got.Suites[0].Broken[1].Question)
}

// Whatever stands in whatever field that comes from a record.
func TestAnyTextIsHarmless(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		any := func(name string) string { return rapid.StringOf(rapid.Rune()).Draw(rt, name) }
		v := .5
		r := report.Run{Dir: any("dir"), Tier: any("tier"), Verdict: any("verdict"), Reasons: []string{any("run reason")}, Suites: []report.Suite{{
			Suite: any("suite"), Arm: any("arm"), Verdict: any("suite verdict"), Reasons: []string{any("reason")}, Breaks: []string{any("break")},
			Headline: []report.Figure{{Measure: any("measure")}, {Measure: any("second")}},
			Strata:   []report.Stratum{{Name: any("stratum"), Figures: []report.Figure{{Measure: any("of stratum")}}}},
			Stages:   []report.StageFigures{{Stage: any("stage"), Ran: 1, Of: 1, Means: map[string]float64{any("mean"): 1}}, {Stage: any("off"), Skipped: any("why")}},
			Gates:    []record.Gate{{Name: any("gate"), Verdict: any("gate verdict"), Value: &v, Action: any("action"), Reason: any("gate reason")}},
			Broken: []report.Broken{
				{Case: any("case"), Question: any("question"), Outcome: record.Scored, Expected: []string{any("gold")}, Got: []string{any("got")}, Lost: any("lost"), Broke: any("broke"), Rerun: any("rerun")},
				{Case: any("case2"), Outcome: record.State(any("state")), Reason: any("why failed")},
			},
		}}}
		for _, st := range []report.Style{{}, {All: true}} {
			var b bytes.Buffer
			if err := report.Text(&b, r, st); err != nil {
				rt.Fatal(err)
			}
			printed(t, b.String())
		}
		var b bytes.Buffer
		if err := report.Markdown(&b, r); err != nil {
			rt.Fatal(err)
		}
		inert(t, b.String())
	})
}
