package stat

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// Percentile is the nearest-rank percentile of a sample in any order: the
// value at index ceil(n p/100) - 1 of the sorted sample, for p above 0 and at
// most 100. It is always a value that was measured. All latencies use it.
func Percentile(sample []float64, p float64) (float64, error) {
	v, err := Percentiles(sample, p)
	if err != nil {
		return 0, err
	}
	return v[0], nil
}

// Percentiles gives several percentiles of one sample, sorting it once.
func Percentiles(sample []float64, ps ...float64) ([]float64, error) {
	if err := checkSample("percentile", sample, 1); err != nil {
		return nil, err
	}
	sorted := slices.Sorted(slices.Values(sample))
	values := make([]float64, len(ps))
	for i, p := range ps {
		if !(p > 0 && p <= 100) {
			return nil, fmt.Errorf("percentile %v: want above 0 and at most 100", p)
		}
		// A hair less, since 99.9*1000/100 may be a little more than 999.
		rank := math.Ceil(float64(len(sorted))*p/100 - 1e-9)
		values[i] = sorted[min(max(int(rank), 1), len(sorted))-1]
	}
	return values, nil
}

// LatencyAB is the comparison of two samples of latencies.
type LatencyAB struct {
	A, B     float64  // medians
	ACI, BCI Interval // of the medians
	Change   float64  // (B - A)/A; 0 where A is 0
	P        float64  // Mann-Whitney U test, two-sided
	Warnings []string
}

// CompareLatency compares latencies of A and B, taken in interleaved runs on
// one machine, assuming nothing of their distribution (x/perf's benchmath).
// Values that are not finite are refused here: benchmath's rank test never
// returns on NaN.
func CompareLatency(a, b []float64, confidence float64) (LatencyAB, error) {
	if err := checkSample("latency of a", a, 1); err != nil {
		return LatencyAB{}, err
	}
	if err := checkSample("latency of b", b, 1); err != nil {
		return LatencyAB{}, err
	}
	if err := checkShare("latency: confidence", confidence); err != nil {
		return LatencyAB{}, err
	}
	thresholds := benchmath.Thresholds{CompareAlpha: 1 - confidence}
	sa := benchmath.NewSample(slices.Clone(a), &thresholds)
	sb := benchmath.NewSample(slices.Clone(b), &thresholds)
	ma, mb := benchmath.AssumeNothing.Summary(sa, confidence), benchmath.AssumeNothing.Summary(sb, confidence)
	c := benchmath.AssumeNothing.Compare(sa, sb)
	r := LatencyAB{A: ma.Center, B: mb.Center, ACI: within(ma, a), BCI: within(mb, b), P: c.P}
	if r.A != 0 {
		r.Change = (r.B - r.A) / r.A
	}
	for _, w := range slices.Concat(ma.Warnings, mb.Warnings, c.Warnings) {
		r.Warnings = append(r.Warnings, w.Error())
	}
	return r, nil
}

// within is the interval of a median, kept to the sample: with few values
// benchmath's reaches to infinity.
func within(s benchmath.Summary, sample []float64) Interval {
	return Interval{max(s.Lo, slices.Min(sample)), min(s.Hi, slices.Max(sample))}
}
