package trec_test

import (
	"fmt"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/metric/trec"
)

func Example() {
	qrels, err := trec.ReadQrels("gold.qrels", strings.NewReader("q1 0 setup 2\nq1 0 faq 1\nq2 0 news 1\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := trec.ReadRun("bm25.run", strings.NewReader("q1 Q0 news 1 9.1 bm25\nq1 Q0 setup 2 8.5 bm25\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	measures, err := metric.ParseAll([]string{"nDCG@10", "RR"})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := trec.Score(qrels, run, trec.Options{Measures: measures})
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range result.Lines(true) {
		fmt.Println(line.Measure, line.Question, line.Value)
	}
	fmt.Println("without results:", result.Missing)
	// Output:
	// nDCG@10 q1 0.4796249331362629
	// RR q1 0.5
	// nDCG@10 q2 0
	// RR q2 0
	// nDCG@10 all 0.23981246656813146
	// RR all 0.25
	// without results: [q2]
}
