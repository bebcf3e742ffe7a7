package sweep_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
	"github.com/touchstone-eval/touchstone/engine/fuse"
	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/adapt/builtin"
	"github.com/touchstone-eval/touchstone/evaltests/compare/sweep"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// corpus has documents that link to each other, so that the graph has edges.
func corpus() *pack.Pack {
	p := &pack.Pack{Manifest: pack.Manifest{Name: "small", Version: "1", Unit: "document"}}
	subjects := []string{"otter", "falcon", "badger", "salmon", "beetle", "willow"}
	verbs := []string{"crosses", "guards", "remembers", "circles", "avoids"}
	for i, s := range subjects {
		for j, v := range verbs {
			id := s + "-" + v
			next := subjects[(i+1)%len(subjects)] + "-" + v
			p.Documents = append(p.Documents, pack.Document{
				ID: id, Title: s, Text: fmt.Sprintf("The %s %s the %s at dusk. See [the other](%s).", s, v, subjects[(i+j+1)%len(subjects)], next),
			})
			p.Cases = append(p.Cases, pack.Case{
				Question: pack.Question{ID: fmt.Sprintf("%d-%d", i, j), Text: fmt.Sprintf("what does the %s do when it %s something", s, v)},
				Stratum:  "all", Gold: pack.Gold{Answerable: true, Grades: map[string]int{id: 1, next: 1}},
			})
		}
	}
	return p
}

// recorded runs the engine over the corpus and reads its record back.
func recorded(t *testing.T, settings ...string) *record.File {
	t.Helper()
	cfg, err := builtin.Configure(engine.Config{Embedder: embedtest.New(32)}, settings)
	require.NoError(t, err)
	s, err := builtin.New(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	suite, err := evaltests.NewSuite(corpus(), evaltests.Env{Tier: "smoke"})
	require.NoError(t, err)
	folder, err := record.NewFolder(t.TempDir(), ".", "test", nil)
	require.NoError(t, err)
	run, err := evaltests.Evaluate(t.Context(), suite.In(folder), s)
	require.NoError(t, err)
	f, err := record.Read(run.Path)
	require.NoError(t, err)
	return f
}

// TestReplayIsTheRun: a weight that was replayed is what a run at that weight
// returns, to the position.
func TestReplayIsTheRun(t *testing.T) {
	base := recorded(t, "weights.vector=0.5")
	c, err := sweep.Fusion(base, sweep.FusionOptions{Weights: []float64{0, .2, 1, 3}})
	require.NoError(t, err)
	assert.Equal(t, c.Calibration.Positions, c.Calibration.Agree)
	assert.Equal(t, 30, c.N)
	for _, w := range []string{"0", "0.2", "1", "3"} {
		run := recorded(t, "weights.vector="+w)
		sum := 0.0
		for _, r := range run.Rows {
			sum += r.Measures["nDCG@10"]
		}
		var at float64
		_, err := fmt.Sscan(w, &at)
		require.NoError(t, err)
		assert.InDelta(t, sum/30, c.At(at).Means["nDCG@10"], 1e-12, "weight %s", w)
	}
	assert.True(t, c.At(.5).Current)
	assert.Zero(t, c.At(.5).Wins+c.At(.5).Losses)
}

// TestReplayIsTheEnginesFusion: position by position, score by score.
func TestReplayIsTheEnginesFusion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching("[a-z]{1,2}"), 0, 30, rapid.ID[string])
		vector, lexical := ids.Draw(t, "vector"), ids.Draw(t, "lexical")
		v, l := rapid.Float64Range(0, 3).Draw(t, "weight"), rapid.Float64Range(.01, 3).Draw(t, "lexical weight")
		k := rapid.IntRange(1, 100).Draw(t, "k")
		want, err := fuse.RRF(vector, lexical, fuse.Weights{Vector: v, Lexical: l}, k)
		if err != nil {
			t.Fatal(err)
		}
		got := sweep.Replay(vector, lexical, v, l, k)
		if len(got) != len(want) {
			t.Fatalf("%d hits, want %d", len(got), len(want))
		}
		for i, h := range want {
			if got[i].Doc != h.ID || got[i].Score != h.Score {
				t.Fatalf("rank %d: %v, want %v", i+1, got[i], h)
			}
		}
	})
}

// TestChannels: a channel that is on joins the fusion, so its hits must be in
// the record.
func TestChannels(t *testing.T) {
	f := recorded(t, "weights.vector=0.5", "channels.graph=0.7")
	fired := slices.IndexFunc(f.Rows, func(r record.Row) bool {
		return slices.ContainsFunc(r.Channels, func(c record.Channel) bool { return c.Name == "graph" && c.Fired })
	})
	require.GreaterOrEqual(t, fired, 0, "the graph fires on no case: the test tests nothing")
	c, err := sweep.Fusion(f, sweep.FusionOptions{})
	require.NoError(t, err)
	assert.Equal(t, c.Calibration.Positions, c.Calibration.Agree)
	assert.Equal(t, []sweep.ChannelSetting{{Name: "graph", Weight: .7}}, c.Settings.Channels)
	assert.Contains(t, strings.Join(c.Notes, "\n"), "channel graph is on")

	for i := range f.Rows {
		for j := range f.Rows[i].Channels {
			f.Rows[i].Channels[j].Hits = nil
		}
	}
	_, err = sweep.Fusion(f, sweep.FusionOptions{})
	require.ErrorContains(t, err, "channel graph is on, joins the fusion, and its hits are not recorded")
}

// edit changes the fused list of every nth row.
func edit(f *record.File, every int, change func([]record.Entry)) {
	for i := range f.Rows {
		if i%every != 0 {
			continue
		}
		for j := range f.Rows[i].Stages {
			if s := &f.Rows[i].Stages[j]; s.Name == "fusion" {
				s.Entries = slices.Clone(s.Entries)
				change(s.Entries)
			}
		}
	}
}

func TestUncalibrated(t *testing.T) {
	swap := func(es []record.Entry) { es[0], es[1] = es[1], es[0] }
	f := recorded(t, "weights.vector=0.5")
	edit(f, 2, swap)
	_, err := sweep.Fusion(f, sweep.FusionOptions{})
	var u *sweep.UncalibratedError
	require.ErrorAs(t, err, &u)
	assert.Len(t, u.Calibration.Under, 15)
	assert.Equal(t, 270, u.Calibration.Agree)
	assert.ErrorContains(t, err, "270 of 300 positions of the first 10 agree (90.0 %), want 95 %")
	assert.ErrorContains(t, err, "15 cases disagree: 0-0, 0-2,")

	// The weight of the run line is not the one that was used.
	f = recorded(t, "weights.vector=0.5")
	f.Run.Config["weights.vector"] = record.Set{Value: "2"}
	_, err = sweep.Fusion(f, sweep.FusionOptions{})
	require.ErrorAs(t, err, &u)

	// Few positions, and yet a mean that is not the recorded one.
	f = recorded(t, "weights.vector=0.5")
	edit(f, 30, swap)
	_, err = sweep.Fusion(f, sweep.FusionOptions{Measure: "RR@10"})
	if assert.ErrorAs(t, err, &u) {
		assert.Greater(t, u.Calibration.Share(), .95)
		assert.ErrorContains(t, err, "of fusion is")
	}

	// A single case whose order differs where no measure looks is counted, and
	// the curve is shown without it too.
	f = recorded(t, "weights.vector=0.5")
	edit(f, 30, func(es []record.Entry) { es[8], es[9] = es[9], es[8] })
	f.Rows[0].Gold = map[string]int{f.Rows[0].Ranking[0].Doc: 1}
	c, err := sweep.Fusion(f, sweep.FusionOptions{})
	require.NoError(t, err)
	assert.Equal(t, 1, c.Unfaithful)
	assert.NotEqual(t, c.Points[0].Mean, c.Points[0].Faithful)
}

func TestFusionRefusals(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*record.File)
		says   string
	}{
		{"record cut short", func(f *record.File) { f.State, f.Detail = record.Truncated, "no end line" }, "only a complete record"},
		{"settings not told", func(f *record.File) { delete(f.Run.Config, "rrf_k") }, "the run does not say rrf_k"},
		{"settings not numbers", func(f *record.File) { f.Run.Config["weights.vector"] = record.Set{Value: "NaN"} }, `weights.vector is "NaN"`},
		{"an arm that did not run", func(f *record.File) { f.Run.Config["weights.vector"] = record.Set{Value: "0"} }, "the weight of vector is 0"},
		{"no fusion", func(f *record.File) { f.Rows[0].Stages = f.Rows[0].Stages[:2] }, "no stage fusion in the row"},
		{"an arm cut short", func(f *record.File) { f.Rows[0].Stages[0].Entries = f.Rows[0].Stages[0].Entries[:3] }, "holds 3 of 30 entries"},
		{"nothing scored", func(f *record.File) {
			for i := range f.Rows {
				f.Rows[i].Outcome.State = record.Failed
			}
		}, "no case with gold was scored"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := recorded(t, "weights.vector=0.5")
			tc.change(f)
			_, err := sweep.Fusion(f, sweep.FusionOptions{})
			assert.ErrorContains(t, err, tc.says)
		})
	}
}

func TestParseWeights(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want []float64
	}{
		{"0:1:0.25", []float64{0, .25, .5, .75, 1}},
		{"0:0.3:0.1", []float64{0, .1, .2, .3}},
		{"0,0.3, 2", []float64{0, .3, 2}},
		{"1:1:1", []float64{1}},
		{"0:1:0", nil}, {"1:0:0.1", nil}, {"-1:1:0.1", nil}, {"0:1", nil}, {"a", nil}, {"0:NaN:1", nil}, {"NaN", nil}, {"0:1:1e-9", nil}, {"", nil},
	} {
		got, err := sweep.ParseWeights(tc.in)
		if tc.want == nil {
			assert.ErrorContains(t, err, "want from:to:step", tc.in)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, tc.want, got)
	}
}

func FuzzParseWeights(f *testing.F) {
	for _, s := range []string{"0:1:0.1", "0,1", "1e300:1e301:1", ":::", "0:1:1e-320"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ws, err := sweep.ParseWeights(s)
		if err == nil && (len(ws) == 0 || len(ws) > 201) {
			t.Fatalf("%q gave %d weights", s, len(ws))
		}
		for _, w := range ws {
			if !(w >= 0) {
				t.Fatalf("%q gave %v", s, w)
			}
		}
	})
}
