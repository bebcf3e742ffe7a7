package compare_test

import (
	"fmt"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
)

func Example() {
	// Ten questions, the relevant document at rank 2; the treatment's reranker
	// puts it first in eight, and loses one.
	base := ranks("base", without, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2)
	treatment := ranks("treatment", with, 1, 1, 1, 1, 1, 1, 1, 1, 2, 12)

	_, err := compare.Compare(base, []compare.Side{treatment}, compare.Options{})
	fmt.Println("undeclared:", err)

	c, err := compare.Compare(base, []compare.Side{treatment}, compare.Options{Vary: []string{"judge"}, AA: []compare.Side{again(base)}})
	if err != nil {
		panic(err)
	}
	t := c.Treatments[0]
	for _, x := range t.Broken() {
		fmt.Println("broken:", x.Question, x.Missed[1])
	}
	for _, s := range t.Sentences {
		fmt.Println(s)
	}
	fmt.Println(t.Words(), t.Gate, t.Advice)
	// Output:
	// undeclared: base and treatment cannot be compared: configuration differs in judge (none -> m), which was not declared; declare it with --vary judge, or run both alike
	// broken: where is q0009? pushed below 10 at rerank
	// 8 cases are better, 1 is worse and 1 is equal: net +7.
	// 1 case broke and 0 were mended.
	// RR@10 goes from 0.5000 to 0.8500 over 10 pairs, by +0.3500 (95 % interval +0.0000 to +0.5000).
	// The sign-flip test gives p = 0.0391: significant at 0.1.
	// SIGNAL: +0.3500 is past the floor 0 by proof; rerank touched 9 of 9 moved cases.
	// SIGNAL PASS flip on
}
