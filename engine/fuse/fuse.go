package fuse

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// DefaultK is the k of the paper. A small k lets the first rank of one arm win
// over agreement between both.
const DefaultK = 60

// Weights say how much each arm counts; 0 leaves it out.
type Weights struct {
	Vector  float64
	Lexical float64
}

// Validate refuses weights that are negative, not finite, or both 0.
func (w Weights) Validate() error {
	for _, arm := range []struct {
		name   string
		weight float64
	}{{"vector", w.Vector}, {"lexical", w.Lexical}} {
		if !(arm.weight >= 0) || math.IsInf(arm.weight, 0) {
			return fmt.Errorf("fuse: %s weight %v: want a finite number of at least 0", arm.name, arm.weight)
		}
	}
	if w.Vector == 0 && w.Lexical == 0 {
		return fmt.Errorf("fuse: both weights are 0: nothing would be ranked")
	}
	return nil
}

// Hit is a fused passage.
type Hit struct {
	ID          string
	Score       float64
	VectorRank  int // from 1; 0 if the arm did not return it
	LexicalRank int
}

// RRF fuses two rankings, best first. k must be at least 1.
func RRF(vector, lexical []string, w Weights, k int) ([]Hit, error) {
	if err := w.Validate(); err != nil {
		return nil, err
	}
	if k < 1 {
		return nil, fmt.Errorf("fuse: k %d: want at least 1", k)
	}
	hits := make([]Hit, 0, len(vector)+len(lexical))
	at := make(map[string]int, len(vector)+len(lexical))
	hit := func(id string) *Hit {
		i, ok := at[id]
		if !ok {
			i = len(hits)
			at[id] = i
			hits = append(hits, Hit{ID: id})
		}
		return &hits[i]
	}
	if w.Vector > 0 {
		for i, id := range vector {
			h := hit(id)
			if h.VectorRank > 0 {
				return nil, fmt.Errorf("fuse: vector ranking holds %q at ranks %d and %d", id, h.VectorRank, i+1)
			}
			h.VectorRank = i + 1
		}
	}
	if w.Lexical > 0 {
		for i, id := range lexical {
			h := hit(id)
			if h.LexicalRank > 0 {
				return nil, fmt.Errorf("fuse: lexical ranking holds %q at ranks %d and %d", id, h.LexicalRank, i+1)
			}
			h.LexicalRank = i + 1
		}
	}
	for i := range hits {
		h := &hits[i]
		h.Score = share(w.Vector, k, h.VectorRank) + share(w.Lexical, k, h.LexicalRank)
	}
	slices.SortFunc(hits, compare)
	return hits, nil
}

func share(weight float64, k, rank int) float64 {
	if rank == 0 {
		return 0
	}
	return weight / float64(k+rank)
}

func compare(a, b Hit) int {
	if c := cmp.Compare(b.Score, a.Score); c != 0 {
		return c
	}
	if c := cmp.Compare(lexicalOrder(a), lexicalOrder(b)); c != 0 {
		return c
	}
	return strings.Compare(a.ID, b.ID)
}

func lexicalOrder(h Hit) int {
	if h.LexicalRank == 0 {
		return math.MaxInt
	}
	return h.LexicalRank
}
