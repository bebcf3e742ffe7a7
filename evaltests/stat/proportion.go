package stat

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// normalQuantile is the standard normal quantile.
func normalQuantile(p float64) float64 { return distuv.UnitNormal.Quantile(p) }

// normalCDF is the standard normal distribution function.
func normalCDF(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

func checkProportion(what string, k, n int, confidence float64) error {
	if err := checkCounts(what, k, n); err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("%s: no trials: a rate of nothing does not exist", what)
	}
	if k > n {
		return fmt.Errorf("%s: %d successes of %d trials", what, k, n)
	}
	return checkShare(what+" confidence", confidence)
}

// Wilson is the score interval for k successes in n trials (Wilson 1927), at a
// confidence such as 0.95.
func Wilson(k, n int, confidence float64) (lo, hi float64, err error) {
	if err := checkProportion("wilson interval", k, n, confidence); err != nil {
		return 0, 0, err
	}
	z := normalQuantile(0.5 + confidence/2)
	m, p := float64(n), float64(k)/float64(n)
	centre := p + z*z/(2*m)
	half := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	scale := 1 + z*z/m
	lo, hi = (centre-half)/scale, (centre+half)/scale
	return edges(k, n, lo, hi)
}

// edges makes the ends exact where all or no trials succeeded.
func edges(k, n int, lo, hi float64) (float64, float64, error) {
	if k == 0 {
		lo = 0
	}
	if k == n {
		hi = 1
	}
	return max(lo, 0), min(hi, 1), nil
}

// WilsonCorrected is Wilson's interval with continuity correction (Newcombe
// 1998, method 4).
func WilsonCorrected(k, n int, confidence float64) (lo, hi float64, err error) {
	if err := checkProportion("wilson interval", k, n, confidence); err != nil {
		return 0, 0, err
	}
	z := normalQuantile(0.5 + confidence/2)
	m, p := float64(n), float64(k)/float64(n)
	scale := 2 * (m + z*z)
	lo = (2*m*p + z*z - 1 - z*math.Sqrt(z*z-2-1/m+4*p*(m*(1-p)+1))) / scale
	hi = (2*m*p + z*z + 1 + z*math.Sqrt(z*z+2-1/m+4*p*(m*(1-p)-1))) / scale
	return edges(k, n, nanTo(lo, 0), nanTo(hi, 1))
}

func nanTo(x, instead float64) float64 {
	if math.IsNaN(x) {
		return instead
	}
	return x
}

// ClopperPearson is the exact interval for k successes in n trials: the rates
// that neither one-sided binomial test rejects.
func ClopperPearson(k, n int, confidence float64) (lo, hi float64, err error) {
	if err := checkProportion("clopper-pearson interval", k, n, confidence); err != nil {
		return 0, 0, err
	}
	tail := (1 - confidence) / 2
	lo, hi = 0, 1
	if k > 0 {
		lo = betaQuantile(float64(k), float64(n-k+1), tail)
	}
	if k < n {
		hi = betaQuantile(float64(k+1), float64(n-k), 1-tail)
	}
	return lo, hi, nil
}

// betaQuantile inverts the beta distribution by bisection: slow and certain.
func betaQuantile(a, b, p float64) float64 {
	return bisect(0, 1, func(x float64) bool { return mathext.RegIncBeta(a, b, x) < p })
}
