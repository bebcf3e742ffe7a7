package selftest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/selftest"
)

// TestComparisonMatrix holds every mutant of a comparison to what it must turn
// red: no more, no less. Every key must be turned red by some mutant.
func TestComparisonMatrix(t *testing.T) {
	reddened := map[string]bool{}
	var matrix strings.Builder
	for _, m := range selftest.ComparisonCatalogue() {
		t.Run(m.Name, func(t *testing.T) {
			red, text, err := selftest.TryComparison(m)
			require.NoError(t, err)
			assert.Equal(t, m.Red, red, "%s", strings.Join(text, "\n"))
			for _, want := range m.Says {
				assert.Contains(t, strings.Join(text, "\n"), want)
			}
			for _, key := range red {
				reddened[key] = true
			}
			matrix.WriteString(m.Name + "\t" + strings.Join(red, ", ") + "\n")
		})
	}
	t.Logf("mutant x key:\n%s", matrix.String())
	for _, key := range selftest.ComparisonKeys() {
		assert.True(t, reddened[key], "no mutant turned %q red", key)
	}
}
