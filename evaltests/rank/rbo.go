package rank

import (
	"fmt"
	"math"
)

// TieRule says how RBO treats ids that share a rank (Corsi and Urbano, "The
// Treatment of Ties in Rank-Biased Overlap", SIGIR 2024). Without ties all
// rules agree.
type TieRule string

const (
	// TiesA takes a tie for an order that is not known: the mean over all
	// orders. The default.
	TiesA TieRule = "a"
	// TiesB is TiesA corrected for what ties hide, so that RBO(x, x) is 1.
	TiesB TieRule = "b"
	// TiesW takes tied ids for equal: all have the top rank of their group
	// (Webber, Moffat and Zobel 2010, equation 28).
	TiesW TieRule = "w"
)

// RBO is rank-biased overlap of two rankings that may go on beyond what is
// known of them (Webber, Moffat and Zobel, "A Similarity Measure for
// Indefinite Rankings", TOIS 2010).
type RBO struct {
	Ext float64 // agreement goes on as it was; the figure to report
	Min float64 // nothing below the lists agrees
	Max float64 // everything below the lists agrees as far as it can
	Res float64 // Max - Min, what is not known
}

// NewRBO compares two rankings at a persistence p, strictly between 0 and 1:
// the mean depth of comparison is 1/(1-p). Lists of different length, also an
// empty one, are allowed; two empty lists are identical (Ext 1) with nothing
// known (Min 0, Max 1). Empty and duplicate ids are errors.
func NewRBO(x, y Tied, p float64, rule TieRule) (RBO, error) {
	if err := checkRBO(x, y, p, rule); err != nil {
		return RBO{}, err
	}
	a := newAgreement(x, y, rule)
	if a.l == 0 {
		return RBO{Ext: 1, Min: 0, Max: 1, Res: 1}, nil
	}
	var ext, least, most, atS float64
	weight := p // p^d
	harmonic := 0.0
	for d := 1; d <= a.l; d++ {
		a.step()
		seen := a.value(a.shared())
		sLeast, sMost, sExt := seen, seen, seen
		if d == a.s {
			atS = seen
		}
		if d > a.s {
			missing := float64(d - a.s)
			sMost = a.value(a.shared() + a.unseen(d-a.s))
			sExt = a.value(a.shared() + float64(missing*atS)*a.unseenMean())
		}
		least += float64(weight * sLeast)
		most += float64(weight * sMost)
		ext += float64(weight * sExt)
		harmonic += weight / float64(d)
		weight = float64(weight * p)
	}
	// Below the lists. Weight is p^(l+1).
	overlap, s, l := a.shared(), float64(a.s), float64(a.l)
	least += float64(overlap * (-math.Log1p(-p) - harmonic))
	ext += (overlap + float64((l-s)*atS)) / l * weight / (1 - p)
	depth := a.l + 1
	for ; float64(depth) <= l+s-overlap; depth++ {
		d := float64(depth)
		most += float64((2*d - l - s + overlap) / d * weight)
		weight = float64(weight * p)
	}
	most += weight / (1 - p)
	scale := (1 - p) / p
	r := RBO{Ext: ext * scale, Min: max(least*scale, 0), Max: most * scale}
	r.Res = r.Max - r.Min
	return r, nil
}

// RBONormTied is RBONorm for rankings with ties: the mean of the agreements
// down to depth n = min(k, max(|x|, |y|)), weighted by p^(d-1).
func RBONormTied(x, y Tied, p float64, k int, rule TieRule) (float64, error) {
	if err := checkRBO(x, y, p, rule); err != nil {
		return 0, err
	}
	if k < 1 {
		return 0, fmt.Errorf("rbo depth %d: want at least 1", k)
	}
	a := newAgreement(x, y, rule)
	if a.l == 0 {
		return 1, nil
	}
	sum, total, weight := 0.0, 0.0, 1.0
	for range min(k, a.l) {
		a.step()
		sum += float64(weight * a.value(a.shared()))
		total += weight
		weight = float64(weight * p)
	}
	return sum / total, nil
}

// RBOTruncated is RBO down to a depth and not beyond, (1-p) times the sum of
// p^(d-1) |x∩y|/d. Identical lists score 1-p^depth, not 1.
func RBOTruncated(x, y []string, p float64, depth int) (float64, error) {
	norm, err := RBONorm(x, y, p, depth)
	if err != nil {
		return 0, err
	}
	if len(x)+len(y) == 0 {
		return 0, nil
	}
	return norm * -math.Expm1(float64(min(depth, max(len(x), len(y))))*math.Log(p)), nil
}

// AverageOverlap is the mean of |x∩y|/d over depths 1 to depth (Fagin, Kumar
// and Sivakumar 2003).
func AverageOverlap(x, y []string, depth int) (float64, error) {
	if depth < 1 {
		return 0, fmt.Errorf("average overlap to depth %d: want at least 1", depth)
	}
	if err := checkPair(x, y); err != nil {
		return 0, err
	}
	a := newAgreement(Untied(x), Untied(y), TiesA)
	if a.l == 0 {
		return 1, nil
	}
	n := min(depth, a.l)
	sum := 0.0
	for range n {
		a.step()
		sum += a.value(a.shared())
	}
	return sum / float64(n), nil
}

func checkRBO(x, y Tied, p float64, rule TieRule) error {
	if err := checkPersistence(p); err != nil {
		return err
	}
	switch rule {
	case TiesA, TiesB, TiesW:
	default:
		return fmt.Errorf("tie rule %q: want %s, %s or %s", string(rule), TiesA, TiesB, TiesW)
	}
	return checkPair(x.IDs(), y.IDs())
}
