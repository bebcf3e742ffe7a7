package record_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// TestChannels: each channel has a touch probe, and nothing else has.
func TestChannels(t *testing.T) {
	assert.Equal(t, []string{"vector", "lexical", "graph", "temporal", "pages", "episodes", "rerank"}, record.Channels())
	for _, name := range record.Channels() {
		probe, ok := record.TouchProbe(name)
		assert.True(t, ok, name)
		assert.NotEmpty(t, probe, name)
		assert.True(t, record.ValidChannel(name))
	}
	_, ok := record.TouchProbe("vectors")
	assert.False(t, ok)
	assert.False(t, record.ValidChannel("vectors"))
}
