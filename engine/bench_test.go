package engine_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
)

func BenchmarkIngest(b *testing.B) {
	docs := corpus(1000)
	for _, batch := range []int{1, 100, 500} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			part := docs[:100]
			if batch > 100 {
				part = docs
			}
			for b.Loop() {
				e := open(b, b.TempDir(), engine.Config{Embedder: embedtest.New(256), BatchSize: batch})
				ingest(b, e, part...)
				shut(b, e)
			}
			b.ReportMetric(float64(len(part)*b.N)/b.Elapsed().Seconds(), "docs/s")
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		e := open(b, b.TempDir(), engine.Config{Embedder: embedtest.New(256), BatchSize: 500})
		ingest(b, e, corpus(n)...)
		for _, q := range []struct {
			name string
			engine.Query
		}{
			{"plain", engine.Query{Text: questions[1], K: 10}},
			{"long", engine.Query{Text: questions[6], K: 10}},
			{"filtered", engine.Query{Text: questions[6], K: 10, Filters: map[string]string{"rare": "true"}}},
			{"literal", engine.Query{Text: "what is this?", K: 10}},
		} {
			b.Run(fmt.Sprintf("docs=%d/question=%s", n, q.name), func(b *testing.B) {
				for b.Loop() {
					if _, err := e.Search(context.Background(), q.Query); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
