package seed_test

import (
	"context"
	"fmt"
	"os"

	"github.com/touchstone-eval/touchstone/evaltests/seed"
)

func ExampleBuild() {
	cache, err := os.MkdirTemp("", "seeds")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(cache)
	engine := newFake() // any seed.Engine
	for range 2 {
		s, err := seed.Build(context.Background(), engine, seed.Request{
			Kind: seed.Cached, Cache: cache, Pack: "toy", Digest: "0123456789ab", Unit: "document", Documents: documents(3),
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(s.Decision.Action, "because", s.Decision.Reason)
		s.Close()
	}
	// Output:
	// build because no seed of this key
	// reuse because the stamp is equal
}

func ExampleAssertLive() {
	v := seed.Survey{Counts: []seed.Count{{Substrate: seed.EventDates, Counted: seed.Known(0), Enumerated: seed.Known(0)}}}
	fmt.Println(seed.AssertLive("temporal", v))
	// Output:
	// EVAL REFUSED [temporal]: substrate event_dates: 0 rows (needs > 0); reseed with `EVAL_ALLOW_WIPE=1 touchstone seed build PACK`
}
