package stat_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

// vectorFiles are the vectors that concern this package, each with its check.
// The same folder holds vectors of rank and metric.
var vectorFiles = map[string]func(*testing.T, []byte){
	"sign_test.json":                   checkSign,
	"proportion_ci.json":               checkProportions,
	"multiple_testing.json":            checkAdjustments,
	"bootstrap_exact_enumeration.json": checkBootstrap,
	"wilcoxon_exact.json":              checkWilcoxonExact(stat.ZerosWilcox),
	"wilcoxon_exact_ties.json":         checkWilcoxonExact(stat.ZerosWilcox),
	"wilcoxon_pratt_exact.json":        checkWilcoxonExact(stat.ZerosPratt),
	"wilcoxon_normal.json":             checkWilcoxonNormal,
	"paired_t.json":                    checkPairedT,
	"randomization_exact.json":         checkSignFlip,
	"mde_power.json":                   checkTPower,
	"mcnemar.json":                     checkMcNemar,
	"newcombe.json":                    checkNewcombe,
	"equivalence.json":                 checkEquivalence,
	"paired_proportion_power.json":     checkProportionPower,
}

// TestVectors compares with values that other tools agreed on. Folders are
// testdata/stats and, if set, TOUCHSTONE_STAT_VECTORS.
func TestVectors(t *testing.T) {
	dirs := []string{"../../testdata/stats"}
	if dir, ok := os.LookupEnv("TOUCHSTONE_STAT_VECTORS"); ok {
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatalf("vectors: %v", err)
		}
		found := 0
		for _, e := range entries {
			check, ok := vectorFiles[e.Name()]
			if !ok {
				continue
			}
			found++
			t.Run(fmt.Sprintf("dir=%s/file=%s", filepath.Base(dir), e.Name()), func(t *testing.T) {
				data, err := os.ReadFile(filepath.Join(dir, e.Name()))
				if err != nil {
					t.Fatal(err)
				}
				check(t, data)
			})
		}
		if found == 0 {
			t.Errorf("%s holds no vector file that this test knows", dir)
		}
	}
}

// decode reads a vector file and refuses one without cases.
func decode[T any](t *testing.T, data []byte) (cases []T, tolerance float64) {
	t.Helper()
	var file struct {
		Tolerance json.RawMessage `json:"tolerance"`
		Cases     []T             `json:"cases"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) == 0 {
		t.Fatal("no cases")
	}
	if len(file.Tolerance) > 0 && file.Tolerance[0] != '{' {
		if err := json.Unmarshal(file.Tolerance, &tolerance); err != nil {
			t.Fatal(err)
		}
	}
	return file.Cases, tolerance
}

// near fails unless got is want within a relative tolerance (absolute below 1).
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
		t.Errorf("%s = %.17g, want %.17g within %g", what, got, want, tolerance)
	}
}

func checkSign(t *testing.T, data []byte) {
	type vector struct {
		Wins, Losses int
		P            float64 `json:"p_two_sided"`
		Greater      float64 `json:"p_greater"`
		Less         float64 `json:"p_less"`
	}
	cases, tolerance := decode[vector](t, data)
	for _, c := range cases {
		got, err := stat.SignTest(c.Wins, c.Losses)
		if err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("%d/%d ", c.Wins, c.Losses)
		near(t, what+"p", got.P, c.P, tolerance)
		near(t, what+"greater", got.Greater, c.Greater, tolerance)
		near(t, what+"less", got.Less, c.Less, tolerance)
		if c.P > 0 && math.Abs(got.P-c.P) > 1e-9*c.P {
			t.Errorf("%sp = %g, want %g: wrong in the first digits", what, got.P, c.P)
		}
	}
}

func checkProportions(t *testing.T, data []byte) {
	type vector struct {
		K, N     int
		Exact    [2]float64 `json:"clopper_pearson95"`
		Wilson   [2]float64 `json:"wilson95"`
		WilsonCC [2]float64 `json:"wilson_cc95"`
	}
	cases, tolerance := decode[vector](t, data)
	for _, c := range cases {
		for name, m := range map[string]struct {
			f    func(k, n int, confidence float64) (float64, float64, error)
			want [2]float64
		}{
			"clopper-pearson":  {stat.ClopperPearson, c.Exact},
			"wilson":           {stat.Wilson, c.Wilson},
			"wilson corrected": {stat.WilsonCorrected, c.WilsonCC},
		} {
			lo, hi, err := m.f(c.K, c.N, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("%s %d/%d ", name, c.K, c.N)
			near(t, what+"lo", lo, m.want[0], tolerance)
			near(t, what+"hi", hi, m.want[1], tolerance)
		}
	}
}

func checkAdjustments(t *testing.T, data []byte) {
	cases, tolerance := decode[map[string][]float64](t, data)
	for i, c := range cases {
		for _, correction := range stat.Corrections() {
			got, err := stat.Adjust(correction, c["p"])
			if err != nil {
				t.Fatal(err)
			}
			want := c[string(correction)]
			if len(want) != len(got) {
				t.Fatalf("case %d has %d values for %s, want %d", i, len(want), correction, len(got))
			}
			for j := range got {
				near(t, fmt.Sprintf("case %d %s[%d]", i, correction, j), got[j], want[j], tolerance)
			}
		}
	}
}

// checkBootstrap feeds all n^n resamples, so that nothing is random.
func checkBootstrap(t *testing.T, data []byte) {
	type vector struct {
		X    []float64
		SE   float64 `json:"bootstrap_se"`
		Z0   float64
		A    float64                          `json:"acceleration"`
		CI   map[string]map[string][2]float64 `json:"ci"`
		Mean float64
	}
	cases, tolerance := decode[vector](t, data)
	for i, c := range cases {
		sampled, err := stat.BootstrapMean(c.X, 10, stat.NewStream(1))
		if err != nil {
			t.Fatal(err)
		}
		b := stat.Bootstrap{Observed: sampled.Observed, Acceleration: sampled.Acceleration, Means: enumerateMeans(c.X)}
		what := fmt.Sprintf("case %d ", i)
		near(t, what+"mean", b.Observed, c.Mean, tolerance)
		near(t, what+"se", b.SE(), c.SE, tolerance)
		near(t, what+"z0", b.Bias(), c.Z0, tolerance)
		near(t, what+"acceleration", b.Acceleration, c.A, tolerance)
		for level, want := range c.CI {
			var confidence float64
			if _, err := fmt.Sscan(level, &confidence); err != nil {
				t.Fatal(err)
			}
			for name, f := range map[string]func(float64) (stat.Interval, error){
				"percentile_type7": b.Percentile, "basic_type7": b.Basic, "bca_type7": b.BCa,
			} {
				got, err := f(confidence)
				if err != nil {
					t.Fatal(err)
				}
				near(t, what+name+" lo", got.Lo, want[name][0], tolerance)
				near(t, what+name+" hi", got.Hi, want[name][1], tolerance)
			}
			for name, rule := range map[string]stat.QuantileRule{"percentile_type1": stat.InverseECDF, "percentile_type6": stat.Weibull} {
				for end, q := range []float64{(1 - confidence) / 2, (1 + confidence) / 2} {
					got, err := stat.Quantile(b.Means, q, rule)
					if err != nil {
						t.Fatal(err)
					}
					near(t, fmt.Sprintf("%s%s[%d]", what, name, end), got, want[name][end], tolerance)
				}
			}
		}
	}
}

// enumerateMeans lists the means of all n^n resamples, ascending.
func enumerateMeans(x []float64) []float64 {
	sums := []float64{0}
	for range x {
		next := make([]float64, 0, len(sums)*len(x))
		for _, s := range sums {
			for _, v := range x {
				next = append(next, s+v)
			}
		}
		sums = next
	}
	for i := range sums {
		sums[i] /= float64(len(x))
	}
	return sorted(sums)
}
