package sweep_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
	"github.com/touchstone-eval/touchstone/engine/rerank"
	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/adapt/builtin"
	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/compare/sweep"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// deep is 150 documents in groups of fifteen that BM25 cannot tell apart; the
// answer is the one with the remark that the judge looks for, anywhere in its
// group.
func deep() *pack.Pack {
	p := &pack.Pack{Manifest: pack.Manifest{Name: "deep", Version: "1", Unit: "document"}}
	subjects := []string{"otter", "falcon", "badger", "salmon", "beetle", "willow", "heron", "weasel", "carp", "lynx"}
	for i, s := range subjects {
		for j := range 15 {
			id := fmt.Sprintf("%s-%02d", s, j)
			remark := "plain"
			if j == (7*i+5)%15 {
				remark = "noted"
				p.Cases = append(p.Cases, pack.Case{
					Question: pack.Question{ID: s, Text: "what of the " + s}, Stratum: []string{"even", "odd"}[i%2],
					Gold: pack.Gold{Answerable: true, Grades: map[string]int{id: 1}},
				})
			}
			p.Documents = append(p.Documents, pack.Document{ID: id, Text: fmt.Sprintf("The %s is %s.", s, remark)})
		}
	}
	return p
}

// judgeOf likes passages that hold a word.
type judgeOf struct{ word string }

func (j judgeOf) Name() string { return "likes-" + j.word + "@1" }
func (j judgeOf) Judge(_ context.Context, _ string, passages []rerank.Passage) ([]float64, error) {
	out := make([]float64, len(passages))
	for i, p := range passages {
		out[i] = float64(strings.Count(p.Text, j.word))
	}
	return out, nil
}

// arm runs one arm.
func arm(t *testing.T, p *pack.Pack, pool int, judge bool, settings ...string) compare.Side {
	t.Helper()
	cfg, err := builtin.Configure(engine.Config{Embedder: embedtest.New(16)}, append([]string{fmt.Sprintf("pool_size=%d", pool)}, settings...))
	require.NoError(t, err)
	if judge {
		cfg.Judge = judgeOf{"noted"}
	}
	s, err := builtin.New(t.Context(), cfg)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	suite, err := evaltests.NewSuite(p, evaltests.Env{Tier: "smoke"})
	require.NoError(t, err)
	folder, err := record.NewFolder(t.TempDir(), ".", "test", nil)
	require.NoError(t, err)
	run, err := evaltests.Evaluate(t.Context(), suite.In(folder), s)
	require.NoError(t, err)
	f, err := record.Read(run.Path)
	require.NoError(t, err)
	return compare.Side{Label: fmt.Sprintf("pool %d, judge %v", pool, judge), File: f}
}

func named(r *sweep.PoolReport, name string) sweep.PoolArm {
	return r.Arms[slices.IndexFunc(r.Arms, func(a sweep.PoolArm) bool { return a.Name == name })]
}

func TestPool(t *testing.T) {
	p := deep()
	var sides []compare.Side
	for _, pool := range []int{20, 4} {
		for _, judge := range []bool{true, false} {
			s := arm(t, p, pool, judge)
			// Latencies of their own, so that the front does not hang on the clock.
			for i := range s.File.Rows {
				r := &s.File.Rows[i]
				r.Micros = 1000 + int64(i)
				if judge {
					r.Micros += 100 * int64(pool)
				}
				for j := range r.Stages {
					if r.Stages[j].Name == "rerank" {
						r.Stages[j].Micros = 100 * int64(pool)
					}
				}
			}
			sides = append(sides, s)
		}
	}
	r, err := sweep.Pool(sides, sweep.PoolOptions{Measure: "RR@10"})
	require.NoError(t, err)
	assert.Equal(t, "off/4", r.Base)
	assert.Equal(t, []string{"off/4", "off/20", "on/4", "on/20"}, names(r))
	assert.Equal(t, 10, r.N)
	assert.Equal(t, 150, r.Documents)

	deepest, shallow, off := named(r, "on/20"), named(r, "on/4"), named(r, "off/20")
	assert.Equal(t, 1.0, deepest.RecallPool, "all of a group fits")
	assert.Equal(t, 1.0, deepest.Mean, "and the judge finds the answer in it")
	assert.Less(t, shallow.RecallPool, 1.0)
	assert.Equal(t, off.Mean, named(r, "off/4").Mean)
	assert.Contains(t, r.Notes, "without the reranker the pool moves 0 of 10 cases")
	assert.InDelta(t, 4, shallow.Effective, 1e-9)
	assert.Zero(t, off.Share)
	assert.InDelta(t, 2000./3004.5, deepest.Share, 1e-9)
	assert.EqualValues(t, 3004, deepest.P50)

	// Buried cases are split by what the pool holds of them, and never chosen.
	assert.Positive(t, r.Buried)
	for _, a := range r.Arms {
		assert.Equal(t, r.Buried, a.Inside+a.Outside, a.Name)
	}
	assert.Zero(t, deepest.Outside)
	assert.Equal(t, r.Buried, deepest.Raised)
	assert.Equal(t, r.Buried, shallow.Outside, "what the first ten do not show is in no pool of four")
	assert.Zero(t, shallow.Raised)

	// Three tests: on against off at both pools, and the deeper pool.
	assert.Equal(t, 3, r.Family)
	for _, x := range r.Tests {
		assert.Equal(t, 10, x.Wins+x.Losses+x.Ties)
		assert.GreaterOrEqual(t, x.Adj, x.P)
		assert.NotEmpty(t, x.Detectable.Form)
	}
	assert.Equal(t, []sweep.Axis{
		{Name: sweep.RerankerAxis, Finding: sweep.Firm, Tests: 2, Firm: 1, Alone: 1, Better: 1},
		{Name: sweep.PoolAxis, Finding: sweep.Firm, Tests: 1, Firm: 1, Alone: 1, Better: 1},
	}, r.Axes)
	assert.Equal(t, "", deepest.Dominated)
}

func names(r *sweep.PoolReport) (out []string) {
	for _, a := range r.Arms {
		out = append(out, a.Name)
	}
	return out
}

func TestPoolRefusals(t *testing.T) {
	p := deep()
	off, on := arm(t, p, 20, false), arm(t, p, 20, true)
	_, err := sweep.Pool([]compare.Side{off, on}, sweep.PoolOptions{Stratum: "buried"})
	var selected *sweep.SelectionError
	require.ErrorAs(t, err, &selected)
	_, err = sweep.Pool([]compare.Side{off}, sweep.PoolOptions{})
	require.ErrorContains(t, err, "at least two arms")
	_, err = sweep.Pool([]compare.Side{off, off}, sweep.PoolOptions{})
	require.ErrorContains(t, err, "are the same arm (off/20)")

	// A second key that differs is a confound, whatever the arm was meant to be.
	_, err = sweep.Pool([]compare.Side{off, arm(t, p, 20, true, "rrf_k=10")}, sweep.PoolOptions{})
	require.ErrorContains(t, err, "may differ in pool_size and judge alone")
	require.ErrorContains(t, err, "rrf_k (60 -> 10)")

	var shape *sweep.ShapeError
	_, err = sweep.Pool([]compare.Side{off, arm(t, p, 75, true)}, sweep.PoolOptions{})
	require.ErrorAs(t, err, &shape)
	require.ErrorContains(t, err, "pool 75 and 150 documents; a pool must be under half the corpus")
	_, err = sweep.Pool([]compare.Side{arm(t, corpus(), 5, false), arm(t, corpus(), 5, true)}, sweep.PoolOptions{})
	require.ErrorAs(t, err, &shape)
	require.ErrorContains(t, err, "a store holds 30 documents")

	_, err = sweep.Pool([]compare.Side{off, on}, sweep.PoolOptions{Stratum: "none such"})
	require.ErrorContains(t, err, "no case in common")
	r, err := sweep.Pool([]compare.Side{off, on}, sweep.PoolOptions{Stratum: "odd"})
	require.NoError(t, err)
	assert.Equal(t, 5, r.N, "a declared stratum may be looked at")
}

func TestCheckShape(t *testing.T) {
	require.NoError(t, sweep.CheckShape("x", 101, []int{10, 50}))
	require.Error(t, sweep.CheckShape("x", 100, []int{50}))
	require.Error(t, sweep.CheckShape("x", 99, []int{5}))
}
