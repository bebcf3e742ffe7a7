package golden_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/golden"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

func TestPaired(t *testing.T) {
	base := rows(20, entries(12))
	dir := blessed(t, base)
	with := func(change func(rs []record.Row)) golden.SuiteResult {
		live := slices.Clone(base)
		change(live)
		return check(t, dir, runLine(live), live)
	}
	t.Run("nothing moved", func(t *testing.T) {
		p, err := with(func([]record.Row) {}).Paired("RR@10", true)
		require.NoError(t, err)
		assert.Equal(t, golden.Paired{Measure: "RR@10", K: 10, N: 20, Golden: 1, Live: 1, P: 1}, p)
		assert.False(t, p.Lost())
	})
	t.Run("five cases lose half", func(t *testing.T) {
		// Five differences of one sign: 2/2^5 = .0625, not significant.
		p, err := with(func(rs []record.Row) {
			for i := range 5 {
				rs[i].Ranking = swapped(rs[i].Ranking, 1)
			}
		}).Paired("RR@10", true)
		require.NoError(t, err)
		assert.InDelta(t, -.125, p.Diff, 1e-12)
		assert.InDelta(t, .0625, p.P, 1e-12)
		assert.False(t, p.Lost())
		assert.Greater(t, p.Detectable, 0.0)
		assert.Contains(t, p.String(), "smallest detectable difference 0.1")
	})
	t.Run("six do", func(t *testing.T) {
		p, err := with(func(rs []record.Row) {
			for i := range 6 {
				rs[i].Ranking = swapped(rs[i].Ranking, 1)
			}
		}).Paired("RR@10", true)
		require.NoError(t, err)
		assert.InDelta(t, .03125, p.P, 1e-12)
		assert.True(t, p.Lost())
	})
	t.Run("failed cases count as 0, timeouts as asked", func(t *testing.T) {
		res := with(func(rs []record.Row) {
			for i := range 6 {
				rs[i] = ended(rs[i].Case, record.TimedOut)
			}
			rs[6] = ended(rs[6].Case, record.Failed)
		})
		p, err := res.Paired("RR@10", true)
		require.NoError(t, err)
		assert.True(t, p.Lost())
		assert.Equal(t, 6, p.Timeouts)
		p, err = res.Paired("RR@10", false)
		require.NoError(t, err)
		assert.False(t, p.Lost())
		assert.Equal(t, 14, p.N)
	})
	t.Run("deeper measures are taken to the golden's depth", func(t *testing.T) {
		p, err := with(func(rs []record.Row) {
			for i := range rs {
				rs[i].Gold = map[string]int{"d12": 1} // rank 12: beyond what the golden keeps
			}
		}).Paired("AP", true)
		require.NoError(t, err)
		assert.Equal(t, 0.0, p.Golden)
		assert.Equal(t, 0.0, p.Live)
		assert.Contains(t, p.String(), "AP (to depth 10)")
	})
	t.Run("nothing to pair", func(t *testing.T) {
		_, err := with(func(rs []record.Row) {
			for i := range rs {
				rs[i].Digest = "other"
			}
		}).Paired("RR@10", true)
		require.ErrorIs(t, err, golden.ErrNoPairs)
		_, err = golden.CheckSuite(t.TempDir(), "s", golden.DefaultConfig(), runLine(base), base).Paired("RR@10", true)
		require.ErrorContains(t, err, "no golden to pair with")
		_, err = with(func([]record.Row) {}).Paired("Unj@10", true)
		require.ErrorContains(t, err, "no better direction")
	})
}

func TestCheckLists(t *testing.T) {
	list := func(ids ...string) golden.List {
		l := golden.List{IDs: ids}
		for i := range ids {
			l.Scores = append(l.Scores, -float64(i))
		}
		return l
	}
	g := golden.FromLists("old", 3, map[string]golden.List{"q1": list("a", "b", "c", "d"), "q2": list("a", "b")})
	for _, tc := range []struct {
		name string
		live map[string]golden.List
		want string
	}{
		{"equal", map[string]golden.List{"q1": list("a", "b", "c"), "q2": list("a", "b")}, golden.Pass},
		{"below the depth", map[string]golden.List{"q1": list("a", "b", "c", "x"), "q2": list("a", "b")}, golden.Pass},
		{"drift", map[string]golden.List{"q1": list("b", "a", "c"), "q2": list("a", "b")}, golden.Regressed},
		{"a question missing", map[string]golden.List{"q1": list("a", "b", "c")}, golden.NoMeasure},
		{"a question more", map[string]golden.List{"q1": list("a", "b", "c"), "q2": list("a", "b"), "q3": list("a")}, golden.NoMeasure},
		{"nothing", nil, golden.NoMeasure},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res, err := golden.CheckLists(g, tc.live)
			require.NoError(t, err)
			assert.Equal(t, tc.want, res.Verdict, res.Reasons)
		})
	}
	_, err := golden.CheckLists(golden.FromLists("x", 0, nil), nil)
	require.ErrorContains(t, err, "golden.k = 0")
}

// BenchmarkCheckSuite holds 10,000 cases of 100 ids to their golden, a fifth
// of them moved: it takes less than a second.
func BenchmarkCheckSuite(b *testing.B) {
	base := make([]record.Row, 10000)
	for i := range base {
		base[i] = row(fmt.Sprintf("q%05d", i), entries(100))
	}
	blessing := whole(base).blessing(b, filepath.Join(b.TempDir(), "s"), "the first")
	blessing.K = 100
	_, err := blessing.Accept()
	require.NoError(b, err)
	live := slices.Clone(base)
	for i := range live {
		if i%5 == 0 {
			live[i].Ranking = swapped(live[i].Ranking, 50)
		}
	}
	run := runLine(live)
	for b.Loop() {
		if res := golden.CheckSuite(blessing.Dir, "s", golden.Config{K: 100, MeanRBO: .9, MaxMoved: .5}, run, live); res.Compared != len(base) {
			b.Fatal(res.Reasons)
		}
	}
}
