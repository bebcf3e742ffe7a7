package stat

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// PairedT is the result of Student's paired t test.
type PairedT struct {
	N        int
	Mean, SD float64 // of the differences; SD with n-1
	T        float64
	DF       int
	P        float64  // two-sided
	CI       Interval // of the mean
	DZ       float64  // Cohen's d_z: Mean/SD
}

// PairedTTest tests whether the mean of paired differences is 0. Equal
// differences have no t statistic: that is an error, not a p-value.
func PairedTTest(d []float64, confidence float64) (PairedT, error) {
	if err := checkSample("paired t test", d, 2); err != nil {
		return PairedT{}, err
	}
	if err := checkShare("paired t test: confidence", confidence); err != nil {
		return PairedT{}, err
	}
	mean, sd := meanSD(d)
	if sd == 0 {
		return PairedT{}, fmt.Errorf("paired t test: all %d differences are %v, so t does not exist: use the sign test", len(d), mean)
	}
	t := PairedT{N: len(d), Mean: mean, SD: sd, DF: len(d) - 1, DZ: mean / sd}
	se := sd / math.Sqrt(float64(len(d)))
	t.T = mean / se
	t.P = min(1, 2*studentTail(math.Abs(t.T), float64(t.DF)))
	half := studentQuantile(0.5+confidence/2, float64(t.DF)) * se
	t.CI = Interval{mean - half, mean + half}
	return t, nil
}

// meanSD gives the mean and the standard deviation with n-1, which is exactly
// 0 where the values are equal but for rounding.
func meanSD(d []float64) (mean, sd float64) {
	mean = meanOf(d)
	squares := make([]float64, len(d))
	largest, same := 0.0, true
	for i, x := range d {
		squares[i] = (x - mean) * (x - mean)
		largest = max(largest, math.Abs(x))
		same = same && math.Abs(x-d[0]) <= 1e-13*largest
	}
	if same {
		return mean, 0
	}
	return mean, math.Sqrt(sumOf(squares) / float64(len(d)-1))
}

// studentTail is P(T > t) for t >= 0.
func studentTail(t, df float64) float64 {
	if math.IsInf(t, 1) {
		return 0
	}
	return mathext.RegIncBeta(df/2, 0.5, df/(df+t*t)) / 2
}

// studentQuantile inverts the t distribution for q > 1/2.
func studentQuantile(q, df float64) float64 {
	hi := 1.0
	for studentTail(hi, df) > 1-q && hi < 1e300 {
		hi *= 2
	}
	return bisect(0, hi, func(t float64) bool { return studentTail(t, df) > 1-q })
}

// bisect finds where below turns false between lo and hi.
func bisect(lo, hi float64, below func(float64) bool) float64 {
	for range 200 {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if below(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo + (hi-lo)/2
}
