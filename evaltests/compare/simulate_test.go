package compare_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

// simulated is a base and a treatment over n cases. Every case draws a rank for
// each side, one of four around its own difficulty: a null treatment draws from
// the same distribution as its base. lift is the share of cases that the
// treatment puts first on top of that.
func simulated(rng *rand.Rand, n int, lift float64) (base, treatment []int) {
	for range n {
		easy := 1 + rng.IntN(6)
		b, t := easy+rng.IntN(4), easy+rng.IntN(4)
		if rng.Float64() < lift {
			t = 1
		}
		base, treatment = append(base, b), append(treatment, t)
	}
	return base, treatment
}

// fast keeps simulations short: a thousand resamples tell p = .05 from .10.
func fast(base compare.Side) compare.Options {
	return compare.Options{Vary: []string{"judge"}, AA: []compare.Side{again(base)}, Resamples: 1000}
}

// atMost is the largest count that n trials of a rate give with a probability
// of 99.9 %.
func atMost(t *testing.T, n int, rate float64) int {
	t.Helper()
	for k := range n {
		// k is too few if the rate lies above the upper end of its interval.
		_, hi, err := stat.ClopperPearson(k, n, .998)
		require.NoError(t, err)
		if hi >= rate {
			// and the first count whose interval lies wholly above is too many.
			for m := k; ; m++ {
				lo, _, err := stat.ClopperPearson(m, n, .998)
				require.NoError(t, err)
				if lo > rate {
					return m - 1
				}
			}
		}
	}
	return n
}

// simulation leaves out what takes seconds where tests are to be short: under
// the race detector, which finds no more in the thousandth comparison.
func simulation(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("a simulation of many comparisons")
	}
}

// TestNullComparisons: a thousand comparisons in which nothing was changed give
// no more SIGNAL than the level allows. A loss is not one, so it is half of it.
func TestNullComparisons(t *testing.T) {
	simulation(t)
	const trials = 1000
	rng := random(1)
	signals, losses := 0, 0
	for i := range trials {
		b, s := simulated(rng, 80, 0)
		base := ranks(fmt.Sprint("base", i), without, b...)
		x := one(t, base, ranks(fmt.Sprint("treatment", i), with, s...), fast(base))
		if x.Verdict == compare.Signal {
			signals++
		}
		if x.Gate == compare.GateRegressed {
			losses++
		}
	}
	t.Logf("%d SIGNAL, %d REGRESSED of %d null comparisons", signals, losses, trials)
	assert.LessOrEqual(t, signals, atMost(t, trials, record.DefaultQ/2))
	assert.LessOrEqual(t, losses, atMost(t, trials, record.DefaultAlpha/2))
	assert.Positive(t, signals, "a test that never fires proves nothing")
	assert.Positive(t, losses)
}

// TestPlantedEffects: an effect of the size that the run says it would have
// found is found in three of four runs at least.
func TestPlantedEffects(t *testing.T) {
	simulation(t)
	const trials, n, lift = 200, 80, .118
	rng := random(2)
	found, planted, detectable := 0, 0.0, 0.0
	for i := range trials {
		b, s := simulated(rng, n, lift)
		base := ranks(fmt.Sprint("base", i), without, b...)
		x := one(t, base, ranks(fmt.Sprint("treatment", i), with, s...), fast(base))
		planted += x.Primary.Mean / trials
		detectable += x.Detectable.Difference / trials
		if x.Verdict == compare.Signal {
			found++
		}
	}
	t.Logf("planted %.4f, detectable %.4f, found %d of %d", planted, detectable, found, trials)
	// The claim is about effects of the stated size.
	require.InDelta(t, detectable, planted, .15*detectable)
	assert.GreaterOrEqual(t, found, trials*3/4)
}

// TestPlantedElsewhere: an effect that the changed channel had no hand in is
// not its effect.
func TestPlantedElsewhere(t *testing.T) {
	for i := range 50 {
		b, s := simulated(random(uint64(100+i)), 80, .6)
		base := ranks("base", without, b...)
		treatment := ranks(fmt.Sprint("treatment", i), with, s...)
		for _, r := range treatment.File.Rows { // the reranker hands on what it was given
			r.Stages[4].Entries = r.Stages[3].Entries
		}
		for _, r := range base.File.Rows {
			r.Stages[4] = record.Stage{Name: "rerank", State: record.SkippedStage, Reason: "no model"}
		}
		x := one(t, base, treatment, fast(base))
		require.Less(t, x.P, .05)
		require.Equal(t, compare.Unattributed, x.Verdict)
		require.NotEqual(t, compare.FlipOn, x.Advice)
	}
}

// TestNoiseArms: fifty arms of noise, tried at once or one by one, give a
// SIGNAL in no more families than the false discovery rate allows.
func TestNoiseArms(t *testing.T) {
	simulation(t)
	const families, arms = 12, 50
	for _, tried := range []string{"at once", "one by one"} {
		t.Run(tried, func(t *testing.T) {
			false_, alone := 0, 0
			for f := range families {
				rng := random(uint64(1000 + f))
				b, _ := simulated(rng, 30, 0)
				base := ranks(fmt.Sprint("base", f), without, b...)
				o := fast(base)
				var treatments []compare.Side
				for a := range arms {
					s := append([]int(nil), b...)
					for i := range s {
						if rng.IntN(2) == 0 { // each case moves up or down by one with equal chance
							s[i] += 2*rng.IntN(2) - 1
						}
						s[i] = max(s[i], 1)
						if b[i] == 1 { // a first rank cannot rise, so it does not fall either
							s[i] = 1
						}
					}
					treatments = append(treatments, ranks(fmt.Sprintf("arm %d of %d", a, f), with, s...))
				}
				signal := false
				if tried == "at once" {
					c, err := compare.Compare(base, treatments, o)
					require.NoError(t, err)
					for _, x := range c.Treatments {
						signal = signal || x.Verdict == compare.Signal
					}
				} else {
					// What a person sees in the end is the last comparison of the
					// arm that looked best.
					best := 0
					var last *compare.Treatment
					for i, s := range treatments {
						x := one(t, base, s, o)
						o.Family = append(o.Family, compare.Member{V: 1, Treatment: s.Digest(), Measure: "RR@10", P: x.P})
						if x.P < .1 && x.Primary.Mean > 0 {
							alone++
						}
						if o.Family[i].P < o.Family[best].P {
							best = i
						}
					}
					last = one(t, base, treatments[best], o)
					signal = last.Verdict == compare.Signal
					require.Equal(t, arms, last.FamilySize)
				}
				if signal {
					false_++
				}
			}
			t.Logf("%d of %d families have a SIGNAL; alone %d arms had one", false_, families, alone)
			assert.LessOrEqual(t, false_, atMost(t, families, record.DefaultQ))
			if tried == "one by one" {
				assert.Greater(t, alone, families, "without correction every family has one")
			}
		})
	}
}

// TestIdenticalRepeats: five repeats of equal answers are one observation a
// case. Pooled as if they were cases they would find differences in every third
// null run.
func TestIdenticalRepeats(t *testing.T) {
	simulation(t)
	const trials, repeats = 150, 5
	rng := random(5)
	repeated := func(s compare.Side) compare.Side {
		s.File.Run.Repeats = repeats
		for _, r := range s.File.Rows[:len(s.File.Rows):len(s.File.Rows)] {
			for k := 1; k < repeats; k++ {
				r.Repeat = k
				s.File.Rows = append(s.File.Rows, r)
			}
		}
		return s
	}
	signals, losses, pooled := 0, 0, 0
	for i := range trials {
		b, s := simulated(rng, 40, 0)
		base := repeated(ranks(fmt.Sprint("base", i), without, b...))
		x := one(t, base, repeated(ranks(fmt.Sprint("treatment", i), with, s...)), compare.Options{Vary: []string{"judge"}, Resamples: 1000})
		require.Equal(t, 40, x.Primary.N)
		if x.Verdict == compare.Signal {
			signals++
		}
		if x.Gate == compare.GateRegressed {
			losses++
		}
		var diffs []float64
		for _, c := range x.Cases {
			for range repeats {
				diffs = append(diffs, c.Diff())
			}
		}
		p, err := stat.SignFlipTest(diffs, 1000, stat.NewStream(uint64(i)))
		require.NoError(t, err)
		if p.P < .05 {
			pooled++
		}
	}
	t.Logf("%d SIGNAL, %d REGRESSED of %d; pooled, %d would be significant", signals, losses, trials, pooled)
	assert.LessOrEqual(t, signals, atMost(t, trials, record.DefaultQ/2))
	assert.LessOrEqual(t, losses, atMost(t, trials, record.DefaultAlpha/2))
	assert.Positive(t, signals, "the repeats agree, so the floor is 0 by proof")
	assert.Greater(t, pooled, trials/4)
}
