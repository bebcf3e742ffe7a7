package golden_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/golden"
)

type want struct {
	N            int      `json:"n"`
	Verdict      string   `json:"verdict"`
	RBO          *float64 `json:"rbo"`
	Floor        *float64 `json:"floor"`
	Overlap      *int     `json:"overlap"`
	OverlapFloor *int     `json:"overlap_floor"`
	Divergent    *int     `json:"first_divergent_rank"`
	LargestGroup *int     `json:"largest_group"`
}

type vectors struct {
	P         float64 `json:"p"`
	Tolerance float64 `json:"tolerance"`
	Cases     []struct {
		Name    string    `json:"name"`
		Live    []string  `json:"live"`
		Golden  []string  `json:"golden"`
		Scores  []float64 `json:"golden_scores"`
		K       int       `json:"k"`
		Epsilon float64   `json:"epsilon"`
		Current want      `json:"current"`
		Anchor  want      `json:"anchor"`
	} `json:"cases"`
}

// vectorFiles are the committed vectors and those of TOUCHSTONE_DRIFT_VECTORS.
func vectorFiles(t *testing.T) []string {
	t.Helper()
	files := []string{"../../testdata/drift/vectors.json"}
	if dir := os.Getenv("TOUCHSTONE_DRIFT_VECTORS"); dir != "" {
		more, err := filepath.Glob(filepath.Join(dir, "*.json"))
		require.NoError(t, err)
		require.NotEmpty(t, more, "TOUCHSTONE_DRIFT_VECTORS=%s holds no *.json", dir)
		files = append(files, more...)
	}
	return files
}

func TestVectors(t *testing.T) {
	for _, file := range vectorFiles(t) {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		var v vectors
		require.NoError(t, json.Unmarshal(data, &v), file)
		require.Equal(t, golden.Persistence, v.P, file)
		require.NotEmpty(t, v.Cases, file)
		for _, tc := range v.Cases {
			t.Run(tc.Name, func(t *testing.T) {
				for against, w := range map[golden.Against]want{golden.Current: tc.Current, golden.Anchor: tc.Anchor} {
					got, err := golden.Check(tc.Live, golden.List{IDs: tc.Golden, Scores: tc.Scores}, tc.K, tc.Epsilon, against)
					require.NoError(t, err)
					assert.Equal(t, w.Verdict, string(got.State), against)
					assert.Equal(t, w.N, got.N, against)
					if w.LargestGroup != nil {
						assert.Equal(t, *w.LargestGroup, got.LargestGroup, against)
					}
					if w.RBO == nil {
						require.Equal(t, golden.CouldNotMeasure, got.State)
						continue
					}
					assert.InDelta(t, *w.RBO, got.RBO, v.Tolerance, against)
					assert.InDelta(t, *w.Floor, got.Floor, v.Tolerance, against)
					assert.Equal(t, *w.Overlap, got.Overlap, against)
					assert.Equal(t, *w.OverlapFloor, got.OverlapFloor, against)
					divergent := 0
					if w.Divergent != nil {
						divergent = *w.Divergent
					}
					assert.Equal(t, divergent, got.Divergent, against)
				}
			})
		}
	}
}
