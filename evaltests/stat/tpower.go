package stat

import (
	"fmt"
	"math"
)

func checkTPower(n int, sd, alpha float64) error {
	if n < 2 || n > maxCount {
		return fmt.Errorf("paired t power: %d pairs, want 2 to %d", n, maxCount)
	}
	if !(sd > 0) || math.IsInf(sd, 0) {
		return fmt.Errorf("paired t power: standard deviation %v, want a finite number above 0", sd)
	}
	return checkShare("paired t power: alpha", alpha)
}

// PairedTPower is the power of the two-sided paired t test at level alpha to
// see a mean difference delta among n pairs whose differences have standard
// deviation sd: P(|T| > t) for noncentral T with noncentrality
// delta/sd*sqrt(n), both tails.
func PairedTPower(n int, delta, sd, alpha float64) (float64, error) {
	if err := checkTPower(n, sd, alpha); err != nil {
		return 0, err
	}
	if math.IsNaN(delta) || math.IsInf(delta, 0) {
		return 0, fmt.Errorf("paired t power: difference %v, want a finite number", delta)
	}
	df := float64(n - 1)
	return noncentralTails(studentQuantile(1-alpha/2, df), df, math.Abs(delta)/sd*math.Sqrt(float64(n))), nil
}

// PairedTMDE is the smallest mean difference that the paired t test detects
// with a power: by the normal form (z_{1-alpha/2} + z_power) sd/sqrt(n), and
// by the noncentral t distribution, which is the one to rely on.
func PairedTMDE(n int, sd, alpha, power float64) (normal, t float64, err error) {
	if err := checkTPower(n, sd, alpha); err != nil {
		return 0, 0, err
	}
	if err := checkShare("paired t power: power", power); err != nil {
		return 0, 0, err
	}
	scale := sd / math.Sqrt(float64(n))
	normal = detectable(alpha, power) * scale
	if power <= alpha {
		return normal, 0, nil // every difference, even none, is seen as often
	}
	df := float64(n - 1)
	limit := studentQuantile(1-alpha/2, df)
	hi := 1.0
	for noncentralTails(limit, df, hi) < power && hi < 1e150 {
		hi *= 2
	}
	return normal, scale * bisect(0, hi, func(nc float64) bool { return noncentralTails(limit, df, nc) < power }), nil
}

// noncentralTails is P(|T| > t) for T = (Z + nc)/S, where S² is chi-square
// over its degrees of freedom: the integral over the density of S of
// P(|Z + nc| > t S), by Simpson's rule.
func noncentralTails(t, df, nc float64) float64 {
	const steps = 2000
	// The density of S is c s^(df-1) exp(-df s²/2), with its mode near 1 and a
	// width of 1/sqrt(2 df).
	width := 9 / math.Sqrt(2*df)
	lo, hi := max(0, 1-width), 1+width
	if df < 100 {
		lo, hi = 0, 1+12/math.Sqrt(df)
	}
	lgamma, _ := math.Lgamma(df / 2)
	logC := math.Ln2 + df/2*math.Log(df/2) - lgamma
	sum, norm := 0.0, 0.0
	h := (hi - lo) / steps
	for i := range steps + 1 {
		s := lo + float64(i)*h
		density := math.Exp(logC + (df-1)*math.Log(s) - df*s*s/2)
		if s == 0 {
			density = 0
			if df == 1 {
				density = math.Exp(logC)
			}
		}
		weight := density * simpson(i, steps)
		norm += weight
		sum += float64(weight * (normalCDF(nc-t*s) + normalCDF(-nc-t*s)))
	}
	return min(1, sum/norm)
}

func simpson(i, steps int) float64 {
	switch {
	case i == 0 || i == steps:
		return 1
	case i%2 == 1:
		return 4
	}
	return 2
}
