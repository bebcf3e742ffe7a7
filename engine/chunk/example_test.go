package chunk_test

import (
	"fmt"

	"github.com/touchstone-eval/touchstone/engine/chunk"
)

func Example() {
	text := "The kettle is blue. It holds a litre.\n\nThe pan is red."
	for _, c := range chunk.Split(text, chunk.Config{MaxWords: 8}) {
		fmt.Printf("%s %d-%d %q\n", chunk.ID("shop#1", c.Ordinal), c.Start, c.End, c.Text)
	}
	// Output:
	// shop%231#0 0-37 "The kettle is blue. It holds a litre."
	// shop%231#1 39-54 "The pan is red."
}
