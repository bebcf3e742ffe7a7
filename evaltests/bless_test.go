package evaltests_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/golden"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

const guarded = minimal + "headline = [\"RR@10\"]\npaired_regression = \"golden\"\n[golden]\nstages = [\"lexical\"]\n[[gate]]\nmeasure = \"RR@10\"\nfloor = 0.1\n"

// guardedModule makes a git checkout of a module with a suite of n questions, and
// moves into it.
func guardedModule(t *testing.T, n int) (suite string) {
	t.Helper()
	path := writePack(t, n, guarded)
	dir := filepath.Dir(path)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.org/m\n"), 0o644))
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	t.Chdir(dir)
	for _, name := range []string{"CI", "GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "JENKINS_URL"} {
		t.Setenv(name, "") // the test may run in a CI job
	}
	return path
}

// at answers with the question's own document at a rank.
func at(rank int) answer {
	return func(_ context.Context, q pack.Question) (record.Observation, error) {
		own := "d" + q.Text[strings.LastIndex(q.Text, " ")+1:]
		docs := []string{"d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7"}
		for i, d := range docs {
			if d == own {
				docs = append(docs[:i:i], docs[i+1:]...)
				break
			}
		}
		docs = append(docs[:rank-1:rank-1], append([]string{own}, docs[rank-1:]...)...)
		o, err := found(docs...)
		o.Stages = []record.Stage{{Name: "lexical", State: record.Executed, Entries: o.Ranking, Total: len(docs)}}
		return o, err
	}
}

func runIn(t *testing.T, path string, env evaltests.Env, subject evaltests.Subject) *evaltests.Run {
	t.Helper()
	env.Tier = "smoke"
	s, err := evaltests.LoadSuite(path, env)
	require.NoError(t, err)
	folder, err := record.NewFolder(t.TempDir(), ".", "test", nil)
	require.NoError(t, err)
	run, err := evaltests.Evaluate(t.Context(), s.In(folder), subject)
	require.NoError(t, err)
	return run
}

func gateOf(t *testing.T, run *evaltests.Run, name string) record.Gate {
	t.Helper()
	for _, g := range run.Gates {
		if g.Name == name {
			return g
		}
	}
	t.Fatalf("no gate %q in %v", name, run.Gates)
	return record.Gate{}
}

// A run that blesses is never green, writes the golden of its suite alone, and
// the run after it is.
func TestBlessingRun(t *testing.T) {
	if record.Class() != golden.GateClass {
		t.Skipf("goldens are blessed on %s only", golden.GateClass)
	}
	path := guardedModule(t, 8)
	dir := filepath.Join(filepath.Dir(path), "goldens", "small")

	run := runIn(t, path, evaltests.Env{}, at(2))
	assert.Equal(t, gate.CNM, run.Verdict.Verdict)
	assert.Equal(t, gate.NotApplicable, gateOf(t, run, "paired RR@10").Verdict, "no golden yet: the drift gate says so, and a first accept is possible")
	assert.FileExists(t, golden.PendingPath(run.Folder.Dir, "small", "base"))
	assert.NoDirExists(t, dir, "a run never writes goldens by itself")

	for name, env := range map[string]evaltests.Env{"none": {}, "another suite": {Bless: "other", BlessReason: "why"}} {
		run = runIn(t, path, env, at(2))
		assert.Empty(t, run.Blessing, name)
		assert.NoDirExists(t, dir, name)
	}

	bless := evaltests.Env{Bless: "small", BlessReason: "the first rankings"}
	t.Setenv("CI", "true")
	run = runIn(t, path, bless, at(2))
	assert.Contains(t, run.Blessing, "small: not blessed: small: refused: CI never writes goldens")
	assert.NoDirExists(t, dir)
	t.Setenv("CI", "")

	run = runIn(t, path, bless, at(2))
	assert.Contains(t, run.Blessing, "small: blessed, digest ")
	assert.Equal(t, gate.CNM, run.Verdict.Verdict)
	assert.Contains(t, run.Verdict.Reasons, "this run was to bless (EVAL_BLESS); run again to verify")
	said, err := evaltests.BlessingOf(run.Folder.Dir, "small")
	require.NoError(t, err)
	assert.Equal(t, run.Blessing, said)
	ledger, err := golden.ReadLedger(dir)
	require.NoError(t, err)
	require.Len(t, ledger, 1)
	assert.Equal(t, "the first rankings", ledger[0].Reason)

	run = runIn(t, path, evaltests.Env{}, at(2))
	assert.Equal(t, gate.PASS, run.Verdict.Verdict, run.Verdict.Reasons)
	run = runIn(t, path, bless, at(2))
	assert.Equal(t, gate.CNM, run.Verdict.Verdict, "not even when nothing moved")
}

func TestPairedRegression(t *testing.T) {
	if record.Class() != golden.GateClass {
		t.Skipf("goldens are blessed on %s only", golden.GateClass)
	}
	path := guardedModule(t, 8)
	runIn(t, path, evaltests.Env{Bless: "small", BlessReason: "first"}, at(2))

	run := runIn(t, path, evaltests.Env{}, at(3))
	g := gateOf(t, run, "paired RR@10")
	assert.Equal(t, gate.Regressed, g.Verdict)
	assert.Contains(t, g.Reason, "significantly worse than the golden: RR@10 0.5000 -> 0.3333 (-0.1667, p = 0.00781) over 8 cases, 0 better, 8 worse")
	assert.Equal(t, gate.Regressed, gateOf(t, run, golden.DriftGate).Verdict)
	assert.Equal(t, gate.Regressed, gateOf(t, run, "drift lexical").Verdict)
	assert.Equal(t, 8, g.Denominator)

	run = runIn(t, path, evaltests.Env{}, at(1))
	g = gateOf(t, run, "paired RR@10")
	assert.Equal(t, gate.Pass, g.Verdict, "better is no regression, and drift all the same")
	assert.Equal(t, gate.REGRESSED, run.Verdict.Verdict)

	// Two cases are too few to tell, and the gate says what it could have told.
	few := answer(func(ctx context.Context, q pack.Question) (record.Observation, error) {
		if q.Text < "where is number 2" {
			return at(4)(ctx, q)
		}
		return at(2)(ctx, q)
	})
	g = gateOf(t, runIn(t, path, evaltests.Env{}, few), "paired RR@10")
	assert.Equal(t, gate.Pass, g.Verdict)
	assert.Contains(t, g.Reason, "2 worse; smallest detectable difference 0.1")

	// A loss that is there only because of timeouts: nobody knows.
	late := answer(func(ctx context.Context, q pack.Question) (record.Observation, error) {
		if q.Text < "where is number 6" {
			return record.Observation{}, context.DeadlineExceeded
		}
		return at(2)(ctx, q)
	})
	g = gateOf(t, runIn(t, path, evaltests.Env{}, late), "paired RR@10")
	assert.Equal(t, gate.CouldNotMeasure, g.Verdict)
	assert.Contains(t, g.Reason, "worse with 6 timeouts as the worst value, not without them")
}

func TestSuiteFiles(t *testing.T) {
	path := guardedModule(t, 2)
	dir := filepath.Dir(path)
	other := filepath.Join(dir, "elsewhere")
	require.NoError(t, os.MkdirAll(other, 0o755))
	for name, text := range map[string]string{
		"go.mod": "module example.org/n\n", "suite.toml": strings.Replace(minimal, "small", "foreign", 1),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(other, name), []byte(text), 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "broken.toml"), []byte("suite = \"broken\"\nflour = 1\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "no.suite.toml"), []byte("suite = \"plain\"\npack = \".\"\n"), 0o644))
	files, err := evaltests.SuiteFiles(dir)
	require.NoError(t, err)
	names := map[string]bool{}
	for _, f := range files {
		names[f.Name] = f.Golden != nil
		if f.Name == "broken" {
			assert.ErrorContains(t, f.Defect, `unknown key "flour"`)
		} else {
			assert.NoError(t, f.Defect)
		}
	}
	assert.Equal(t, map[string]bool{"small": true, "plain": false, "broken": false}, names)
}

// TestAside: a suite file in testdata is a test's, unless the inventory lists
// its suite and no other file is it.
func TestAside(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                    "module example.org/n\n",
		"testdata/own/suite.toml":   "suite = \"own\"\npack = \".\"\n",
		"testdata/toy/suite.toml":   "suite = \"toy\"\npack = \".\"\n",
		"testdata/copy/suite.toml":  "suite = \"outside\"\npack = \".\"\n",
		"fixtures/real/suite.toml":  "suite = \"outside\"\npack = \".\"\n",
		"fixtures/other/suite.toml": "suite = \"unlisted\"\npack = \".\"\n",
		"eval.inventory.toml":       "packages = [\"./...\"]\n[[suite]]\nname = \"own\"\ntier = \"smoke\"\nplanned = 1\n[[suite]]\nname = \"outside\"\ntier = \"smoke\"\nplanned = 1\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	files, err := evaltests.SuiteFiles(dir)
	require.NoError(t, err)
	aside := map[string]bool{}
	for _, f := range files {
		rel, err := filepath.Rel(dir, f.Path)
		require.NoError(t, err)
		aside[filepath.ToSlash(rel)] = f.Aside()
	}
	assert.Equal(t, map[string]bool{
		"testdata/own/suite.toml": false, "testdata/toy/suite.toml": true, "testdata/copy/suite.toml": true,
		"fixtures/real/suite.toml": false, "fixtures/other/suite.toml": false,
	}, aside)
}
