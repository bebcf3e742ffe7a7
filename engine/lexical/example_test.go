package lexical_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/touchstone-eval/touchstone/engine/lexical"
)

func Example() {
	dir, err := os.MkdirTemp("", "lexical")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	x, err := lexical.Create(filepath.Join(dir, "index"))
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()

	docs := []lexical.Document{
		{ID: "a", Title: "Leave", Text: "Thirty days a year."},
		{ID: "b", Title: "Travel", Text: "The desk books trips for up to nine days."},
	}
	var totals lexical.Totals
	for _, d := range docs {
		totals.Passages++
		totals.Tokens += lexical.Tokens(d.Title, d.Text)
	}
	if err := x.Apply(docs, nil, "write 1"); err != nil {
		log.Fatal(err)
	}
	r, err := x.Search(context.Background(), lexical.Query{Text: "days AND (leave", K: 10, Totals: totals})
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range r.Hits {
		fmt.Println(h.ID)
	}
	// Output:
	// a
	// b
}
