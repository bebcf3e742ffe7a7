package rank

import (
	"fmt"
	"math"
)

// Tau is Kendall's rank correlation of paired values, and what it is made of.
type Tau struct {
	A float64 // (concordant - discordant) / all pairs
	// B corrects for ties: (C-D)/sqrt((n0-tx)(n0-ty)). It does not exist where
	// all values of one side are equal; BDefined is false then and B is 0.
	B        float64
	BDefined bool
	// P is the exact two-sided p-value of no association. It exists without
	// ties and to 500 pairs; PDefined is false otherwise and P is 0.
	P        float64
	PDefined bool

	Concordant, Discordant int
	TiesX, TiesY           int // pairs that are tied there, also if in both
}

// maxExactTau bounds the n of an exact p.
const maxExactTau = 500

// Kendall correlates x[i] with y[i]. It wants at least two pairs of finite
// numbers.
func Kendall(x, y []float64) (Tau, error) {
	if len(x) != len(y) {
		return Tau{}, fmt.Errorf("kendall tau: %d values against %d, want pairs", len(x), len(y))
	}
	if len(x) < 2 {
		return Tau{}, fmt.Errorf("kendall tau: %d pairs, want at least 2", len(x))
	}
	for i := range x {
		if x[i]-x[i] != 0 || y[i]-y[i] != 0 {
			return Tau{}, fmt.Errorf("kendall tau: pair %d is (%v, %v), want finite numbers", i+1, x[i], y[i])
		}
	}
	var t Tau
	for i := range x {
		for j := range i {
			tx, ty := x[i] == x[j], y[i] == y[j]
			if tx {
				t.TiesX++
			}
			if ty {
				t.TiesY++
			}
			switch {
			case tx || ty:
			case (x[i] < x[j]) == (y[i] < y[j]):
				t.Concordant++
			default:
				t.Discordant++
			}
		}
	}
	pairs := len(x) * (len(x) - 1) / 2
	difference := float64(t.Concordant - t.Discordant)
	t.A = difference / float64(pairs)
	if t.BDefined = t.TiesX < pairs && t.TiesY < pairs; t.BDefined {
		t.B = difference / math.Sqrt(float64(pairs-t.TiesX)*float64(pairs-t.TiesY))
	}
	if t.PDefined = t.TiesX+t.TiesY == 0 && len(x) <= maxExactTau; t.PDefined {
		t.P = exactTau(len(x), t.Discordant)
	}
	return t, nil
}

// exactTau doubles the smaller tail of the number of inversions of a random
// permutation of n, whose distribution is a product of uniform ones.
func exactTau(n, inversions int) float64 {
	least := min(inversions, n*(n-1)/2-inversions)
	share := make([]float64, least+1) // of permutations with that many
	share[0] = 1
	for m := 2; m <= n; m++ {
		// A new element adds 0 to m-1 inversions, equally likely.
		next := make([]float64, least+1)
		window := 0.0
		for i := range next {
			window += share[i]
			if i >= m {
				window -= share[i-m]
			}
			next[i] = window / float64(m)
		}
		share = next
	}
	tail := 0.0
	for _, s := range share {
		tail += s
	}
	return min(1, 2*tail)
}

// KendallRankings correlates the ranks that two rankings give to the same ids.
func KendallRankings(x, y Tied) (Tau, error) {
	rx, ry, err := ranksOf(x, y)
	if err != nil {
		return Tau{}, err
	}
	return Kendall(rx, ry)
}

// ranksOf gives each id its rank in both, tied ids the same. The ids must be
// the same ones.
func ranksOf(x, y Tied) (rx, ry []float64, err error) {
	if err := checkPair(x.IDs(), y.IDs()); err != nil {
		return nil, nil, err
	}
	inY := make(map[string]int)
	for i, g := range y {
		for _, id := range g {
			inY[id] = i
		}
	}
	for i, g := range x {
		for _, id := range g {
			j, ok := inY[id]
			if !ok {
				return nil, nil, fmt.Errorf("id %q is in the first ranking only: a correlation wants the same ids in both", id)
			}
			rx, ry = append(rx, float64(i)), append(ry, float64(j))
		}
	}
	if n := len(y.IDs()); n != len(rx) {
		return nil, nil, fmt.Errorf("the second ranking has %d ids and the first %d: a correlation wants the same ids in both", n, len(rx))
	}
	return rx, ry, nil
}

// TauAP is the AP rank correlation of a ranking with a reference (Yilmaz,
// Aslam and Robertson, SIGIR 2008), from -1 to 1: disagreement near the top
// weighs more. It is not symmetric: 2/(N-1) times the sum over ranks i >= 2 of
// the share of ids above i that the reference has above it too, less 1. Both
// hold the same two or more ids.
func TauAP(ranking, reference []string) (float64, error) {
	if _, _, err := ranksOf(Untied(ranking), Untied(reference)); err != nil {
		return 0, err
	}
	n := len(ranking)
	if n < 2 {
		return 0, fmt.Errorf("tau-ap: %d ids, want at least 2", n)
	}
	at := positions(reference)
	sum := 0.0
	for i := 1; i < n; i++ {
		right := 0
		for _, above := range ranking[:i] {
			if at[above] < at[ranking[i]] {
				right++
			}
		}
		sum += float64(right) / float64(i)
	}
	return 2*sum/float64(n-1) - 1, nil
}

// TauAPSymmetric is the mean of TauAP in both directions.
func TauAPSymmetric(x, y []string) (float64, error) {
	a, err := TauAP(x, y)
	if err != nil {
		return 0, err
	}
	b, err := TauAP(y, x)
	if err != nil {
		return 0, err
	}
	return (a + b) / 2, nil
}
