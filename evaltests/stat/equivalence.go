package stat

import (
	"fmt"
	"math"
)

// Equivalence is the result of two one-sided tests.
type Equivalence struct {
	Mean float64
	// P is the larger of the two: small means that the difference lies inside
	// the margin.
	P            float64
	Lower, Upper float64  // p of "the mean is at or below -margin", "at or above margin"
	CI           Interval // at 1 - 2 alpha; inside the margin exactly if equivalent
	Equivalent   bool
}

// EquivalenceTest asks whether the mean of paired differences is closer to 0
// than a margin (two one-sided paired t tests, Schuirmann 1987), so that "no
// change" is claimed and not assumed. Differences that are all equal, as of
// two identical runs, are known without a test.
func EquivalenceTest(d []float64, margin, alpha float64) (Equivalence, error) {
	if err := checkSample("equivalence test", d, 2); err != nil {
		return Equivalence{}, err
	}
	if err := checkMargin(margin, alpha); err != nil {
		return Equivalence{}, err
	}
	mean, sd := meanSD(d)
	e := Equivalence{Mean: mean}
	if sd == 0 {
		e.CI = Interval{mean, mean}
		if e.Equivalent = math.Abs(mean) < margin; !e.Equivalent {
			e.P = 1
		}
		e.Lower, e.Upper = indicator(mean <= -margin), indicator(mean >= margin)
		return e, nil
	}
	df := float64(len(d) - 1)
	se := sd / math.Sqrt(float64(len(d)))
	e.Lower = studentUpper((mean+margin)/se, df)
	e.Upper = studentUpper((margin-mean)/se, df)
	e.P = max(e.Lower, e.Upper)
	e.Equivalent = e.P < alpha
	half := studentQuantile(1-alpha, df) * se
	e.CI = Interval{mean - half, mean + half}
	return e, nil
}

// EquivalentProportions asks the same of two paired proportions: whether their
// Newcombe interval at 1 - 2 alpha lies inside the margin. For the table see
// McNemarTest.
func EquivalentProportions(a, b, c, d int, margin, alpha float64) (difference float64, ci Interval, equivalent bool, err error) {
	if err := checkMargin(margin, alpha); err != nil {
		return 0, Interval{}, false, err
	}
	difference, ci, err = Newcombe(a, b, c, d, 1-2*alpha)
	if err != nil {
		return 0, Interval{}, false, err
	}
	return difference, ci, ci.Lo > -margin && ci.Hi < margin, nil
}

func checkMargin(margin, alpha float64) error {
	if !(margin > 0) || math.IsInf(margin, 0) {
		return fmt.Errorf("equivalence test: margin %v, want a finite number above 0", margin)
	}
	if !(alpha > 0 && alpha < 0.5) {
		return fmt.Errorf("equivalence test: alpha %v, want above 0 and below .5", alpha)
	}
	return nil
}

// studentUpper is P(T > t) for any t.
func studentUpper(t, df float64) float64 {
	if t < 0 {
		return 1 - studentTail(-t, df)
	}
	return studentTail(t, df)
}
