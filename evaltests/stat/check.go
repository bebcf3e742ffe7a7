package stat

import (
	"fmt"
	"math"
)

// Interval is a confidence interval, both ends included.
type Interval struct{ Lo, Hi float64 }

// Contains reports whether x lies in the interval.
func (i Interval) Contains(x float64) bool { return i.Lo <= x && x <= i.Hi }

// HalfWidth is half the distance between the ends.
func (i Interval) HalfWidth() float64 { return (i.Hi - i.Lo) / 2 }

// checkSample refuses samples with fewer than least values or with values that
// are not finite.
func checkSample(what string, xs []float64, least int) error {
	if len(xs) < least {
		return fmt.Errorf("%s: %d values, want at least %d", what, len(xs), least)
	}
	for i, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%s: value %d is %v, want a finite number", what, i+1, x)
		}
		if math.Abs(x) > maxValue {
			return fmt.Errorf("%s: value %d is %v, want at most %g: scale the sample", what, i+1, x, maxValue)
		}
	}
	return nil
}

// maxValue keeps sums of cubes of a sample finite.
const maxValue = 1e100

// checkShare refuses what is not strictly between 0 and 1.
func checkShare(what string, x float64) error {
	if !(x > 0 && x < 1) {
		return fmt.Errorf("%s %v: want a number above 0 and below 1", what, x)
	}
	return nil
}

func checkCounts(what string, counts ...int) error {
	for _, c := range counts {
		if c < 0 {
			return fmt.Errorf("%s: count %d is negative", what, c)
		}
		if c > maxCount {
			return fmt.Errorf("%s: count %d is above %d", what, c, maxCount)
		}
	}
	return nil
}

// maxCount bounds exact sums over counts to a fraction of a second.
const maxCount = 10_000_000

// Diffs is the paired difference b[i] - a[i], the input of the paired tests. A
// positive one means that b is higher.
func Diffs(a, b []float64) ([]float64, error) {
	if len(a) != len(b) {
		return nil, fmt.Errorf("paired differences: %d values against %d, want pairs", len(a), len(b))
	}
	d := make([]float64, len(a))
	for i := range d {
		d[i] = b[i] - a[i]
	}
	if err := checkSample("paired differences", d, 1); err != nil {
		return nil, err
	}
	return d, nil
}

// meanOf sums in blocks, so that long samples lose no digits.
func meanOf(xs []float64) float64 { return sumOf(xs) / float64(len(xs)) }

func sumOf(xs []float64) float64 {
	if len(xs) <= 32 {
		s := 0.0
		for _, x := range xs {
			s += x
		}
		return s
	}
	half := len(xs) / 2
	return sumOf(xs[:half]) + sumOf(xs[half:])
}
