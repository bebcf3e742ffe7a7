package golden_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/golden"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// moved are rows whose named cases have ranks 2 and 3 exchanged.
func moved(base []record.Row, cases ...int) []record.Row {
	live := slices.Clone(base)
	for _, i := range cases {
		live[i].Ranking = swapped(live[i].Ranking, 2)
	}
	return live
}

func drifted(res golden.SuiteResult) []string {
	var keys []string
	for _, c := range res.Cases {
		keys = append(keys, c.Key)
	}
	slices.Sort(keys)
	return keys
}

func TestPartialAcceptance(t *testing.T) {
	base := rows(20, entries(12))
	dir := blessed(t, base)
	live := moved(base, 0, 1, 2)
	b := whole(live).blessing(t, dir, "one of three")
	b.Only = []string{"q01"}
	_, err := b.Accept()
	require.NoError(t, err)
	assert.Equal(t, []string{"q00", "q02"}, drifted(check(t, dir, runLine(live), live)), "the others stay red")
	ledger, err := golden.ReadLedger(dir)
	require.NoError(t, err)
	assert.Equal(t, []string{"q01"}, ledger[1].Only)
	assert.Equal(t, 20, ledger[1].Cases)

	b = whole(live).blessing(t, dir, "the others")
	_, err = b.Accept()
	require.NoError(t, err)
	assert.Empty(t, drifted(check(t, dir, runLine(live), live)))
}

// A new question and one that is gone can be accepted alone.
func TestPartialAcceptanceOfNewAndGoneCases(t *testing.T) {
	base := rows(20, entries(12))
	dir := blessed(t, base)
	live := append(slices.Clone(base[1:]), row("new", entries(12)))
	live[0].Ranking = swapped(live[0].Ranking, 2)
	b := whole(live).blessing(t, dir, "a question more, one less")
	b.Only = []string{"new", "q00"}
	g, err := b.Accept()
	require.NoError(t, err)
	assert.Len(t, g.Cases, 20)
	res := check(t, dir, runLine(live), live)
	assert.Empty(t, res.Unblessed)
	assert.Equal(t, []string{"q01"}, drifted(res))
}

func TestReject(t *testing.T) {
	base := rows(20, entries(12))
	dir := blessed(t, base)
	live := moved(base, 0, 1, 2)
	run := t.TempDir()
	res := check(t, dir, runLine(live), live)
	require.NoError(t, golden.WritePending(run, runLine(live), golden.DefaultConfig(), res))
	accept := func(only ...string) error {
		b := whole(live).blessing(t, dir, "meant")
		b.Folder.Dir, b.Only = run, only
		_, err := b.Accept()
		return err
	}

	_, err := golden.Reject(run, "s", "base", []string{"q07"}, "")
	require.ErrorContains(t, err, `case "q07" is not pending`)
	n, err := golden.Reject(run, "s", "base", []string{"q02"}, "the old order is right")
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	require.ErrorContains(t, accept("q02"), "was rejected in this run (the old order is right)")
	require.NoError(t, accept())
	assert.Equal(t, []string{"q02"}, drifted(check(t, dir, runLine(live), live)), "what was rejected stays as it was, and red")

	_, err = golden.Reject(run, "t", "base", nil, "")
	require.ErrorContains(t, err, "nothing is pending for suite t")
}

func TestPendingSaysWhatWaits(t *testing.T) {
	base := rows(20, entries(12))
	dir := blessed(t, base)
	cfg := golden.DefaultConfig()
	states := func(t *testing.T, dir string, run record.Run, live []record.Row) map[string]string {
		t.Helper()
		folder := t.TempDir()
		require.NoError(t, golden.WritePending(folder, run, cfg, golden.CheckSuite(dir, "s", cfg, run, live)))
		p, err := golden.ReadPending(golden.PendingPath(folder, "s", "base"))
		require.NoError(t, err)
		out := map[string]string{}
		for _, c := range p.Cases {
			out[c.Key] = c.State
		}
		return out
	}
	t.Run("a red check", func(t *testing.T) {
		live := append(moved(base, 0), row("new", entries(12)))
		live[3].Digest = "other"
		live[4].Ranking = swapped(live[4].Ranking, 8)
		live[5] = ended("q05", record.Failed)
		assert.Equal(t, map[string]string{
			"q00": "drift(current)", "q03": "changed", "q04": "benign", "q05": "missing", "new": "new",
		}, states(t, dir, runLine(live), live))
	})
	t.Run("no golden yet", func(t *testing.T) {
		assert.Len(t, states(t, t.TempDir(), runLine(base), base), 20)
	})
	t.Run("a green check writes nothing", func(t *testing.T) {
		folder := t.TempDir()
		run := runLine(base)
		require.NoError(t, golden.WritePending(folder, run, cfg, golden.CheckSuite(dir, "s", cfg, run, base)))
		names, err := os.ReadDir(folder)
		require.NoError(t, err)
		assert.Empty(t, names)
	})
	t.Run("arms do not overwrite each other", func(t *testing.T) {
		assert.NotEqual(t, golden.PendingPath("r", "s", "base"), golden.PendingPath("r", "s", "light"))
	})
}

// Stages have rankings and drift of their own, in the same file.
func TestStageGoldens(t *testing.T) {
	cfg := golden.DefaultConfig()
	cfg.Stages = []string{"lexical"}
	base := rows(20, entries(12))
	for i := range base {
		base[i].Stages = []record.Stage{{Name: "lexical", State: record.Executed, Entries: entries(12)}}
	}
	recordedStages := func(rs []record.Row) recorded {
		x := whole(rs)
		x.gates = append(x.gates, record.Gate{Name: "drift lexical", Stage: "lexical", Verdict: golden.NoMeasure})
		return x
	}
	dir := filepath.Join(t.TempDir(), "s")
	g, err := recordedStages(base).blessing(t, dir, "the first").Accept()
	require.NoError(t, err)
	assert.Len(t, g.Cases, 40)

	live := slices.Clone(base)
	live[3].Stages = []record.Stage{{Name: "lexical", State: record.Executed, Entries: swapped(entries(12), 1)}}
	res := golden.CheckSuite(dir, "s", cfg, runLine(live), live)
	assert.Equal(t, golden.Pass, res.Verdict, "the final ranking is as it was")
	require.Len(t, res.Stages, 1)
	assert.Equal(t, golden.Regressed, res.Stages[0].Verdict)
	assert.Contains(t, res.Stages[0].Reasons[0], "1 of 20 cases drifted, worst q03")

	live[4].Stages = []record.Stage{{Name: "lexical", State: record.SkippedStage, Reason: "off"}}
	res = golden.CheckSuite(dir, "s", cfg, runLine(live), live)
	assert.Equal(t, []string{"q04"}, res.Stages[0].Missing, "a stage that was skipped has no ranking")

	res = golden.CheckSuite(dir, "s", golden.DefaultConfig(), runLine(base), base)
	assert.Equal(t, golden.NoMeasure, res.Verdict)
	assert.Contains(t, res.Reasons[0], "the golden holds stages that the suite no longer names: lexical")

	cfg.Stages = []string{"lexical", "vector"}
	res = golden.CheckSuite(dir, "s", cfg, runLine(base), base)
	assert.Equal(t, golden.Pass, res.Verdict)
	assert.Equal(t, golden.NoMeasure, res.Stages[1].Verdict, "a stage that was never there compares nothing")
}

// What is written is what the fast reader takes: else the benchmark of the
// check would measure something else.
func TestCanonicalLineTakesWhatIsWritten(t *testing.T) {
	dir := blessed(t, rows(3, entries(12)))
	lines := strings.Split(strings.TrimSpace(read(t, dir, golden.CurrentFile)), "\n")
	for _, line := range lines[1:] {
		c, ok := golden.CanonicalLine(line)
		assert.True(t, ok, line)
		assert.Len(t, c.IDs, 10)
	}
}
