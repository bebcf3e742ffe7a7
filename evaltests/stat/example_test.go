package stat_test

import (
	"fmt"

	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

func Example() {
	sign, err := stat.SignTest(29, 15)
	if err != nil {
		fmt.Println(err)
		return
	}
	lo, hi, err := stat.Wilson(37, 50, 0.95)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("29 wins, 15 losses: p = %.6f\n", sign.P)
	fmt.Printf("37 of 50: %.3f to %.3f\n", lo, hi)
	// Output:
	// 29 wins, 15 losses: p = 0.048767
	// 37 of 50: 0.604 to 0.841
}
