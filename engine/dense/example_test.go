package dense_test

import (
	"context"
	"fmt"
	"log"

	"github.com/touchstone-eval/touchstone/engine/dense"
)

func Example() {
	x := dense.New(2)
	for id, v := range map[string][]float32{"east": {1, 0}, "north": {0, 1}, "far north": {0, 9}} {
		if err := x.Put(id, v); err != nil {
			log.Fatal(err)
		}
	}
	r, err := x.Search(context.Background(), []float32{0.1, 1}, 2, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range r.Hits {
		fmt.Printf("%s %.3f\n", h.ID, h.Score)
	}
	// Output:
	// far north 0.995
	// north 0.995
}
