package golden_test

import (
	"fmt"

	"github.com/touchstone-eval/touchstone/evaltests/golden"
)

func Example() {
	blessed := golden.List{
		IDs:    []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"},
		Scores: []float64{9, 8, 8, 6, 5, 4, 3, 2, 1, 0.5},
	}
	for _, live := range []string{"acbdefghij", "abcdefghji", "bacdefghij", "abcdefgxyz"} {
		var ids []string
		for _, r := range live {
			ids = append(ids, string(r))
		}
		r, err := golden.Check(ids, blessed, 10, golden.DefaultEpsilon, golden.Current)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%s %s: RBO %.4f (floor %.4f), %d of %d kept\n", live, r.State, r.RBO, r.Floor, r.Overlap, r.N)
	}
	// Output:
	// acbdefghij identical: RBO 1.0000 (floor 0.9447), 10 of 10 kept
	// abcdefghji benign: RBO 0.9927 (floor 0.9447), 10 of 10 kept
	// bacdefghij drift: RBO 0.8465 (floor 0.9447), 10 of 10 kept
	// abcdefgxyz drift: RBO 0.9583 (floor 0.9447), 7 of 10 kept
}
