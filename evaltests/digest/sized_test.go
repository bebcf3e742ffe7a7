package digest_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/digest"
)

// What is written has the digest of what is held.
func TestSized(t *testing.T) {
	held, err := digest.Pairs("x/1", map[string]any{"a": []int{1, 2}, "b": "c"})
	require.NoError(t, err)
	write := func(w io.Writer) error { _, err := io.WriteString(w, "[1,2]"); return err }
	written, err := digest.Pairs("x/1", map[string]any{"a": digest.Sized{N: 5, Write: write}, "b": "c"})
	require.NoError(t, err)
	assert.Equal(t, held, written)
	_, err = digest.Pairs("x/1", map[string]any{"a": digest.Sized{N: 6, Write: write}})
	require.EqualError(t, err, `x/1: key "a": wrote 5 bytes of 6`)
}
