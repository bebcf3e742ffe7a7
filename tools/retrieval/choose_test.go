package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

// set makes a development set with one list of values a weight.
func set(name string, weights []float64, values ...[]float64) Curve {
	c := Curve{Pack: name, Cases: len(values[0]), Weights: weights}
	for _, v := range values {
		c.Runs = append(c.Runs, Run{Values: map[string]map[string][]float64{"final": {linear: v}}})
	}
	return c
}

func ExampleChoose() {
	weights := []float64{0, 0.5, 1}
	c, err := Choose(weights, []Curve{
		set("a", weights, []float64{.5, .5, .5, .5}, []float64{.7, .7, .6, .8}, []float64{.6, .9, .5, .7}),
		set("b", weights, []float64{.2, .4}, []float64{.4, .4}, []float64{.3, .5}),
	})
	fmt.Printf("best %v, chosen %v, %v\n", c.Best, c.Weight, err)
	for _, p := range c.Points {
		fmt.Printf("%v: average %.4f, loss %.4f, SE %.4f\n", p.Weight, p.Average, p.Loss, p.SE)
	}
	// Output:
	// best 0.5, chosen 1, <nil>
	// 0: average 0.4000, loss 0.1500, SE 0.0540
	// 0.5: average 0.5500, loss 0.0000, SE 0.0000
	// 1: average 0.5375, loss 0.0125, SE 0.0625
}

func TestChoose(t *testing.T) {
	weights := []float64{0, 0.2, 1}
	for _, tc := range []struct {
		name         string
		values       [3][]float64
		best, chosen float64
	}{
		{"a loss within noise keeps the larger weight", [3][]float64{{.1, .1}, {.5, .5}, {.9, .0}}, .2, 1},
		{"a sure loss does not", [3][]float64{{.1, .1}, {.5, .5}, {.4, .41}}, .2, .2},
		{"a smaller weight within noise is no reason", [3][]float64{{.9, .0}, {.5, .5}, {.1, .1}}, .2, .2},
		{"equal throughout: the best is the smallest, and stays", [3][]float64{{.5, .5}, {.5, .5}, {.5, .5}}, 0, 0},
		{"the largest is best", [3][]float64{{.1, .1}, {.2, .2}, {.3, .3}}, 1, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := Choose(weights, []Curve{set("a", weights, tc.values[:]...)})
			require.NoError(t, err)
			assert.Equal(t, tc.best, c.Best)
			assert.Equal(t, tc.chosen, c.Weight)
		})
	}
}

func TestChooseCountsSetsAlike(t *testing.T) {
	weights := []float64{0, 1}
	large := set("large", weights, []float64{.6, .6, .6, .6, .6, .6}, []float64{.5, .5, .5, .5, .5, .5})
	small := set("small", weights, []float64{.1}, []float64{.4})
	c, err := Choose(weights, []Curve{large, small})
	require.NoError(t, err)
	assert.Equal(t, 1.0, c.Best, "by the average of the means, not of the questions")
}

func TestChooseRefusesWhatWasNotMeasured(t *testing.T) {
	short := set("a", []float64{0, 1}, []float64{.1, .2}, []float64{.3})
	_, err := Choose([]float64{0, 1}, []Curve{short})
	require.EqualError(t, err, "a: weight 1: no nDCG@10 of stage final")
	_, err = Choose([]float64{0, .5}, []Curve{short})
	require.EqualError(t, err, "a: weight 0.5 was not measured")
	_, err = Choose(nil, []Curve{short})
	require.EqualError(t, err, "choose: no weights")
}

// The chosen weight is never below the best one, and its loss is never larger
// than a standard error.
func TestChooseKeepsItsRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "questions")
		var values [][]float64
		for range weights {
			values = append(values, rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(t, "values"))
		}
		c, err := Choose(weights, []Curve{set("a", weights, values...)})
		require.NoError(t, err)
		require.GreaterOrEqual(t, c.Weight, c.Best)
		for _, p := range c.Points {
			require.GreaterOrEqual(t, p.Loss, -1e-12)
			if p.Weight == c.Weight && c.Weight != c.Best {
				require.Less(t, p.Loss, p.SE)
			}
			if p.Weight > c.Weight {
				require.GreaterOrEqual(t, p.Loss, p.SE)
			}
		}
	})
}

func TestHalves(t *testing.T) {
	var cases []pack.Case
	for i, stratum := range []string{"a", "a", "b", "a", "none", "b"} {
		cases = append(cases, pack.Case{
			Question: pack.Question{ID: fmt.Sprint(i)}, Stratum: stratum,
			Gold: pack.Gold{Answerable: stratum != "none", Grades: map[string]int{"d": 0}},
		})
	}
	ids := func(cases []pack.Case) (out []string) {
		for _, c := range cases {
			out = append(out, c.Question.ID)
		}
		return out
	}
	assert.Equal(t, []string{"0", "2", "3"}, ids(EveryOther(cases)))
	asked := AskedAbout(cases)
	assert.Equal(t, []string{"4"}, ids(asked), "never a question of the test figures")
	assert.Equal(t, 1, asked[0].Gold.Grades["d"])
	assert.Equal(t, 0, cases[4].Gold.Grades["d"], "the pack is left as it was")
}
