package stat_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

func checkWilcoxonExact(zeros stat.ZeroRule) func(*testing.T, []byte) {
	return func(t *testing.T, data []byte) {
		type vector struct {
			D       []float64
			Plus    float64 `json:"W_plus"`
			P       float64 `json:"p_two_sided"`
			Greater float64 `json:"p_greater"`
			Less    float64 `json:"p_less"`
		}
		cases, tolerance := decode[vector](t, data)
		for i, c := range cases {
			got, err := stat.WilcoxonTest(c.D, zeros)
			if err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("case %d ", i)
			if !got.Exact {
				t.Errorf("%sis not exact", what)
			}
			near(t, what+"W+", got.Plus, c.Plus, 0)
			near(t, what+"p", got.P, c.P, tolerance)
			near(t, what+"greater", got.Greater, c.Greater, tolerance)
			near(t, what+"less", got.Less, c.Less, tolerance)
		}
	}
}

func checkWilcoxonNormal(t *testing.T, data []byte) {
	type result struct {
		Plus  float64 `json:"r_plus"`
		Minus float64 `json:"r_minus"`
		Z, P  float64
	}
	type vector struct {
		D        []float64
		Zeros    int    `json:"n_zero"`
		Wilcox   result `json:"wilcox_nocc"`
		WilcoxCC result `json:"wilcox_cc"`
		Pratt    result `json:"pratt_nocc"`
		PrattCC  result `json:"pratt_cc"`
	}
	cases, tolerance := decode[vector](t, data)
	for i, c := range cases {
		for _, v := range []struct {
			zeros      stat.ZeroRule
			continuity bool
			want       result
		}{
			{stat.ZerosWilcox, false, c.Wilcox}, {stat.ZerosWilcox, true, c.WilcoxCC},
			{stat.ZerosPratt, false, c.Pratt}, {stat.ZerosPratt, true, c.PrattCC},
		} {
			got, err := stat.WilcoxonNormal(c.D, v.zeros, v.continuity)
			if err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("case %d %s continuity %v ", i, v.zeros, v.continuity)
			if got.Zeros != c.Zeros || got.Exact {
				t.Errorf("%szeros %d, exact %v, want %d, false", what, got.Zeros, got.Exact, c.Zeros)
			}
			near(t, what+"W+", got.Plus, v.want.Plus, 0)
			near(t, what+"W-", got.Minus, v.want.Minus, 0)
			near(t, what+"z", got.Z, v.want.Z, tolerance)
			near(t, what+"p", got.P, v.want.P, tolerance)
		}
	}
}

func checkPairedT(t *testing.T, data []byte) {
	type vector struct {
		A, B []float64
		Mean float64 `json:"mean_diff_b_minus_a"`
		SD   float64 `json:"sd_diff"`
		T    float64
		DF   int
		P    float64    `json:"p_two_sided"`
		CI   [2]float64 `json:"ci95"`
		DZ   float64    `json:"cohen_dz"`
	}
	cases, tolerance := decode[vector](t, data)
	for i, c := range cases {
		d, err := stat.Diffs(c.A, c.B)
		if err != nil {
			t.Fatal(err)
		}
		got, err := stat.PairedTTest(d, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("case %d ", i)
		if got.DF != c.DF {
			t.Errorf("%sdf = %d, want %d", what, got.DF, c.DF)
		}
		near(t, what+"mean", got.Mean, c.Mean, tolerance)
		near(t, what+"sd", got.SD, c.SD, tolerance)
		near(t, what+"t", got.T, c.T, tolerance)
		near(t, what+"p", got.P, c.P, tolerance)
		near(t, what+"ci lo", got.CI.Lo, c.CI[0], tolerance)
		near(t, what+"ci hi", got.CI.Hi, c.CI[1], tolerance)
		near(t, what+"d_z", got.DZ, c.DZ, tolerance)
	}
}

func checkSignFlip(t *testing.T, data []byte) {
	type vector struct {
		D       []float64
		Mean    float64
		P       float64 `json:"p_two_sided"`
		Greater float64 `json:"p_greater"`
	}
	cases, tolerance := decode[vector](t, data)
	for i, c := range cases {
		got, err := stat.SignFlipTest(c.D, 1, stat.NewStream(1))
		if err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("case %d ", i)
		if !got.Exact {
			t.Errorf("%sis not exact", what)
		}
		near(t, what+"mean", got.Mean, c.Mean, tolerance)
		near(t, what+"p", got.P, c.P, tolerance)
		near(t, what+"greater", got.Greater, c.Greater, tolerance)
	}
}

func checkTPower(t *testing.T, data []byte) {
	type vector struct {
		N            int
		SD           float64 `json:"sd_diff"`
		Alpha, Power float64
		Normal       float64 `json:"mde_normal"`
		T            float64 `json:"mde_t"`
		PowerAt      float64 `json:"power_at_mde_normal_t"`
	}
	var file struct {
		Tolerance struct{ Normal, T float64 }
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	cases, _ := decode[vector](t, data)
	for i, c := range cases {
		normal, mde, err := stat.PairedTMDE(c.N, c.SD, c.Alpha, c.Power)
		if err != nil {
			t.Fatal(err)
		}
		power, err := stat.PairedTPower(c.N, c.Normal, c.SD, c.Alpha)
		if err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("case %d ", i)
		near(t, what+"normal", normal, c.Normal, file.Tolerance.Normal)
		near(t, what+"t", mde, c.T, file.Tolerance.T)
		near(t, what+"power", power, c.PowerAt, file.Tolerance.T)
	}
}

func checkMcNemar(t *testing.T, data []byte) {
	type vector struct {
		Table [4]int
		P     float64
		MidP  float64  `json:"mid_p"`
		Odds  *float64 `json:"odds_ratio"`
	}
	cases, tolerance := decode[vector](t, data)
	for _, c := range cases {
		got, err := stat.McNemarTest(c.Table[0], c.Table[1], c.Table[2], c.Table[3])
		if err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("%v ", c.Table)
		near(t, what+"p", got.P, c.P, tolerance)
		near(t, what+"mid-p", got.MidP, c.MidP, tolerance)
		if got.OddsDefined != (c.Odds != nil) {
			t.Errorf("%sodds ratio defined: %v", what, got.OddsDefined)
		} else if c.Odds != nil {
			near(t, what+"odds ratio", got.OddsRatio, *c.Odds, tolerance)
		}
	}
}

func checkNewcombe(t *testing.T, data []byte) {
	type vector struct {
		Table                  [4]int
		Confidence, Difference float64
		Lo, Hi                 float64
	}
	cases, tolerance := decode[vector](t, data)
	for _, c := range cases {
		difference, ci, err := stat.Newcombe(c.Table[0], c.Table[1], c.Table[2], c.Table[3], c.Confidence)
		if err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("%v at %v ", c.Table, c.Confidence)
		near(t, what+"difference", difference, c.Difference, tolerance)
		near(t, what+"lo", ci.Lo, c.Lo, tolerance)
		near(t, what+"hi", ci.Hi, c.Hi, tolerance)
	}
}

func checkEquivalence(t *testing.T, data []byte) {
	type vector struct {
		D             []float64
		Margin, Alpha float64
		P             float64
		Lower         float64 `json:"p_lower"`
		Upper         float64 `json:"p_upper"`
		CI            [2]float64
		Equivalent    bool
	}
	cases, tolerance := decode[vector](t, data)
	for i, c := range cases {
		got, err := stat.EquivalenceTest(c.D, c.Margin, c.Alpha)
		if err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("case %d ", i)
		near(t, what+"p", got.P, c.P, tolerance)
		near(t, what+"lower", got.Lower, c.Lower, tolerance)
		near(t, what+"upper", got.Upper, c.Upper, tolerance)
		near(t, what+"ci lo", got.CI.Lo, c.CI[0], tolerance)
		near(t, what+"ci hi", got.CI.Hi, c.CI[1], tolerance)
		if got.Equivalent != c.Equivalent {
			t.Errorf("%sequivalent = %v, want %v", what, got.Equivalent, c.Equivalent)
		}
	}
}

func checkProportionPower(t *testing.T, data []byte) {
	type vector struct {
		N                    int
		P, Rho, Alpha, Power float64
		Discordance          float64
		Normal               float64      `json:"mde_normal"`
		At                   [][2]float64 `json:"power_at"`
		Exact                *float64     `json:"mde_exact"`
		Smallest             *float64     `json:"smallest_attainable"`
	}
	cases, tolerance := decode[vector](t, data)
	for i, c := range cases {
		pp := stat.PairedProportions{P: c.P, Rho: c.Rho}
		what := fmt.Sprintf("case %d ", i)
		near(t, what+"discordance", pp.Discordance(), c.Discordance, tolerance)
		normal, err := pp.NormalMDE(c.N, c.Alpha, c.Power)
		if err != nil {
			t.Fatal(err)
		}
		near(t, what+"normal", normal, c.Normal, tolerance)
		for _, at := range c.At {
			power, err := pp.ExactPower(c.N, at[0], c.Alpha)
			if err != nil {
				t.Fatal(err)
			}
			near(t, fmt.Sprintf("%spower at %v", what, at[0]), power, at[1], tolerance)
		}
		exact, possible, err := pp.ExactMDE(c.N, c.Alpha, c.Power)
		if err != nil {
			t.Fatal(err)
		}
		if possible != (c.Exact != nil) {
			t.Errorf("%spossible = %v", what, possible)
		} else if possible {
			near(t, what+"exact", exact, *c.Exact, tolerance)
		}
		smallest, attainable, err := stat.SmallestAttainable(c.N, c.Alpha)
		if err != nil {
			t.Fatal(err)
		}
		if attainable != (c.Smallest != nil) {
			t.Errorf("%sattainable = %v", what, attainable)
		} else if attainable {
			near(t, what+"smallest attainable", smallest, *c.Smallest, tolerance)
		}
	}
}
