package fuse_test

import (
	"fmt"
	"log"

	"github.com/touchstone-eval/touchstone/engine/fuse"
)

func Example() {
	vector := []string{"leave", "travel"}
	lexical := []string{"pay", "travel"}
	hits, err := fuse.RRF(vector, lexical, fuse.Weights{Vector: 1, Lexical: 1}, fuse.DefaultK)
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range hits {
		fmt.Printf("%-6s %.5f vector %d lexical %d\n", h.ID, h.Score, h.VectorRank, h.LexicalRank)
	}
	// Output:
	// travel 0.03226 vector 2 lexical 2
	// pay    0.01639 vector 0 lexical 1
	// leave  0.01639 vector 1 lexical 0
}
