package metric

import "math"

// The measures of binary relevance. Each follows trec_eval where it has the
// measure, in the order of its additions too, so that values agree closely.

func precision(v *view, c *compiled) float64 { return ratio(v.within(c.cut), c.cut) }

func recall(v *view, c *compiled) float64 { return ratio(v.within(c.cut), v.r) }

// cappedRecall does not blame a list of k for a question with more than k
// relevant documents (BEIR's recall_cap).
func cappedRecall(v *view, c *compiled) float64 { return ratio(v.within(c.cut), min(c.cut, v.r)) }

// f1 is the harmonic mean of P@k and R@k: 2PR/(P+R) = 2h/(k+R).
func f1(v *view, c *compiled) float64 {
	if v.r == 0 {
		return 0
	}
	return ratio(2*v.within(c.cut), c.cut+v.r)
}

func success(v *view, c *compiled) float64 { return ratio(min(v.within(c.cut), 1), 1) }

func reciprocalRank(v *view, c *compiled) float64 {
	if len(v.hits) == 0 || v.hits[0] >= v.depth(c) {
		return 0
	}
	return 1 / float64(v.hits[0]+1)
}

// averagePrecision divides by all relevant documents, also at a cut-off.
func averagePrecision(v *view, c *compiled) float64 {
	sum, depth := 0.0, v.depth(c)
	for n, at := range v.hits {
		if at >= depth {
			break
		}
		sum += ratio(n+1, at+1)
	}
	if sum == 0 || v.r == 0 {
		return 0
	}
	return sum / float64(v.r)
}

func rPrecision(v *view, _ *compiled) float64 { return ratio(v.within(v.r), v.r) }

// bpref is the share of judged non-relevant documents that each relevant one
// precedes (Buckley and Voorhees, SIGIR 2004, as trec_eval bounds it).
func bpref(v *view, _ *compiled) float64 {
	nonrelevant := v.gold.judged() - v.r
	bound := float64(min(nonrelevant, v.r))
	sum, above, next := 0.0, 0, 0
	for _, at := range v.hits {
		for ; next < at; next++ {
			if v.grades[next] >= 0 && v.grades[next] < v.rel {
				above++
			}
		}
		if above == 0 {
			sum++
			continue
		}
		sum += 1 - float64(min(above, v.r))/bound
	}
	if v.r == 0 {
		return 0
	}
	return sum / float64(v.r)
}

// infAP estimates AP from a sampled pool (Yilmaz and Aslam, CIKM 2006), with
// trec_eval's smoothing.
func infAP(v *view, _ *compiled) float64 {
	const epsilon = 0.00001
	sum := 0.0
	relevant, nonrelevant, unjudged := 0.0, 0.0, 0.0
	for i, g := range v.grades {
		switch {
		case g == Absent:
		case g == Unjudged:
			unjudged++
		case g < v.rel:
			nonrelevant++
		case i == 0:
			relevant++
			sum++
		default:
			above := float64(i)
			pooled := (relevant + nonrelevant + unjudged) / above
			precise := (relevant + epsilon) / (relevant + nonrelevant + 2*epsilon)
			sum += 1/(above+1) + float64(above/(above+1)*pooled*precise)
			relevant++
		}
	}
	if v.r == 0 {
		return 0
	}
	return sum / float64(v.r)
}

// interpolated is the best precision at any rank that has at least a share x
// of the relevant documents at or above it.
func interpolated(v *view, c *compiled) float64 { return v.iprec(c.recall, c.old) }

func (v *view) iprec(x float64, old bool) float64 {
	need := int(math.Round(x * float64(v.r)))
	if old {
		need = int(float64(x*float64(v.r)) + 0.9)
	}
	best := 0.0
	for n := max(need, 1); n <= len(v.hits); n++ {
		best = max(best, ratio(n, v.hits[n-1]+1))
	}
	if need > len(v.hits) {
		return 0
	}
	return best
}

func elevenPoint(v *view, c *compiled) float64 {
	sum := 0.0
	for i := range 11 {
		sum += v.iprec(float64(i)/10, c.old)
	}
	return sum / 11
}

// rbp is rank-biased precision (Moffat and Zobel, TOIS 2008) for binary
// relevance: (1-p) times the sum of p^(rank-1) over relevant ranks.
func rbp(v *view, c *compiled) float64 {
	sum, depth := 0.0, v.depth(c)
	for _, at := range v.hits {
		if at >= depth {
			break
		}
		sum += math.Pow(c.p, float64(at))
	}
	return (1 - c.p) * sum
}

// rbpResidual is the weight of what is not known: ranks without a judged
// document, and everything below the list.
func rbpResidual(v *view, c *compiled) float64 {
	sum, weight := 0.0, 1.0
	for _, g := range v.grades[:v.depth(c)] {
		if g < 0 {
			sum += weight
		}
		weight *= c.p
	}
	return float64((1-c.p)*sum) + weight
}

// binG rewards a relevant document by 1/log2(2 + non-relevant ones above it).
func binG(v *view, _ *compiled) float64 {
	if v.r == 0 {
		return 0
	}
	sum := 0.0
	for n, at := range v.hits {
		sum += 1 / math.Log2(float64(2+at-n))
	}
	return sum / float64(v.r)
}

func utility(v *view, _ *compiled) float64 { return float64(2*len(v.hits) - len(v.grades)) }

func setPrecision(v *view, _ *compiled) float64 { return ratio(len(v.hits), len(v.grades)) }

func setRecall(v *view, _ *compiled) float64 { return ratio(len(v.hits), v.r) }

// setF is the F measure of the whole list; beta weighs recall against
// precision: (1+b²)PR/(b²P+R).
func setF(v *view, c *compiled) float64 {
	p, r := setPrecision(v, c), setRecall(v, c)
	if p == 0 || r == 0 {
		return 0
	}
	b := c.beta * c.beta
	return float64((1+b)*p*r) / (float64(b*p) + r)
}

func setAP(v *view, c *compiled) float64 { return setPrecision(v, c) * setRecall(v, c) }

// judgedShare is the share of the first k documents (fewer if the list is
// shorter) that have a grade.
func judgedShare(v *view, c *compiled) float64 {
	depth := v.depth(c)
	return ratio(depth-unjudged(v.grades[:depth]), depth)
}

// unjudgedShare is trec_eval 10's unj: without a grade among the first k, over
// k, also when the list is shorter.
func unjudgedShare(v *view, c *compiled) float64 {
	return ratio(unjudged(v.grades[:v.depth(c)]), c.cut)
}

func unjudged(grades []int) int {
	n := 0
	for _, g := range grades {
		if g < 0 {
			n++
		}
	}
	return n
}

func one(*view, *compiled) float64 { return 1 }

func retrieved(v *view, _ *compiled) float64 { return float64(len(v.grades)) }

func relevant(v *view, _ *compiled) float64 { return float64(v.r) }

func relevantRetrieved(v *view, _ *compiled) float64 { return float64(len(v.hits)) }

func nonrelevantJudgedRetrieved(v *view, _ *compiled) float64 {
	return float64(len(v.grades) - len(v.hits) - unjudged(v.grades))
}
