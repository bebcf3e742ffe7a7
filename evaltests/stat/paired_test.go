package stat_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

// differences draws paired differences with ties and zeros.
var differences = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 {
	return float64(rapid.IntRange(-8, 8).Draw(t, "quarters")) / 4
}), 2, 70)

func negated(d []float64) []float64 {
	n := make([]float64, len(d))
	for i, x := range d {
		n[i] = -x
	}
	return n
}

// Every paired test gives p in [0, 1], and the mirrored one for the mirrored
// differences.
func TestPairedTestsProperties(t *testing.T) {
	type p struct{ two, greater, less float64 }
	tests := map[string]func([]float64) (p, error){
		"wilcoxon": func(d []float64) (p, error) {
			w, err := stat.WilcoxonTest(d, stat.ZerosWilcox)
			return p{w.P, w.Greater, w.Less}, err
		},
		"pratt": func(d []float64) (p, error) {
			w, err := stat.WilcoxonTest(d, stat.ZerosPratt)
			return p{w.P, w.Greater, w.Less}, err
		},
		"normal": func(d []float64) (p, error) {
			w, err := stat.WilcoxonNormal(d, stat.ZerosPratt, true)
			return p{w.P, w.Greater, w.Less}, err
		},
	}
	rapid.Check(t, func(t *rapid.T) {
		d := differences.Draw(t, "d")
		for name, f := range tests {
			a, err := f(d)
			if err != nil {
				t.Fatal(err)
			}
			b, err := f(negated(d))
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range []float64{a.two, a.greater, a.less} {
				if !(v >= 0 && v <= 1) {
					t.Fatalf("%s: p outside [0, 1]: %+v", name, a)
				}
			}
			if math.Abs(a.two-b.two) > 1e-12 || math.Abs(a.greater-b.less) > 1e-12 || math.Abs(a.less-b.greater) > 1e-12 {
				t.Fatalf("%s is not symmetric: %+v and %+v", name, a, b)
			}
		}
	})
}

// Drawn sign patterns must agree with all of them, within what chance allows.
func TestSignFlipDrawsFairSigns(t *testing.T) {
	for _, n := range []int{21, 24, 29, 64, 65, 700} {
		d := make([]float64, n)
		for i := range d {
			d[i] = 1
		}
		wins := n/2 + int(math.Sqrt(float64(n))/2) + 1
		for i := wins; i < n; i++ {
			d[i] = -1
		}
		// Equal sizes make the test a sign test, which is known exactly.
		sign, err := stat.SignTest(wins, n-wins)
		if err != nil {
			t.Fatal(err)
		}
		const resamples = 40000
		got, err := stat.SignFlipTest(d, resamples, stat.NewStream(11))
		if err != nil {
			t.Fatal(err)
		}
		if got.Exact || got.Resamples != resamples || got.N != n {
			t.Errorf("n = %d: exact %v, %d resamples of %d", n, got.Exact, got.Resamples, got.N)
		}
		for what, pair := range map[string][2]float64{"p": {got.P, sign.P}, "greater": {got.Greater, sign.Greater}, "less": {got.Less, sign.Less}} {
			if se := math.Sqrt(pair[1] * (1 - pair[1]) / resamples); math.Abs(pair[0]-pair[1]) > 4.5*se+1./resamples {
				t.Errorf("n = %d: %s = %v, want %v ± %.5f", n, what, pair[0], pair[1], 4.5*se)
			}
		}
	}
}

// Each difference must be flipped independently of every other: the variance
// of the sum is the sum of the squares.
func TestSignFlipVariance(t *testing.T) {
	d := ramp(203)
	squares, sum := 0.0, 0.0
	for _, x := range d {
		squares += x * x
		sum += x
	}
	got, err := stat.SignFlipTest(d, 200000, stat.NewStream(5))
	if err != nil {
		t.Fatal(err)
	}
	want := math.Erfc(math.Abs(sum) / math.Sqrt(2*squares))
	if math.Abs(got.P-want) > .01 {
		t.Errorf("p = %v, want %v by the normal limit", got.P, want)
	}
}

func TestSignFlipIsTheSameOnAnyNumberOfCores(t *testing.T) {
	for _, n := range []int{21, 1500} {
		run := func() stat.SignFlip {
			f, err := stat.SignFlipTest(ramp(n), 5000, stat.NewStream(7))
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		if diff := cmp.Diff(atCores(1, run), atCores(4, run)); diff != "" {
			t.Errorf("n = %d, one core against four (-one +four):\n%s", n, diff)
		}
	}
}

func TestSignFlipEdges(t *testing.T) {
	for name, tt := range map[string]struct {
		d    []float64
		want float64
	}{
		"no difference":      {[]float64{0, 0, 0}, 1},
		"one difference":     {[]float64{0, 3}, 1},
		"three alike":        {[]float64{1, 1, 1}, .25},
		"rounding is a tie":  {[]float64{.1, .2, -.3}, 1},
		"huge":               {[]float64{1e99, 1e99, 1e99}, .25},
		"tiny":               {[]float64{1e-300, 1e-300, 1e-300}, .25},
		"far from one scale": {[]float64{1e50, 1e-50, 1e-50}, 1},
	} {
		got, err := stat.SignFlipTest(tt.d, 100, stat.NewStream(1))
		if err != nil || math.Abs(got.P-tt.want) > 1e-15 {
			t.Errorf("%s: p = %v, %v, want %v", name, got.P, err, tt.want)
		}
	}
	// Never 0, however clear the case is.
	clear := make([]float64, 200)
	for i := range clear {
		clear[i] = 1
	}
	got, err := stat.SignFlipTest(clear, 999, stat.NewStream(1))
	if err != nil || got.P != 1./1000 {
		t.Errorf("p = %v, %v, want 1/1000", got.P, err)
	}
}

func TestWilcoxonSwitchesToNormal(t *testing.T) {
	for n, exact := range map[int]bool{50: true, 51: false} {
		got, err := stat.WilcoxonTest(ramp(n), stat.ZerosWilcox)
		if err != nil || got.Exact != exact {
			t.Errorf("n = %d: exact = %v, %v, want %v", n, got.Exact, err, exact)
		}
		exactly, err := stat.WilcoxonExact(ramp(n), stat.ZerosWilcox)
		if err != nil || math.Abs(exactly.P-got.P) > .002 {
			t.Errorf("n = %d: p = %v, exactly %v, %v", n, got.P, exactly.P, err)
		}
	}
	none, err := stat.WilcoxonTest([]float64{0, 0}, stat.ZerosPratt)
	if err != nil || none.P != 1 || none.Zeros != 2 {
		t.Errorf("only zeros: %+v, %v, want p = 1", none, err)
	}
}

func TestPairedTOfEqualDifferences(t *testing.T) {
	// .3-.2 and .4-.3 differ in the last bit only.
	for name, d := range map[string][]float64{"equal": {.1, .1, .1}, "but for rounding": {.3 - .2, .4 - .3, .9 - .8}, "zero": {0, 0}} {
		if got, err := stat.PairedTTest(d, .95); err == nil || !strings.Contains(err.Error(), "use the sign test") {
			t.Errorf("%s: %+v, %v, want an error that says what to use", name, got, err)
		}
	}
}

func TestEquivalenceAgreesWithItsInterval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.Float64Range(-1, 1), 2, 40).Draw(t, "d")
		margin, alpha := rapid.Float64Range(.01, 1).Draw(t, "margin"), rapid.Float64Range(.01, .3).Draw(t, "alpha")
		got, err := stat.EquivalenceTest(d, margin, alpha)
		if err != nil {
			t.Fatal(err)
		}
		if !(got.P >= 0 && got.P <= 1) {
			t.Fatalf("p = %v", got.P)
		}
		distance := min(got.CI.Lo+margin, margin-got.CI.Hi)
		if math.Abs(distance) > 1e-9 && got.Equivalent != (distance > 0) {
			t.Fatalf("equivalent = %v with interval %v and margin %v", got.Equivalent, got.CI, margin)
		}
	})
}

func TestEquivalenceOfIdenticalRuns(t *testing.T) {
	for name, tt := range map[string]struct {
		d    []float64
		want bool
	}{
		"nothing moved":           {[]float64{0, 0, 0, 0}, true},
		"all moved a little":      {[]float64{.01, .01, .01}, true},
		"all moved by the margin": {[]float64{.05, .05, .05}, false},
		"all fell far":            {[]float64{-.5, -.5}, false},
	} {
		got, err := stat.EquivalenceTest(tt.d, .05, .05)
		if err != nil || got.Equivalent != tt.want || got.Equivalent == (got.P == 1) {
			t.Errorf("%s: %+v, %v, want equivalent %v", name, got, err, tt.want)
		}
	}
	_, ci, same, err := stat.EquivalentProportions(400, 3, 2, 95, .05, .05)
	if err != nil || !same || !ci.Contains(1./500) {
		t.Errorf("500 pairs, 5 of them different: %v, %v, %v, want equivalent", ci, same, err)
	}
	if _, _, same, err := stat.EquivalentProportions(14, 5, 0, 22, .05, .05); err != nil || same {
		t.Errorf("41 pairs: equivalent %v, %v, want not shown", same, err)
	}
}

// The figures of the specification.
func TestNormalMDEKnownValues(t *testing.T) {
	pp := stat.PairedProportions{P: .6, Rho: .7}
	for n, want := range map[int]float64{30: 19.41, 60: 13.72, 150: 8.68, 479: 4.86} {
		got, err := pp.NormalMDE(n, .05, .8)
		if err != nil || math.Abs(100*got-want) > .005 {
			t.Errorf("N = %d: %.4f pp, %v, want %v", n, 100*got, err, want)
		}
		back, err := pp.CasesFor(got, .05, .8)
		if err != nil || back != n {
			t.Errorf("cases for %v: %d, %v, want %d", got, back, err, n)
		}
	}
}

func TestSmallestAttainable(t *testing.T) {
	for _, tt := range []struct {
		n        int
		alpha    float64
		want     float64
		possible bool
	}{{30, .05, .2, true}, {6, .05, 1, true}, {5, .05, 1.2, false}, {100, .01, .08, true}, {10, .25, .3, true}} {
		got, possible, err := stat.SmallestAttainable(tt.n, tt.alpha)
		if err != nil || math.Abs(got-tt.want) > 1e-15 || possible != tt.possible {
			t.Errorf("n = %d, alpha %v: %v, %v, %v, want %v, %v", tt.n, tt.alpha, got, possible, err, tt.want, tt.possible)
		}
	}
}

func TestExactPowerGrows(t *testing.T) {
	pp := stat.PairedProportions{P: .6, Rho: .7}
	last := -1.0
	for i := range 11 {
		got, err := pp.ExactPower(200, pp.Discordance()*float64(i)/10, .05)
		if err != nil || got < last || got > 1 {
			t.Fatalf("power at step %d = %v after %v, %v", i, got, last, err)
		}
		last = got
	}
}

func TestRepeats(t *testing.T) {
	for _, tt := range []struct {
		passed, failed, need, planned int
		want                          stat.Decision
	}{
		{0, 0, 3, 5, stat.Inconclusive}, {3, 0, 3, 5, stat.Passed}, {2, 2, 3, 5, stat.Inconclusive},
		{2, 3, 3, 5, stat.Failed}, {0, 3, 3, 5, stat.Failed}, {1, 0, 1, 1, stat.Passed}, {5, 0, 3, 5, stat.Passed},
	} {
		got, err := stat.Repeats(tt.passed, tt.failed, tt.need, tt.planned)
		if err != nil || got != tt.want {
			t.Errorf("%d passed, %d failed, %d of %d: %v, %v, want %v", tt.passed, tt.failed, tt.need, tt.planned, got, err, tt.want)
		}
	}
	for _, bad := range [][4]int{{0, 0, 0, 5}, {0, 0, 6, 5}, {4, 2, 3, 5}, {-1, 0, 1, 1}, {0, 0, 0, 0}} {
		if got, err := stat.Repeats(bad[0], bad[1], bad[2], bad[3]); err == nil {
			t.Errorf("%v: %v, want an error", bad, got)
		}
	}
}

func TestAgainstFloor(t *testing.T) {
	for _, tt := range []struct {
		lo, hi, floor float64
		want          stat.Decision
	}{
		{.8, .9, .7, stat.Passed}, {.8, .9, .8, stat.Passed}, {.5, .6, .7, stat.Failed}, {.6, .8, .7, stat.Inconclusive}, {.6, .7, .7, stat.Inconclusive},
	} {
		got, err := stat.AgainstFloor(stat.Interval{Lo: tt.lo, Hi: tt.hi}, tt.floor)
		if err != nil || got != tt.want {
			t.Errorf("[%v, %v] against %v: %v, %v, want %v", tt.lo, tt.hi, tt.floor, got, err, tt.want)
		}
	}
	for _, bad := range [][3]float64{{1, 0, .5}, {math.NaN(), 1, .5}, {0, math.Inf(1), .5}, {0, 1, math.NaN()}} {
		if got, err := stat.AgainstFloor(stat.Interval{Lo: bad[0], Hi: bad[1]}, bad[2]); err == nil {
			t.Errorf("%v: %v, want an error", bad, got)
		}
	}
}

func TestPercentile(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	thousand := make([]float64, 1000)
	for i := range thousand {
		thousand[i] = float64(i + 1)
	}
	for _, tt := range []struct {
		name   string
		sample []float64
		p      float64
		want   float64
	}{
		{"median of one", []float64{7}, 50, 7},
		{"median of two", []float64{9, 1}, 50, 1},
		{"median of ten", thousand[:10], 50, 5},
		{"p95 of ten", thousand[:10], 95, 10},
		{"p95 of a hundred", hundred, 95, 95},
		{"p99 of a hundred", hundred, 99, 99},
		{"p100", hundred, 100, 100},
		{"p1", hundred, 1, 1},
		{"p0.1 of a hundred", hundred, .1, 1},
		{"p99.9 of a thousand", thousand, 99.9, 999},
		{"p29 of a hundred", hundred, 29, 29},
	} {
		got, err := stat.Percentile(tt.sample, tt.p)
		if err != nil || got != tt.want {
			t.Errorf("%s = %v, %v, want %v", tt.name, got, err, tt.want)
		}
	}
	if hundred[0] != 100 {
		t.Error("the sample was sorted in place")
	}
}

func TestCompareLatency(t *testing.T) {
	a, b := make([]float64, 12), make([]float64, 12)
	for i := range a {
		a[i], b[i] = 10+float64(i)/10, 15+float64(i)/10
	}
	got, err := stat.CompareLatency(a, b, .95)
	if err != nil || got.P > .001 || math.Abs(got.Change-.474) > .01 || !got.ACI.Contains(got.A) {
		t.Errorf("clear difference: %+v, %v", got, err)
	}
	same, err := stat.CompareLatency(a, a, .95)
	if err != nil || same.P < .9 || same.Change != 0 {
		t.Errorf("no difference: %+v, %v", same, err)
	}
	few, err := stat.CompareLatency(a[:2], b[:2], .95)
	if err != nil || len(few.Warnings) == 0 || math.IsInf(few.ACI.Hi, 0) {
		t.Errorf("two a side: %+v, %v, want a warning and a finite interval", few, err)
	}
}

// Whatever has no meaning is an error, and no function answers with NaN.
func TestPairedRefusals(t *testing.T) {
	nan, inf := []float64{1, math.NaN()}, []float64{1, math.Inf(-1)}
	pp := stat.PairedProportions{P: .6, Rho: .7}
	only := func(_ any, err error) error { return err }
	for name, err := range map[string]error{
		"wilcoxon, empty":         only(stat.WilcoxonTest(nil, stat.ZerosPratt)),
		"wilcoxon, NaN":           only(stat.WilcoxonTest(nan, stat.ZerosPratt)),
		"wilcoxon, unknown rule":  only(stat.WilcoxonNormal([]float64{1}, "zsplit", true)),
		"wilcoxon, exact, large":  only(stat.WilcoxonExact(ramp(301), stat.ZerosPratt)),
		"t, one value":            only(stat.PairedTTest([]float64{1}, .95)),
		"t, infinite":             only(stat.PairedTTest(inf, .95)),
		"t, confidence":           only(stat.PairedTTest([]float64{1, 2}, 0)),
		"sign flip, empty":        only(stat.SignFlipTest(nil, 10, stat.NewStream(1))),
		"sign flip, NaN":          only(stat.SignFlipTest(nan, 10, stat.NewStream(1))),
		"sign flip, no resamples": only(stat.SignFlipTest([]float64{1}, 0, stat.NewStream(1))),
		"mcnemar, negative":       only(stat.McNemarTest(1, -1, 0, 0)),
		"equivalence, margin 0":   only(stat.EquivalenceTest([]float64{1, 2}, 0, .05)),
		"equivalence, alpha":      only(stat.EquivalenceTest([]float64{1, 2}, 1, .5)),
		"equivalence, NaN":        only(stat.EquivalenceTest(nan, 1, .05)),
		"mde, p of 1":             only(stat.PairedProportions{P: 1}.NormalMDE(10, .05, .8)),
		"mde, rho of 1":           only(stat.PairedProportions{P: .5, Rho: 1}.NormalMDE(10, .05, .8)),
		"mde, no cases":           only(pp.NormalMDE(0, .05, .8)),
		"mde, alpha":              only(pp.NormalMDE(10, 1, .8)),
		"mde, power":              only(pp.NormalMDE(10, .05, math.NaN())),
		"cases, no difference":    only(pp.CasesFor(0, .05, .8)),
		"cases, too many":         only(pp.CasesFor(1e-9, .05, .8)),
		"power, beyond":           only(pp.ExactPower(10, .9, .05)),
		"t power, one pair":       only(stat.PairedTPower(1, 1, 1, .05)),
		"t power, sd of 0":        only(stat.PairedTPower(10, 1, 0, .05)),
		"t power, NaN":            only(stat.PairedTPower(10, math.NaN(), 1, .05)),
		"percentile, empty":       only(stat.Percentile(nil, 50)),
		"percentile, p of 0":      only(stat.Percentile([]float64{1}, 0)),
		"percentile, NaN":         only(stat.Percentile(nan, 50)),
		"latency, NaN":            only(stat.CompareLatency(nan, []float64{1}, .95)),
		"latency, infinite":       only(stat.CompareLatency([]float64{1}, inf, .95)),
		"latency, empty":          only(stat.CompareLatency([]float64{1}, nil, .95)),
		"quantile, rule":          only(stat.Quantile([]float64{1}, .5, 2)),
		"quantile, above 1":       only(stat.Quantile([]float64{1}, 1.5, stat.Linear)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, _, err := stat.Newcombe(0, 0, 0, 0, .95); err == nil {
		t.Error("newcombe without pairs: no error")
	}
	if _, _, err := pp.ExactMDE(0, .05, .8); err == nil {
		t.Error("exact mde without cases: no error")
	}
	if _, _, err := stat.PairedTMDE(10, 1, .05, 1); err == nil {
		t.Error("power of 1: no error")
	}
	if _, _, err := stat.SmallestAttainable(10, 0); err == nil {
		t.Error("alpha of 0: no error")
	}
}

func TestPairedTPowerLimits(t *testing.T) {
	for _, n := range []int{2, 3, 10, 50, 101, 1000, 100000} {
		none, err := stat.PairedTPower(n, 0, 1, .05)
		if err != nil || math.Abs(none-.05) > 1e-7 {
			t.Errorf("n = %d: power without a difference = %v, %v, want alpha", n, none, err)
		}
		all, err := stat.PairedTPower(n, 1e6, 1, .05)
		if err != nil || math.Abs(all-1) > 1e-4 {
			t.Errorf("n = %d: power of a huge difference = %v, %v, want 1", n, all, err)
		}
	}
}

func TestIntervalsOfProportionsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 2000).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		confidence := rapid.Float64Range(.5, .999).Draw(t, "confidence")
		for name, f := range map[string]func(int, int, float64) (float64, float64, error){
			"wilson": stat.Wilson, "corrected": stat.WilsonCorrected, "exact": stat.ClopperPearson,
		} {
			lo, hi, err := f(k, n, confidence)
			rate := float64(k) / float64(n)
			if err != nil || !(0 <= lo && lo <= rate+1e-12 && rate-1e-12 <= hi && hi <= 1) {
				t.Fatalf("%s: %d of %d: [%v, %v], %v", name, k, n, lo, hi, err)
			}
			mlo, mhi, err := f(n-k, n, confidence)
			if err != nil || math.Abs(1-mhi-lo) > 1e-9 || math.Abs(1-mlo-hi) > 1e-9 {
				t.Fatalf("%s is not symmetric: [%v, %v] and [%v, %v], %v", name, lo, hi, mlo, mhi, err)
			}
		}
	})
}

func TestNewcombeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(0, 60)
		a, b, c, d := count.Draw(t, "a"), count.Draw(t, "b"), count.Draw(t, "c"), 1+count.Draw(t, "d")
		difference, ci, err := stat.Newcombe(a, b, c, d, .95)
		if err != nil || !ci.Contains(difference) || ci.Lo < -1-1e-12 || ci.Hi > 1+1e-12 {
			t.Fatalf("%v in %v, %v", difference, ci, err)
		}
		back, mirrored, err := stat.Newcombe(a, c, b, d, .95)
		if err != nil || back != -difference || math.Abs(mirrored.Lo+ci.Hi) > 1e-12 {
			t.Fatalf("not symmetric: %v and %v, %v", ci, mirrored, err)
		}
	})
}
