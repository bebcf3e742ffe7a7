package rank_test

import (
	"fmt"

	"github.com/touchstone-eval/touchstone/evaltests/rank"
)

func Example() {
	golden := []string{"intro", "setup", "faq"}
	live := []string{"setup", "intro", "faq"}
	similarity, err := rank.RBONorm(live, golden, 0.9, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("rbo %.4f, first difference at rank %d\n", similarity, rank.FirstDivergence(golden, live))
	for _, m := range rank.Moves(golden, live) {
		fmt.Printf("%s %d -> %d\n", m.ID, m.Old, m.New)
	}
	// Output:
	// rbo 0.6310, first difference at rank 1
	// intro 1 -> 2
	// setup 2 -> 1
}
