package metric_test

import (
	"fmt"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/rank"
)

func Example() {
	gold := metric.Grades{"setup": 2, "faq": 1, "news": 0}
	ranking, err := rank.New([]string{"news", "setup", "blog"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	measures, err := metric.ParseAll([]string{"nDCG@10", "RR", "R@3", "P(rel=2)@3"})
	if err != nil {
		fmt.Println(err)
		return
	}
	values, err := metric.EvalAll(measures, gold, ranking)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, m := range measures {
		fmt.Printf("%v %.4f\n", m, values[i])
	}
	// Output:
	// nDCG@10 0.4796
	// RR 0.5000
	// R@3 0.5000
	// P(rel=2)@3 0.3333
}
