package compare_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

// many repeats a rank.
func many(n, at int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = at
	}
	return out
}

func TestRefused(t *testing.T) {
	base := func() compare.Side { return ranks("base", without, many(40, 1)...) }
	treat := func() compare.Side { return ranks("treatment", with, many(40, 2)...) }
	for _, tc := range []struct {
		name string
		edit func(b, t *compare.Side, o *compare.Options)
		why  string
	}{
		{"a key that was not declared", func(_, _ *compare.Side, o *compare.Options) { o.Vary = nil }, "configuration differs in judge (none -> m), which was not declared"},
		{"an edited rule", func(b, _ *compare.Side, _ *compare.Options) {
			b.File.Run.Decision, b.File.Run.Hashes.Decision = &record.Decision{Primary: "RR@10", Q: .9}, "of another"
		}, "its decision has the hash"},
		{"another plan", func(_, s *compare.Side, _ *compare.Options) {
			s.File.Run.Hashes.Question, s.File.Run.Plan = "other", s.File.Run.Plan[:7]
		}, "40 cases were planned in the base and 7 in the treatment"},
		{"a second key", func(_, s *compare.Side, _ *compare.Options) { s.File.Run.Config["depth"] = record.Set{Value: "7"} }, "configuration differs in depth (none -> 7)"},
		{"a declared key that is equal", func(_, _ *compare.Side, o *compare.Options) { o.Vary = append(o.Vary, "depth") }, "key depth was declared and is equal in all of them"},
		{"another question hash", func(_, s *compare.Side, _ *compare.Options) { s.File.Run.Hashes.Question = "other" }, "question hash (q -> other) differs"},
		{"no question hash", func(b, s *compare.Side, _ *compare.Options) {
			b.File.Run.Hashes.Question, s.File.Run.Hashes.Question = "", ""
		}, "no question hash"},
		{"another store", func(_, s *compare.Side, _ *compare.Options) { s.File.Run.Hashes.SeedKey = "other" }, "seed key (k -> other) differs: the stores were not made alike"},
		{"another platform", func(_, s *compare.Side, _ *compare.Options) { s.File.Run.Identity.Class = "plan9/mips" }, "platform class (linux/amd64/v1 -> plan9/mips)"},
		{"another mode", func(_, s *compare.Side, _ *compare.Options) {
			s.File.Run.Mode = "deep"
			for i := range s.File.Rows {
				s.File.Rows[i].Mode = "deep"
			}
		}, "mode (default -> deep)"},
		{"a treatment hash that no key explains", func(_, s *compare.Side, o *compare.Options) {
			s.File.Run.Config, o.Vary = map[string]record.Set{"judge": {Value: "none"}}, nil
		}, "treatment hash"},
		{"an edited record", func(b, _ *compare.Side, _ *compare.Options) { b.File.State = record.Tampered }, "is tampered with"},
		{"a record that was cut short", func(_, s *compare.Side, _ *compare.Options) { s.File.State = record.Truncated }, "the record of treatment is truncated"},
		{"too few pairs", func(_, s *compare.Side, _ *compare.Options) { s.File.Rows = s.File.Rows[:37] }, "37 of 40 cases are pairs, under 95 %; 3 only in the base, for instance q0037"},
		{"no pair at all", func(_, s *compare.Side, o *compare.Options) { s.File.Rows, o.Partial = nil, true }, "no case of 40 is a pair"},
		{"rows of two modes in one record", func(_, s *compare.Side, _ *compare.Options) { s.File.Rows[3].Mode = "deep" }, "is of another suite, arm or mode"},
		{"another gold under the same hash", func(_, s *compare.Side, _ *compare.Options) { s.File.Rows[3].Digest = "x" }, "question or gold differ although the question hashes are equal"},
		{"a control that moved", func(_, s *compare.Side, o *compare.Options) {
			o.Control = []string{"lexical"}
			s.File.Rows[7].Stages[1].Entries = ranked(9)
		}, "control lexical moved in 1 of 40 cases, for instance [\"q0007\"]"},
		{"a control that nobody reports", func(_, _ *compare.Side, o *compare.Options) { o.Control = []string{"nothing"} }, "does not report it"},
		{"a measurement break", func(b, s *compare.Side, o *compare.Options) {
			b.File.Run.Context.Commit, s.File.Run.Context.Commit = "before", "after"
			o.Breaks = []compare.Break{{Defect: "gold was swapped", FirstSound: "0123"}}
			o.After = func(_, commit string) (bool, error) { return commit == "after", nil }
		}, "a measurement break lies between them: gold was swapped"},
		{"a break that nobody can place", func(_, _ *compare.Side, o *compare.Options) {
			o.Breaks = []compare.Break{{Defect: "gold was swapped", FirstSound: "0123"}}
		}, "cannot be told: gold was swapped (the record names no commit)"},
		{"chunks of two stores", func(b, s *compare.Side, o *compare.Options) {
			b.File.Run.Unit, s.File.Run.Unit = "chunk", "chunk"
			s.File.Run.Hashes.SeedKey, o.Vary = "other", append(o.Vary, compare.IngestSources)
		}, "the suite ranks chunks"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b, s, o := base(), treat(), judge
			tc.edit(&b, &s, &o)
			c, err := compare.Compare(b, []compare.Side{s}, o)
			require.Nil(t, c, "no number before the refusal")
			var refused *compare.Incomparable
			require.ErrorAs(t, err, &refused)
			assert.Contains(t, err.Error(), tc.why)
		})
	}
}

func TestAllowed(t *testing.T) {
	for _, tc := range []struct {
		name string
		edit func(b, t *compare.Side, o *compare.Options)
	}{
		{"a default given explicitly", func(b, _ *compare.Side, _ *compare.Options) {
			b.File.Run.Config["judge"] = record.Set{Value: "none", Default: true}
		}},
		{"another arm", func(_, s *compare.Side, _ *compare.Options) {
			s.File.Run.Arm = "light"
			for i := range s.File.Rows {
				s.File.Rows[i].Arm = "light"
			}
		}},
		{"another store, by a key that changes it", func(_, s *compare.Side, o *compare.Options) {
			s.File.Run.Config["chunk.max_words"] = record.Set{Value: "7"}
			seal(s.File)
			s.File.Run.Hashes.SeedKey, o.Vary = "other", append(o.Vary, "chunk.max_words")
		}},
		{"another store, by changed sources", func(_, s *compare.Side, o *compare.Options) {
			s.File.Run.Hashes.SeedKey, o.Vary = "other", append(o.Vary, compare.IngestSources)
		}},
		{"a cut record, declared partial", func(_, s *compare.Side, o *compare.Options) {
			s.File.State, s.File.Rows, o.Partial = record.Truncated, s.File.Rows[:20], true
		}},
		{"one case of forty refused", func(_, s *compare.Side, _ *compare.Options) {
			s.File.Rows[3] = ended("q0003", record.Refused, "no model")
		}},
		{"a control that stayed", func(_, _ *compare.Side, o *compare.Options) { o.Control = []string{"lexical", "vector"} }},
		{"a break before both", func(b, s *compare.Side, o *compare.Options) {
			b.File.Run.Context.Commit, s.File.Run.Context.Commit = "x", "y"
			o.Breaks = []compare.Break{{Defect: "gold was swapped", FirstSound: "0123"}}
			o.After = func(_, _ string) (bool, error) { return true, nil }
		}},
		{"a break of another measure", func(_, _ *compare.Side, o *compare.Options) {
			o.Breaks = []compare.Break{{Defect: "gold was swapped", FirstSound: "0123", Measures: []string{"AP"}}}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b, s, o := ranks("base", without, many(40, 1)...), ranks("treatment", with, many(40, 2)...), judge
			tc.edit(&b, &s, &o)
			_, err := compare.Compare(b, []compare.Side{s}, o)
			assert.NoError(t, err)
		})
	}
}

func TestPairsNameWhatIsLeftOut(t *testing.T) {
	b := ranks("base", without, many(6, 1)...)
	s := ranks("treatment", with, many(6, 2)...)
	unanswerable := row("u", 1, 1)
	unanswerable.Answer = false
	for _, x := range []compare.Side{b, s} {
		x.File.Rows = append(x.File.Rows, unanswerable)
		x.File.Run.Plan = append(x.File.Run.Plan, "u", "late")
	}
	s.File.Rows[1] = ended("q0001", record.Refused, "no model")
	b.File.Rows[2] = ended("q0002", record.Skipped, "not today")
	b.File.Rows[3] = ended("q0003", record.Failed, "broke")
	s.File.Rows[4] = ended("q0004", record.TimedOut, "late")
	o := judge
	o.Partial = true
	x := one(t, b, s, o)
	assert.Equal(t, []compare.LeftOut{{Case: "q0001", Why: "refused: no model"}}, x.OnlyBase)
	assert.Equal(t, []compare.LeftOut{{Case: "q0002", Why: "skipped: not today"}}, x.OnlyTreated)
	assert.Equal(t, []compare.LeftOut{{Case: "late", Why: "not_reached"}}, x.Neither)
	assert.Equal(t, 4, x.Pairs)
	assert.Equal(t, 7, x.Planned)
	assert.Equal(t, 1, x.Ungraded)
	assert.Equal(t, [2]int{1, 1}, x.Worst)
	// 1->.5, failed->.5, 1->timed out, 1->.5
	assert.InDelta(t, (1+0+1+1)/4., x.Primary.Base, 1e-12)
	assert.InDelta(t, (.5+.5+0+.5)/4, x.Primary.Treatment, 1e-12)
	require.NotNil(t, x.Completed)
	assert.Equal(t, 2, x.Completed.N)
	assert.InDelta(t, -.5, x.Completed.Mean, 1e-12)
}

func TestRepeatsAreAveragedFirst(t *testing.T) {
	repeated := func(label string, config map[string]string, at ...[]int) compare.Side {
		var rows []record.Row
		for i, rs := range at {
			for k, r := range rs {
				x := row(fmt.Sprintf("q%d", i), 5, r)
				x.Repeat = k
				rows = append(rows, x)
			}
		}
		return side(label, config, rows...)
	}
	b := repeated("base", without, []int{1, 2}, []int{1, 1}, []int{2, 2})
	s := repeated("treatment", with, []int{2, 2}, []int{1, 1}, []int{1, 0})
	x := one(t, b, s, judge)
	assert.Equal(t, 3, x.Primary.N, "cases, not rows")
	assert.InDelta(t, (.75+1+.5)/3, x.Primary.Base, 1e-12)
	assert.InDelta(t, (.5+1+.5)/3, x.Primary.Treatment, 1e-12)
	assert.Equal(t, []int{0, 1, 2}, []int{x.Primary.Wins, x.Primary.Losses, x.Primary.Ties})

	s.File.Run.Repeats = 2
	s.File.Rows[1].Outcome = record.Outcome{State: record.Refused, Reason: "no model"}
	o := judge
	o.Partial = true
	assert.Equal(t, 2, one(t, b, s, o).Primary.N, "a case with a refused repeat is not half a case")
	s.File.Rows = s.File.Rows[:len(s.File.Rows)-1]
	assert.Equal(t, 1, one(t, b, s, o).Primary.N, "nor is one that lacks a repeat")
}

// TestFailedRepeat: a case that failed once in two repeats has the worst value
// here as in the headline of its run, not half of the other one's.
func TestFailedRepeat(t *testing.T) {
	good, failed := row("q0", 5, 1), row("q0", 5, 1)
	failed.Repeat, failed.Outcome = 1, record.Outcome{State: record.Failed, Reason: "broke"}
	failed.Ranking, failed.Stages, failed.Measures = nil, nil, nil
	m, err := metric.Parse("RR@10")
	require.NoError(t, err)
	for _, rows := range [][]record.Row{{good, failed}, {failed, good}} {
		v, err := compare.Value(m, record.Final, rows)
		require.NoError(t, err)
		assert.Zero(t, v)
		headline := record.Average(rows, 2)
		require.Len(t, headline, 1)
		assert.Equal(t, record.Failed, headline[0].Outcome.State)
	}
	v, err := compare.Value(m, record.Final, []record.Row{good, good})
	require.NoError(t, err)
	assert.Equal(t, 1., v)
}

// TestValueIsOfTheRow: a measure that the ranking does not give is no evidence.
func TestValueIsOfTheRow(t *testing.T) {
	b, s := ranks("base", without, 1, 1, 1), ranks("treatment", with, 1, 2, 1)
	s.File.Rows[1].Measures = map[string]float64{"RR@10": 1}
	_, err := compare.Compare(b, []compare.Side{s}, judge)
	assert.ErrorContains(t, err, "case q0001: the record says RR@10 of stage final is 1, its ranking and gold give 0.5")
}

// TestKnownValues holds the tests to figures that were published.
func TestKnownValues(t *testing.T) {
	split := func(wins, losses, ties int) *compare.Treatment {
		b := append(append(many(wins, 2), many(losses, 1)...), many(ties, 1)...)
		s := append(append(many(wins, 1), many(losses, 2)...), many(ties, 1)...)
		return one(t, ranks("base", without, b...), ranks("treatment", with, s...), judge)
	}
	x := split(6, 26, 40)
	assert.InDelta(t, .000535, x.Primary.SignP, 5e-7)
	assert.Equal(t, compare.GateRegressed, x.Gate)
	x = split(29, 15, 28)
	assert.InDelta(t, .0488, x.Primary.SignP, 5e-5)
	assert.Contains(t, x.Sentences[0], "29 cases are better, 15 are worse and 28 are equal: net +14.")
	x = split(22, 21, 29)
	assert.InDelta(t, 1, x.Primary.SignP, 1e-12)
}

// TestNetIsNotASplit: net +3 of 5 and 2 cannot be called 4 to 0 or 4 to 1,
// neither in a table nor in words.
func TestNetIsNotASplit(t *testing.T) {
	compared := func() *compare.Comparison {
		c, err := compare.Compare(ranks("base", without, 2, 2, 2, 2, 2, 1, 1, 1), []compare.Side{ranks("treatment", with, 1, 1, 1, 1, 1, 2, 2, 1)}, judge)
		require.NoError(t, err)
		require.NoError(t, compare.Verify(c))
		return c
	}
	for _, tc := range []struct {
		name string
		edit func(*compare.Treatment)
		says string
	}{
		{"a sentence", func(x *compare.Treatment) {
			x.Sentences[0] = "4 cases are better, 1 are worse and 3 are equal: net +3."
		}, `a sentence says "4 cases are better`},
		{"a table", func(x *compare.Treatment) { x.Primary.Wins, x.Primary.Losses = 4, 0 }, "the table says wins 4, its cases give 5"},
		{"a mean", func(x *compare.Treatment) { x.Primary.Mean += .01 }, "the table says mean"},
		{"a case", func(x *compare.Treatment) { x.Cases[7].Treatment = 0 }, "the table says losses 2, its cases give 3"},
		{"a missing sentence", func(x *compare.Treatment) { x.Sentences = x.Sentences[1:] }, "a sentence says"},
		{"a verdict", func(x *compare.Treatment) { x.Verdict = compare.Signal }, "the verdict is SIGNAL"},
		{"advice", func(x *compare.Treatment) { x.Advice = compare.FlipOn }, "contradicts"},
		{"a case that broke", func(x *compare.Treatment) { x.Cases[0].Right[1] = false }, "a sentence says"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := compared()
			tc.edit(c.Treatments[0])
			assert.ErrorContains(t, compare.Verify(c), tc.says)
		})
	}
}

// TestOverSixTransitions: 29 to 15 is significant alone and is not among the
// six transitions that it was found in.
func TestOverSixTransitions(t *testing.T) {
	var ps []float64
	for _, wl := range [][2]int{{6, 26}, {22, 21}, {0, 0}, {29, 15}, {16, 25}, {16, 21}} {
		s, err := stat.SignTest(wl[0], wl[1])
		require.NoError(t, err)
		ps = append(ps, s.P)
	}
	assert.Less(t, ps[3], .05)
	_, significant, err := stat.Decide(stat.Holm, ps, .05)
	require.NoError(t, err)
	assert.Equal(t, []bool{true, false, false, false, false, false}, significant)
}

// TestWithoutConfiguration: what nobody told cannot be compared, and the first
// lines say so.
func TestWithoutConfiguration(t *testing.T) {
	b, s := ranks("base", nil, many(40, 2)...), ranks("treatment", nil, many(40, 1)...)
	c, err := compare.Compare(b, []compare.Side{s}, compare.Options{})
	require.NoError(t, err)
	assert.Contains(t, fmt.Sprint(c.Warnings), "neither side tells its configuration")
	_, err = compare.Compare(ranks("base", without, many(40, 2)...), []compare.Side{s}, judge)
	assert.ErrorContains(t, err, "treatment does not tell its configuration")
	c, err = compare.Compare(ranks("base", without, many(40, 2)...), []compare.Side{ranks("treatment", with, many(40, 1)...)}, judge)
	require.NoError(t, err)
	assert.Empty(t, c.Warnings)
}

// TestPartialIsWhatWasAccepted: the permission alone makes no comparison partial.
func TestPartialIsWhatWasAccepted(t *testing.T) {
	o := judge
	o.Partial = true
	b, s := ranks("base", without, many(40, 2)...), ranks("treatment", with, many(40, 1)...)
	c, err := compare.Compare(b, []compare.Side{s}, o)
	require.NoError(t, err)
	assert.False(t, c.Partial)
	s.File.Rows = s.File.Rows[:1]
	c, err = compare.Compare(b, []compare.Side{s}, o)
	require.NoError(t, err)
	assert.True(t, c.Partial)
	assert.Contains(t, c.Treatments[0].Sentences[2], "one pair has no interval")
}

// TestChannelOfNoRow: a misspelt channel is no channel without a probe.
func TestChannelOfNoRow(t *testing.T) {
	b, s := ranks("base", without, many(40, 2)...), ranks("treatment", with, many(40, 1)...)
	o := judge
	o.Channels = []string{"rernak"}
	_, err := compare.Compare(b, []compare.Side{s}, o)
	assert.ErrorContains(t, err, `channel "rernak": no row speaks of it`)
	s.File.Rows[0].Channels = append(s.File.Rows[0].Channels, record.Channel{Name: "rernak", Fired: true})
	x := one(t, b, s, o)
	assert.True(t, x.Star || !x.Attribution.Known)
}

// TestLevelOfTheDetectableDifference: it is that of the test which decides, in
// the family as it is.
func TestLevelOfTheDetectableDifference(t *testing.T) {
	b, s := ranks("base", without, many(40, 2)...), ranks("treatment", with, moved(many(40, 2), 0, 4, 1)...)
	alone := one(t, b, s, judge).Detectable
	assert.InDelta(t, record.DefaultQ, alone.Level, 1e-12)
	o := judge
	for i := range 4 {
		o.Family = append(o.Family, compare.Member{V: 1, Treatment: fmt.Sprint(i), Measure: "RR@10", P: .5})
	}
	five := one(t, b, s, o).Detectable
	assert.InDelta(t, record.DefaultQ/5, five.Level, 1e-12)
	assert.Greater(t, five.Difference, alone.Difference)
	assert.Contains(t, five.String(), "level 0.02")
}
