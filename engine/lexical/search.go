package lexical

import (
	"context"
	"fmt"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search"
)

// Totals are the collection's size, which BM25 compares a passage with.
type Totals struct {
	Passages int
	Tokens   int // sum of [Tokens] over the passages
}

// Query is a question to an index.
type Query struct {
	Text    string
	K       int // most hits to return
	Totals  Totals
	Allow   func(id string) bool // nil allows all; others are left out before the cut to K
	Explain bool                 // also say how each score came about
}

// Hit is a passage that has at least one term of the question.
type Hit struct {
	ID      string
	Score   float64 // above 0
	Explain string  // with Query.Explain
}

// Result is a ranking: by score, higher first, then by id.
type Result struct {
	Hits  []Hit
	Total int // passages that match, before the cut
	Terms int // different terms of the question; 0 if analysis left none
}

// Search ranks the passages that share a term with the question.
func (x *Index) Search(ctx context.Context, q Query) (Result, error) {
	ts := terms(q.Text)
	if len(ts) == 0 || q.Totals.Passages == 0 || q.K == 0 {
		return Result{Terms: len(ts)}, nil
	}
	// bleve calls the number "field cardinality" and divides it by the number
	// of documents to get the average length in tokens.
	ctx = context.WithValue(ctx, search.BM25StatsKey, &search.BM25Stats{
		DocCount:         float64(q.Totals.Passages),
		FieldCardinality: map[string]int{field: q.Totals.Tokens},
	})
	req := bleve.NewSearchRequestOptions(&anyTerm{terms: ts, allow: q.Allow}, q.K, 0, q.Explain)
	req.SortBy([]string{"-_score", "_id"})
	found, err := x.bleve.SearchInContext(ctx, req)
	if err != nil {
		return Result{}, fmt.Errorf("lexical %s: search: %w", x.path, err)
	}
	if found.Status != nil && found.Status.Failed > 0 {
		return Result{}, fmt.Errorf("lexical %s: search: %d of %d parts failed: %v", x.path, found.Status.Failed, found.Status.Total, found.Status.Errors)
	}
	r := Result{Total: int(found.Total), Terms: len(ts), Hits: make([]Hit, len(found.Hits))}
	for i, h := range found.Hits {
		r.Hits[i] = Hit{ID: h.ID, Score: h.Score}
		if q.Explain && h.Expl != nil {
			r.Hits[i].Explain = h.Expl.String()
		}
	}
	return r, nil
}
