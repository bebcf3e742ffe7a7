package rank_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchstone-eval/touchstone/evaltests/rank"
)

// vectorFiles are the vectors that concern this package; the same folder holds
// those of stat and metric.
var vectorFiles = map[string]func(*testing.T, []byte){
	"rbo_no_ties.json": checkRBO,
	"rbo_ties.json":    checkTiedRBO,
	"kendall_tau.json": checkKendall,
	"tau_ap.json":      checkTauAP,
}

func TestVectors(t *testing.T) {
	dirs := []string{"../../testdata/stats"}
	if dir, ok := os.LookupEnv("TOUCHSTONE_STAT_VECTORS"); ok {
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		for name, check := range vectorFiles {
			t.Run(fmt.Sprintf("dir=%s/file=%s", filepath.Base(dir), name), func(t *testing.T) {
				data, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				check(t, data)
			})
		}
	}
}

func decode[T any](t *testing.T, data []byte) (cases []T, tolerance float64) {
	t.Helper()
	var file struct {
		Tolerance float64
		Cases     []T
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) == 0 || file.Tolerance <= 0 {
		t.Fatalf("%d cases, tolerance %v", len(file.Cases), file.Tolerance)
	}
	return file.Cases, file.Tolerance
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %.17g, want %.17g within %g", what, got, want, tolerance)
	}
}

func checkRBO(t *testing.T, data []byte) {
	type vector struct {
		X, Y          []string
		P             float64
		Ext, Min, Max float64
		Res           float64
		Truncated     float64 `json:"truncated_at_min_len"`
		Average       float64 `json:"average_overlap_at_min_len"`
	}
	cases, tolerance := decode[vector](t, data)
	for i, c := range cases {
		what := fmt.Sprintf("case %d p=%v ", i, c.P)
		for _, rule := range []rank.TieRule{rank.TiesA, rank.TiesB, rank.TiesW} {
			for _, swap := range []bool{false, true} {
				x, y := rank.Untied(c.X), rank.Untied(c.Y)
				if swap {
					x, y = y, x
				}
				got, err := rank.NewRBO(x, y, c.P, rule)
				if err != nil {
					t.Fatal(err)
				}
				near(t, what+"ext", got.Ext, c.Ext, tolerance)
				near(t, what+"min", got.Min, c.Min, tolerance)
				near(t, what+"max", got.Max, c.Max, tolerance)
				near(t, what+"res", got.Res, c.Res, tolerance)
			}
		}
		depth := min(len(c.X), len(c.Y))
		truncated, err := rank.RBOTruncated(c.X[:depth], c.Y[:depth], c.P, depth)
		if err != nil {
			t.Fatal(err)
		}
		near(t, what+"truncated", truncated, c.Truncated, tolerance)
		average, err := rank.AverageOverlap(c.X, c.Y, depth)
		if err != nil {
			t.Fatal(err)
		}
		near(t, what+"average overlap", average, c.Average, tolerance)
	}
}

func checkTiedRBO(t *testing.T, data []byte) {
	type scores struct{ Ext, Min, Max, Res float64 }
	type vector struct {
		X, Y    string
		P       float64
		W, A, B scores
		Mean    *scores `json:"enumerated_mean_over_tie_permutations"`
	}
	cases, tolerance := decode[vector](t, data)
	for i, c := range cases {
		x, err := rank.ParseTied(c.X)
		if err != nil {
			t.Fatal(err)
		}
		y, err := rank.ParseTied(c.Y)
		if err != nil {
			t.Fatal(err)
		}
		for rule, want := range map[rank.TieRule]scores{rank.TiesW: c.W, rank.TiesA: c.A, rank.TiesB: c.B} {
			got, err := rank.NewRBO(x, y, c.P, rule)
			if err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("case %d rule %s p=%v ", i, rule, c.P)
			near(t, what+"ext", got.Ext, want.Ext, tolerance)
			near(t, what+"min", got.Min, want.Min, tolerance)
			near(t, what+"max", got.Max, want.Max, tolerance)
			near(t, what+"res", got.Res, want.Res, tolerance)
		}
		if c.Mean != nil {
			near(t, fmt.Sprintf("case %d mean over the orders of ties", i), c.A.Min, c.Mean.Min, tolerance)
		}
	}
}

func checkKendall(t *testing.T, data []byte) {
	type vector struct {
		X, Y       []float64
		Concordant int
		Discordant int
		TiesX      int      `json:"tied_pairs_x"`
		TiesY      int      `json:"tied_pairs_y"`
		A          *float64 `json:"tau_a"`
		B          *float64 `json:"tau_b"`
		P          *float64 `json:"p_exact_two_sided"`
	}
	cases, tolerance := decode[vector](t, data)
	for i, c := range cases {
		got, err := rank.Kendall(c.X, c.Y)
		if err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("case %d ", i)
		counts := [4]int{got.Concordant, got.Discordant, got.TiesX, got.TiesY}
		if want := [4]int{c.Concordant, c.Discordant, c.TiesX, c.TiesY}; counts != want {
			t.Errorf("%scounts = %v, want %v", what, counts, want)
		}
		if c.A != nil {
			near(t, what+"tau-a", got.A, *c.A, tolerance)
		}
		if got.BDefined != (c.B != nil) {
			t.Errorf("%stau-b defined: %v", what, got.BDefined)
		} else if c.B != nil {
			near(t, what+"tau-b", got.B, *c.B, tolerance)
		}
		if c.P != nil {
			near(t, what+"p", got.P, *c.P, tolerance)
		}
	}
}

func checkTauAP(t *testing.T, data []byte) {
	type vector struct {
		Ranking, Reference []string
		TauAP              float64 `json:"tau_ap"`
		Symmetric          float64 `json:"tau_ap_symmetric"`
	}
	cases, tolerance := decode[vector](t, data)
	for _, c := range cases {
		what := strings.Join(c.Ranking, " ")
		got, err := rank.TauAP(c.Ranking, c.Reference)
		if err != nil {
			t.Fatal(err)
		}
		near(t, what, got, c.TauAP, tolerance)
		got, err = rank.TauAPSymmetric(c.Ranking, c.Reference)
		if err != nil {
			t.Fatal(err)
		}
		near(t, what+" symmetric", got, c.Symmetric, tolerance)
	}
}
