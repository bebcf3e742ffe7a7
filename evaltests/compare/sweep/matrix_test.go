package sweep_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/compare/sweep"
)

func TestMatrix(t *testing.T) {
	base := []compare.Side{arm(t, deep(), 20, false), arm(t, corpus(), 20, false)}
	again := []compare.Side{arm(t, deep(), 20, false), arm(t, corpus(), 20, false)}
	judged := []compare.Side{arm(t, deep(), 20, true), arm(t, corpus(), 20, true)}
	blind := []compare.Side{arm(t, deep(), 20, false, "weights.lexical=0", "weights.vector=1")}
	m, err := sweep.NewMatrix(base, []sweep.ArmRuns{
		{Name: "judged", Keys: []string{"judge"}, Runs: judged},
		{Name: "blind", Keys: []string{"weights.lexical", "weights.vector"}, Runs: blind},
	}, sweep.MatrixOptions{AA: again})
	require.NoError(t, err)
	assert.Equal(t, []string{"judged", "blind"}, m.Columns)
	require.Len(t, m.Rows, 2)
	for _, r := range m.Rows {
		require.Len(t, r.Cells, 2, "a cell for every suite and arm")
		assert.Equal(t, "0 by proof", r.Floor)
	}
	deepRow, small := m.Rows[0], m.Rows[1]
	assert.Contains(t, deepRow.Cells[0].Verdict, "SIGNAL")
	assert.Equal(t, 10, deepRow.Cells[0].Wins+deepRow.Cells[0].Losses+deepRow.Cells[0].Ties)
	assert.Nil(t, deepRow.Cells[0].Detectable)
	assert.False(t, deepRow.Cells[1].NotRun)
	assert.NotContains(t, small.Cells[0].Verdict, "SIGNAL", "no passage there is noted")
	require.NotNil(t, small.Cells[0].Detectable, "what is not significant says what could have been seen")
	assert.True(t, small.Cells[1].NotRun, "a suite without a run of the arm is not run, and not equal")
}

func TestMatrixRefusals(t *testing.T) {
	base := arm(t, deep(), 20, false)
	two := arm(t, deep(), 20, true, "rrf_k=10")
	for _, tc := range []struct {
		name string
		arms []sweep.ArmRuns
		base []compare.Side
		says string
	}{
		{"a second key", []sweep.ArmRuns{{Name: "judged", Keys: []string{"judge"}, Runs: []compare.Side{two}}}, []compare.Side{base}, "rrf_k (60 -> 10), which was not declared"},
		{"the base again", []sweep.ArmRuns{{Name: "same", Keys: []string{"judge"}, Runs: []compare.Side{arm(t, deep(), 20, false)}}}, []compare.Side{base}, "arm same on deep is the base itself"},
		{"two runs of one arm", []sweep.ArmRuns{{Name: "judged", Runs: []compare.Side{two, two}}}, []compare.Side{base}, "has 2 runs of suite deep"},
		{"two bases", []sweep.ArmRuns{{Name: "judged", Runs: []compare.Side{two}}}, []compare.Side{base, base}, "two base runs of suite deep"},
		{"no arm", nil, []compare.Side{base}, "0 arms"},
		{"other keys on another suite", []sweep.ArmRuns{{Name: "x", Runs: []compare.Side{two, arm(t, corpus(), 20, false, "rrf_k=10")}}},
			[]compare.Side{base, arm(t, corpus(), 20, false)}, "an arm is one change"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := sweep.NewMatrix(tc.base, tc.arms, sweep.MatrixOptions{})
			assert.ErrorContains(t, err, tc.says)
		})
	}
}
