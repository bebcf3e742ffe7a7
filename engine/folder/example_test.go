package folder_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
	"github.com/touchstone-eval/touchstone/engine/folder"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "notes")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	write("leave.md", "# Leave\n\nEveryone has **thirty days** of [leave](hr.md) a year.\n")
	write("travel.html", "<title>Travel</title><p>Trips are booked by the travel desk.<script>alert(1)</script>")
	write("logo.png", "\x89PNG")

	index, err := folder.Open(ctx, dir, folder.Options{Engine: engine.Config{Embedder: embedtest.New(64)}})
	if err != nil {
		log.Fatal(err)
	}
	defer index.Close()
	report, err := index.Sync(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.New, "new,", report.Unchanged, "unchanged, skipped:", report.Skips)

	answer, err := index.Search(ctx, folder.Question{Text: "how many days of leave?", K: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range answer.Hits {
		var text strings.Builder
		for _, span := range hit.Snippet {
			if span.Match {
				fmt.Fprintf(&text, "[%s]", span.Text)
			} else {
				text.WriteString(span.Text)
			}
		}
		fmt.Printf("%d. %s (%s): %s\n", hit.Rank, hit.Title, hit.Path, text.String())
	}
	// Output:
	// 2 new, 0 unchanged, skipped: [{logo.png not Markdown, text or HTML}]
	// 1. Leave (leave.md): [Leave] Everyone has thirty [days] of [leave] a year.
}
