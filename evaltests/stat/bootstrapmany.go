package stat

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// lane is how many samples go through one resample together: their values for
// one index fill a cache line.
const lane = 8

// group is how many resamples share the passage of a lane through the cache.
const group = 16

// BootstrapMeans is BootstrapMean for several samples over the same cases, as
// the measures of one comparison are: resample i draws the same cases for all
// of them, and the same that BootstrapMean draws. Sums may differ from its in
// the last digits, since they are added in another order.
func BootstrapMeans(samples [][]float64, resamples int, stream Stream) ([]Bootstrap, error) {
	if len(samples) == 0 {
		return nil, nil
	}
	n := len(samples[0])
	for i, s := range samples {
		if err := checkSample("bootstrap", s, 1); err != nil {
			return nil, err
		}
		if len(s) != n {
			return nil, fmt.Errorf("bootstrap: sample %d has %d values, the first has %d; want one for each case", i, len(s), n)
		}
	}
	if err := checkResamples(resamples); err != nil {
		return nil, err
	}
	if n > math.MaxInt32 {
		return nil, fmt.Errorf("bootstrap: %d values are too many", n)
	}
	lanes := make([][][lane]float64, (len(samples)+lane-1)/lane)
	for l := range lanes {
		lanes[l] = make([][lane]float64, n)
		for k, s := range samples[l*lane : min(l*lane+lane, len(samples))] {
			for i, v := range s {
				lanes[l][i][k] = v
			}
		}
	}
	means := make([][]float64, len(samples))
	for i := range means {
		means[i] = make([]float64, resamples)
	}
	inBlocks(resamples, group, func(lo, hi int) {
		drawn := make([][]uint32, hi-lo)
		for r := range drawn {
			drawn[r] = indices(n, stream.resample(lo+r))
		}
		for l, values := range lanes {
			for r, at := range drawn {
				sums := sumLane(values, at)
				for k := range min(lane, len(samples)-l*lane) {
					means[l*lane+k][lo+r] = sums[k] / float64(n)
				}
			}
		}
	})
	out := make([]Bootstrap, len(samples))
	inBlocks(len(samples), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			slices.Sort(means[i])
			out[i] = Bootstrap{Observed: meanOf(samples[i]), Means: means[i], Acceleration: acceleration(samples[i])}
		}
	})
	return out, nil
}

// sumLane adds the values of the drawn cases, eight samples at a time.
func sumLane(values [][lane]float64, at []uint32) [lane]float64 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	for _, i := range at {
		v := &values[i]
		s0 += v[0]
		s1 += v[1]
		s2 += v[2]
		s3 += v[3]
		s4 += v[4]
		s5 += v[5]
		s6 += v[6]
		s7 += v[7]
	}
	return [lane]float64{s0, s1, s2, s3, s4, s5, s6, s7}
}

// indices draws n of n with replacement, exactly as resampledMean does.
func indices(count int, random source) []uint32 {
	n := uint64(count)
	reject := uint32(-n) % uint32(n)
	out := make([]uint32, 0, count)
	left := count
	for ; left >= 4; left -= 4 {
		a, b := random.next(), random.next()
		p0, p1 := uint64(uint32(a))*n, (a>>32)*n
		p2, p3 := uint64(uint32(b))*n, (b>>32)*n
		if min(uint32(p0), uint32(p1), uint32(p2), uint32(p3)) < reject {
			left += 4
			continue
		}
		out = append(out, uint32(p0>>32), uint32(p1>>32), uint32(p2>>32), uint32(p3>>32))
	}
	for ; left > 0; left-- {
		hi, lo := bits.Mul64(random.next(), n)
		if lo < -n%n {
			left++
			continue
		}
		out = append(out, uint32(hi))
	}
	return out
}
