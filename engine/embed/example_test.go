package embed_test

import (
	"context"
	"fmt"

	"github.com/touchstone-eval/touchstone/engine/embed"
)

func Example() {
	e, err := embed.Default()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	vectors, err := e.Embed(context.Background(), []string{
		"Where is the configuration file?",
		"Settings are read from config.toml in the home directory.",
		"Whales are mammals that live in the sea.",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	dot := func(a, b []float32) (sum float64) {
		for i := range a {
			sum += float64(float64(a[i]) * float64(b[i]))
		}
		return sum
	}
	question := vectors[0].Values
	fmt.Println(e.Info().Name, len(question))
	fmt.Println(dot(question, vectors[1].Values) > dot(question, vectors[2].Values))
	// Output:
	// static-256 256
	// true
}
