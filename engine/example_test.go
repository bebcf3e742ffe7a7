package engine_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
	"github.com/touchstone-eval/touchstone/engine/fuse"
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

// A channel reaches a document that shares no word with the question.
func ExampleConfig_channels() {
	dir, err := os.MkdirTemp("", "engine")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	e, err := engine.Open(ctx, dir, engine.Config{
		Embedder: embedtest.New(16),
		Weights:  fuse.Weights{Lexical: 1},
		Channels: engine.Channels{Graph: engine.ChannelSetting{On: true}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Ingest(ctx,
		engine.Document{ID: "inspection", Text: "The inspection of the pier led to POL-358."},
		engine.Document{ID: "POL-358", Text: "A ladder needs a second person at its foot."},
	); err != nil {
		log.Fatal(err)
	}
	r, err := e.Search(ctx, engine.Query{Text: "inspection of the pier", K: 2})
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range r.Hits {
		fmt.Println(h.DocumentID)
	}
	for _, c := range r.Channels[2:] {
		fmt.Printf("%s fired %v, contributed %v, skipped %q\n", c.Name, c.Fired, c.Contributed, c.Skipped)
	}
	// Output:
	// inspection
	// POL-358
	// graph fired true, contributed true, skipped ""
	// temporal fired false, contributed false, skipped "off"
	// pages fired false, contributed false, skipped "off"
	// episodes fired false, contributed false, skipped "off"
}
