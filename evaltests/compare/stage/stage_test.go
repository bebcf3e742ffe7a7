package stage_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/evaltests/compare/stage"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// list is a stage whose entries are letters; "" is one that found nothing.
func list(name, letters string) record.Stage {
	s := record.Stage{Name: name, State: record.Executed}
	for _, l := range letters {
		s.Entries = append(s.Entries, record.Entry{Doc: string(l)})
	}
	return s
}

func skipped(name, why string) record.Stage {
	return record.Stage{Name: name, State: record.SkippedStage, Reason: why}
}

// row is a scored case whose gold is the document g.
func row(id string, stages ...record.Stage) record.Row {
	return record.Row{
		Case: id, Answer: true, Gold: map[string]int{"g": 1}, Outcome: record.Outcome{State: record.Scored},
		Stages: stages, Ranking: stages[len(stages)-1].Entries,
	}
}

// hybrid is a row of the seven stages; candidates are the first n of the fused.
func hybrid(id, vector, lexical, fused string, n int, reranked, final string) record.Row {
	return row(id, list("vector", vector), list("lexical", lexical), list("fusion", fused), list("boosted", fused),
		list("candidates", fused[:min(n, len(fused))]), list("rerank", reranked), list("final", final))
}

func file(rows ...record.Row) *record.File {
	f := &record.File{Path: "toy.1.1.jsonl", State: record.Complete, Run: record.Run{Suite: "toy", Arm: "base", Headline: []string{"RR@10"}}}
	seen := map[string]bool{}
	for _, r := range rows {
		if !seen[r.Case] {
			seen[r.Case] = true
			f.Run.Plan = append(f.Run.Plan, r.Case)
		}
	}
	f.Rows = rows
	return f
}

func analyse(t *testing.T, rows ...record.Row) *stage.Report {
	t.Helper()
	r, err := stage.Analyse(file(rows...), stage.Options{})
	require.NoError(t, err)
	return r
}

func find(t *testing.T, r *stage.Report, from, to string) stage.Transition {
	t.Helper()
	for _, x := range r.Transitions {
		if x.From == from && x.To == to {
			return x
		}
	}
	t.Fatalf("no transition %s to %s in %v", from, to, r.Transitions)
	return stage.Transition{}
}

// TestKnownValues: six transitions of 72 cases. 6/26 stands; 29/15 is .0488
// alone and nothing after Holm.
func TestKnownValues(t *testing.T) {
	ts, err := stage.JudgeCounts(72, [2]int{6, 26}, [2]int{22, 21}, [2]int{0, 0}, [2]int{29, 15}, [2]int{16, 25}, [2]int{16, 21})
	require.NoError(t, err)
	assert.InDelta(t, .000535, ts[0].P, 5e-7)
	assert.Equal(t, stage.Hurts, ts[0].Effect)
	assert.InDelta(t, 6*.000535, ts[0].Adj, 3e-6)
	assert.InDelta(t, .048767, ts[3].P, 5e-7)
	assert.InDelta(t, 5*.048767, ts[3].Adj, 3e-6)
	assert.Equal(t, stage.Unresolved, ts[3].Effect)
	assert.Equal(t, 1.0, ts[1].P)
	assert.Equal(t, stage.Unresolved, ts[1].Effect, "an even split of many moved cases is not the same as no effect")
	assert.Equal(t, stage.NoEffect, ts[2].Effect)
	assert.Zero(t, ts[2].Detectable.Net, "nothing moved: no difference can be called detectable")
	for _, x := range []int{1, 3, 4, 5} {
		d := ts[x].Detectable
		assert.True(t, d.Attainable)
		assert.Greater(t, d.Net, 10, "of %d moved cases", ts[x].Wins+ts[x].Losses)
		assert.Greater(t, d.Exact, d.Normal, "the normal form is the optimistic one")
	}
}

// TestNull: where every step is a coin toss, a run finds an effect in at most
// the nominal share, over all its steps together.
func TestNull(t *testing.T) {
	const runs, most = 120, 14 // P(X > 14) for X ~ Bin(120, .05) is under .001
	random := rand.New(rand.NewPCG(7, 11))
	found := 0
	for range runs {
		var counts [][2]int
		for range 6 {
			var c [2]int
			for range 30 {
				c[random.IntN(2)]++
			}
			counts = append(counts, c)
		}
		ts, err := stage.JudgeCounts(60, counts...)
		require.NoError(t, err)
		if slices.ContainsFunc(ts, func(x stage.Transition) bool { return x.Effect == stage.Helps || x.Effect == stage.Hurts }) {
			found++
		}
	}
	assert.LessOrEqual(t, found, most, "of %d runs", runs)
}

// TestSteps: wins and losses are of cases, the mean is of differences.
func TestSteps(t *testing.T) {
	r := analyse(t,
		hybrid("up", "gabc", "abcg", "agbc", 3, "gab", "gabc"),
		hybrid("down", "abcd", "gabc", "agbc", 3, "abg", "abgc"),
		hybrid("undone", "abcg", "agbc", "gabc", 3, "agb", "agbc"),
	)
	assert.Equal(t, 3, r.Cases)
	x := find(t, r, "lexical", "fusion")
	assert.Equal(t, []int{2, 1, 0}, []int{x.Wins, x.Losses, x.Ties})
	assert.InDelta(t, (1./4-.5+.5)/3, x.Mean, 1e-12)
	assert.Equal(t, 1, x.Masked, "undone ends where its lexical list was")
	x = find(t, r, "fusion", "boosted")
	assert.Equal(t, stage.NoEffect, x.Effect)
	assert.Zero(t, x.Reordered+x.Members)
	x = find(t, r, "boosted", "candidates")
	assert.Equal(t, stage.Truncation, x.Effect)
	assert.Equal(t, 3, x.Members)
	assert.Zero(t, x.Joined)
	x = find(t, r, "candidates", "rerank")
	assert.Equal(t, 3, x.Reordered)
	assert.Zero(t, x.Members)
	x = find(t, r, "rerank", "final")
	assert.Equal(t, 3, x.Joined, "the rest of the list follows the pool")
	assert.Equal(t, "lexical", r.BestArm)
	x = find(t, r, "lexical", "final")
	assert.Equal(t, []int{1, 1, 1}, []int{x.Wins, x.Losses, x.Ties})
	require.NotNil(t, r.Pool)
	assert.Equal(t, "candidates", r.Pool.Stage)
	assert.Equal(t, 1.0, r.Pool.Recall)
	assert.Equal(t, 1.0, r.Pool.Ceiling)
	assert.InDelta(t, (1+1./3+.5)/3, *r.Pool.After, 1e-12)
}

func TestUncutPoolLosesGold(t *testing.T) {
	r := analyse(t, hybrid("a", "xyzg", "xyzg", "xyzg", 2, "yx", "yxzg"), hybrid("b", "gx", "gx", "gx", 2, "xg", "xg"))
	assert.Equal(t, .5, r.Pool.Recall)
	assert.Equal(t, 1, r.Pool.Any)
	assert.Equal(t, .5, r.Pool.Ceiling, "a perfect reranker cannot find what it was not given")
}

// TestPartlyRun: a stage that a few cases lack is compared over those that
// have it, on both sides; one that hardly ran does not shrink the table.
func TestPartlyRun(t *testing.T) {
	var rows []record.Row
	for i := range 30 {
		r := hybrid(fmt.Sprint("c", i), "ga", "ag", "ag", 2, "ga", "ga")
		if i == 7 {
			r.Stages[5] = skipped("rerank", "deadline")
		}
		if i > 1 {
			r.Stages[3] = skipped("boosted", "off")
		}
		rows = append(rows, r)
	}
	r := analyse(t, rows...)
	assert.Equal(t, 29, r.Cases)
	for _, f := range r.Stages {
		switch f.Stage {
		case "boosted":
			assert.False(t, f.Compared)
			assert.Nil(t, f.Means)
			assert.Equal(t, []stage.Count{{Name: "off", N: 28}}, f.Why)
		case "rerank":
			assert.Equal(t, []stage.Count{{Name: "deadline", N: 1}}, f.Why)
			fallthrough
		default:
			assert.Equal(t, 29, f.N, "every row of the table is over the same cases")
		}
	}
	assert.Equal(t, 29, find(t, r, "candidates", "rerank").N)
	assert.Equal(t, 29, find(t, r, "rerank", "final").N)
	assert.Equal(t, 2, find(t, r, "fusion", "boosted").N)
}

func TestSkippedEverywhere(t *testing.T) {
	a := hybrid("a", "ga", "ag", "ag", 2, "", "ag")
	a.Stages[5] = skipped("rerank", "no model")
	r := analyse(t, a)
	find(t, r, "candidates", "final")
	for _, x := range r.Transitions {
		assert.NotEqual(t, "rerank", x.To)
	}
	assert.Nil(t, r.Pool.After)
}

// TestRepeatsAreOneCase: five identical repeats are no more evidence than one.
func TestRepeatsAreOneCase(t *testing.T) {
	var once, five []record.Row
	for i := range 12 {
		r := hybrid(fmt.Sprint("c", i), "ga", "ag", "ga", 2, "ga", "ga")
		once = append(once, r)
		for k := range 5 {
			r.Repeat = k
			five = append(five, r)
		}
	}
	one, many := analyse(t, once...), analyse(t, five...)
	assert.Equal(t, 5, many.Repeats)
	many.Repeats = one.Repeats
	assert.Empty(t, cmp.Diff(one, many))

	// Repeats that differ count half each way.
	a, b := hybrid("x", "ga", "ag", "ga", 2, "ga", "ga"), hybrid("x", "ga", "ag", "ag", 2, "ga", "ga")
	b.Repeat = 1
	r := analyse(t, a, b)
	assert.InDelta(t, .25, find(t, r, "lexical", "fusion").Mean, 1e-12)
}

func TestMisses(t *testing.T) {
	low := "abcdefghijklmnopqrstuvwxyz"
	low = low[:6] + low[7:] // no g
	deep := low[:12] + "g"
	failed := record.Row{Case: "failed", Answer: true, Gold: map[string]int{"g": 1}, Outcome: record.Outcome{State: record.Failed}}
	refused := record.Row{Case: "refused", Answer: true, Gold: map[string]int{"g": 1}, Outcome: record.Outcome{State: record.Refused}}
	none := hybrid("none", "ab", "ab", "ab", 2, "ab", "ab")
	none.Answer, none.Gold = false, nil
	f := file(
		hybrid("right", "g", "g", "g", 1, "g", "g"),
		hybrid("never", low, low, low, 5, low[:5], low),
		hybrid("fused", deep, "ga", deep, 5, low[:5], deep),
		hybrid("reranked", "ga", "ga", "g"+low, 15, deep, deep),
		hybrid("cut", deep, deep, deep, 5, low[:5], low),
		hybrid("low", deep, deep, deep, 20, deep, deep),
		failed, refused, none,
	)
	f.Run.Plan = append(f.Run.Plan, "unasked")
	r, err := stage.Analyse(f, stage.Options{})
	require.NoError(t, err)
	m := r.Misses
	assert.Equal(t, 9, m.Of)
	assert.Equal(t, 8, m.Wrong)
	assert.Equal(t, 1, m.NoRanking)
	got := map[string]string{}
	for _, c := range m.Classes {
		got[strings.Join(c.Cases, " ")] = c.Name
	}
	assert.Equal(t, map[string]string{
		"never": "never retrieved", "fused": "pushed below 10 at fusion", "reranked": "pushed below 10 at rerank",
		"cut": "cut off at candidates", "low": "retrieved, below 10 at every stage", "failed": "failed",
		"refused": "declined: refused", "unasked": "not_reached",
	}, got)
	assert.Equal(t, []stage.Count{{Name: "failed", N: 1}, {Name: "refused", N: 1}, {Name: "no gold to rank", N: 1}, {Name: "not_reached", N: 1}}, r.LeftOut)
}

func TestChannels(t *testing.T) {
	var rows []record.Row
	for i, graph := range []record.Channel{
		{Name: "graph", Fired: true, Contributed: true, Hits: []record.Entry{{Doc: "g"}}, Found: 1},
		{Name: "graph", Fired: true, Contributed: true, Hits: []record.Entry{{Doc: "z"}}, Found: 1},
		{Name: "graph", Skipped: "no seed hit"},
		{Name: "graph"},
	} {
		r := hybrid(fmt.Sprint("c", i), "ga", "ag", "ag", 2, "ag", "ag")
		r.Channels = []record.Channel{
			{Name: "lexical", Fired: true, Contributed: true}, graph,
			{Name: "pages", Skipped: "off"}, {Name: "episodes", Skipped: "no substrate: episodes is empty"},
			{Name: "other", Fired: true, Contributed: true},
		}
		rows = append(rows, r)
	}
	two, four := 1, 4
	assert.Empty(t, cmp.Diff([]stage.Channel{
		{Name: "lexical", Fired: 4, Reached: &four, Final: 4, Of: 4},
		{Name: "graph", Fired: 2, Reached: &two, Final: 2, Of: 4, Dormant: []stage.DormantCount{
			{Why: stage.Untriggered, N: 1}, {Why: stage.ByStructure, Reason: "no seed hit", N: 1},
		}},
		{Name: "pages", Reached: new(int), Of: 4, Dormant: []stage.DormantCount{{Why: stage.ByFlag, Reason: "off", N: 4}}},
		{Name: "episodes", Reached: new(int), Of: 4, Dormant: []stage.DormantCount{{Why: stage.BySubstrate, Reason: "no substrate: episodes is empty", N: 4}}},
		{Name: "other", Fired: 4, Final: 4, Of: 4},
	}, analyse(t, rows...).Channels))
}

func TestRefusals(t *testing.T) {
	good := hybrid("a", "ga", "ag", "ag", 2, "ag", "ag")
	changed := hybrid("a", "ga", "ag", "ag", 2, "ag", "ag")
	changed.Stages[2].Measures = map[string]float64{"nDCG@10": 1}
	plain := row("a", list("final", "ga"))
	plain.Stages = nil
	cut := file(good)
	cut.State, cut.Detail = record.Truncated, "no end line"
	for _, tc := range []struct {
		name string
		file *record.File
		o    stage.Options
		says string
	}{
		{"record cut short", cut, stage.Options{}, "record is truncated: no end line"},
		{"measure that the entries contradict", file(changed), stage.Options{}, "the record says nDCG@10 1"},
		{"no stages", file(plain), stage.Options{}, "no row reports a stage"},
		{"unknown measure", file(good), stage.Options{Measure: "nDGC@10"}, "nDGC"},
		{"measure of no quality", file(good), stage.Options{Measure: "NumRet"}, "choose a measure of quality"},
		{"level", file(good), stage.Options{Alpha: 1.5}, "alpha 1.5"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := stage.Analyse(tc.file, tc.o)
			assert.ErrorContains(t, err, tc.says)
		})
	}
}

func TestControl(t *testing.T) {
	base := file(hybrid("a", "ga", "ag", "ag", 2, "ag", "ag"), hybrid("b", "ga", "ag", "ag", 2, "ag", "ag"))
	reranked := file(hybrid("a", "ga", "ag", "ag", 2, "ga", "ga"), hybrid("b", "ga", "ag", "ag", 2, "ga", "ga"))
	c, err := stage.Check(base, reranked, "lexical")
	require.NoError(t, err)
	assert.Equal(t, stage.Control{Stage: "lexical", N: 2}, c)

	c, err = stage.Check(base, reranked, "rerank")
	require.ErrorContains(t, err, "control rerank is not the same in 2 of 2 cases (a, b); the runs are incomparable")
	assert.Equal(t, []string{"a", "b"}, c.Moved)
	_, err = stage.Check(base, reranked, "recency")
	require.ErrorContains(t, err, "not reported in 2 cases")
	other := file(hybrid("a", "ga", "ag", "ag", 2, "ag", "ag"))
	other.Run.Hashes.Question = "other"
	_, err = stage.Check(base, other, "lexical")
	require.ErrorContains(t, err, "question hash")
}

// TestSumsHold: whatever the lists, the counts add up.
func TestSumsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfNDistinct(rapid.StringMatching("[a-n]"), 1, 14, rapid.ID[string]).Draw(t, "letters"), "")
		})
		var rows []record.Row
		for i := range rapid.IntRange(1, 8).Draw(t, "cases") {
			fused := letters.Draw(t, "fused")
			rows = append(rows, hybrid(fmt.Sprint("c", i), letters.Draw(t, "vector"), letters.Draw(t, "lexical"), fused,
				rapid.IntRange(1, 14).Draw(t, "pool"), letters.Draw(t, "reranked"), letters.Draw(t, "final")))
		}
		r, err := stage.Analyse(file(rows...), stage.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r.Transitions {
			if x.Wins+x.Losses+x.Ties != x.N || x.Masked > x.Wins+x.Losses || x.Joined > x.Members || x.Members > x.N || x.Adj < x.P {
				t.Fatalf("%+v", x)
			}
			if (x.Effect == stage.Helps || x.Effect == stage.Hurts) != (x.Adj <= r.Alpha) {
				t.Fatalf("%s without its test: %+v", x.Effect, x)
			}
		}
		sum := 0
		for _, c := range r.Misses.Classes {
			sum += c.N
		}
		if sum != r.Misses.Wrong || r.Misses.Wrong > r.Misses.Of {
			t.Fatalf("%+v", r.Misses)
		}
	})
}
