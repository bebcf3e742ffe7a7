package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/engine/models/onnx/onnxtest"
	"github.com/touchstone-eval/touchstone/evaltests/compare/sweep"
)

// packOf writes a pack of n documents in four groups that only one word tells
// apart, with one question a group.
func packOf(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	var corpus, queries, qrels strings.Builder
	qrels.WriteString("query-id\tcorpus-id\tscore\n")
	groups := []string{"otter", "falcon", "badger", "salmon"}
	for i := range n {
		remark := "plain"
		if i/len(groups) == 5+i%len(groups) {
			remark = "noted"
			fmt.Fprintf(&queries, "{\"_id\":\"q%d\",\"text\":\"what of the %s\"}\n", i, groups[i%len(groups)])
			fmt.Fprintf(&qrels, "q%d\td%03d\t1\n", i, i)
		}
		fmt.Fprintf(&corpus, "{\"_id\":\"d%03d\",\"title\":\"\",\"text\":\"the %s is %s\"}\n", i, groups[i%len(groups)], remark)
	}
	manifest, err := os.ReadFile("testdata/toy/pack/pack.toml")
	require.NoError(t, err)
	for name, text := range map[string]string{"pack.toml": string(manifest), "corpus.jsonl": corpus.String(), "queries.jsonl": queries.String(), "qrels.tsv": qrels.String()} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

// touchstone runs the command and returns what it printed and its exit code.
func touchstone(args ...string) (stdout string, err error) {
	root := newRoot()
	var out, progress bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&progress)
	root.SetArgs(args)
	err = root.Execute()
	return out.String(), err
}

func code(err error) int {
	var e *exit
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &e):
		return e.code
	}
	return exitUsage
}

// TestProbePool runs the arms of a probe with a small cross-encoder, and reads
// them again from their records.
func TestProbePool(t *testing.T) {
	t.Setenv("EVAL_CACHE", t.TempDir())
	judge := onnxtest.CrossEncoder(t, map[string]float32{"noted": 3, "plain": -1})
	dir, out := packOf(t, 120), t.TempDir()
	text, err := touchstone("probe", "pool", dir, "--reranker", judge, "--pools", "2,40", "--out", out, "-m", "RR@10")
	require.NoError(t, err)
	for _, want := range []string{"4 of 4 planned cases in every arm, 120 documents; base off/2", "on/40", "reranker on: off/40 to on/40", "smallest", "without the reranker the pool moves 0 of 4 cases"} {
		assert.Contains(t, text, want)
	}
	runs, err := filepath.Glob(filepath.Join(out, "*"))
	require.NoError(t, err)
	require.Len(t, runs, 4)
	text, err = touchstone(append([]string{"probe", "pool", "--json", "-m", "RR@10"}, runs...)...)
	require.NoError(t, err)
	var r sweep.PoolReport
	require.NoError(t, json.Unmarshal([]byte(text), &r))
	require.Len(t, r.Arms, 4)
	assert.Equal(t, 1.0, r.Arms[3].Mean, "the judge finds the noted one of 30 in a pool of 40")
	assert.Less(t, r.Arms[2].Mean, 1.0)
	assert.Equal(t, 3, r.Family)

	for _, tc := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"no reranker", []string{dir}, 64, "--reranker is missing"},
		{"model not there", []string{dir, "--reranker", "none-such"}, 2, "touchstone models get"},
		{"half the corpus", []string{dir, "--reranker", judge, "--pools", "60"}, 2, "under half the corpus"},
		{"small corpus", []string{packOf(t, 60), "--reranker", judge}, 2, "a store holds 60 documents"},
		{"pools", []string{dir, "--reranker", judge, "--pools", "0,5"}, 64, "at least 1"},
		{"buried", []string{dir, "--reranker", judge, "--stratum", "buried"}, 2, "known only by their outcome"},
		{"one arm", runs[:1], 2, "at least two arms"},
		{"runs and a pack", []string{runs[0], dir}, 64, "give runs alone"},
		{"a key of the sweep", []string{dir, "--reranker", judge, "--set", "colour=blue"}, 64, "weights.vector"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text, err := touchstone(append([]string{"probe", "pool"}, tc.args...)...)
			assert.ErrorContains(t, err, tc.says)
			assert.Equal(t, tc.code, code(err))
			assert.Empty(t, text, "no figure beside a refusal")
		})
	}
}
