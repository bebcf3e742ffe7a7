package golden_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/golden"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

func check(t *testing.T, dir string, run record.Run, rs []record.Row) golden.SuiteResult {
	t.Helper()
	return golden.CheckSuite(dir, "s", golden.DefaultConfig(), run, rs)
}

// Coverage is part of the check: whatever kept cases from being compared is
// could-not-measure with its reason, never a pass.
func TestCheckSuiteCoverage(t *testing.T) {
	base := rows(20, entries(12))
	for _, tc := range []struct {
		name  string
		spoil func(t *testing.T, dir string, run *record.Run, rs []record.Row) []record.Row
		want  string
		why   string
		n     int // compared
	}{
		{"nothing changed", nil, golden.Pass, "", 20},
		{"no golden", func(t *testing.T, dir string, _ *record.Run, rs []record.Row) []record.Row {
			require.NoError(t, os.RemoveAll(dir))
			return rs
		}, golden.NoMeasure, "current.jsonl: no golden", 0},
		{"no anchor", func(t *testing.T, dir string, _ *record.Run, rs []record.Row) []record.Row {
			require.NoError(t, os.Remove(filepath.Join(dir, golden.AnchorFile)))
			return rs
		}, golden.NoMeasure, "anchor.jsonl: golden missing", 0},
		{"no ledger", func(t *testing.T, dir string, _ *record.Run, rs []record.Row) []record.Row {
			require.NoError(t, os.Remove(filepath.Join(dir, golden.LedgerFile)))
			return rs
		}, golden.NoMeasure, "no ledger line vouches for it", 0},
		{"a golden edited by hand", func(t *testing.T, dir string, _ *record.Run, rs []record.Row) []record.Row {
			put(t, dir, golden.CurrentFile, strings.Replace(read(t, dir, golden.CurrentFile), `"d1","d2"`, `"d2","d1"`, 1))
			return rs
		}, golden.NoMeasure, "edited since it was blessed", 0},
		{"other line ends", func(t *testing.T, dir string, _ *record.Run, rs []record.Row) []record.Row {
			put(t, dir, golden.CurrentFile, strings.ReplaceAll(read(t, dir, golden.CurrentFile), "\n", "\r\n"))
			return rs
		}, golden.NoMeasure, "edited since it was blessed", 0},
		{"an anchor edited by hand", func(t *testing.T, dir string, _ *record.Run, rs []record.Row) []record.Row {
			put(t, dir, golden.AnchorFile, strings.Replace(read(t, dir, golden.AnchorFile), `"d1","d2"`, `"d2","d1"`, 1))
			return rs
		}, golden.NoMeasure, "anchor.jsonl: digest", 0},
		{"a golden that cannot be read", func(t *testing.T, dir string, _ *record.Run, rs []record.Row) []record.Row {
			put(t, dir, golden.CurrentFile, "<<<<<<< ours\n"+read(t, dir, golden.CurrentFile))
			return rs
		}, golden.NoMeasure, "current.jsonl:1: not JSON", 0},
		{"a ledger that cannot be read", func(t *testing.T, dir string, _ *record.Run, rs []record.Row) []record.Row {
			put(t, dir, golden.LedgerFile, read(t, dir, golden.LedgerFile)+"{")
			return rs
		}, golden.NoMeasure, "ledger.jsonl:2: not JSON", 0},
		{"a ledger of a later format", func(t *testing.T, dir string, _ *record.Run, rs []record.Row) []record.Row {
			put(t, dir, golden.LedgerFile, strings.Replace(read(t, dir, golden.LedgerFile), `"v":2`, `"v":3`, 1))
			return rs
		}, golden.NoMeasure, "ledger.jsonl:1: format 3", 0},
		{"another store", func(t *testing.T, _ string, run *record.Run, rs []record.Row) []record.Row {
			run.Hashes.SeedKey = "other"
			return rs
		}, golden.NoMeasure, "another store", 20},
		{"another treatment is what drift is about", func(t *testing.T, _ string, run *record.Run, rs []record.Row) []record.Row {
			run.Hashes.Treatment = "other"
			return rs
		}, golden.Pass, "", 20},
		{"a planned case without a golden", func(t *testing.T, _ string, run *record.Run, rs []record.Row) []record.Row {
			run.Plan = append(run.Plan, "new")
			return append(rs, row("new", entries(10)))
		}, golden.NoMeasure, "1 planned cases without a golden: new", 20},
		{"a changed question", func(t *testing.T, _ string, _ *record.Run, rs []record.Row) []record.Row {
			rs[3].Digest = "other"
			return rs
		}, golden.NoMeasure, "1 cases whose question or gold changed: q03", 19},
		{"a case of the golden that failed", func(t *testing.T, _ string, _ *record.Run, rs []record.Row) []record.Row {
			rs[3] = ended("q03", record.Failed)
			return rs
		}, golden.NoMeasure, "1 cases of the golden without a live ranking: q03", 19},
		{"a case of the golden that was not reached", func(t *testing.T, _ string, _ *record.Run, rs []record.Row) []record.Row {
			return rs[:19]
		}, golden.NoMeasure, "1 cases of the golden without a live ranking: q19", 19},
		{"many such cases", func(t *testing.T, _ string, _ *record.Run, rs []record.Row) []record.Row {
			return rs[:12]
		}, golden.NoMeasure, "8 cases of the golden without a live ranking: q12, q13, q14, q15, q16 and 3 more", 12},
		{"a case outside the plan is not missed", func(t *testing.T, _ string, run *record.Run, rs []record.Row) []record.Row {
			run.Plan = run.Plan[:5]
			return rs[:5]
		}, golden.Pass, "", 5},
		{"nothing planned", func(t *testing.T, _ string, run *record.Run, rs []record.Row) []record.Row {
			run.Plan = nil
			return nil
		}, golden.NoMeasure, "no case was compared", 0},
		{"a ranking with a document twice", func(t *testing.T, dir string, _ *record.Run, rs []record.Row) []record.Row {
			// Collapsed as chunks of one document: the rank after moves up.
			rs[0].Ranking = append(entries(1), entries(12)...)
			return rs
		}, golden.Pass, "", 20},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := blessed(t, base)
			live := append([]record.Row{}, base...)
			run := runLine(live)
			if tc.spoil != nil {
				live = tc.spoil(t, dir, &run, live)
			}
			res := check(t, dir, run, live)
			assert.Equal(t, tc.want, res.Verdict, res.Reasons)
			assert.Equal(t, tc.n, res.Compared)
			if tc.want == golden.Pass {
				assert.Empty(t, res.Reasons)
				assert.Equal(t, 1.0, res.MeanRBO)
				return
			}
			assert.NotEmpty(t, res.Action)
			require.Len(t, res.Reasons, 1)
			assert.Contains(t, res.Reasons[0], tc.why)
		})
	}
	t.Run("another depth", func(t *testing.T) {
		res := golden.CheckSuite(blessed(t, base), "s", golden.Config{K: 5, MeanRBO: .99, MaxMoved: .2}, runLine(base), base)
		assert.Equal(t, golden.NoMeasure, res.Verdict)
		assert.Equal(t, []string{"golden is of suite s at k = 10; this is s at k = 5"}, res.Reasons)
	})
	t.Run("another suite", func(t *testing.T) {
		res := golden.CheckSuite(blessed(t, base), "t", golden.DefaultConfig(), runLine(base), base)
		assert.Equal(t, golden.NoMeasure, res.Verdict)
	})
}

func TestCheckSuiteDrift(t *testing.T) {
	base := rows(20, entries(12))
	move := func(ranks ...int) []record.Row {
		live := append([]record.Row{}, base...)
		for i, r := range ranks {
			live[i].Ranking = swapped(live[i].Ranking, r)
		}
		return live
	}
	t.Run("a benign move", func(t *testing.T) {
		res := check(t, blessed(t, base), runLine(base), move(8))
		assert.Equal(t, golden.Pass, res.Verdict, res.Reasons)
		assert.Equal(t, 1, res.Moved)
		assert.Equal(t, 0, res.Drifted)
		require.Len(t, res.Cases, 1)
		assert.Equal(t, golden.Benign, res.Cases[0].Current.State)
	})
	t.Run("drift, worst first, and who vouches for the golden", func(t *testing.T) {
		res := check(t, blessed(t, base), runLine(base), move(2, 1, 8))
		assert.Equal(t, golden.Regressed, res.Verdict)
		assert.Equal(t, 2, res.Drifted)
		require.Len(t, res.Cases, 3)
		assert.Equal(t, []string{"q01", "q00", "q02"}, []string{res.Cases[0].Key, res.Cases[1].Key, res.Cases[2].Key})
		assert.Equal(t, "2 of 20 cases drifted, worst q01 against current: RBO 0.8465 (floor 0.9447), 10 of 10 ids kept, first divergent rank 1", res.Reasons[0])
		assert.Contains(t, res.Reasons[len(res.Reasons)-1], "vouches for the golden: the first")
		assert.Contains(t, res.Action, "touchstone golden accept s")
	})
	t.Run("many small moves", func(t *testing.T) {
		res := check(t, blessed(t, base), runLine(base), move(8, 8, 8, 8, 8))
		assert.Equal(t, golden.Regressed, res.Verdict)
		assert.Contains(t, res.Reasons[0], "5 of 20 cases moved; at most 20% may")
		res = check(t, blessed(t, base), runLine(base), move(8, 8, 8, 8))
		assert.Equal(t, golden.Pass, res.Verdict, "exactly the share is within it")
	})
	t.Run("the mean", func(t *testing.T) {
		cfg := golden.Config{K: 10, MeanRBO: .999, MaxMoved: .9}
		res := golden.CheckSuite(blessed(t, base), "s", cfg, runLine(base), move(4, 4, 4, 4))
		assert.Equal(t, golden.Regressed, res.Verdict)
		assert.Contains(t, res.Reasons[0], "mean RBO 0.99")
	})
	t.Run("regressed beside not covered", func(t *testing.T) {
		live := move(1)
		live[5].Digest = "other"
		res := check(t, blessed(t, base), runLine(base), live)
		assert.Equal(t, golden.Regressed, res.Verdict)
		assert.Contains(t, strings.Join(res.Reasons, "; "), "q05", "what was not covered is said all the same")
	})
	t.Run("a lost list", func(t *testing.T) {
		live := move()
		live[0].Ranking = nil
		res := check(t, blessed(t, base), runLine(base), live)
		assert.Equal(t, golden.Regressed, res.Verdict)
		assert.Equal(t, 0.0, res.Cases[0].Current.RBO)
	})
	t.Run("another platform class is advisory", func(t *testing.T) {
		run := runLine(base)
		run.Identity.Class = "darwin/arm64"
		res := check(t, blessed(t, base), run, move(1))
		assert.Equal(t, golden.Regressed, res.Verdict, "the check runs all the same")
		assert.Equal(t, "advisory here: golden is of linux/amd64/v1, this is darwin/arm64", res.Advisory)
	})
}

// Small blessings one after the other: current follows, the anchor stays, and
// holds what they add up to.
func TestAnchorHoldsTheCreep(t *testing.T) {
	base := rows(20, entries(12))
	dir := blessed(t, base)
	anchor := read(t, dir, golden.AnchorFile)
	live := append([]record.Row{}, base...)
	steps := []int{3, 4, 2, 3, 1, 2}
	var last golden.SuiteResult
	for i, at := range steps {
		live[0].Ranking = swapped(live[0].Ranking, at)
		last = check(t, dir, runLine(live), live)
		_, err := whole(live).blessing(t, dir, "step").Accept()
		require.NoError(t, err)
		require.Equal(t, anchor, read(t, dir, golden.AnchorFile), "step %d moved the anchor", i)
	}
	require.Equal(t, golden.Regressed, last.Verdict)
	again := check(t, dir, runLine(live), live)
	assert.Equal(t, golden.Regressed, again.Verdict, "blessed, and still far from the anchor")
	require.Len(t, again.Cases, 1)
	assert.Equal(t, golden.Identical, again.Cases[0].Current.State)
	assert.Equal(t, golden.Drift, again.Cases[0].Anchor.State)
	assert.Contains(t, again.Reasons[0], "worst q00 against anchor: RBO 0.")
	assert.NotContains(t, again.Reasons[0], "RBO 1.0000")
}

// A golden whose scores tie cannot order its entries, be it current or anchor.
func TestConstantScoresCannotBeChecked(t *testing.T) {
	flat := entries(12)
	for i := range flat {
		flat[i].Score = 1
	}
	base := rows(3, entries(12))
	base[1].Ranking = flat
	dir := blessed(t, base)
	res := check(t, dir, runLine(base), base)
	assert.Equal(t, golden.NoMeasure, res.Verdict)
	assert.Equal(t, []string{"1 cases whose golden cannot order its entries: q01 (12 tied scores)"}, res.Reasons)

	base[1].Ranking = entries(12)
	_, err := whole(base).blessing(t, dir, "scores again").Accept()
	require.NoError(t, err)
	res = check(t, dir, runLine(base), base)
	assert.Equal(t, golden.NoMeasure, res.Verdict, "the anchor still ties")
	assert.Equal(t, []string{"1 cases whose golden cannot order its entries: q01 (anchor: 12 tied scores)"}, res.Reasons)
}

func TestConfigValidate(t *testing.T) {
	require.NoError(t, golden.DefaultConfig().Validate())
	for name, c := range map[string]golden.Config{
		"depth":               {K: 0, MeanRBO: .99, MaxMoved: .2},
		"mean of nothing":     {K: 10, MeanRBO: 0, MaxMoved: .2},
		"mean above 1":        {K: 10, MeanRBO: 1.1, MaxMoved: .2},
		"everything may move": {K: 10, MeanRBO: .99, MaxMoved: 1},
		"a negative share":    {K: 10, MeanRBO: .99, MaxMoved: -.1},
	} {
		require.Error(t, c.Validate(), name)
	}
}
