package gate_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/golden"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// ranked are n cases whose one relevant document, d, stands at a rank.
func ranked(n, rank int) []record.Row {
	var rows []record.Row
	for i := range n {
		r := scored(fmt.Sprintf("q%02d", i), 1)
		r.Ranking = nil
		for j := 1; j <= 10; j++ {
			doc := fmt.Sprintf("x%d", j)
			if j == rank {
				doc = "d"
			}
			r.Ranking = append(r.Ranking, record.Entry{Doc: doc, Score: float64(-j)})
		}
		rows = append(rows, r)
	}
	return rows
}

// against checks rows against the golden of others, blessed on a platform.
func against(t *testing.T, class string, blessed, rows []record.Row) golden.SuiteResult {
	t.Helper()
	run := record.Run{Suite: "s", Arm: "base", Nonce: "n", GoldenK: 10, Plan: ids(blessed), Identity: record.Identity{Class: class}}
	w, err := record.Create(t.TempDir(), "s")
	require.NoError(t, err)
	require.NoError(t, w.Run(run))
	for _, r := range blessed {
		require.NoError(t, w.Row(r))
	}
	require.NoError(t, w.Gate(record.Gate{Name: "AP", Measure: "AP", Value: p(1), Floor: p(.5), Verdict: gate.Pass}))
	require.NoError(t, w.Verdict(record.Verdict{Verdict: gate.PASS}))
	require.NoError(t, w.End(record.End{}))
	f, err := record.Read(w.Path())
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "s")
	_, err = golden.Blessing{
		Dir: dir, Record: f, Folder: &record.Folder{Nonce: "n", Tree: "t"}, Tree: "t", K: 10, Reason: "first", When: time.Unix(0, 0),
		Classes: []string{class}, Place: &golden.Place{},
	}.Accept()
	require.NoError(t, err)
	run.Identity.Class = golden.GateClass
	return golden.CheckSuite(dir, "s", golden.DefaultConfig(), run, rows)
}

func TestPairedRegression(t *testing.T) {
	for _, tc := range []struct {
		name, class   string
		blessed, live []record.Row
		verdict, says string
	}{
		{"nothing moved", golden.GateClass, ranked(8, 2), ranked(8, 2), gate.Pass, "(+0.0000, p = 1) over 8 cases"},
		{"better", golden.GateClass, ranked(8, 2), ranked(8, 1), gate.Pass, "8 better, 0 worse"},
		{"worse", golden.GateClass, ranked(8, 2), ranked(8, 4), gate.Regressed, "significantly worse than the golden: RR@10 0.5000 -> 0.2500 (-0.2500, p = 0.00781)"},
		{"too few to tell", golden.GateClass, ranked(5, 2), ranked(5, 4), gate.Pass, "p = 0.0625"},
		{"worse than on another platform", "plan9/mips", ranked(8, 2), ranked(8, 4), gate.NotApplicable, "advisory here: golden is of plan9/mips"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := gate.PairedRegression("RR@10", against(t, tc.class, tc.blessed, tc.live))
			assert.Equal(t, "paired RR@10", g.Name)
			assert.Equal(t, tc.verdict, g.Verdict, g.Reason)
			assert.Contains(t, g.Reason, tc.says)
			assert.Equal(t, len(tc.live), g.Denominator)
		})
	}
	t.Run("no golden", func(t *testing.T) {
		g := gate.PairedRegression("RR@10", golden.CheckSuite(t.TempDir(), "s", golden.DefaultConfig(), record.Run{}, nil))
		assert.Equal(t, gate.NotApplicable, g.Verdict)
		assert.Nil(t, g.Value)
	})
}
