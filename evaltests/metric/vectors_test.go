package metric_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
)

// TestVectors holds DCG, its ideal and nDCG with both gains to values computed
// with 50 digits, from testdata/stats and the folder that
// TOUCHSTONE_STAT_VECTORS names.
func TestVectors(t *testing.T) {
	dirs := []string{"../../testdata/stats"}
	if dir, ok := os.LookupEnv("TOUCHSTONE_STAT_VECTORS"); ok {
		dirs = append(dirs, dir)
	}
	type values struct{ DCG, IDCG, NDCG float64 }
	var file struct {
		Tolerance float64
		Cases     []struct {
			Retrieved []int `json:"retrieved_gains_in_rank_order"`
			Gold      []int `json:"gold_grades"`
			At        map[string]struct{ Linear, Exponential values }
		}
	}
	for _, dir := range dirs {
		data, err := os.ReadFile(filepath.Join(dir, "ndcg_two_gains.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &file); err != nil {
			t.Fatal(err)
		}
		if len(file.Cases) == 0 || file.Tolerance <= 0 {
			t.Fatalf("%d cases, tolerance %v", len(file.Cases), file.Tolerance)
		}
		for i, c := range file.Cases {
			j := metric.Judged{Ranks: c.Retrieved, Gold: metric.NewGold(c.Gold)}
			for cut, at := range c.At {
				for params, want := range map[string]values{"": at.Linear, "(dcg='exp-log2')": at.Exponential} {
					ms := []metric.Measure{mustParse(t, "DCG"+params+"@"+cut), mustParse(t, "iDCG"+params+"@"+cut), mustParse(t, "nDCG"+params+"@"+cut)}
					got, err := metric.EvalJudged(ms, j)
					if err != nil {
						t.Fatal(err)
					}
					for k, w := range []float64{want.DCG, want.IDCG, want.NDCG} {
						if math.Abs(got[k]-w) > file.Tolerance*max(1, w) {
							t.Errorf("case %d: %v = %.17g, want %.17g", i, ms[k], got[k], w)
						}
					}
				}
			}
		}
	}
}

func ExampleMeasure_Residual() {
	rbp, err := metric.Parse("RBP(p=0.5)")
	if err != nil {
		fmt.Println(err)
		return
	}
	residual, _ := rbp.Residual()
	// The second document was never judged, and the list ends after three.
	j := metric.Judged{Ranks: []int{1, metric.Absent, 0}, Gold: metric.NewGold([]int{1, 0})}
	values, err := metric.EvalJudged([]metric.Measure{rbp, residual}, j)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v = %v, at most %v\n", rbp, values[0], values[0]+values[1])
	// Output:
	// RBP(p=0.5) = 0.5, at most 0.875
}
