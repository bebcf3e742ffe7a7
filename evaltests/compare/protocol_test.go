package compare_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// TestOrder holds the protocol to its order: of two verdicts that both match,
// the earlier one is given.
func TestOrder(t *testing.T) {
	measured := compare.Floor{Source: compare.FloorAA, Value: .02}
	proven := compare.Floor{Source: compare.FloorProof}
	by := func(touched int) compare.Attribution {
		return compare.Attribution{Channels: []string{"rerank"}, Moved: 10, Touched: touched, Known: true}
	}
	unknown := compare.Attribution{Moved: 10}
	for _, tc := range []struct {
		name  string
		facts compare.Facts
		want  compare.Verdict
		star  bool
	}{
		{"the A/A run, whatever else", compare.Facts{IsFloor: true, Mean: -1, Significant: true}, compare.FloorSrc, false},
		{"no floor before anything measured", compare.Facts{Mean: -1, Significant: true}, compare.NoFloor, false},
		{"within the floor, upwards", compare.Facts{Floor: measured, Mean: .02, Attribution: by(10), Significant: true}, compare.NoiseFloor, false},
		{"within the floor, downwards", compare.Facts{Floor: measured, Mean: -.02, Attribution: by(0)}, compare.NoiseFloor, false},
		{"no difference at all", compare.Facts{Floor: proven, Attribution: by(10)}, compare.NoiseFloor, false},
		{"down before unattributed", compare.Facts{Floor: measured, Mean: -.03, Attribution: by(0), Significant: true}, compare.WrongDir, false},
		{"unattributed before significant", compare.Facts{Floor: measured, Mean: .03, Attribution: by(8), Significant: true}, compare.Unattributed, false},
		{"attributed at nine of ten", compare.Facts{Floor: measured, Mean: .03, Attribution: by(9), Significant: true}, compare.Signal, false},
		{"not significant", compare.Facts{Floor: measured, Mean: .03, Attribution: by(9)}, compare.Weak, false},
		{"a star for unknown attribution", compare.Facts{Floor: measured, Mean: .03, Attribution: unknown, Significant: true}, compare.Signal, true},
		{"a star for a weak one", compare.Facts{Floor: proven, Mean: .03, Attribution: unknown}, compare.Weak, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v, star := compare.Judge(tc.facts)
			assert.Equal(t, tc.want, v)
			assert.Equal(t, tc.star, star)
		})
	}
}

// spread gives n cases ranks that differ from case to case.
func spread(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = 1 + i%4
	}
	return out
}

// moved gives the cases from lo to hi another rank.
func moved(at []int, lo, hi, to int) []int {
	out := append([]int(nil), at...)
	for i := lo; i < hi; i++ {
		out[i] = to
	}
	return out
}

func TestFloor(t *testing.T) {
	base := ranks("base", without, spread(60)...)
	better := ranks("treatment", with, moved(spread(60), 0, 60, 1)...)
	noisy := func(label string, lo, hi, to int) compare.Side {
		return ranks(label, without, moved(spread(60), lo, hi, to)...)
	}
	other := ranks("other", with, spread(60)...)
	short := noisy("short", 0, 0, 1)
	short.File.Rows = short.File.Rows[:30]
	seeded := noisy("seeded", 0, 0, 1)
	seeded.File.Run.Hashes.SeedKey = "x"
	for _, tc := range []struct {
		name   string
		aa     []compare.Side
		source string
		says   string
	}{
		{"none given", nil, "", "0 A/A runs; a floor needs 2"},
		{"the base itself", []compare.Side{base}, "", "0 A/A runs"},
		{"one that differs in rankings", []compare.Side{noisy("a", 0, 1, 4)}, "", "1 A/A runs"},
		{"one identical", []compare.Side{again(base)}, compare.FloorProof, ""},
		{"of another treatment", []compare.Side{other, again(other)}, "", "other is no A/A run of the base: judge (none -> m)"},
		{"of another store", []compare.Side{seeded, seeded}, "", "seed key (k -> x)"},
		{"of half the cases", []compare.Side{short, short}, "", "short pairs with 30 of 60 cases"},
		{"two that differ", []compare.Side{noisy("a", 0, 4, 4), noisy("b", 8, 12, 4)}, compare.FloorAA, ""},
		{"one identical, one not", []compare.Side{again(base), noisy("b", 8, 12, 4)}, compare.FloorAA, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := judge
			o.AA = tc.aa
			c, err := compare.Compare(base, []compare.Side{better}, o)
			require.NoError(t, err)
			assert.Equal(t, tc.source, c.Floor.Source)
			assert.Contains(t, c.Floor.Problem, tc.says)
			if tc.source == "" {
				assert.Equal(t, compare.NoFloor, c.Treatments[0].Verdict)
				assert.Contains(t, c.Treatments[0].Sentences[len(c.Treatments[0].Sentences)-1], tc.says)
			} else {
				assert.Equal(t, compare.Signal, c.Treatments[0].Verdict)
			}
		})
	}
}

// TestSymmetricNoise: an A/A whose gains and losses cancel has a mean of 0 and
// no floor of 0.
func TestSymmetricNoise(t *testing.T) {
	base := ranks("base", without, many(40, 2)...)
	at := many(40, 2)
	for i := range at {
		at[i] = []int{1, 2}[i%2]
	}
	noisy := ranks("noisy", without, at...)
	down := ranks("down", without, append(many(20, 3), many(20, 2)...)...)
	o := judge
	o.AA = []compare.Side{noisy, down}
	c, err := compare.Compare(base, []compare.Side{ranks("treatment", with, moved(many(40, 2), 0, 2, 1)...)}, o)
	require.NoError(t, err)
	assert.Equal(t, compare.FloorAA, c.Floor.Source)
	assert.Greater(t, c.Floor.Value, .05)
	assert.Equal(t, compare.NoiseFloor, c.Treatments[0].Verdict)
	assert.Contains(t, fmt.Sprint(c.Floor.Notes), "WARNING: noisy moved 20 cases although nothing was changed, 20 of them touched")
}

func TestFloorByRepeats(t *testing.T) {
	twice := func(s compare.Side, differ bool) compare.Side {
		s.File.Run.Repeats = 2
		for _, r := range s.File.Rows[:len(s.File.Rows):len(s.File.Rows)] {
			r.Repeat = 1
			if differ {
				r.Ranking = ranked(7)
				differ = false
			}
			s.File.Rows = append(s.File.Rows, r)
		}
		return s
	}
	better := ranks("treatment", with, many(40, 1)...)
	c, err := compare.Compare(twice(ranks("base", without, spread(40)...), false), []compare.Side{better}, judge)
	require.NoError(t, err)
	assert.Equal(t, compare.FloorProof, c.Floor.Source)
	assert.Equal(t, compare.Signal, c.Treatments[0].Verdict)
	c, err = compare.Compare(twice(ranks("base", without, spread(40)...), true), []compare.Side{better}, judge)
	require.NoError(t, err)
	assert.False(t, c.Floor.Valid())
	assert.Contains(t, c.Floor.Problem, "the 2 repeats of the base differ in 1 cases")
}

// TestWideFloorHidesNoLoss: a significant loss is regressed although the A/A
// runs are as far apart.
func TestWideFloorHidesNoLoss(t *testing.T) {
	base := ranks("base", without, many(60, 2)...)
	o := judge
	o.AA = []compare.Side{ranks("up", without, many(60, 1)...), ranks("up2", without, many(60, 1)...)}
	x := one(t, base, ranks("treatment", with, moved(many(60, 2), 0, 20, 3)...), o)
	assert.Equal(t, compare.NoiseFloor, x.Verdict)
	assert.Equal(t, compare.GateRegressed, x.Gate)
	assert.Equal(t, compare.KeepOff, x.Advice)
}

func TestGate(t *testing.T) {
	base := ranks("base", without, many(40, 2)...)
	timeouts := ranks("treatment", with, many(40, 2)...)
	for i := range 8 {
		timeouts.File.Rows[i] = ended(timeouts.File.Rows[i].Case, record.TimedOut, "late")
	}
	x := one(t, base, timeouts, judge)
	assert.Equal(t, compare.GateCNM, x.Gate)
	assert.Contains(t, x.GateWhy, "worse with 8 timeouts as the worst value, not without them")
	assert.Equal(t, compare.NoAdvice, x.Advice)

	demands := func(ship string) compare.Side {
		b := ranks("base", without, many(40, 2)...)
		b.File.Run.Decision = &record.Decision{Primary: "RR@10", Ship: ship, Margin: .1}
		return b
	}
	better := ranks("treatment", with, many(40, 1)...)
	assert.Equal(t, compare.GateCNM, one(t, demands(record.ShipSignal), better, judge).Gate, "no floor, and a signal is demanded")
	assert.Equal(t, compare.GatePass, one(t, demands(""), better, judge).Gate)

	// Equivalent, and the rule ships that.
	b := demands(record.ShipEquivalent)
	o := judge
	o.AA = []compare.Side{again(b)}
	x = one(t, b, ranks("treatment", with, moved(many(40, 2), 0, 1, 1)...), o)
	assert.True(t, x.Equivalent)
	assert.Equal(t, "WEAK, EQUIVALENT", x.Words())
	assert.Equal(t, compare.Either, x.Advice)
}

func TestExploratory(t *testing.T) {
	rule := record.Decision{Primary: "RR@10", Margin: .02}
	hash, err := rule.Hash()
	require.NoError(t, err)
	declared := func(s compare.Side) compare.Side {
		s.File.Run.Decision, s.File.Run.Hashes.Decision = &rule, hash
		return s
	}
	base := declared(ranks("base", without, many(40, 2)...))
	c, err := compare.Compare(base, []compare.Side{declared(ranks("treatment", with, many(40, 1)...))}, judge)
	require.NoError(t, err)
	assert.Empty(t, c.Exploratory)

	c, err = compare.Compare(base, []compare.Side{ranks("treatment", with, many(40, 1)...)}, judge)
	require.NoError(t, err)
	assert.Equal(t, []string{"the rule of treatment is another than that of the base"}, c.Exploratory)

	o := judge
	o.Rule = &record.Decision{Primary: "Success@1", Margin: .02}
	c, err = compare.Compare(base, []compare.Side{declared(ranks("treatment", with, many(40, 1)...))}, o)
	require.NoError(t, err)
	assert.Equal(t, []string{"the rule was changed for this comparison"}, c.Exploratory)
	assert.Equal(t, "Success@1", c.Treatments[0].Primary.Measure)
}

// TestProbes: every channel of the table has a name, says what it looks at,
// and tells touched, untouched and unknown apart.
func TestProbes(t *testing.T) {
	silent := record.Row{Outcome: record.Outcome{State: record.Scored}}
	for _, p := range compare.Probes() {
		t.Run(p.Channel, func(t *testing.T) {
			require.NotEmpty(t, p.Looks)
			require.NotNil(t, p.Func)
			assert.Equal(t, compare.Unknown, p.Func(silent, silent), "a row that says nothing")
			idle, busy := silent, silent
			switch p.Channel {
			case "rerank", "boosts":
				step, input := "rerank", "candidates"
				if p.Channel == "boosts" {
					step, input = "boosted", "fusion"
				}
				stage := func(name string, at int) record.Stage {
					return record.Stage{Name: name, State: record.Executed, Entries: ranked(at)}
				}
				idle.Stages = []record.Stage{stage(input, 3), stage(step, 3)}
				busy.Stages = []record.Stage{stage(input, 3), stage(step, 1)}
				off := silent
				off.Stages = []record.Stage{stage(input, 3), {Name: step, State: record.SkippedStage, Reason: "off"}}
				assert.Equal(t, compare.Untouched, p.Func(off, off))
			default:
				idle.Channels = []record.Channel{{Name: p.Channel, Fired: true}}
				busy.Channels = []record.Channel{{Name: p.Channel, Fired: true, Contributed: true}}
			}
			assert.Equal(t, compare.Untouched, p.Func(idle, idle))
			assert.Equal(t, compare.Touched, p.Func(idle, busy))
			assert.Equal(t, compare.Touched, p.Func(busy, idle), "a channel that was switched off shows in the base")
		})
	}
}

func TestChannels(t *testing.T) {
	for key, want := range map[string][]string{
		"weights.vector": {"vector"}, "weights.lexical": {"lexical"}, "judge": {"rerank"}, "pool_size": {"rerank"}, "embedder": {"vector"},
		"channels.graph": {"graph"}, "channels.temporal.weight": {"temporal"}, "boosts.title": {"boosts"}, "rrf_k": {"vector", "lexical"},
		"batch_size": nil,
	} {
		assert.Equal(t, want, compare.Channels(key), key)
		for _, name := range want {
			_, ok := compare.ProbeOf(name)
			assert.True(t, ok, name)
		}
	}
}

// TestStrata: an effect in one stratum alone has a word there and none
// elsewhere, and only where the stratum was declared.
func TestStrata(t *testing.T) {
	sides := func() (compare.Side, compare.Side) {
		b, s := ranks("base", without, many(60, 1)...), ranks("treatment", with, moved(many(60, 1), 40, 60, 2)...)
		for i := range 20 {
			b.File.Rows[40+i].Stratum, s.File.Rows[40+i].Stratum = "rare", "rare"
		}
		return b, s
	}
	b, s := sides()
	o := judge
	o.AA = []compare.Side{again(b)}
	words := func(x *compare.Treatment) map[string]string {
		out := map[string]string{}
		for _, st := range x.Strata {
			out[st.Name] = st.Word
		}
		return out
	}
	assert.Equal(t, map[string]string{"all": "", "rare": "worse"}, words(one(t, b, s, o)))
	b.File.Run.Decision = &record.Decision{Primary: "RR@10", Strata: []string{"all"}}
	assert.Equal(t, map[string]string{"all": "", "rare": ""}, words(one(t, b, s, o)))
	o.AA = nil
	b.File.Run.Decision = nil
	assert.Equal(t, map[string]string{"all": "", "rare": ""}, words(one(t, b, s, o)), "no floor, no word")
}

func TestSkew(t *testing.T) {
	b, s := ranks("base", without, many(40, 2)...), ranks("treatment", with, moved(many(40, 2), 0, 20, 1)...)
	for _, x := range []compare.Side{b, s} {
		for i := range 20 {
			x.File.Rows[i].Stratum = "easy"
		}
	}
	assert.Nil(t, one(t, b, s, judge).Skew, "all questions were asked")
	s.File.Run.LeftOut = map[string]int{"all": 60}
	x := one(t, b, s, judge)
	require.NotNil(t, x.Skew)
	assert.True(t, x.Skew.Capped)
	assert.InDelta(t, .5-.2, x.Skew.Largest, 1e-12)
	assert.InDelta(t, .5*.2, x.Skew.Reweighted, 1e-12, "half a rank in a fifth of the population")
}

func TestSuspect(t *testing.T) {
	x := one(t, ranks("base", without, many(40, 2)...), ranks("treatment", with, many(40, 2)...), judge)
	assert.Contains(t, fmt.Sprint(x.Notes), "SUSPECT")
}

func TestMissed(t *testing.T) {
	lost := row("q", 3, 11)
	never := row("q", 0, 0)
	below := row("q", 11, 12)
	cut := row("q", 0, 0)
	cut.Stages[4].Entries = ranked(12) // the reranker still has it
	failed := ended("q", record.Failed, "broke")
	for where, r := range map[string]record.Row{"pushed below 10 at rerank": lost, compare.MissNever: never, "retrieved, below 10 at every stage": below, "cut off at final": cut, "failed": failed} {
		assert.Equal(t, where, compare.Missed(r, 10))
	}
	x := one(t, side("base", without, row("a", 1, 1), row("b", 1, 1), row("c", 0, 0)), side("treatment", with, row("a", 1, 1), row("b", 3, 11), row("c", 0, 0)), judge)
	assert.Equal(t, []compare.Miss{{Where: compare.MissNever, Base: 1, Treatment: 1}, {Where: "pushed below 10 at rerank", Treatment: 1}}, x.Misses)
	assert.Equal(t, [2]int{1, 2}, x.Wrong)
	require.Len(t, x.Broken(), 1)
	assert.Equal(t, "lexical", x.Broken()[0].Diverges)
}

func TestDetectable(t *testing.T) {
	for _, tc := range []struct {
		name   string
		diffs  []float64
		margin float64
		form   string
		says   string
	}{
		{"no two differ", make([]float64, 60), 0, compare.FormFewest, "0.1000 (smallest attainable by the exact sign test (6/n form), level 0.05)"},
		{"right or wrong", append([]float64{1, -1, 1, -1, 1, -1, 1, -1, 1, 1}, make([]float64, 50)...), .05, compare.FormExact, "exact sign test; normal form"},
		{"any value", []float64{.1, .2, -.1, .3, 0, 0, -.2, .1, .05, 0}, .01, compare.FormT, "noncentral form; normal form"},
		{"too few", []float64{1, 0, 0}, 0, compare.FormExact, "no difference is found"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, err := compare.NewDetectable(tc.diffs, .05, tc.margin)
			require.NoError(t, err)
			assert.Equal(t, tc.form, d.Form)
			assert.Contains(t, d.String(), tc.says)
			if tc.margin > 0 {
				assert.Positive(t, d.Need)
				assert.Contains(t, d.String(), fmt.Sprintf("the margin %.4g needs %d pairs", tc.margin, d.Need))
			}
		})
	}
}

// TestFamily: an arm that is significant alone is not among fifty that were
// tried one by one.
func TestFamily(t *testing.T) {
	base := ranks("base", without, many(40, 2)...)
	s := ranks("treatment", with, moved(moved(many(40, 2), 0, 11, 1), 11, 14, 3)...)
	o := judge
	o.AA = []compare.Side{again(base)}
	x := one(t, base, s, o)
	require.Equal(t, compare.Signal, x.Verdict)
	for i := range 50 {
		o.Family = append(o.Family, compare.Member{V: 1, Suite: "s", Base: base.Digest(), Treatment: fmt.Sprint(i), Measure: "RR@10", P: .02 + float64(i)/60})
	}
	x = one(t, base, s, o)
	assert.Equal(t, compare.Weak, x.Verdict)
	assert.Equal(t, 51, x.FamilySize)
	assert.Contains(t, x.Sentences[3], "over a family of 51 (bh): not significant at 0.1; smallest detectable difference")

	// The same run compared again is the same member.
	o.Family = append(o.Family, compare.Member{V: 1, Treatment: s.Digest(), Measure: "RR@10", P: .02})
	assert.Equal(t, 51, one(t, base, s, o).FamilySize)
	// Another measure is another family.
	for i := range o.Family {
		o.Family[i].Measure = "AP"
	}
	assert.Equal(t, 1, one(t, base, s, o).FamilySize)
}

// TestDirectionAtMost: what rests on part of the cases, or on a sample that is
// not as its pack, recommends nothing.
func TestDirectionAtMost(t *testing.T) {
	base := ranks("base", without, many(40, 2)...)
	o := judge
	o.AA, o.Partial = []compare.Side{again(base)}, true
	better := ranks("treatment", with, many(40, 1)...)
	require.Equal(t, compare.FlipOn, one(t, base, better, o).Advice)
	part := ranks("treatment", with, many(40, 1)...)
	part.File.Rows = part.File.Rows[:20]
	x := one(t, base, part, o)
	assert.Equal(t, compare.Signal, x.Verdict)
	assert.Equal(t, compare.NoAdvice, x.Advice)
	better.File.Run.LeftOut = map[string]int{"rare": 60}
	assert.Equal(t, compare.NoAdvice, one(t, base, better, o).Advice)
	assert.Equal(t, compare.KeepOff, one(t, better, ranks("worse", without, many(40, 3)...), o).Advice, "a loss is one all the same")
}

// TestMirror: exchanging base and treatment turns every figure around.
func TestMirror(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(rt, "n")
		a := rapid.SliceOfN(rapid.IntRange(0, width), n, n).Draw(rt, "a")
		b := rapid.SliceOfN(rapid.IntRange(0, width), n, n).Draw(rt, "b")
		o := compare.Options{Vary: []string{"judge"}, Resamples: 200}
		there := one(t, ranks("x", without, a...), ranks("y", with, b...), o)
		back := one(t, ranks("x", with, b...), ranks("y", without, a...), o)
		assert.InDelta(t, there.Primary.Mean, -back.Primary.Mean, 1e-12)
		assert.Equal(t, there.Primary.Wins, back.Primary.Losses)
		assert.Equal(t, there.Primary.SignP, back.Primary.SignP)
		assert.InDelta(t, there.WilcoxonP, back.WilcoxonP, 1e-9)
		assert.Len(t, back.Fixed(), len(there.Broken()))
		if there.Exact {
			assert.InDelta(t, there.P, back.P, 1e-12)
		}
		again := one(t, ranks("x", without, a...), ranks("y", with, b...), o)
		assert.Equal(t, there, again, "the same input gives the same output")
	})
}
