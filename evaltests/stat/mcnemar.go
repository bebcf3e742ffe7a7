package stat

import (
	"fmt"
	"math"
)

// McNemar is the result of McNemar's test on paired yes-or-no outcomes.
type McNemar struct {
	P    float64 // exact, two-sided
	MidP float64
	// OddsRatio is b/c. It does not exist where c is 0; OddsDefined is false
	// then and OddsRatio 0.
	OddsRatio   float64
	OddsDefined bool
}

// McNemarTest compares two systems on the same cases. Of the table
//
//	                second right   second wrong
//	first right          a              b
//	first wrong          c              d
//
// only b and c, where they differ, say anything: it is their sign test.
func McNemarTest(a, b, c, d int) (McNemar, error) {
	if err := checkCounts("mcnemar test", a, b, c, d); err != nil {
		return McNemar{}, err
	}
	s, err := SignTest(b, c)
	if err != nil {
		return McNemar{}, err
	}
	m := McNemar{P: s.P, MidP: s.MidP, OddsDefined: c > 0}
	if m.OddsDefined {
		m.OddsRatio = float64(b) / float64(c)
	}
	return m, nil
}

// Newcombe is the difference of two paired proportions, (a+b)/n - (a+c)/n of
// McNemarTest's table, with its interval by Newcombe's method 10 (Statistics
// in Medicine 1998): Wilson intervals of both, squared and added, with the
// continuity-corrected correlation of the pairs.
func Newcombe(a, b, c, d int, confidence float64) (difference float64, ci Interval, err error) {
	if err := checkCounts("newcombe interval", a, b, c, d); err != nil {
		return 0, Interval{}, err
	}
	n := a + b + c + d
	if n == 0 {
		return 0, Interval{}, fmt.Errorf("newcombe interval: no pairs")
	}
	l1, u1, err := Wilson(a+b, n, confidence)
	if err != nil {
		return 0, Interval{}, err
	}
	l2, u2, err := Wilson(a+c, n, confidence)
	if err != nil {
		return 0, Interval{}, err
	}
	p1, p2 := float64(a+b)/float64(n), float64(a+c)/float64(n)
	phi := pairCorrelation(float64(a), float64(b), float64(c), float64(d))
	difference = float64(b-c) / float64(n)
	below := squareAndAdd(p1-l1, u2-p2, phi)
	above := squareAndAdd(u1-p1, p2-l2, phi)
	return difference, Interval{difference - below, difference + above}, nil
}

func squareAndAdd(x, y, phi float64) float64 {
	return math.Sqrt(max(0, x*x-2*phi*x*y+y*y))
}

// pairCorrelation is the phi coefficient with the numerator brought n/2 nearer
// to 0 where it is positive, but not across; 0 where a margin is empty.
func pairCorrelation(a, b, c, d float64) float64 {
	margins := (a + b) * (c + d) * (a + c) * (b + d)
	if margins == 0 {
		return 0
	}
	numerator := a*d - b*c
	if numerator > 0 {
		numerator = max(numerator-(a+b+c+d)/2, 0)
	}
	return numerator / math.Sqrt(margins)
}
