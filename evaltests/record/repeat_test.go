package record_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// asked is a case asked for the k-th time.
func asked(id string, k int, state record.State, ap float64, docs ...string) record.Row {
	r := record.Row{Case: id, Repeat: k, Outcome: record.Outcome{State: state}, Micros: int64(100 * (k + 1))}
	if state == record.Scored {
		r.Measures = map[string]float64{"AP": ap}
		for _, d := range docs {
			r.Ranking = append(r.Ranking, record.Entry{Doc: d})
		}
		r.Stages = []record.Stage{{Name: "lexical", State: record.Executed, Entries: r.Ranking, Measures: map[string]float64{"AP": ap / 2}}}
	} else {
		r.Outcome.Reason = string(state)
	}
	return r
}

func TestAverage(t *testing.T) {
	rows := []record.Row{
		asked("same", 0, record.Scored, .1, "a"), asked("varies", 0, record.Scored, .2, "a"), asked("fails", 0, record.Scored, 1, "a"),
		asked("refused", 0, record.Failed, 0), asked("late", 0, record.Scored, 1, "a"),
		asked("same", 1, record.Scored, .1, "a"), asked("varies", 1, record.Scored, .6, "b"), asked("fails", 1, record.TimedOut, 0),
		asked("refused", 1, record.Refused, 0),
		asked("same", 2, record.Scored, .1, "a"), asked("varies", 2, record.Scored, .4, "a"), asked("fails", 2, record.Failed, 0),
		asked("refused", 2, record.Scored, 1, "a"),
	}
	got := record.Average(rows, 3)
	require.Len(t, got, 4, "a case that lacks a repeat was not reached")
	assert.Equal(t, .1, got[0].Measures["AP"], "exactly the value that all repeats share, not .1+.1+.1 divided by 3")
	assert.InDelta(t, .4, got[1].Measures["AP"], 1e-15)
	assert.InDelta(t, .2, got[1].Stages[0].Measures["AP"], 1e-15)
	assert.Equal(t, int64(200), got[1].Micros)
	assert.Equal(t, record.Failed, got[2].Outcome.State, "one repeat that failed is a case that failed")
	assert.Nil(t, got[2].Measures)
	assert.Equal(t, record.Refused, got[3].Outcome.State, "what was not measured outweighs what went wrong")

	plan := []string{"same", "varies", "fails", "refused", "late"}
	assert.Equal(t, map[record.State]int{record.Scored: 2, record.Failed: 1, record.Refused: 1, record.NotReached: 1}, record.Count(plan, got))
	assert.Equal(t, rows, record.Average(rows, 1))
}

func TestProofOf(t *testing.T) {
	run := record.Run{Repeats: 2, Plan: []string{"a", "b"}, Hashes: record.Hashes{Treatment: "t"}}
	rows := func(second ...string) []record.Row {
		return []record.Row{
			asked("a", 0, record.Scored, 1, "x", "y"), asked("b", 0, record.Scored, 1, "x"),
			asked("a", 1, record.Scored, 1, second...), asked("b", 1, record.Scored, 1, "x"),
		}
	}
	assert.Equal(t, &record.RunTwice{Treatment: "t", Repeats: 2, Cases: 2, Proven: true}, record.ProofOf(run, rows("x", "y")))
	assert.Equal(t, &record.RunTwice{Treatment: "t", Repeats: 2, Cases: 2, Differ: []string{"a (ranking, repeat 1)"}}, record.ProofOf(run, rows("y", "x")))
	assert.False(t, record.ProofOf(run, rows("x", "y")[:3]).Proven, "a case that was not asked again proves nothing")
	stage := rows("x", "y")
	stage[2].Stages[0].Entries = stage[2].Stages[0].Entries[:1]
	assert.Equal(t, []string{"a (stage lexical, repeat 1)"}, record.ProofOf(run, stage).Differ)
	ended := rows("x", "y")
	ended[3].Outcome.State = record.Failed
	assert.Equal(t, []string{"b (outcome, repeat 1)"}, record.ProofOf(run, ended).Differ)
	run.Repeats = 0
	assert.Nil(t, record.ProofOf(run, rows("x", "y")))
}

// TestOrderOfRows: in whatever order cases end, their rows come in that of the
// plan, and the figures of a deterministic subject are those of one run.
func TestOrderOfRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := []string{"c", "a", "b"}
		var rows []record.Row
		value := rapid.Float64Range(0, 1).Draw(t, "value")
		repeats := rapid.IntRange(1, 4).Draw(t, "repeats")
		for k := range repeats {
			for _, id := range plan {
				rows = append(rows, asked(id, k, record.Scored, value, "x"))
			}
		}
		rows = rapid.Permutation(rows).Draw(t, "ended")
		record.SortRows(plan, rows)
		for i, r := range rows {
			require.Equal(t, plan[i%3], r.Case)
			require.Equal(t, i/3, r.Repeat)
		}
		for _, r := range record.Average(rows, repeats) {
			require.Equal(t, value, r.Measures["AP"])
		}
	})
}
