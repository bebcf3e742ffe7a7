package selftest_test

import (
	"fmt"

	"github.com/touchstone-eval/touchstone/evaltests/selftest"
)

// A fake test shows what an assertion says when it fails, without failing.
func ExampleFakeT() {
	t := &selftest.FakeT{}
	failed := t.Do(func() {
		t.Errorf("q17: nDCG@10 %.2f is below the floor %.2f", 0.41, 0.60)
		t.FailNow()
	})
	fmt.Println(failed, t.Lines)
	// Output: true [q17: nDCG@10 0.41 is below the floor 0.60]
}
