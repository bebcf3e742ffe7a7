package record_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// row is a scored case.
func row(id string) record.Row {
	return record.Row{
		Suite: "s", Arm: "base", Mode: "default", Case: id, Question: "why <" + id + ">?", Stratum: "all",
		Gold: map[string]int{"d1": 1}, Answer: true, Digest: "x", Outcome: record.Outcome{State: record.Scored},
		Ranking:  []record.Entry{{Doc: "d1", Score: 0.1 + 0.2}, {Doc: "d2", Chunk: "d2#1", Score: -1e-300}},
		Stages:   []record.Stage{{Name: "lexical", State: record.Executed, Entries: []record.Entry{{Doc: "d1", Score: 7}}, Total: 1, Measures: map[string]float64{"AP": 1}}},
		Measures: map[string]float64{"AP": 1, "nDCG@10": 0.3333333333333333}, Micros: 1200,
	}
}

// write writes a small whole record and returns its path.
func write(t testing.TB, dir string) string {
	t.Helper()
	w, err := record.Create(dir, "s")
	require.NoError(t, err)
	require.NoError(t, w.Run(record.Run{
		Suite: "s", Arm: "base", Tier: "smoke", Nonce: "n", Plan: []string{"q1", "q2", "q3", "q4"}, Headline: []string{"AP"},
		Identity: record.Identity{Tool: "t", Go: "go1.26", Class: "linux/amd64/v1"},
	}))
	require.NoError(t, w.Row(row("q1")))
	failed := row("q2")
	failed.Outcome = record.Outcome{State: record.Failed, Reason: "no\nline", Action: "mend it"}
	failed.Ranking, failed.Stages, failed.Measures = nil, nil, nil
	require.NoError(t, w.Row(failed))
	require.NoError(t, w.Row(row("q3")))
	value := 2.0 / 3
	require.NoError(t, w.Gate(record.Gate{Name: "AP", Measure: "AP", Value: &value, Floor: &value, Denominator: 3, Planned: 3, Verdict: "pass"}))
	require.NoError(t, w.Verdict(record.Verdict{Verdict: "PASS", Outcomes: map[record.State]int{record.Scored: 2, record.Failed: 1, record.NotReached: 1}, Planned: 4, Use: "wiring"}))
	require.NoError(t, w.End(record.End{Load: "0.1 0.2 0.3", Wall: 1.5}))
	return w.Path()
}

func readBytes(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}

// put writes data where a record of the suite would stand.
func put(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.1.1.jsonl")
	require.NoError(t, os.WriteFile(path, data, 0o644))
	return path
}
