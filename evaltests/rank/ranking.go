package rank

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Ranking is an ordered list of document ids, best first, with optional
// scores. It never changes once made; the zero value is the empty ranking.
type Ranking struct {
	ids    []string
	scores []float64 // nil when the subject gave none
}

// New makes a ranking of ids, best first. Scores may be nil; otherwise there
// is one finite score for each id. The order of ids is kept as given: a score
// that rises down the list is not an error here (see Rises). Empty and
// duplicate ids are refused, by name.
func New(ids []string, scores []float64) (Ranking, error) {
	if scores != nil && len(scores) != len(ids) {
		return Ranking{}, fmt.Errorf("ranking has %d ids and %d scores: give one score for each id, or none", len(ids), len(scores))
	}
	if err := checkIDs(ids); err != nil {
		return Ranking{}, fmt.Errorf("ranking %w", err)
	}
	for i, s := range scores {
		if math.IsNaN(s) || math.IsInf(s, 0) {
			return Ranking{}, fmt.Errorf("ranking has the score %v at rank %d (%q): scores must be finite numbers", s, i+1, ids[i])
		}
	}
	return Ranking{ids: slices.Clone(ids), scores: slices.Clone(scores)}, nil
}

// Len is the number of ids.
func (r Ranking) Len() int { return len(r.ids) }

// ID is the id at index i, counted from 0.
func (r Ranking) ID(i int) string { return r.ids[i] }

// IDs copies the ids, best first.
func (r Ranking) IDs() []string { return slices.Clone(r.ids) }

// Score is the score at index i, counted from 0; false if the ranking has no
// scores.
func (r Ranking) Score(i int) (float64, bool) {
	if r.scores == nil {
		return 0, false
	}
	return r.scores[i], true
}

// Top is the ranking cut to its first k ids.
func (r Ranking) Top(k int) Ranking {
	k = min(max(k, 0), len(r.ids))
	top := Ranking{ids: r.ids[:k:k]}
	if r.scores != nil {
		top.scores = r.scores[:k:k]
	}
	return top
}

// Rises is the first rank (from 1) whose score is higher than that of the rank
// above it, 0 if there is none. Suites measure the order that was returned, so
// a rise is a warning about the subject, not an error.
func (r Ranking) Rises() int {
	for i := 1; i < len(r.scores); i++ {
		if r.scores[i] > r.scores[i-1] {
			return i + 1
		}
	}
	return 0
}

// checkIDs refuses empty and duplicate ids, with up to three examples.
func checkIDs(ids []string) error {
	seen := make(map[string]int, len(ids))
	var repeated []string
	for i, id := range ids {
		if id == "" {
			return fmt.Errorf("has an empty id at rank %d: every entry needs an id", i+1)
		}
		if first, ok := seen[id]; ok {
			repeated = append(repeated, fmt.Sprintf("%q at ranks %d and %d", id, first, i+1))
			continue
		}
		seen[id] = i + 1
	}
	if len(repeated) == 0 {
		return nil
	}
	more := ""
	if len(repeated) > 3 {
		more = fmt.Sprintf(" and %d more", len(repeated)-3)
		repeated = repeated[:3]
	}
	return fmt.Errorf("has duplicate ids (%s%s): each id may occur once", strings.Join(repeated, ", "), more)
}
