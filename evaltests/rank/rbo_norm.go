package rank

import (
	"fmt"
	"math"
)

// RBONorm is rank-biased overlap truncated at depth n = min(k, max(|x|, |y|))
// and normalised: the mean of the agreements |x_1..d ∩ y_1..d| / d for d =
// 1..n, weighted by p^(d-1). Identical lists score exactly 1, an empty list
// against one that is not scores 0, two empty lists 1. It is the drift
// oracle's form: a list that lost its tail scores below 1.
//
// The persistence p lies strictly between 0 and 1, k is at least 1; anything
// else, and duplicate or empty ids, is an error.
func RBONorm(x, y []string, p float64, k int) (float64, error) {
	if err := checkPersistence(p); err != nil {
		return 0, err
	}
	if k < 1 {
		return 0, fmt.Errorf("rbo depth %d: want at least 1", k)
	}
	if err := checkPair(x, y); err != nil {
		return 0, err
	}
	n := min(k, max(len(x), len(y)))
	if n == 0 {
		return 1, nil
	}
	inX, inY := make(map[string]bool, n), make(map[string]bool, n)
	shared := 0
	sum, total, weight := 0.0, 0.0, 1.0
	for d := 1; d <= n; d++ {
		if d <= len(x) {
			inX[x[d-1]] = true
			if inY[x[d-1]] {
				shared++
			}
		}
		if d <= len(y) {
			inY[y[d-1]] = true
			if inX[y[d-1]] {
				shared++
			}
		}
		// The conversions keep the compiler from fusing multiply and add,
		// which would make the last bits depend on the platform.
		sum += float64(weight * (float64(shared) / float64(d)))
		total += weight
		weight = float64(weight * p)
	}
	return sum / total, nil
}

func checkPersistence(p float64) error {
	if math.IsNaN(p) || p <= 0 || p >= 1 {
		return fmt.Errorf("rbo persistence p = %v: want a number above 0 and below 1", p)
	}
	return nil
}

func checkPair(x, y []string) error {
	if err := checkIDs(x); err != nil {
		return fmt.Errorf("first list %w", err)
	}
	if err := checkIDs(y); err != nil {
		return fmt.Errorf("second list %w", err)
	}
	return nil
}
