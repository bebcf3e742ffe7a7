package builtin_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/embed"
	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/adapt/builtin"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// corpus is a small pack of distinct sentences and questions on them.
func corpus() *pack.Pack {
	p := &pack.Pack{Manifest: pack.Manifest{Name: "small", Version: "1", Unit: "document"}}
	subjects := []string{"otter", "falcon", "badger", "salmon", "beetle", "willow"}
	verbs := []string{"crosses", "guards", "remembers", "circles", "avoids"}
	for i, s := range subjects {
		for j, v := range verbs {
			p.Documents = append(p.Documents, pack.Document{
				ID: fmt.Sprintf("%s-%s", s, v), Title: s, Text: fmt.Sprintf("The %s %s the %s at dusk.", s, v, subjects[(i+j+1)%len(subjects)]),
			})
			p.Cases = append(p.Cases, pack.Case{
				Question: pack.Question{ID: fmt.Sprintf("%d-%d", i, j), Text: fmt.Sprintf("what does the %s do when it %s something", s, v)},
				Stratum:  "all", Gold: pack.Gold{Answerable: true, Grades: map[string]int{fmt.Sprintf("%s-%s", s, v): 1}},
			})
		}
	}
	return p
}

func evaluate(t *testing.T, cfg engine.Config, change func(*builtin.Subject) evaltests.Subject) *evaltests.Run {
	t.Helper()
	s, err := builtin.New(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	suite, err := evaltests.NewSuite(corpus(), evaltests.Env{Tier: "smoke"})
	require.NoError(t, err)
	suite.RequireStages = []string{"vector", "lexical"}
	floor := 0.8
	suite.Gates = []gate.Spec{{Measure: "Success@10", Floor: &floor}}
	folder, err := record.NewFolder(t.TempDir(), ".", "test", nil)
	require.NoError(t, err)
	var subject evaltests.Subject = s
	if change != nil {
		subject = change(s)
	}
	run, err := evaltests.Evaluate(t.Context(), suite.In(folder), subject)
	require.NoError(t, err)
	return run
}

// TestEngineIsMeasured: the engine fills all seven stages, reports its
// configuration and its substrates, and passes.
func TestEngineIsMeasured(t *testing.T) {
	run := evaluate(t, engine.Config{Embedder: embedtest.New(64)}, nil)
	assert.Equal(t, gate.PASS, run.Verdict.Verdict, "%v", run.Verdict.Reasons)
	var names []string
	for _, s := range run.Rows[0].Stages {
		names = append(names, s.Name)
	}
	assert.Equal(t, []string{"vector", "lexical", "fusion", "boosted", "candidates", "rerank", "final"}, names)
	rerank, ok := run.Rows[0].Stage("rerank")
	require.True(t, ok)
	assert.Equal(t, record.SkippedStage, rerank.State)
	assert.Equal(t, "no model", rerank.Reason)
	assert.True(t, run.Line.Config["depth"].Default)
	assert.Len(t, run.Line.Hashes.SeedKey, 64)
}

// zero is an embedder that knows no word: every vector is zero.
type zero struct{ embed.Embedder }

func (z zero) Embed(ctx context.Context, texts []string) ([]embed.Vector, error) {
	vs, err := z.Embedder.Embed(ctx, texts)
	for i := range vs {
		vs[i].Values = make([]float32, len(vs[i].Values))
	}
	return vs, err
}

// TestDeadVectorArm: an embedder that embeds nothing is no "no effect".
func TestDeadVectorArm(t *testing.T) {
	run := evaluate(t, engine.Config{Embedder: zero{embedtest.New(64)}}, nil)
	assert.Equal(t, gate.CNM, run.Verdict.Verdict)
	text := strings.Join(run.Verdict.Reasons, "\n")
	assert.Contains(t, text, "vector")
	t.Log(text)
}

// notFilled is the engine without its Ingest.
type notFilled struct{ s *builtin.Subject }

func (n notFilled) Search(ctx context.Context, q pack.Question) (record.Observation, error) {
	return n.s.Search(ctx, q)
}

func (n notFilled) Substrates(ctx context.Context) ([]evaltests.Substrate, error) {
	return n.s.Substrates(ctx)
}

func TestEmptyIndex(t *testing.T) {
	run := evaluate(t, engine.Config{Embedder: embedtest.New(64)}, func(s *builtin.Subject) evaltests.Subject { return notFilled{s} })
	assert.Equal(t, gate.CNM, run.Verdict.Verdict)
	assert.Contains(t, strings.Join(run.Verdict.Reasons, "\n"), "substrate documents: 0 entries (needs > 0)")
	assert.Contains(t, strings.Join(run.Verdict.Reasons, "\n"), "ingest again")
}

// TestArmsDoNotLeak: two engines with other weights live side by side.
func TestArmsDoNotLeak(t *testing.T) {
	lexical, err := builtin.Configure(engine.Config{Embedder: embedtest.New(64)}, []string{"weights.vector=0"})
	require.NoError(t, err)
	a := evaluate(t, engine.Config{Embedder: embedtest.New(64)}, nil)
	b := evaluate(t, lexical, nil)
	c := evaluate(t, engine.Config{Embedder: embedtest.New(64)}, nil)
	assert.Equal(t, a.Line.Hashes, c.Line.Hashes)
	assert.NotEqual(t, a.Line.Hashes.Treatment, b.Line.Hashes.Treatment)
	assert.Equal(t, a.Line.Hashes.Question, b.Line.Hashes.Question)
	assert.Equal(t, a.Line.Hashes.SeedKey, b.Line.Hashes.SeedKey, "a read-time setting leaves the seed key")
	for i := range a.Rows {
		assert.Equal(t, a.Rows[i].Ranking, c.Rows[i].Ranking)
	}
	assert.Equal(t, gate.CNM, b.Verdict.Verdict, "a required arm that is switched off is dead")
}

func TestConfigure(t *testing.T) {
	for _, tc := range []struct {
		name  string
		pairs []string
		err   string
	}{
		{"weights", []string{"weights.vector=0.3", "weights.lexical=1"}, ""},
		{"all", []string{"rrf_k=10", "depth=20", "pool_size=5", "chunk.max_words=50", "chunk.overlap=10"}, ""},
		{"channels and boosts", []string{"channels.graph=on", "channels.temporal=0.7", "channels.pages=off", "channels.episodes=on", "boosts.title=0.2", "boosts.recency=0.1"}, ""},
		{"channel", []string{"channels.graph=maybe"}, "want on, off or a weight above 0"},
		{"channel weight", []string{"channels.graph=0"}, "want on, off or a weight above 0"},
		{"channel weight negative", []string{"channels.graph=-1"}, "weight"},
		{"unknown", []string{"colour=blue"}, "weights.vector"},
		{"no value", []string{"depth"}, "want key=value"},
		{"not a number", []string{"depth=deep"}, `"deep" is not a number`},
		{"negative", []string{"depth=-1"}, "at least 0"},
		{"not finite", []string{"weights.vector=NaN"}, "weight"},
		{"negative weight", []string{"weights.vector=-1"}, "weight"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := builtin.Configure(engine.Config{}, tc.pairs)
			if tc.err == "" {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			assert.Contains(t, err.Error(), tc.err)
		})
	}
	on, err := builtin.Configure(engine.Config{}, []string{"channels.temporal=0.7"})
	require.NoError(t, err)
	assert.Equal(t, engine.ChannelSetting{On: true, Weight: 0.7}, on.Channels.Temporal)
	one, err := builtin.Configure(engine.Config{}, []string{"weights.vector=0.3"})
	require.NoError(t, err)
	assert.Equal(t, engine.DefaultWeights.Lexical, one.Weights.Lexical, "the other weight keeps its default")
}

func TestCloseRemovesTheStore(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	s, err := builtin.New(t.Context(), engine.Config{Embedder: embedtest.New(8)})
	require.NoError(t, err)
	held, err := os.ReadDir(tmp)
	require.NoError(t, err)
	require.NotEmpty(t, held)
	require.NoError(t, s.Close())
	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := builtin.New(ctx, engine.Config{Embedder: embedtest.New(16)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	err = s.Ingest(ctx, []pack.Document{{ID: "a", Text: "The otter sleeps."}, {ID: "b", Text: "The falcon hunts."}})
	if err != nil {
		fmt.Println(err)
		return
	}
	o, err := s.Search(ctx, pack.Question{Text: "falcon"})
	fmt.Println(o.Ranking[0].Doc, err)
	// Output: b <nil>
}
