package stat_test

import (
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

// TestBootstrapMeansIsBootstrapMean: many samples at once see the resamples that
// each sees alone; only the order of the sums differs.
func TestBootstrapMeansIsBootstrapMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		stream := stat.NewStream(rapid.Uint64().Draw(t, "seed"))
		samples := rapid.SliceOfN(rapid.SliceOfN(rapid.Float64Range(-1, 1), n, n), 1, 19).Draw(t, "samples")
		many, err := stat.BootstrapMeans(samples, 50, stream)
		require.NoError(t, err)
		require.Len(t, many, len(samples))
		for i, s := range samples {
			one, err := stat.BootstrapMean(s, 50, stream)
			require.NoError(t, err)
			assert.Equal(t, one.Observed, many[i].Observed)
			assert.Equal(t, one.Acceleration, many[i].Acceleration)
			assert.InDeltaSlice(t, one.Means, many[i].Means, 1e-12)
		}
	})
}

func TestBootstrapMeansOnAnyNumberOfCores(t *testing.T) {
	samples := [][]float64{{1, 2, 3, 4, 5}, {0, 0, 1, 0, -1}, {.1, .2, .3, .4, .5}}
	two, err := stat.BootstrapMeans(samples, 1000, stat.NewStream(7))
	require.NoError(t, err)
	was := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(was)
	one, err := stat.BootstrapMeans(samples, 1000, stat.NewStream(7))
	require.NoError(t, err)
	assert.Equal(t, one, two)
}

func TestBootstrapMeansRefuses(t *testing.T) {
	for name, samples := range map[string][][]float64{
		"an empty sample":  {{}},
		"unequal lengths":  {{1, 2}, {1}},
		"no finite value":  {{1, math.NaN()}},
		"an infinite mean": {{1, math.Inf(1)}},
	} {
		_, err := stat.BootstrapMeans(samples, 10, stat.NewStream(1))
		assert.Error(t, err, name)
	}
	none, err := stat.BootstrapMeans(nil, 10, stat.NewStream(1))
	assert.NoError(t, err)
	assert.Empty(t, none)
	_, err = stat.BootstrapMeans([][]float64{{1}}, 0, stat.NewStream(1))
	assert.Error(t, err)
}
