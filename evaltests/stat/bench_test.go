package stat_test

import (
	"testing"

	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

// The size that the project's speed targets are stated for: 10,000 pairs,
// 10,000 resamples.
const benchSize = 10_000

func BenchmarkBootstrapMean(b *testing.B) {
	xs := ramp(benchSize)
	for b.Loop() {
		if _, err := stat.BootstrapMean(xs, benchSize, stat.NewStream(1)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSignFlipTest(b *testing.B) {
	xs := ramp(benchSize)
	for b.Loop() {
		if _, err := stat.SignFlipTest(xs, benchSize, stat.NewStream(1)); err != nil {
			b.Fatal(err)
		}
	}
}
