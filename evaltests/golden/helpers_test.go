package golden_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/golden"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

const tree = "0123456789abcdef"

func ptr(v float64) *float64 { return &v }

// entries are n documents with falling scores.
func entries(n int) []record.Entry {
	var es []record.Entry
	for i := range n {
		es = append(es, record.Entry{Doc: fmt.Sprintf("d%d", i+1), Score: 1 - float64(i)/100})
	}
	return es
}

// swapped exchanges ranks i and i+1; the scores stay with the ranks.
func swapped(es []record.Entry, i int) []record.Entry {
	es = slices.Clone(es)
	es[i-1].Doc, es[i].Doc = es[i].Doc, es[i-1].Doc
	return es
}

func row(id string, es []record.Entry) record.Row {
	return record.Row{
		Suite: "s", Arm: "base", Mode: "default", Case: id, Digest: "digest of " + id, Gold: map[string]int{"d1": 1}, Answer: true,
		Outcome: record.Outcome{State: record.Scored}, Ranking: es, Measures: map[string]float64{"AP": 1},
	}
}

func ended(id string, state record.State) record.Row {
	r := row(id, nil)
	r.Measures, r.Outcome = nil, record.Outcome{State: state, Reason: "boom"}
	return r
}

func rows(n int, es []record.Entry) []record.Row {
	var rs []record.Row
	for i := range n {
		rs = append(rs, row(fmt.Sprintf("q%02d", i), es))
	}
	return rs
}

func runLine(rs []record.Row) record.Run {
	run := record.Run{
		Suite: "s", Arm: "base", Tier: "smoke", Nonce: "nonce", GoldenK: 10, Plan: []string{},
		Hashes:   record.Hashes{Treatment: "t", SeedKey: "seed"},
		Identity: record.Identity{Tool: "0", Go: "go1.26", Class: golden.GateClass},
	}
	for _, r := range rs {
		run.Plan = append(run.Plan, r.Case)
	}
	return run
}

// recorded is a run as a record; tests spoil its parts before it is written.
type recorded struct {
	run     record.Run
	rows    []record.Row
	gates   []record.Gate
	verdict record.Verdict
	cut     bool // without its end line
}

func whole(rs []record.Row) recorded {
	return recorded{
		run: runLine(rs), rows: rs, gates: []record.Gate{{Name: "AP", Measure: "AP", Value: ptr(1), Floor: ptr(.5), Verdict: golden.Pass}},
		verdict: record.Verdict{Verdict: "PASS"},
	}
}

func (x recorded) file(t testing.TB) *record.File {
	t.Helper()
	w, err := record.Create(t.TempDir(), "s")
	require.NoError(t, err)
	require.NoError(t, w.Run(x.run))
	for _, r := range x.rows {
		require.NoError(t, w.Row(r))
	}
	for _, g := range x.gates {
		require.NoError(t, w.Gate(g))
	}
	if x.verdict.Verdict != "" {
		require.NoError(t, w.Verdict(x.verdict))
	}
	if x.cut {
		require.NoError(t, w.Close())
	} else {
		require.NoError(t, w.End(record.End{}))
	}
	f, err := record.Read(w.Path())
	require.NoError(t, err)
	return f
}

func (x recorded) blessing(t testing.TB, dir, reason string) golden.Blessing {
	t.Helper()
	return golden.Blessing{
		Dir: dir, Record: x.file(t), Folder: &record.Folder{Nonce: "nonce", Tree: tree}, Tree: tree, K: 10,
		Reason: reason, When: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Place: &golden.Place{},
	}
}

// blessed is a golden folder of the rows.
func blessed(t testing.TB, rs []record.Row) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s")
	_, err := whole(rs).blessing(t, dir, "the first").Accept()
	require.NoError(t, err)
	return dir
}

func read(t testing.TB, dir, file string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, file))
	require.NoError(t, err)
	return string(data)
}

func put(t testing.TB, dir, file, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
}
