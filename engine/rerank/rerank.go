package rerank

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrDeadline is wrapped by the error of a judge that ran out of time: there
// is no judgement, and the order of the candidates stands.
var ErrDeadline = errors.New("out of time")

// Passage is a candidate as the judge sees it.
type Passage struct {
	ID    string
	Title string
	Text  string
}

// Judge says how well passages answer a question. Implementations are safe
// for concurrent use, and the score of a passage does not depend on the
// passages beside it.
type Judge interface {
	// Name tells one judge from another: two that may differ in a score have
	// different names.
	Name() string
	// Judge returns one score a passage, higher for better, in the order of
	// the passages.
	Judge(ctx context.Context, question string, passages []Passage) ([]float64, error)
}

// Hit is a candidate after judgement.
type Hit struct {
	ID    string
	Score float64 // the judge's
	From  int     // rank among the candidates, from 1
}

// Order ranks the candidates by the judge's scores.
func Order(ctx context.Context, j Judge, question string, candidates []Passage) ([]Hit, error) {
	if len(candidates) == 0 {
		return nil, nil
	}
	scores, err := j.Judge(ctx, question, candidates)
	if errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ErrDeadline) {
		err = fmt.Errorf("%w: %w", ErrDeadline, err)
	}
	if err != nil {
		return nil, fmt.Errorf("rerank by %s: %w", j.Name(), err)
	}
	if len(scores) != len(candidates) {
		return nil, fmt.Errorf("rerank by %s: %d scores for %d passages", j.Name(), len(scores), len(candidates))
	}
	hits := make([]Hit, len(candidates))
	for i, c := range candidates {
		if math.IsNaN(scores[i]) || math.IsInf(scores[i], 0) {
			return nil, fmt.Errorf("rerank by %s: passage %s: score %v", j.Name(), c.ID, scores[i])
		}
		hits[i] = Hit{ID: c.ID, Score: scores[i], From: i + 1}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits, nil
}
