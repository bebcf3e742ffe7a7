package compare_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// BenchmarkCompare is a whole comparison of 10,000 cases at 7 stages by 20
// measures, all on the same 10,000 resamples.
func BenchmarkCompare(b *testing.B) {
	base, treatment := large(10000)
	o := compare.Options{Vary: []string{"judge"}, All: true}
	for b.Loop() {
		c, err := compare.Compare(base, []compare.Side{treatment}, o)
		require.NoError(b, err)
		require.Len(b, c.Treatments[0].Others, 7*20-1)
	}
}

// large makes two runs of n cases with 7 stages.
func large(n int) (base, treatment compare.Side) {
	rng := random(9)
	side7 := func(label string, config map[string]string) compare.Side {
		rows := make([]record.Row, n)
		for i := range rows {
			r := row(fmt.Sprintf("q%05d", i), 1, 1)
			r.Stages = nil
			for _, name := range []string{"vector", "lexical", "fusion", "boosted", "candidates", "rerank"} {
				r.Stages = append(r.Stages, record.Stage{Name: name, State: record.Executed, Entries: ranked(rng.IntN(width + 1))})
			}
			r.Ranking = ranked(rng.IntN(width + 1))
			rows[i] = r
		}
		f := compare.Side{Label: label, File: &record.File{Path: label, State: record.Complete, Rows: rows, End: &record.End{SHA256: label}}}
		f.File.Run = side(label, config).File.Run
		for _, r := range rows {
			f.File.Run.Plan = append(f.File.Run.Plan, r.Case)
		}
		f.File.Run.Measures = nil
		for _, m := range []string{"nDCG", "R", "P", "RR", "Success"} {
			for _, k := range []int{1, 3, 5, 10} {
				f.File.Run.Measures = append(f.File.Run.Measures, fmt.Sprintf("%s@%d", m, k))
			}
		}
		return f
	}
	return side7("base", without), side7("treatment", with)
}
