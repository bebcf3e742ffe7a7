package stat

import (
	"cmp"
	"fmt"
	"slices"
)

// Correction is a way to adjust p-values for the number of tests.
type Correction string

const (
	BH         Correction = "bh"         // Benjamini and Hochberg 1995: false discovery rate
	BY         Correction = "by"         // Benjamini and Yekutieli 2001: the same under any dependence
	Holm       Correction = "holm"       // Holm 1979: familywise error
	Hochberg   Correction = "hochberg"   // Hochberg 1988: familywise error, independent tests
	Bonferroni Correction = "bonferroni" // familywise error
)

// Corrections lists all of them, in the order of the constants.
func Corrections() []Correction { return []Correction{BH, BY, Holm, Hochberg, Bonferroni} }

// Adjust gives adjusted p-values in the order of the input. A test is
// significant at level q if its adjusted p is at most q (see Decide).
func Adjust(c Correction, p []float64) ([]float64, error) {
	if len(p) == 0 {
		return nil, fmt.Errorf("adjust %s: no p-values", c)
	}
	for i, x := range p {
		if !(x >= 0 && x <= 1) {
			return nil, fmt.Errorf("adjust %s: p-value %d is %v, want a number from 0 to 1", c, i+1, x)
		}
	}
	m := float64(len(p))
	var factor func(rank int) float64 // of the p-value with that rank, from 1
	fromTop := true                   // monotone by the minimum from the largest, else by the maximum from the smallest
	switch c {
	case BH:
		factor = func(rank int) float64 { return m / float64(rank) }
	case BY:
		harmonic := 0.0
		for i := range p {
			harmonic += 1 / float64(i+1)
		}
		factor = func(rank int) float64 { return harmonic * m / float64(rank) }
	case Hochberg:
		factor = func(rank int) float64 { return m - float64(rank) + 1 }
	case Holm:
		factor = func(rank int) float64 { return m - float64(rank) + 1 }
		fromTop = false
	case Bonferroni:
		factor = func(int) float64 { return m }
	default:
		return nil, fmt.Errorf("adjust %q: unknown correction, want one of %v", c, Corrections())
	}
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	adjusted := make([]float64, len(p))
	if fromTop {
		least := 1.0
		for rank := len(p); rank >= 1; rank-- {
			i := order[rank-1]
			least = min(least, factor(rank)*p[i])
			adjusted[i] = least
		}
		return adjusted, nil
	}
	most := 0.0
	for rank := 1; rank <= len(p); rank++ {
		i := order[rank-1]
		most = max(most, min(1, factor(rank)*p[i]))
		adjusted[i] = most
	}
	return adjusted, nil
}

// Decide is Adjust with the decision for each test: significant at level q.
func Decide(c Correction, p []float64, q float64) (adjusted []float64, significant []bool, err error) {
	if err := checkShare("level", q); err != nil {
		return nil, nil, err
	}
	adjusted, err = Adjust(c, p)
	if err != nil {
		return nil, nil, err
	}
	significant = make([]bool, len(p))
	for i, x := range adjusted {
		significant[i] = x <= q
	}
	return adjusted, significant, nil
}
