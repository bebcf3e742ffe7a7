package embedtest_test

import (
	"context"
	"fmt"

	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
)

func Example() {
	e := embedtest.New(4)
	defer e.Close()
	got, err := e.Embed(context.Background(), []string{"Red fox", "fox, red", "..."})
	fmt.Println(got[0].Tokens, err)
	fmt.Println(got[0].Values[0] == got[1].Values[0], got[2].Values)
	// Output:
	// 2 <nil>
	// true [0 0 0 0]
}
