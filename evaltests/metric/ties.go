package metric

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// TieRange is what a measure is worth over all orders of documents that a
// subject scored alike.
type TieRange struct {
	Min, Max float64 // relevant documents last, and first, in each group
	Mean     float64 // all orders equally likely
	// Exact is false where Mean is that of 2,000 drawn orders, because the
	// measure has no closed form and there are more than 2,000 orders. Min and
	// Max then take in the drawn orders, too.
	Exact bool
}

// tieOrders bounds the orders that are looked at one by one.
const tieOrders = 2000

// OverTies measures one question over all orders within groups of neighbours.
// Groups are sizes that add up to the number of ranks; those of 1 are no tie.
// The expectation of sums over ranks, of AP, of RR and of Success is exact
// (McSherry and Najork, "Computing Information Retrieval Performance Measures
// Efficiently in the Presence of Tied Scores", ECIR 2008).
func OverTies(m Measure, j Judged, groups []int, options ...Option) (TieRange, error) {
	if err := checkGroups(groups, len(j.Ranks)); err != nil {
		return TieRange{}, err
	}
	if j.Raw != nil {
		return TieRange{}, fmt.Errorf("%v: ties among chunks of documents have no order to choose: collapse them first", m)
	}
	e, err := NewEvaluator([]Measure{m}, options...)
	if err != nil {
		return TieRange{}, err
	}
	t := tieWalk{e: e, c: &e.measures[0], j: j}
	t.j.Ranks = slices.Clone(j.Ranks)
	t.groups = groups
	if m.judgedOnly {
		t.dropUnjudged()
	}
	return t.rangeOf()
}

func checkGroups(groups []int, ranks int) error {
	total := 0
	for _, g := range groups {
		if g < 1 {
			return fmt.Errorf("tie group of %d documents: want at least 1", g)
		}
		total += g
	}
	if total != ranks {
		return fmt.Errorf("tie groups hold %d documents and the ranking %d: want the same", total, ranks)
	}
	return nil
}

type tieWalk struct {
	e      *Evaluator
	c      *compiled
	j      Judged
	groups []int
	err    error
}

// dropUnjudged does what judged_only does, while the groups are known.
func (t *tieWalk) dropUnjudged() {
	var ranks, groups []int
	at := 0
	for _, g := range t.groups {
		before := len(ranks)
		for _, grade := range t.j.Ranks[at : at+g] {
			if grade >= 0 {
				ranks = append(ranks, grade)
			}
		}
		at += g
		if n := len(ranks) - before; n > 0 {
			groups = append(groups, n)
		}
	}
	t.j.Ranks, t.groups = ranks, groups
}

// worth orders documents from worst to best.
func (t *tieWalk) worth(grade int) float64 {
	if t.c.gains != nil {
		return t.c.gain(grade)
	}
	return float64(grade)
}

func (t *tieWalk) value() float64 {
	var v [1]float64
	if err := t.e.Eval(t.j, v[:]); err != nil && t.err == nil {
		t.err = err
	}
	return v[0]
}

// each calls f for the ranks of every group.
func (t *tieWalk) each(f func(ranks []int)) {
	at := 0
	for _, g := range t.groups {
		f(t.j.Ranks[at : at+g])
		at += g
	}
}

func (t *tieWalk) rangeOf() (TieRange, error) {
	t.each(func(ranks []int) {
		slices.SortFunc(ranks, func(a, b int) int { return cmp.Or(cmp.Compare(t.worth(b), t.worth(a)), cmp.Compare(b, a)) })
	})
	best := t.value()
	t.each(slices.Reverse)
	worst := t.value()
	r := TieRange{Min: min(best, worst), Max: max(best, worst), Exact: true}
	switch {
	case t.c.kind.linear:
		r.Mean = t.linearMean(worst)
	case t.c.kind.name == "AP" || t.c.kind.name == "GMAP":
		r.Mean = t.meanAP()
	case t.c.kind.name == "RR":
		r.Mean = t.meanRR()
	case t.c.kind.name == "Success":
		r.Mean = t.meanSuccess()
	default:
		t.look(&r)
	}
	r.Mean = min(max(r.Mean, r.Min), r.Max) // but for rounding
	return r, t.err
}

// linearMean turns each group around once: every document then stood at each
// of its ranks equally often.
func (t *tieWalk) linearMean(base float64) float64 {
	mean := base
	t.each(func(ranks []int) {
		if len(ranks) == 1 || ranks[0] == ranks[len(ranks)-1] {
			return // sorted: all alike
		}
		sum := 0.0
		for range ranks {
			sum += t.value() - base
			first := ranks[0]
			copy(ranks, ranks[1:])
			ranks[len(ranks)-1] = first
		}
		mean += sum / float64(len(ranks))
	})
	return mean
}

// hits counts the relevant among some ranks.
func (t *tieWalk) hits(ranks []int) int {
	n := 0
	for _, g := range ranks {
		if g >= t.c.rel {
			n++
		}
	}
	return n
}

func (t *tieWalk) depth() int {
	if t.c.cut > 0 {
		return t.c.cut
	}
	return math.MaxInt
}

func (t *tieWalk) meanAP() float64 {
	sum, above, at := 0.0, 0, 0
	t.each(func(ranks []int) {
		n, r := len(ranks), t.hits(ranks)
		for i := 1; i <= n && r > 0 && at+i <= t.depth(); i++ {
			// Relevant documents at or above this rank, given one stands here.
			among := 0.0
			if n > 1 {
				among = float64(i-1) * float64(r-1) / float64(n-1)
			}
			sum += float64(r) / float64(n) * (float64(1+above) + among) / float64(at+i)
		}
		above += r
		at += n
	})
	relevant := t.j.Gold.Relevant(t.c.rel)
	if relevant == 0 {
		return 0
	}
	return sum / float64(relevant)
}

func (t *tieWalk) meanRR() float64 {
	mean, at, found := 0.0, 0, false
	t.each(func(ranks []int) {
		n, r := len(ranks), t.hits(ranks)
		if !found && r > 0 {
			found = true
			none := 1.0 // so far
			for i := 1; i <= n-r+1 && at+i <= t.depth(); i++ {
				here := float64(r) / float64(n-i+1)
				mean += float64(none*here) / float64(at+i)
				none *= 1 - here
			}
		}
		at += n
	})
	return mean
}

func (t *tieWalk) meanSuccess() float64 {
	none, at := 1.0, 0
	t.each(func(ranks []int) {
		n, r := len(ranks), t.hits(ranks)
		for i := 0; i < n && at+i < t.depth() && none > 0; i++ {
			none *= max(0, float64(n-i-r)) / float64(n-i)
		}
		at += n
	})
	return 1 - none
}

// look goes through all orders if they are few, and else draws some.
func (t *tieWalk) look(r *TieRange) {
	sum, n := 0.0, 0
	see := func() {
		v := t.value()
		sum += v
		n++
		r.Min, r.Max = min(r.Min, v), max(r.Max, v)
	}
	if r.Exact = t.orders() <= tieOrders; r.Exact {
		t.permute(0, 0, see)
	} else {
		// A seed of its own: the same question gives the same figures.
		random := rand.New(rand.NewPCG(0x7469, 0x6573))
		for range tieOrders {
			t.each(func(ranks []int) {
				random.Shuffle(len(ranks), func(i, j int) { ranks[i], ranks[j] = ranks[j], ranks[i] })
			})
			see()
		}
	}
	r.Mean = sum / float64(n)
}

// orders counts the distinguishable orders, up to a little over the bound.
func (t *tieWalk) orders() float64 {
	orders := 1.0
	t.each(func(ranks []int) {
		same := make(map[int]int)
		for i, g := range ranks {
			same[g]++
			orders = orders * float64(i+1) / float64(same[g])
		}
	})
	return orders
}

// permute visits every distinguishable order of every group. Ranks of each
// group are sorted when it begins, so that the next order is the next greater.
func (t *tieWalk) permute(group, at int, see func()) {
	if group == len(t.groups) {
		see()
		return
	}
	ranks := t.j.Ranks[at : at+t.groups[group]]
	slices.Sort(ranks)
	for {
		t.permute(group+1, at+len(ranks), see)
		if !nextOrder(ranks) {
			return
		}
	}
}

// nextOrder is the next greater permutation; false at the last.
func nextOrder(s []int) bool {
	i := len(s) - 2
	for i >= 0 && s[i] >= s[i+1] {
		i--
	}
	if i < 0 {
		return false
	}
	j := len(s) - 1
	for s[j] <= s[i] {
		j--
	}
	s[i], s[j] = s[j], s[i]
	slices.Reverse(s[i+1:])
	return true
}
