package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
)

// TestMain lets the test binary be the process that the benchmark starts.
func TestMain(m *testing.M) {
	if os.Getenv("BENCH_IS_MAIN") != "" {
		main()
		return
	}
	os.Setenv("BENCH_IS_MAIN", "1")
	os.Exit(m.Run())
}

// bench runs a small benchmark and gives what it prints.
func bench(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), append([]string{"-questions", "20", "-hits", "60", "-rounds", "1", "-pairs", "200", "-resamples", "300"}, args...), &out)
	return out.String(), err
}

func TestAlone(t *testing.T) {
	t.Setenv("TREC_EVAL", "")
	t.Setenv("BENCH_PYTHON", "")
	out, err := bench(t)
	require.NoError(t, err)
	for _, want := range []string{
		"grouped run: 1200 lines", "scattered run: 1200 lines", "one core gives the same bits",
		"not run: trec_eval", "not run: pytrec-eval-terrier (set BENCH_PYTHON)", "not run: ranx (set BENCH_PYTHON)", "not run: numpy (set BENCH_PYTHON)",
		"python3 -m venv",
	} {
		require.Contains(t, out, want)
	}
	require.NotContains(t, out, "times the time", "there was nothing to compare with")
}

// fakeTrecEval prints what -evaluate does, through a filter.
func fakeTrecEval(t *testing.T, filter string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return script(t, "'"+self+"' -evaluate trec9 \"$@\" | "+filter)
}

// script stands for a trec_eval binary.
func script(t *testing.T, command string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	path := filepath.Join(t.TempDir(), "trec_eval")
	text := "#!/bin/sh\nif [ \"$1\" = --version ]; then echo trec_eval version 9.0.8; exit; fi\n" + command + "\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o700))
	return path
}

func TestBesideTrecEval(t *testing.T) {
	t.Setenv("BENCH_PYTHON", "")
	for _, c := range []struct{ name, filter, wrong string }{
		{"the same", "cat", ""},
		{"another value", `awk -F'\t' -v OFS='\t' '$1=="map"&&$2=="100003"{$3=$3+.001}{print}'`, "map of 100003"},
		{"a line less", `grep -v P_5`, "values here"},
		{"another name", `sed s/Rprec/Rprecision/`, "missing here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TREC_EVAL", fakeTrecEval(t, c.filter))
			out, err := bench(t)
			if c.wrong != "" {
				require.ErrorContains(t, err, c.wrong)
				return
			}
			require.NoError(t, err)
			require.Equal(t, 2, strings.Count(out, "agree to its four digits"))
		})
	}
}

func TestToolsThatAreNotThere(t *testing.T) {
	t.Setenv("BENCH_PYTHON", "")
	t.Setenv("TREC_EVAL", filepath.Join(t.TempDir(), "nothing"))
	_, err := bench(t)
	require.ErrorContains(t, err, "TREC_EVAL=")
	t.Setenv("TREC_EVAL", "")
	t.Setenv("BENCH_PYTHON", filepath.Join(t.TempDir(), "nothing"))
	_, err = bench(t)
	require.ErrorContains(t, err, "BENCH_PYTHON=")
}

// An interrupt ends what runs beside and removes the files.
func TestInterrupt(t *testing.T) {
	t.Setenv("BENCH_PYTHON", "")
	t.Setenv("TREC_EVAL", script(t, "exec sleep 60"))
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	begin := time.Now()
	err := run(ctx, []string{"-questions", "20", "-hits", "60"}, io.Discard)
	require.EqualError(t, err, "interrupted")
	require.Less(t, time.Since(begin), 40*time.Second, "the sleep was waited for")
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestAgreeWithPeer(t *testing.T) {
	limits := map[string][]metric.TieRange{
		"q1": {{Min: .2, Max: .6, Mean: .4}, {Min: .5, Max: .5, Mean: .5}},
	}
	for _, c := range []struct {
		name        string
		values      []float64
		ordersTies  bool
		exact, free int
		wrong       bool
	}{
		{"equal", []float64{.4, .5}, true, 2, 0, false},
		{"equal, by chance for one", []float64{.4, .5}, false, 1, 1, false},
		{"another order of ties", []float64{.3, .5}, false, 1, 1, false},
		{"another order than its own rule", []float64{.3, .5}, true, 0, 0, true},
		{"beyond the bounds", []float64{.61, .5}, false, 0, 0, true},
		{"where ties leave no choice", []float64{.4, .5 + 1e-8}, false, 0, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			exact, free, err := agreeWithPeer(limits, map[string][]float64{"q1": c.values}, c.ordersTies)
			require.Equal(t, c.wrong, err != nil, "%v", err)
			require.Equal(t, []int{c.exact, c.free}, []int{exact, free})
		})
	}
	_, _, err := agreeWithPeer(limits, map[string][]float64{"q2": {.4, .5}}, true)
	require.ErrorContains(t, err, "q1 is missing")
}

func TestPlausible(t *testing.T) {
	ours := resampled{Lo: -.02, Hi: .06, SE: .02, P: .3}
	require.NoError(t, plausible(ours, ours, 10_000))
	for _, theirs := range []resampled{
		{Lo: -.01, Hi: .06, SE: .02, P: .3}, {Lo: -.02, Hi: .05, SE: .02, P: .3},
		{Lo: -.02, Hi: .06, SE: .022, P: .3}, {Lo: -.02, Hi: .06, SE: .02, P: .35},
	} {
		require.Error(t, plausible(ours, theirs, 10_000), "%+v", theirs)
	}
}

// The seed decides every byte, so that two people time the same file.
func TestGenerator(t *testing.T) {
	read := func(seed uint64, shuffle bool) [2]string {
		g := generator{questions: 5, hits: 50, seed: seed, shuffle: shuffle}
		qrels, run, err := g.files(t.TempDir())
		require.NoError(t, err)
		a, err := os.ReadFile(qrels)
		require.NoError(t, err)
		b, err := os.ReadFile(run)
		require.NoError(t, err)
		return [2]string{string(a), string(b)}
	}
	for _, shuffle := range []bool{false, true} {
		first := read(1, shuffle)
		require.Equal(t, first, read(1, shuffle))
		require.NotEqual(t, first, read(2, shuffle))
		require.Equal(t, 250, strings.Count(first[1], "\n"))
		questions := 0
		last := ""
		for line := range strings.Lines(first[1]) {
			if q := strings.Fields(line)[0]; q != last {
				questions, last = questions+1, q
			}
		}
		require.Equal(t, shuffle, questions == 250, "lines of a question stand apart only where asked")
	}
}
