package stat_test

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

func sorted(xs []float64) []float64 { return slices.Sorted(slices.Values(xs)) }

// atCores runs f with a number of cores and restores the old one.
func atCores[T any](n int, f func() T) T {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	return f()
}

func ramp(n int) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = math.Sin(float64(i*i)) + 0.05
	}
	return xs
}

func TestSignTestKnownValues(t *testing.T) {
	for name, tt := range map[string]struct {
		wins, losses int
		want         float64
	}{
		"6 to 26":  {6, 26, .000535},
		"29 to 15": {29, 15, .048767},
		"22 to 21": {22, 21, 1},
		"8 to 0":   {8, 0, .0078125},
		"nothing":  {0, 0, 1},
		"huge":     {5_000_000, 4_990_000, .0015586},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := stat.SignTest(tt.wins, tt.losses)
			if err != nil || math.Abs(got.P-tt.want) > 5e-7 {
				t.Errorf("p = %v, %v, want %v", got.P, err, tt.want)
			}
			if got.MidP > got.P {
				t.Errorf("mid-p %v is above p %v", got.MidP, got.P)
			}
		})
	}
}

func TestSignTestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, l := rapid.IntRange(0, 400).Draw(t, "wins"), rapid.IntRange(0, 400).Draw(t, "losses")
		a, err := stat.SignTest(w, l)
		if err != nil {
			t.Fatal(err)
		}
		b, err := stat.SignTest(l, w)
		if err != nil {
			t.Fatal(err)
		}
		if a.P != b.P || a.MidP != b.MidP || a.Greater != b.Less {
			t.Fatalf("not symmetric: %+v and %+v", a, b)
		}
		for _, p := range []float64{a.P, a.MidP, a.Greater, a.Less} {
			if !(p >= 0 && p <= 1) {
				t.Fatalf("p outside [0, 1]: %+v", a)
			}
		}
	})
}

func TestCountsAreChecked(t *testing.T) {
	for name, f := range map[string]func() error{
		"negative losses":   func() error { _, err := stat.SignTest(1, -1); return err },
		"absurd wins":       func() error { _, err := stat.SignTest(math.MaxInt, 1); return err },
		"no trials":         func() error { _, _, err := stat.Wilson(0, 0, .95); return err },
		"more than trials":  func() error { _, _, err := stat.ClopperPearson(3, 2, .95); return err },
		"confidence of 1":   func() error { _, _, err := stat.Wilson(1, 2, 1); return err },
		"confidence of NaN": func() error { _, _, err := stat.WilsonCorrected(1, 2, math.NaN()); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestDiffsRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		a, b []float64
		want string
	}{
		"lengths differ":  {[]float64{1}, []float64{1, 2}, "1 values against 2"},
		"empty":           {nil, nil, "0 values"},
		"not a number":    {[]float64{1, 2}, []float64{1, math.NaN()}, "value 2 is NaN"},
		"infinite values": {[]float64{math.Inf(1)}, []float64{1}, "value 1 is -Inf"},
	} {
		if _, err := stat.Diffs(tt.a, tt.b); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error = %v, want one that says %q", name, err, tt.want)
		}
	}
}

func TestBootstrapIsTheSameOnAnyNumberOfCores(t *testing.T) {
	xs := ramp(301)
	run := func() []float64 {
		b, err := stat.BootstrapMean(xs, 3000, stat.NewStream(7, "base", "treatment"))
		if err != nil {
			t.Fatal(err)
		}
		return b.Means
	}
	if diff := cmp.Diff(atCores(1, run), atCores(4, run)); diff != "" {
		t.Errorf("one core against four (-one +four):\n%s", diff)
	}
}

// Another comparison must not share resamples, and the parts of an id must not
// run together.
func TestStreamsDiffer(t *testing.T) {
	xs := ramp(50)
	first := func(s stat.Stream) float64 {
		b, err := stat.BootstrapMean(xs, 1, s)
		if err != nil {
			t.Fatal(err)
		}
		return b.Means[0]
	}
	seen := make(map[float64]string)
	for name, s := range map[string]stat.Stream{
		"seed 1":   stat.NewStream(1, "ab", "c"),
		"seed 2":   stat.NewStream(2, "ab", "c"),
		"split":    stat.NewStream(1, "a", "bc"),
		"reversed": stat.NewStream(1, "c", "ab"),
		"no id":    stat.NewStream(1),
	} {
		m := first(s)
		if other, ok := seen[m]; ok {
			t.Errorf("%s and %s draw the same resample", name, other)
		}
		seen[m] = name
	}
	if first(stat.NewStream(1, "x")) != first(stat.NewStream(1, "x")) {
		t.Error("the same stream draws differently")
	}
}

// Each index must be drawn equally often: the bootstrap of an indicator has
// the binomial's variance, and its mean.
func TestBootstrapDrawsUniformly(t *testing.T) {
	for _, n := range []int{2, 3, 5, 7, 10, 64, 100, 1000} {
		for at := range min(n, 8) {
			xs := make([]float64, n)
			xs[at] = float64(n)
			b, err := stat.BootstrapMean(xs, 20000, stat.NewStream(3))
			if err != nil {
				t.Fatal(err)
			}
			mean := 0.0
			for _, m := range b.Means {
				mean += m / float64(len(b.Means))
			}
			se := math.Sqrt(float64(n-1)/float64(n)) / math.Sqrt(20000)
			if math.Abs(mean-1) > 4.5*se {
				t.Errorf("n = %d: value %d is drawn %.4f times per resample, want 1 ± %.4f", n, at, mean, 4.5*se)
			}
			if want := math.Sqrt(1 - 1/float64(n)); math.Abs(b.SE()-want) > .05*want {
				t.Errorf("n = %d: se of value %d is %.4f, want %.4f", n, at, b.SE(), want)
			}
		}
	}
}

func TestBootstrapIntervals(t *testing.T) {
	b, err := stat.BootstrapMean(ramp(200), 4000, stat.NewStream(1))
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(float64) (stat.Interval, error){"percentile": b.Percentile, "basic": b.Basic, "bca": b.BCa} {
		wide, err := f(.95)
		if err != nil {
			t.Fatal(err)
		}
		tight, err := f(.5)
		if err != nil {
			t.Fatal(err)
		}
		if !wide.Contains(b.Observed) || tight.HalfWidth() >= wide.HalfWidth() {
			t.Errorf("%s: 95%% %v and 50%% %v around %v", name, wide, tight, b.Observed)
		}
		if math.Abs(wide.HalfWidth()-1.96*b.SE()) > .1*wide.HalfWidth() {
			t.Errorf("%s: half-width %v is far from 1.96 se = %v", name, wide.HalfWidth(), 1.96*b.SE())
		}
		if _, err := f(1.5); err == nil {
			t.Errorf("%s: a confidence of 1.5 gave no error", name)
		}
	}
}

func TestBootstrapOfEqualValues(t *testing.T) {
	b, err := stat.BootstrapMean([]float64{.1, .1, .1}, 100, stat.NewStream(1))
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.BCa(.95)
	if err != nil || math.Abs(got.Lo-.1) > 1e-15 || math.Abs(got.Hi-.1) > 1e-15 {
		t.Errorf("BCa of equal values = %v, %v, want [.1, .1]", got, err)
	}
}

func TestBootstrapRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		xs        []float64
		resamples int
		want      string
	}{
		"empty sample":  {nil, 10, "0 values"},
		"not a number":  {[]float64{math.NaN()}, 10, "value 1 is NaN"},
		"no resamples":  {[]float64{1}, 0, "0 resamples"},
		"too many":      {[]float64{1}, stat.MaxResamples + 1, "resamples"},
		"sums overflow": {[]float64{math.MaxFloat64, math.MaxFloat64}, 10, "scale the sample"},
	} {
		if _, err := stat.BootstrapMean(tt.xs, tt.resamples, stat.NewStream(1)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error = %v, want one that says %q", name, err, tt.want)
		}
	}
}

func TestAdjustProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 30).Draw(t, "p")
		for _, c := range stat.Corrections() {
			adjusted, err := stat.Adjust(c, p)
			if err != nil {
				t.Fatal(err)
			}
			for i := range p {
				if adjusted[i] < p[i]*(1-1e-12) || adjusted[i] > 1 {
					t.Fatalf("%s: %v became %v", c, p[i], adjusted[i])
				}
				for j := range p {
					if p[i] < p[j] && adjusted[i] > adjusted[j] {
						t.Fatalf("%s is not monotone: %v -> %v and %v -> %v", c, p[i], adjusted[i], p[j], adjusted[j])
					}
				}
			}
		}
	})
}

func TestDecide(t *testing.T) {
	adjusted, significant, err := stat.Decide(stat.BH, []float64{.04, .01, .03}, .04)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]bool{true, true, true}, significant); diff != "" {
		t.Errorf("decisions on %v (-want +got):\n%s", adjusted, diff)
	}
	for name, f := range map[string]func() error{
		"no tests":      func() error { _, err := stat.Adjust(stat.BH, nil); return err },
		"p above 1":     func() error { _, err := stat.Adjust(stat.BH, []float64{1.1}); return err },
		"p is NaN":      func() error { _, err := stat.Adjust(stat.BH, []float64{math.NaN()}); return err },
		"unknown name":  func() error { _, err := stat.Adjust("fdr", []float64{.1}); return err },
		"level above 1": func() error { _, _, err := stat.Decide(stat.BH, []float64{.1}, 2); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
