package digest_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/digest"
)

// The two vectors fix the form; they were computed with Python's hashlib and
// struct from the written rule, not with this package.
func TestPairsVectors(t *testing.T) {
	for _, tc := range []struct {
		name   string
		domain string
		pairs  map[string]any
		want   string
	}{
		{"empty", "touchstone/question/1", map[string]any{}, "f70b2312ee33d75447e438c9bad0f02140c0f977b1d342f8c801fe2f32cd731a"},
		{"mixed", "touchstone/question/1", map[string]any{"b": 1.5, "a": "x<y", "c": map[string]any{"z": 1, "k": []int{2, 3}}}, "78bb8aefa074b056c27de8d532259b37259a6f73486b5bf0cc4decfa1bcdd177"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := digest.Pairs(tc.domain, tc.pairs)
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestPairsKeepsBordersApart(t *testing.T) {
	a, err := digest.Pairs("d", map[string]any{"ab": "c"})
	require.NoError(t, err)
	b, err := digest.Pairs("d", map[string]any{"a": "bc"})
	require.NoError(t, err)
	other, err := digest.Pairs("e", map[string]any{"ab": "c"})
	require.NoError(t, err)
	assert.NotEqual(t, a, b)
	assert.NotEqual(t, a, other)
}

func TestPairsRefusesNaN(t *testing.T) {
	_, err := digest.Pairs("d", map[string]any{"score": math.NaN()})
	require.Error(t, err)
	assert.Contains(t, err.Error(), `key "score"`)
}

func TestCanonicalSortsStructFields(t *testing.T) {
	got, err := digest.Canonical(struct {
		Z float64 `json:"z"`
		A string  `json:"a"`
	}{0.1, "<&>"})
	require.NoError(t, err)
	assert.Equal(t, `{"a":"<&>","z":0.1}`, string(got))
}

func ExamplePairs() {
	sum, err := digest.Pairs("touchstone/question/1", map[string]any{"unit": "document", "k": 10})
	fmt.Println(digest.Abbrev(sum), err)
	// Output: 436134e9c7d0 <nil>
}
