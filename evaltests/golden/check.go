package golden

import (
	"fmt"
	"math"
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/rank"
)

// Persistence is the p of the oracle's rank-biased overlap.
const Persistence = 0.9

// DefaultEpsilon is the relative width of a tie group.
const DefaultEpsilon = 1e-6

// Against names which golden list a live list is held to. Current follows the
// blessed changes; the anchor stays, so that many small blessings cannot add
// up to a large one unseen.
type Against int

// The two lists.
const (
	Current Against = iota
	Anchor
)

func (a Against) String() string {
	if a == Anchor {
		return "anchor"
	}
	return "current"
}

// State of one case under the check.
type State string

// The states.
const (
	Identical       State = "identical" // equal, ties aside
	Benign          State = "benign"    // moved, above both floors
	Drift           State = "drift"
	CouldNotMeasure State = "could_not_measure"
)

// List is a ranked list with the scores that decide its ties.
type List struct {
	IDs    []string  `json:"ids"`
	Scores []float64 `json:"scores"` // as long as IDs
}

// Result of one case.
type Result struct {
	N            int // depth compared
	State        State
	RBO          float64 // truncated and normalised; 1 is identical
	Floor        float64
	Overlap      int // ids in common within N
	OverlapFloor int
	Divergent    int         // first rank that differs, from 1; 0 when identical
	Moves        []rank.Move // ids whose rank differs, old to new
	Matched      []string    // the golden's ids as compared: ties in live's order, cut at the depth; nil when identical
	LargestGroup int         // ids in the golden's largest tie group
}

// Check holds a live list to a golden one at depth k. Ties come from the
// golden's scores alone: a group spans at most epsilon, relative, from its
// first member, without chaining, and its ids may come in any order. A golden
// whose scores tie more than half of it could call any order benign, so it is
// CouldNotMeasure. A k below 1, ids that are empty or there twice, and scores
// that are not as many as the ids are errors.
func Check(live []string, g List, k int, epsilon float64, against Against) (Result, error) {
	if k < 1 {
		return Result{}, fmt.Errorf("depth %d: want at least 1", k)
	}
	if len(g.IDs) != len(g.Scores) {
		return Result{}, fmt.Errorf("golden has %d ids and %d scores: want one score for each id", len(g.IDs), len(g.Scores))
	}
	live = live[:min(k, len(live))]
	n := min(k, max(len(live), len(g.IDs)))
	r := Result{N: n}
	groups := tieGroups(g.Scores, epsilon)
	for _, size := range groups {
		r.LargestGroup = max(r.LargestGroup, size)
	}
	if r.LargestGroup > max(2, n/2) {
		r.State = CouldNotMeasure
		return r, nil
	}
	matched := g.IDs
	if r.LargestGroup > 1 {
		matched = permute(g.IDs, groups, live)
	}
	matched = matched[:min(k, len(matched))]
	r.Floor, r.OverlapFloor = Floor(n, against), OverlapFloor(n, against)
	if slices.Equal(live, matched) { // most cases of most runs
		if err := distinct(live); err != nil {
			return Result{}, err
		}
		r.State, r.RBO, r.Overlap = Identical, 1, len(live)
		return r, nil
	}
	var err error
	if r.RBO, err = rank.RBONorm(live, matched, Persistence, k); err != nil {
		return Result{}, err
	}
	r.Overlap = rank.Overlap(live, matched, n)
	r.Divergent = rank.FirstDivergence(live, matched)
	r.Moves, r.Matched = rank.Moves(matched, live), matched
	r.State = Benign
	if r.RBO < r.Floor || r.Overlap < r.OverlapFloor || n <= 2 {
		r.State = Drift
	}
	return r, nil
}

// distinct refuses a list with an id that is empty or there twice.
func distinct(ids []string) error {
	seen := make(map[string]bool, len(ids))
	for i, id := range ids {
		if id == "" || seen[id] {
			return fmt.Errorf("id %q at rank %d is empty or there twice: want distinct ids", id, i+1)
		}
		seen[id] = true
	}
	return nil
}

// Floor is the least RBO at depth n that is no drift: half way between the
// mildest forbidden and the worst permitted swap of neighbours. Current
// permits a swap of ranks 3 and 4 and forbids 2 and 3; the anchor permits 2
// and 3 and forbids 1 and 2. At n <= 2, and for current at n = 3, nothing is
// permitted.
func Floor(n int, against Against) float64 {
	permitted := 3 // the first rank of the worst permitted swap
	if against == Anchor {
		permitted = 2
	}
	if n <= permitted {
		return 1
	}
	return (swapped(n, permitted) + swapped(n, permitted-1)) / 2
}

// OverlapFloor is the least number of ids in common: 9 of 10 against current,
// 7 of 10 against the anchor, in proportion and rounded down. Without it the
// last three of ten could be replaced at an RBO of .9583.
func OverlapFloor(n int, against Against) int {
	if against == Anchor {
		return n * 7 / 10
	}
	return n * 9 / 10
}

// swapped is the RBO of a list of n ids with itself, ranks i and i+1 swapped:
// the agreement is (i-1)/i at depth i and 1 at every other.
func swapped(n, i int) float64 {
	total, weight, lost := 0.0, 1.0, 0.0
	for d := 1; d <= n; d++ {
		if d == i {
			lost = weight / float64(i)
		}
		total += weight
		weight = float64(weight * Persistence)
	}
	return 1 - lost/total
}

// tieGroups returns the sizes of the runs of equal scores.
func tieGroups(scores []float64, epsilon float64) []int {
	var sizes []int
	for i := 0; i < len(scores); {
		first, j := scores[i], i+1
		for j < len(scores) && math.Abs(scores[j]-first) <= epsilon*math.Abs(first) {
			j++
		}
		sizes = append(sizes, j-i)
		i = j
	}
	return sizes
}

// permute reorders golden ids inside their tie groups to match live: the
// members that live has come first, in live's order.
func permute(ids []string, groups []int, live []string) []string {
	at := map[string]int{}
	for i, id := range live {
		at[id] = i
	}
	place := func(id string) int {
		if i, ok := at[id]; ok {
			return i
		}
		return len(live)
	}
	out := slices.Clone(ids)
	start := 0
	for _, size := range groups {
		slices.SortStableFunc(out[start:start+size], func(a, b string) int { return place(a) - place(b) })
		start += size
	}
	return out
}
