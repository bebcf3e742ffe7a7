package engine_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "engine")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	e, err := engine.Open(ctx, dir, engine.Config{Embedder: embedtest.New(64)})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	report, err := e.Ingest(ctx,
		engine.Document{ID: "leave", Title: "Leave", Text: "Employees get thirty days of leave a year."},
		engine.Document{ID: "travel", Title: "Travel", Text: "Trips are booked by the travel desk."},
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Documents, "documents,", report.Chunks, "chunks")

	result, err := e.Search(ctx, engine.Query{Text: "how many days of leave?", K: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range result.Hits {
		fmt.Println(h.DocumentID, h.ChunkID)
	}
	for _, s := range result.Stages {
		fmt.Printf("%s %s %d %q\n", s.Name, s.State, len(s.Hits), s.Reason)
	}
	// Output:
	// 2 documents, 2 chunks
	// leave leave#0
	// vector executed 2 ""
	// lexical executed 1 ""
	// fusion executed 2 ""
	// boosted executed 2 "identity: no boost is declared"
	// candidates executed 2 ""
	// rerank skipped 2 "no model"
	// final executed 1 ""
}
