package stat

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"
)

// Bootstrap is the resampling distribution of a mean.
type Bootstrap struct {
	Observed     float64   // the mean of the sample
	Means        []float64 // of the resamples, ascending
	Acceleration float64   // BCa's a, by the jackknife
}

// MaxResamples bounds the resamples of one bootstrap or sign flip.
const MaxResamples = 10_000_000

// BootstrapMean resamples a sample, usually of paired differences, with
// replacement and takes the mean each time. The stream fixes the resamples:
// measures of one comparison that use the same stream and length share them.
func BootstrapMean(sample []float64, resamples int, stream Stream) (Bootstrap, error) {
	if err := checkSample("bootstrap", sample, 1); err != nil {
		return Bootstrap{}, err
	}
	if err := checkResamples(resamples); err != nil {
		return Bootstrap{}, err
	}
	if len(sample) > math.MaxInt32 {
		return Bootstrap{}, fmt.Errorf("bootstrap: %d values are too many", len(sample))
	}
	means := make([]float64, resamples)
	inBlocks(resamples, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			means[i] = resampledMean(sample, stream.resample(i))
		}
	})
	slices.Sort(means)
	return Bootstrap{Observed: meanOf(sample), Means: means, Acceleration: acceleration(sample)}, nil
}

func checkResamples(n int) error {
	if n < 1 || n > MaxResamples {
		return fmt.Errorf("%d resamples: want 1 to %d", n, MaxResamples)
	}
	return nil
}

// resampledMean draws len(sample) values with replacement. Each 64-bit draw
// gives two indices by multiplication (Lemire 2019), with rejection, so that
// every index is equally likely. Four sums let the processor overlap them.
func resampledMean(sample []float64, random source) float64 {
	n := uint64(len(sample))
	reject := uint32(-n) % uint32(n) // 2^32 mod n
	var s0, s1, s2, s3 float64
	left := len(sample)
	for ; left >= 4; left -= 4 {
		a, b := random.next(), random.next()
		p0, p1 := uint64(uint32(a))*n, (a>>32)*n
		p2, p3 := uint64(uint32(b))*n, (b>>32)*n
		if min(uint32(p0), uint32(p1), uint32(p2), uint32(p3)) < reject {
			left += 4
			continue
		}
		s0 += sample[p0>>32]
		s1 += sample[p1>>32]
		s2 += sample[p2>>32]
		s3 += sample[p3>>32]
	}
	for ; left > 0; left-- {
		hi, lo := bits.Mul64(random.next(), n)
		if lo < -n%n {
			left++
			continue
		}
		s0 += sample[hi]
	}
	return ((s0 + s1) + (s2 + s3)) / float64(n)
}

// acceleration is sum((jbar-j)^3) / (6 sum((jbar-j)^2)^1.5) over the jackknife
// means j, which for a mean differ from jbar by (x-xbar)/(n-1). 0 if all
// values are equal.
func acceleration(sample []float64) float64 {
	mean := meanOf(sample)
	largest := 0.0
	for _, x := range sample {
		largest = max(largest, math.Abs(x-mean))
	}
	// Scaling by a power of two changes nothing and keeps the cubes of very
	// small differences from vanishing.
	_, exponent := math.Frexp(largest)
	squares, cubes := make([]float64, len(sample)), make([]float64, len(sample))
	for i, x := range sample {
		d := math.Ldexp(x-mean, -exponent)
		squares[i] = d * d
		cubes[i] = d * d * d
	}
	s := sumOf(squares)
	if s == 0 {
		return 0
	}
	return sumOf(cubes) / (6 * s * math.Sqrt(s))
}

// SE is the standard error: the standard deviation of the resampled means.
func (b Bootstrap) SE() float64 {
	mean := meanOf(b.Means)
	squares := make([]float64, len(b.Means))
	for i, m := range b.Means {
		squares[i] = (m - mean) * (m - mean)
	}
	return math.Sqrt(meanOf(squares))
}

// Percentile is the interval between the quantiles of the resampled means.
func (b Bootstrap) Percentile(confidence float64) (Interval, error) {
	return b.between(confidence, func(q float64) float64 { return q })
}

// Basic is the percentile interval reflected at the observed mean.
func (b Bootstrap) Basic(confidence float64) (Interval, error) {
	p, err := b.Percentile(confidence)
	return Interval{2*b.Observed - p.Hi, 2*b.Observed - p.Lo}, err
}

// BCa is the bias-corrected and accelerated interval (Efron 1987): quantiles
// moved by the bias z0 and the acceleration. Where every resampled mean lies
// on one side of the observed one, half a resample is taken to lie on the
// other, so that z0 is finite.
func (b Bootstrap) BCa(confidence float64) (Interval, error) {
	z0 := b.Bias()
	return b.between(confidence, func(q float64) float64 {
		z := z0 + normalQuantile(q)
		return normalCDF(z0 + z/(1-b.Acceleration*z))
	})
}

// Bias is BCa's z0: the normal quantile of the share of resampled means below
// the observed one, equal ones counting half.
func (b Bootstrap) Bias() float64 {
	// Equal means are sums in different orders, apart by rounding only.
	slack := 1e-12 * max(math.Abs(b.Means[0]), math.Abs(b.Means[len(b.Means)-1]))
	below := sort.SearchFloat64s(b.Means, b.Observed-slack)
	upTo := sort.Search(len(b.Means), func(i int) bool { return b.Means[i] > b.Observed+slack })
	n := float64(len(b.Means))
	count := float64(below) + float64(upTo-below)/2
	return normalQuantile(min(max(count, 0.5), n-0.5) / n)
}

func (b Bootstrap) between(confidence float64, level func(float64) float64) (Interval, error) {
	if err := checkShare("confidence", confidence); err != nil {
		return Interval{}, err
	}
	if len(b.Means) == 0 {
		return Interval{}, fmt.Errorf("bootstrap: no resamples: make one with BootstrapMean")
	}
	tail := (1 - confidence) / 2
	return Interval{
		quantile(b.Means, level(tail), Linear),
		quantile(b.Means, level(1-tail), Linear),
	}, nil
}
