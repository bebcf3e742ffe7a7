package stat

import (
	"fmt"
	"math"
	"slices"
)

// QuantileRule is a rule of Hyndman and Fan (1996), by its number there.
type QuantileRule int

const (
	InverseECDF QuantileRule = 1 // a value of the sample
	Weibull     QuantileRule = 6 // h = (n+1)q
	Linear      QuantileRule = 7 // h = (n-1)q + 1, the default of NumPy and R
)

// Quantile is the q-quantile of a sample in any order, q from 0 to 1.
func Quantile(sample []float64, q float64, rule QuantileRule) (float64, error) {
	if err := checkSample("quantile", sample, 1); err != nil {
		return 0, err
	}
	if !(q >= 0 && q <= 1) {
		return 0, fmt.Errorf("quantile %v: want a number from 0 to 1", q)
	}
	if rule != InverseECDF && rule != Weibull && rule != Linear {
		return 0, fmt.Errorf("quantile rule %d: want 1, 6 or 7", rule)
	}
	return quantile(slices.Sorted(slices.Values(sample)), q, rule), nil
}

func quantile(sorted []float64, q float64, rule QuantileRule) float64 {
	n := float64(len(sorted))
	var h float64 // position, counted from 1
	switch rule {
	case InverseECDF:
		// A hair less, since .05*20 is a little more than 1 in binary.
		return sorted[min(max(int(math.Ceil(n*q-1e-9))-1, 0), len(sorted)-1)]
	case Weibull:
		h = (n + 1) * q
	default:
		h = float64((n-1)*q) + 1
	}
	h = min(max(h, 1), n)
	below := math.Floor(h)
	lo := sorted[int(below)-1]
	hi := sorted[min(int(below), len(sorted)-1)]
	return lo + float64((h-below)*(hi-lo))
}
