package stat

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// ZeroRule says what the signed-rank test does with differences of 0.
type ZeroRule string

const (
	// ZerosWilcox leaves them out before ranking (Wilcoxon 1945).
	ZerosWilcox ZeroRule = "wilcox"
	// ZerosPratt ranks them and then drops their ranks (Pratt 1959).
	ZerosPratt ZeroRule = "pratt"
)

// Wilcoxon is the result of a signed-rank test.
type Wilcoxon struct {
	Plus, Minus float64 // sums of the ranks of positive and negative differences
	N, Zeros    int     // differences that are not 0, and that are
	P           float64 // two-sided
	Greater     float64 // one-sided, for differences above 0
	Less        float64 // one-sided, for differences below 0
	Z           float64 // of the smaller sum; 0 where the test is exact
	Exact       bool
}

// exactWilcoxon is the largest n that the test treats exactly.
const exactWilcoxon = 50

// maxExactWilcoxon bounds the work of WilcoxonExact.
const maxExactWilcoxon = 300

// WilcoxonTest is the signed-rank test of paired differences: exact for at
// most 50 that are not 0, also with ties, else normal with corrections for
// ties and continuity. Without any difference there is no evidence, and p is 1.
func WilcoxonTest(d []float64, zeros ZeroRule) (Wilcoxon, error) {
	s, err := signRanks(d, zeros)
	if err != nil {
		return Wilcoxon{}, err
	}
	if s.N <= exactWilcoxon {
		return s.exact(), nil
	}
	return s.normal(true), nil
}

// WilcoxonExact is the test by the exact distribution of the rank sum, given
// the ties: all signs of all ranks, equally likely.
func WilcoxonExact(d []float64, zeros ZeroRule) (Wilcoxon, error) {
	s, err := signRanks(d, zeros)
	if err != nil {
		return Wilcoxon{}, err
	}
	if s.N > maxExactWilcoxon {
		return Wilcoxon{}, fmt.Errorf("exact wilcoxon test of %d differences: want at most %d, or the normal form", s.N, maxExactWilcoxon)
	}
	return s.exact(), nil
}

// WilcoxonNormal is the test by the normal approximation with correction for
// ties, and for continuity if asked for.
func WilcoxonNormal(d []float64, zeros ZeroRule, continuity bool) (Wilcoxon, error) {
	s, err := signRanks(d, zeros)
	if err != nil {
		return Wilcoxon{}, err
	}
	return s.normal(continuity), nil
}

// signedRanks is a sample ranked by absolute difference.
type signedRanks struct {
	Wilcoxon
	doubled []int // twice the rank of each difference that is not 0
	ties    float64
	pratt   bool
}

func signRanks(d []float64, zeros ZeroRule) (*signedRanks, error) {
	if zeros != ZerosWilcox && zeros != ZerosPratt {
		return nil, fmt.Errorf("wilcoxon test: zero rule %q, want %s or %s", string(zeros), ZerosWilcox, ZerosPratt)
	}
	if err := checkSample("wilcoxon test", d, 1); err != nil {
		return nil, err
	}
	s := &signedRanks{pratt: zeros == ZerosPratt}
	sorted := make([]float64, 0, len(d))
	for _, x := range d {
		if x != 0 {
			sorted = append(sorted, x)
		}
	}
	s.N, s.Zeros = len(sorted), len(d)-len(sorted)
	slices.SortFunc(sorted, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	below := 0 // ranks taken by zeros
	if s.pratt {
		below = s.Zeros
	}
	for i := 0; i < len(sorted); {
		j := i
		for j < len(sorted) && math.Abs(sorted[j]) == math.Abs(sorted[i]) {
			j++
		}
		doubled := 2*below + i + 1 + j // ranks i+1 to j share their mean
		for _, x := range sorted[i:j] {
			s.doubled = append(s.doubled, doubled)
			if x > 0 {
				s.Plus += float64(doubled) / 2
			} else {
				s.Minus += float64(doubled) / 2
			}
		}
		t := float64(j - i)
		s.ties += t*t*t - t
		i = j
	}
	return s, nil
}

// exact adds up the probabilities of each rank sum, rank after rank.
func (s *signedRanks) exact() Wilcoxon {
	total := 0
	for _, r := range s.doubled {
		total += r
	}
	share := make([]float64, total+1)
	share[0] = 1
	reach := 0
	for _, r := range s.doubled {
		reach += r
		for w := reach; w >= 0; w-- {
			share[w] /= 2
			if w >= r {
				share[w] += share[w-r] / 2
			}
		}
	}
	w := s.Wilcoxon
	w.Exact = true
	at := int(2 * w.Plus)
	w.Less, w.Greater = min(1, sumOf(share[:at+1])), min(1, sumOf(share[at:]))
	w.P = min(1, 2*min(w.Less, w.Greater))
	return w
}

func (s *signedRanks) normal(continuity bool) Wilcoxon {
	w := s.Wilcoxon
	n, z := float64(len(s.doubled)), 0.0
	if s.pratt {
		z = float64(s.Zeros)
		n += z
	}
	mean := n*(n+1)/4 - z*(z+1)/4
	variance := (n*(n+1)*(2*n+1) - z*(z+1)*(2*z+1) - s.ties/2) / 24
	if variance <= 0 {
		w.P, w.Greater, w.Less = 1, 1, 1
		return w
	}
	sd := math.Sqrt(variance)
	half := 0.0
	if continuity {
		half = 0.5
	}
	smaller := min(w.Plus, w.Minus)
	toward := 0.0 // the correction moves the statistic towards its mean
	if smaller < mean {
		toward = half
	}
	w.Z = (smaller - mean + toward) / sd
	w.P = min(1, 2*normalCDF(-math.Abs(w.Z)))
	w.Greater = normalCDF(-(w.Plus - mean - half) / sd)
	w.Less = normalCDF((w.Plus - mean + half) / sd)
	return w
}
