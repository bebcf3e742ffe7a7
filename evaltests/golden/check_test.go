package golden_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/evaltests/golden"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// distinct is a golden of n ids without ties.
func distinct(n int) golden.List {
	var l golden.List
	for i := range n {
		l.IDs = append(l.IDs, fmt.Sprintf("d%d", i+1))
		l.Scores = append(l.Scores, float64(n-i))
	}
	return l
}

func rbo(t *testing.T, live []string, g golden.List, k int) float64 {
	t.Helper()
	r, err := golden.Check(live, g, k, golden.DefaultEpsilon, golden.Current)
	require.NoError(t, err)
	return r.RBO
}

// The numbers that the drift page states for n = 10.
func TestFloorsAtTen(t *testing.T) {
	g := distinct(10)
	for i, want := range map[int]float64{1: .846466, 2: .930910, 3: .958546, 8: .990821} {
		live := slices.Clone(g.IDs)
		live[i-1], live[i] = live[i], live[i-1]
		assert.InDelta(t, want, rbo(t, live, g, 10), 5e-7, "ranks %d and %d exchanged", i, i+1)
	}
	for against, want := range map[golden.Against]float64{golden.Current: .9447, golden.Anchor: .8887} {
		floor := golden.Floor(10, against)
		assert.InDelta(t, want, floor, 5e-5, against)
	}
	for n, want := range map[int]float64{9: .9941, 7: .9583, 5: .8749, 3: .7082} {
		assert.InDelta(t, want, rbo(t, g.IDs[:n], g, 10), 5e-5, "a list of %d", n)
	}
	assert.Equal(t, 0.0, rbo(t, nil, g, 10))
	assert.Equal(t, 1.0, rbo(t, g.IDs, g, 10))
	replaced := append(slices.Clone(g.IDs[:7]), "x", "y", "z")
	assert.InDelta(t, .9583, rbo(t, replaced, g, 10), 5e-5)
	r, err := golden.Check(replaced, g, 10, golden.DefaultEpsilon, golden.Current)
	require.NoError(t, err)
	assert.Equal(t, golden.Drift, r.State, "above the floor, and yet three of ten are other documents")
}

// The floor of every depth lies between the mildest forbidden and the worst
// permitted swap.
func TestFloorsByDepth(t *testing.T) {
	swap := func(n, i int) float64 {
		g := distinct(n)
		live := slices.Clone(g.IDs)
		live[i-1], live[i] = live[i], live[i-1]
		return rbo(t, live, g, n)
	}
	for _, against := range []golden.Against{golden.Current, golden.Anchor} {
		permitted := 3
		if against == golden.Anchor {
			permitted = 2
		}
		for n := range 30 {
			floor := golden.Floor(n, against)
			if n <= permitted {
				assert.Equal(t, 1.0, floor, "%s n=%d", against, n)
				continue
			}
			assert.InDelta(t, (swap(n, permitted)+swap(n, permitted-1))/2, floor, 1e-12, "%s n=%d", against, n)
			for i := 1; i < n; i++ {
				g := distinct(n)
				live := slices.Clone(g.IDs)
				live[i-1], live[i] = live[i], live[i-1]
				r, err := golden.Check(live, g, n, golden.DefaultEpsilon, against)
				require.NoError(t, err)
				want := golden.Benign
				if i < permitted {
					want = golden.Drift
				}
				assert.Equal(t, want, r.State, "%s n=%d: ranks %d and %d exchanged", against, n, i, i+1)
			}
		}
	}
	for n, want := range map[int][2]int{10: {9, 7}, 9: {8, 6}, 5: {4, 3}, 3: {2, 2}, 1: {0, 0}, 20: {18, 14}} {
		assert.Equal(t, want, [2]int{golden.OverlapFloor(n, golden.Current), golden.OverlapFloor(n, golden.Anchor)}, "n=%d", n)
	}
}

func TestShortLists(t *testing.T) {
	for _, tc := range []struct {
		name   string
		live   []string
		golden golden.List
		want   golden.State
	}{
		{"both empty", nil, distinct(0), golden.Identical},
		{"one against one", []string{"d1"}, distinct(1), golden.Identical},
		{"one against another", []string{"x"}, distinct(1), golden.Drift},
		{"something against nothing", []string{"x"}, distinct(0), golden.Drift},
		{"two exchanged", []string{"d2", "d1"}, distinct(2), golden.Drift},
		{"two exchanged in a tie", []string{"d2", "d1"}, golden.List{IDs: []string{"d1", "d2"}, Scores: []float64{1, 1}}, golden.Identical},
		{"three exchanged for three", []string{"x", "y", "z"}, distinct(3), golden.Drift},
	} {
		for _, against := range []golden.Against{golden.Current, golden.Anchor} {
			r, err := golden.Check(tc.live, tc.golden, 10, golden.DefaultEpsilon, against)
			require.NoError(t, err)
			assert.Equal(t, tc.want, r.State, "%s against %s", tc.name, against)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	for name, err := range map[string]error{
		"no depth":              second(golden.Check(nil, distinct(3), 0, golden.DefaultEpsilon, golden.Current)),
		"scores that are fewer": second(golden.Check(nil, golden.List{IDs: []string{"a", "b"}, Scores: []float64{1}}, 10, 0, golden.Current)),
		"scores that are more":  second(golden.Check(nil, golden.List{IDs: []string{"a"}, Scores: []float64{2, 1}}, 10, 0, golden.Current)),
		"a live id twice":       second(golden.Check([]string{"a", "a"}, distinct(3), 10, 0, golden.Current)),
		"a golden id twice":     second(golden.Check(nil, golden.List{IDs: []string{"a", "a"}, Scores: []float64{2, 1}}, 10, 0, golden.Current)),
	} {
		require.Error(t, err, name)
	}
}

func second(_ golden.Result, err error) error { return err }

// The tie group that crosses k is stored whole, in the groups that the check
// forms; nothing else beyond k is.
func TestFromRecordKeepsTheCrossingGroup(t *testing.T) {
	stored := func(k int, scores ...float64) []float64 {
		es := make([]record.Entry, len(scores))
		for i, s := range scores {
			es[i] = record.Entry{Doc: fmt.Sprintf("d%d", i), Score: s}
		}
		return golden.FromRecord(&record.File{Rows: []record.Row{row("q", es)}}, k).Cases[0].Scores
	}
	const e = golden.DefaultEpsilon
	for _, tc := range []struct {
		name   string
		k      int
		scores []float64
		want   int
	}{
		{"no ties", 3, []float64{5, 4, 3, 2, 1}, 3},
		{"shorter than k", 9, []float64{5, 4}, 2},
		{"empty", 3, nil, 0},
		{"a group that crosses", 3, []float64{5, 4, 3, 3, 3, 1}, 5},
		{"a group that ends at k", 3, []float64{5, 3, 3, 2, 2}, 3},
		{"a group that begins after k", 2, []float64{5, 4, 3, 3}, 2},
		{"a group to the end", 1, []float64{3, 3, 3}, 3},
		{"no chaining", 2, []float64{1, 1 - .9*e, 1 - 1.8*e, 1 - 2.7*e}, 2},
		{"members that rise within the group", 1, []float64{1, 1 + .9*e, 1 - .9*e, 0}, 3},
		{"zeros", 1, []float64{0, 0, -1}, 2},
	} {
		assert.Len(t, stored(tc.k, tc.scores...), tc.want, tc.name)
	}
}

// tied draws a golden list with ties and the order of a live list that
// differs from it only inside tie groups.
func tied(t *rapid.T) (golden.List, []string) {
	var g golden.List
	var live []string
	score := 100.0
	for n := rapid.IntRange(0, 12).Draw(t, "groups"); n > 0; n-- {
		var group []string
		for range rapid.IntRange(1, 2).Draw(t, "size") {
			id := fmt.Sprintf("d%d", len(g.IDs))
			group = append(group, id)
			g.IDs = append(g.IDs, id)
			g.Scores = append(g.Scores, score)
		}
		live = append(live, rapid.Permutation(group).Draw(t, "order")...)
		score -= rapid.Float64Range(.01, 1).Draw(t, "step")
	}
	return g, live
}

// Identical live is always identical, whatever the ties, k and golden.
func TestIdenticalIsIdentical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, permuted := tied(t)
		k := rapid.IntRange(1, 30).Draw(t, "k")
		for _, live := range [][]string{g.IDs, permuted} {
			for _, against := range []golden.Against{golden.Current, golden.Anchor} {
				r, err := golden.Check(live, g, k, golden.DefaultEpsilon, against)
				if err != nil {
					t.Fatal(err)
				}
				if r.State != golden.Identical || r.RBO != 1 || r.Divergent != 0 || len(r.Moves) != 0 {
					t.Fatalf("%v against %v at %d: %+v", live, g, k, r)
				}
			}
		}
	})
}

// A run that is blessed passes against itself, whatever its scores, unless
// they tie too much to say.
func TestBlessedRunPassesAgainstItself(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 25).Draw(rt, "n")
		es := make([]record.Entry, n)
		for i := range es {
			es[i] = record.Entry{Doc: fmt.Sprintf("d%d", i), Score: float64(rapid.IntRange(-3, 20).Draw(rt, "score"))}
		}
		k := rapid.IntRange(1, 15).Draw(rt, "k")
		c := golden.FromRecord(&record.File{Rows: []record.Row{row("q", es)}}, k).Cases[0]
		ids, _, _ := record.Documents(es)
		r, err := golden.Check(ids, golden.List{IDs: c.IDs, Scores: c.Scores}, k, golden.DefaultEpsilon, golden.Current)
		if err != nil {
			rt.Fatal(err)
		}
		if r.State != golden.Identical && r.State != golden.CouldNotMeasure {
			rt.Fatalf("%+v", r)
		}
		if r.State == golden.CouldNotMeasure && r.LargestGroup <= max(2, r.N/2) {
			rt.Fatalf("could not measure with %d tied of %d", r.LargestGroup, r.N)
		}
	})
}

// Whatever changed, the result is consistent with itself.
func TestCheckIsConsistent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, live := tied(t)
		k := rapid.IntRange(1, 15).Draw(t, "k")
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			if len(live) < 2 {
				break
			}
			i := rapid.IntRange(0, len(live)-2).Draw(t, "at")
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				live[i], live[i+1] = live[i+1], live[i]
			case 1:
				live[i] = fmt.Sprintf("new%d", rapid.IntRange(0, 1<<30).Draw(t, "id"))
			case 2:
				live = append(live[:i:i], live[i+1:]...)
			}
		}
		if len(slices.Compact(slices.Sorted(slices.Values(live)))) != len(live) {
			t.Skip("a new id twice")
		}
		var rbos []float64
		for _, against := range []golden.Against{golden.Current, golden.Anchor} {
			r, err := golden.Check(live, g, k, golden.DefaultEpsilon, against)
			if err != nil {
				t.Fatal(err)
			}
			if r.State == golden.CouldNotMeasure {
				return
			}
			rbos = append(rbos, r.RBO)
			identical := r.State == golden.Identical
			if r.RBO < 0 || r.RBO > 1 || r.Overlap > r.N || identical != (len(r.Moves) == 0) || identical != (r.Divergent == 0) {
				t.Fatalf("%v against %v at %d: %+v", live, g, k, r)
			}
			if r.State == golden.Benign && (r.RBO < r.Floor || r.Overlap < r.OverlapFloor || r.N <= 2) {
				t.Fatalf("benign below a floor: %+v", r)
			}
		}
		if rbos[0] != rbos[1] {
			t.Fatalf("the overlap depends on what it is held to: %v", rbos)
		}
	})
}

// The table that a maintainer sets floors by: what exchanging two neighbours
// scores at each depth, and both floors. The rows of 3 and 10 are computed by
// hand: at depth 3 the weights are 1, .9 and .81 (sum 2.71), so exchanging
// ranks 1 and 2 leaves (0 + .9 + .81)/2.71 = .6310.
func TestSwapTable(t *testing.T) {
	score := func(n, i int) float64 {
		g := distinct(n)
		live := slices.Clone(g.IDs)
		live[i-1], live[i] = live[i], live[i-1]
		return rbo(t, live, g, n)
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%4s %8s %8s", "n", "current", "anchor")
	for i := 1; i <= 9; i++ {
		fmt.Fprintf(&table, "   %2d,%2d", i, i+1)
	}
	for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 50, 100} {
		fmt.Fprintf(&table, "\n%4d %8.4f %8.4f", n, golden.Floor(n, golden.Current), golden.Floor(n, golden.Anchor))
		for i := 1; i <= min(9, n-1); i++ {
			fmt.Fprintf(&table, "   %.4f", score(n, i))
		}
	}
	t.Logf("RBO after exchanging two neighbours, by depth:\n%s", table.String())
	for _, tc := range []struct {
		n, i int
		want float64
	}{
		{2, 1, .473684}, {3, 1, .630996}, {3, 2, .833948},
		{10, 1, .846466}, {10, 2, .930910}, {10, 3, .958546}, {10, 8, .990821},
	} {
		assert.InDelta(t, tc.want, score(tc.n, tc.i), 5e-7, "n = %d, ranks %d and %d", tc.n, tc.i, tc.i+1)
	}
	for _, tc := range []struct {
		n               int
		current, anchor float64
	}{
		{1, 1, 1}, {2, 1, 1}, {3, 1, .7325}, {10, .9447, .8887},
	} {
		assert.InDelta(t, tc.current, golden.Floor(tc.n, golden.Current), 5e-5, tc.n)
		assert.InDelta(t, tc.anchor, golden.Floor(tc.n, golden.Anchor), 5e-5, tc.n)
	}
}
