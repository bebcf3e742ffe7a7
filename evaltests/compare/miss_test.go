package compare_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// TestMissClasses holds the classes of wrong answers, which comparisons and package
// stage share.
func TestMissClasses(t *testing.T) {
	through := func(final int, stages ...any) record.Row {
		r := record.Row{Case: "q", Gold: map[string]int{"gold": 1}, Answer: true, Outcome: record.Outcome{State: record.Scored}, Ranking: ranked(final)}
		for i := 0; i < len(stages); i += 2 {
			r.Stages = append(r.Stages, record.Stage{Name: stages[i].(string), State: record.Executed, Entries: ranked(stages[i+1].(int))})
		}
		return r
	}
	for _, tc := range []struct {
		name string
		row  record.Row
		want string
	}{
		{"right", through(3, "lexical", 12), ""},
		{"failed", ended("q", record.Failed, "boom"), "failed"},
		{"timed out", ended("q", record.TimedOut, "late"), "timed_out"},
		{"refused", ended("q", record.Refused, "no model"), "declined: refused"},
		{"skipped", ended("q", record.Skipped, "no model"), "declined: skipped"},
		{"never", through(0, "vector", 0, "lexical", 0, "fusion", 0), compare.MissNever},
		{"by the fusion, from the first arm", through(11, "vector", 2, "lexical", 0, "fusion", 11), "pushed below 10 at fusion"},
		{"by the step after the fusion", through(11, "vector", 2, "fusion", 2, "rerank", 11), "pushed below 10 at rerank"},
		{"by the last step", through(11, "lexical", 2, "fusion", 2), "pushed below 10 at final"},
		{"cut off at the pool", through(0, "lexical", 12, "fusion", 12, "candidates", 0), "cut off at candidates"},
		{"two arms without a fusion", through(0, "vector", 11, "lexical", 0, "rerank", 0), "cut off at rerank"},
		{"low all along", through(12, "lexical", 12, "fusion", 11), "retrieved, below 10 at every stage"},
		{"no stage told", through(12), "retrieved, below 10 at every stage"},
	} {
		t.Run(tc.name, func(t *testing.T) { assert.Equal(t, tc.want, compare.Missed(tc.row, 10)) })
	}
}
