package stat

import (
	"math"
)

// SignFlip is the result of a randomization test.
type SignFlip struct {
	Mean      float64 // of the differences
	P         float64 // two-sided
	Greater   float64 // one-sided, for a mean above 0
	Less      float64 // one-sided, for a mean below 0
	N         int     // differences that are not 0
	Exact     bool    // all 2^N signs were tried
	Resamples int     // sign patterns that were looked at
}

// exactFlips is the largest n for which all 2^n sign patterns are tried.
const exactFlips = 20

// SignFlipTest is Fisher's paired randomization test on the mean: if nothing
// differs, each difference could as well have the other sign. P is the share
// of sign patterns whose mean is at least as far from 0 as the observed one.
// With at most 20 differences that are not 0 all patterns are tried, and
// resamples and stream are not used; else it draws resamples patterns and
// P = (b+1)/(B+1), which is never 0. Sums within 1e-12 of each other count as
// equal, since many patterns tie with the observed one but for rounding.
func SignFlipTest(d []float64, resamples int, stream Stream) (SignFlip, error) {
	if err := checkSample("sign flip test", d, 1); err != nil {
		return SignFlip{}, err
	}
	if err := checkResamples(resamples); err != nil {
		return SignFlip{}, err
	}
	f := SignFlip{Mean: meanOf(d)}
	nonzero := make([]float64, 0, len(d))
	largest := 0.0
	for _, x := range d {
		if x != 0 {
			nonzero = append(nonzero, x)
			largest = max(largest, math.Abs(x))
		}
	}
	// Scaling by a power of two loses nothing and keeps sums finite.
	if _, exponent := math.Frexp(largest); largest > 0 {
		for i := range nonzero {
			nonzero[i] = math.Ldexp(nonzero[i], -exponent)
		}
	}
	f.N = len(nonzero)
	if f.Exact = f.N <= exactFlips; f.Exact {
		f.Resamples = 1 << f.N
		return f.shares(allFlips(nonzero), 0), nil
	}
	f.Resamples = resamples
	return f.shares(drawFlips(nonzero, resamples, stream), 1), nil
}

// shares fills in the p-values; plus counts the observed pattern in, where it
// is not among those drawn.
func (f SignFlip) shares(c flipCounts, plus int) SignFlip {
	total := float64(f.Resamples + plus)
	f.P, f.Greater, f.Less = float64(c.far+plus)/total, float64(c.above+plus)/total, float64(c.below+plus)/total
	return f
}

// flipCounts counts sign patterns by their sum against the observed one.
type flipCounts struct{ far, above, below int }

// flipJudge holds what a sum is compared with.
type flipJudge struct{ observed, slack float64 }

func newJudge(d []float64, observed float64) flipJudge {
	total := 0.0
	for _, x := range d {
		total += math.Abs(x)
	}
	return flipJudge{observed, 1e-12 * total}
}

func (c *flipCounts) add(sum float64, j flipJudge) {
	if math.Abs(sum) >= math.Abs(j.observed)-j.slack {
		c.far++
	}
	if sum >= j.observed-j.slack {
		c.above++
	}
	if sum <= j.observed+j.slack {
		c.below++
	}
}

// allFlips adds each sum of the first half to each of the second.
func allFlips(d []float64) flipCounts {
	half := len(d) / 2
	left, right := signedSums(d[:half]), signedSums(d[half:])
	j := newJudge(d, left[len(left)-1]+right[len(right)-1])
	var c flipCounts
	for _, l := range left {
		for _, r := range right {
			c.add(l+r, j)
		}
	}
	return c
}

// signedSums lists the sum of d for each pattern of signs: bit i of the index
// set means that d[i] keeps its sign.
func signedSums(d []float64) []float64 {
	sums := make([]float64, 1<<len(d))
	for pattern := range sums {
		for i, x := range d {
			if pattern>>i&1 == 0 {
				x = -x
			}
			sums[pattern] += x
		}
	}
	return sums
}

// flipTable holds the sums of eight differences for all 256 patterns of signs,
// so that a byte of random bits flips eight of them at once.
type flipTable [256]float64

const (
	flipTile  = 64  // tables, 128 KB: what the second-level cache holds easily
	flipBlock = 256 // resamples that go through a tile together
)

func drawFlips(d []float64, resamples int, stream Stream) flipCounts {
	tables := make([]flipTable, (len(d)+7)/8)
	inBlocks(len(tables), 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			fillTable(&tables[i], d[8*i:min(8*i+8, len(d))])
		}
	})
	// The observed sum in the very order of the others, so that the pattern
	// without a flip meets it exactly.
	var plus [1]float64
	addTables(tables, plus[:], nil)
	j := newJudge(d, plus[0])
	counts := make([]flipCounts, (resamples+flipBlock-1)/flipBlock)
	inBlocks(resamples, flipBlock, func(lo, hi int) {
		sources := make([]source, hi-lo)
		for i := range sources {
			sources[i] = stream.resample(lo + i)
		}
		sums := make([]float64, hi-lo)
		addTables(tables, sums, sources)
		c := &counts[lo/flipBlock]
		for _, s := range sums {
			c.add(s, j)
		}
	})
	var total flipCounts
	for _, c := range counts {
		total.far += c.far
		total.above += c.above
		total.below += c.below
	}
	return total
}

func fillTable(t *flipTable, d []float64) {
	sums := signedSums(d)
	for pattern := range t {
		t[pattern] = sums[pattern&(len(sums)-1)]
	}
}

// addTables adds to each sum the entries that its source's bits choose, one
// word for eight tables; without sources, the entries without a flip.
func addTables(tables []flipTable, sums []float64, sources []source) {
	for tile := 0; tile < len(tables); tile += flipTile {
		part := tables[tile:min(tile+flipTile, len(tables))]
		for i := range sums {
			s := sums[i]
			random := source(0)
			if sources != nil {
				random = sources[i]
			}
			group := part
			for len(group) >= 8 {
				w := ^uint64(0)
				if sources != nil {
					w = random.next()
				}
				g := (*[8]flipTable)(group)
				s += ((g[0][byte(w)] + g[1][byte(w>>8)]) + (g[2][byte(w>>16)] + g[3][byte(w>>24)])) +
					((g[4][byte(w>>32)] + g[5][byte(w>>40)]) + (g[6][byte(w>>48)] + g[7][byte(w>>56)]))
				group = group[8:]
			}
			if len(group) > 0 {
				w := ^uint64(0)
				if sources != nil {
					w = random.next()
				}
				for k := range group {
					s += group[k][byte(w>>(8*k))]
				}
			}
			sums[i] = s
			if sources != nil {
				sources[i] = random
			}
		}
	}
}
