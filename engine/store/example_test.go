package store_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/touchstone-eval/touchstone/engine/store"
)

func Example() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(dir, "store.sqlite"), store.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	_, state, err := s.Put(ctx, store.Entry{
		Document: store.Document{ID: "leave", Text: "Thirty days."},
		Chunks:   []store.Chunk{{ID: "leave#0", Start: 0, End: 12, Tokens: 2}},
	})
	if err != nil {
		log.Fatal(err)
	}
	totals, err := s.Totals(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("after %d write: %d chunk of %d tokens\n", state.Sequence, totals.Chunks, totals.Tokens)
	// Output: after 1 write: 1 chunk of 2 tokens
}
