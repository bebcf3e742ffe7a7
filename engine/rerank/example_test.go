package rerank_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/touchstone-eval/touchstone/engine/rerank"
)

// wordCount judges by how often the question occurs.
type wordCount struct{}

func (wordCount) Name() string { return "word count" }

func (wordCount) Judge(_ context.Context, question string, passages []rerank.Passage) ([]float64, error) {
	scores := make([]float64, len(passages))
	for i, p := range passages {
		scores[i] = float64(strings.Count(p.Text, question))
	}
	return scores, nil
}

func Example() {
	hits, err := rerank.Order(context.Background(), wordCount{}, "fox", []rerank.Passage{
		{ID: "a", Text: "no such animal"}, {ID: "b", Text: "fox and fox"}, {ID: "c", Text: "nor here"},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range hits {
		fmt.Println(h.ID, h.Score, "was", h.From)
	}
	// Output:
	// b 2 was 2
	// a 0 was 1
	// c 0 was 3
}
