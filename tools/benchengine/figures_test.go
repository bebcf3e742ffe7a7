package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/sebdah/goldie/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

const ms = time.Millisecond

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		name  string
		times []time.Duration
		q     float64
		want  time.Duration
	}{
		{"one", []time.Duration{7}, .5, 7},
		{"median of an even number is the lower", []time.Duration{4, 1, 3, 2}, .5, 2},
		{"median of an odd number", []time.Duration{3, 1, 2}, .5, 2},
		{"95 of 20", []time.Duration{20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, .95, 19},
		{"95 of 4 is the largest", []time.Duration{4, 1, 3, 2}, .95, 4},
		{"all", []time.Duration{4, 1, 3, 2}, 1, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := quantile(c.times, c.q)
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
	_, err := quantile(nil, .5)
	require.ErrorContains(t, err, "no question was timed")
}

func TestNDCG(t *testing.T) {
	cases := []pack.Case{
		{Question: pack.Question{ID: "a"}, Gold: pack.Gold{Answerable: true, Grades: map[string]int{"d1": 1}}},
		{Question: pack.Question{ID: "b"}, Gold: pack.Gold{Answerable: true, Grades: map[string]int{"d2": 1}}},
		{Question: pack.Question{ID: "c"}},
	}
	for _, c := range []struct {
		name     string
		rankings map[string][]string
		want     float64
		err      string
	}{
		{"both first", map[string][]string{"a": {"d1", "d2"}, "b": {"d2"}, "c": {"d1"}}, 1, ""},
		{"an empty ranking counts 0", map[string][]string{"a": {"d1"}, "b": {}, "c": {}}, .5, ""},
		{"third is half", map[string][]string{"a": {"d3", "d2", "d1"}, "b": {}, "c": {}}, .25, ""},
		{"a question that was not asked", map[string][]string{"a": {"d1"}, "c": {}}, 0, "case b: no ranking"},
		{"one without an answer was not asked", map[string][]string{"a": {"d1"}, "b": {"d2"}}, 0, "case c: no ranking"},
		{"a document twice", map[string][]string{"a": {"d1", "d1"}, "b": {}, "c": {}}, 0, "case a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ndcg(cases, c.rankings)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			assert.InDelta(t, c.want, got, 1e-12)
		})
	}
}

func TestRatio(t *testing.T) {
	for _, c := range []struct {
		name         string
		theirs, ours time.Duration
		want         string
	}{
		{"faster", 30 * ms, 2 * ms, "15.00x"},
		{"slower", 1 * ms, 4 * ms, "0.25x"},
		{"just below is not rounded up", 9999 * ms, 1000 * ms, "9.99x"},
		{"nothing to divide by", 1 * ms, 0, "unknown"},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, ratio(c.theirs, c.ours)) })
	}
}

// full is a table with every side in it.
func full() Figures {
	times := func(first time.Duration) []time.Duration { return []time.Duration{first, first + ms, first + 2*ms} }
	f := Figures{
		Machine: "an abacus", Pack: "small", Documents: 1000, Questions: 3, TextBytes: 2_500_000,
		Build:    []Step{{"read the pack", 500 * ms}, {"embed", 20 * time.Second}},
		Versions: "bm25s 1, numpy 2",
	}
	add := func(name, model, mode string, index, first time.Duration) {
		f.Systems = append(f.Systems, System{Name: name, Model: model, Mode: mode, Index: index, Bytes: 3_000_000, Search: times(first), NDCG: .5})
	}
	add("this engine", "", "BM25", 20*time.Second, 1*ms)
	add("this engine", "default", "dense", 20*time.Second, 2*ms)
	add("this engine", "default", "hybrid", 20*time.Second, 3*ms)
	add("this engine", fullModel, "dense", 150*time.Second, 5*ms)
	add("this engine", fullModel, "hybrid", 150*time.Second, 9*ms)
	add(python, "", "BM25", 2*time.Second, 2*ms)
	add(python, fullModel, "dense", 200*time.Second, 6*ms)
	add(python, fullModel, "hybrid", 202*time.Second, 7*ms)
	return f
}

func TestTable(t *testing.T) {
	alone := full()
	alone.Systems, alone.Versions = alone.Systems[:3], ""
	alone.NotRun = []string{"the others (there are none)"}
	g := goldie.New(t, goldie.WithFixtureDir("testdata"))
	for name, f := range map[string]Figures{"full": full(), "alone": alone} {
		var b bytes.Buffer
		require.NoError(t, f.print(&b))
		g.Assert(t, name, b.Bytes())
	}
	f := full()
	f.Systems[1].Search = nil
	require.ErrorContains(t, f.print(&bytes.Buffer{}), "this engine, default: no question was timed")
}

// TestTargets turns each target red by itself, and unmeasured.
func TestTargets(t *testing.T) {
	const build, dense, hybrid, endToEnd = 0, 1, 2, 3
	fast := func(f *Figures) {
		f.Systems[4].Search = f.Systems[7].Search // equal is fast enough
	}
	for _, c := range []struct {
		name   string
		change func(*Figures)
		not    []int // targets that are not kept
		blank  []int // of those, the ones not measured
	}{
		{"all kept", func(*Figures) {}, nil, nil},
		{"a build of two minutes", func(f *Figures) { f.Build[1].Wall = buildTarget - f.Build[0].Wall }, []int{build}, nil},
		{"no build", func(f *Figures) { f.Build = nil }, []int{build}, nil},
		{"slow dense", func(f *Figures) { f.Systems[3].Search = []time.Duration{7*ms + 1} }, []int{dense}, nil},
		{"slow hybrid", func(f *Figures) { f.Systems[4].Search = []time.Duration{8*ms + 1} }, []int{hybrid}, nil},
		{"slow index", func(f *Figures) { f.Systems[2].Index = 21 * time.Second }, []int{endToEnd}, nil},
		{"slow searches", func(f *Figures) { f.Systems[2].Search = []time.Duration{time.Second} }, []int{endToEnd}, nil},
		{"a fast index of another mode", func(f *Figures) { f.Systems[6].Index = time.Second }, nil, nil},
		{"no Python", func(f *Figures) { f.Systems = f.Systems[:5] }, []int{dense, hybrid, endToEnd}, []int{dense, hybrid, endToEnd}},
		{"no full model here", func(f *Figures) { f.Systems = append(f.Systems[:3:3], f.Systems[5:]...) }, []int{dense, hybrid}, []int{dense, hybrid}},
		{"Python without the model", func(f *Figures) { f.Systems = f.Systems[:6] }, []int{dense, hybrid, endToEnd}, []int{dense, hybrid, endToEnd}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := full()
			fast(&f)
			c.change(&f)
			var not, blank []int
			for i, target := range f.targets() {
				if !target.Kept {
					not = append(not, i)
				}
				if target.Found == "not measured" {
					blank = append(blank, i)
				}
			}
			assert.Equal(t, c.not, not)
			assert.Equal(t, c.blank, blank)
		})
	}
}
