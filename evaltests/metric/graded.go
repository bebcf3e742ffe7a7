package metric

import (
	"cmp"
	"math"
	"slices"
)

// The measures of graded relevance.

func ndcg(v *view, c *compiled) float64 {
	ideal := idealDCG(v, c)
	if ideal <= 0 {
		return 0
	}
	return dcg(v, c) / ideal
}

// dcg is the sum of gain/log2(rank+1) (Järvelin and Kekäläinen, TOIS 2002, as
// trec_eval has it).
func dcg(v *view, c *compiled) float64 {
	sum := 0.0
	for i, g := range v.grades[:v.depth(c)] {
		if gain := c.gain(g); gain != 0 {
			sum += gain / discount(i)
		}
	}
	return sum
}

// idealDCG orders all gold by gain, to the cut-off: never only what was
// retrieved, or finding a better document could lower nDCG.
func idealDCG(v *view, c *compiled) float64 {
	type step struct {
		gain  float64
		count int
	}
	var room [8]step
	steps := room[:0]
	for _, l := range v.gold.levels {
		if gain := c.gain(l.grade); gain > 0 {
			steps = append(steps, step{gain, l.count})
		}
	}
	if c.gains != nil {
		slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(b.gain, a.gain) })
	}
	sum, i := 0.0, 0
	for _, s := range steps {
		for range s.count {
			if c.cut > 0 && i == c.cut {
				return sum
			}
			sum += s.gain / discount(i)
			i++
		}
	}
	return sum
}

// discounts holds log2(rank+1) for the usual depths.
var discounts = func() (d [1024]float64) {
	for i := range d {
		d[i] = math.Log2(float64(i + 2))
	}
	return d
}()

// discount of the rank at index i.
func discount(i int) float64 {
	if i < len(discounts) {
		return discounts[i]
	}
	return math.Log2(float64(i + 2))
}

// expectedReciprocalRank is ERR (Chapelle et al., CIKM 2009): a reader stops at
// a document with probability (2^g - 1)/2^max.
func expectedReciprocalRank(v *view, c *compiled) float64 {
	sum, reading := 0.0, 1.0
	for i, g := range v.grades[:v.depth(c)] {
		if g <= 0 {
			continue
		}
		stop := (math.Exp2(float64(g)) - 1) / math.Exp2(float64(c.maxGrade))
		sum += float64(reading*stop) / float64(i+1)
		reading *= 1 - stop
	}
	return sum
}
