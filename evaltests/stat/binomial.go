package stat

import "math"

// binomialPMF is the probability of k successes in n trials, by Loader's
// saddle-point form ("Fast and accurate computation of binomial
// probabilities", 2000), which keeps full precision where factorials overflow.
func binomialPMF(k, n int, p float64) float64 {
	switch {
	case k < 0 || k > n:
		return 0
	case p == 0:
		return indicator(k == 0)
	case p == 1:
		return indicator(k == n)
	case k == 0:
		return math.Exp(float64(n) * math.Log1p(-p))
	case k == n:
		return math.Pow(p, float64(n))
	}
	x, m := float64(k), float64(n)
	exponent := stirlingError(m) - stirlingError(x) - stirlingError(m-x) - deviance(x, m*p) - deviance(m-x, m*(1-p))
	return math.Exp(exponent) * math.Sqrt(m/(2*math.Pi*x*(m-x)))
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// stirlingError is log(n!) - log(sqrt(2πn)(n/e)^n).
func stirlingError(n float64) float64 {
	if n < 16 {
		lgamma, _ := math.Lgamma(n + 1)
		return lgamma - (n+0.5)*math.Log(n) + n - math.Log(2*math.Pi)/2
	}
	nn := n * n
	return (1./12 - (1./360-(1./1260-(1./1680-1./1188/nn)/nn)/nn)/nn) / n
}

// deviance is x log(x/m) + m - x, by series where x is near m.
func deviance(x, m float64) float64 {
	if math.Abs(x-m) >= 0.1*(x+m) {
		return x*math.Log(x/m) + m - x
	}
	v := (x - m) / (x + m)
	s, e := (x-m)*v, 2*x*v
	v *= v
	for j := 1; ; j++ {
		e *= v
		next := s + e/float64(2*j+1)
		if next == s {
			return s
		}
		s = next
	}
}

// binomialLower is P(X <= k) for X ~ Bin(n, p).
func binomialLower(k, n int, p float64) float64 {
	if k < 0 {
		return 0
	}
	if k >= n {
		return 1
	}
	if float64(k) > float64(n)*p {
		return 1 - binomialTail(n-k-1, n, 1-p)
	}
	return binomialTail(k, n, p)
}

// binomialTail sums P(X <= k) downward from k, where the terms fall.
func binomialTail(k, n int, p float64) float64 {
	sum, term := 0.0, binomialPMF(k, n, p)
	for i := k; i >= 0 && term > sum*1e-18; i-- {
		sum += term
		term *= float64(i) / float64(n-i+1) * ((1 - p) / p)
	}
	return min(sum, 1)
}
