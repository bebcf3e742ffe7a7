package builtin_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/chunk"
	"github.com/touchstone-eval/touchstone/engine/embed"
	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/adapt/builtin"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/seed"
)

func runner(t *testing.T, cfg engine.Config) *builtin.Runner {
	t.Helper()
	r, err := builtin.NewRunner(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// measured evaluates a runner on a pack over a cache.
func measured(t *testing.T, cache string, p *pack.Pack, cfg engine.Config, change func(*evaltests.Suite)) *evaltests.Run {
	t.Helper()
	suite, err := evaltests.NewSuite(p, evaltests.Env{Tier: "smoke", Cache: cache})
	require.NoError(t, err)
	floor := 0.8
	suite.Gates = []gate.Spec{{Measure: "Success@10", Floor: &floor}}
	if change != nil {
		change(suite)
	}
	folder, err := record.NewFolder(t.TempDir(), ".", "test", nil)
	require.NoError(t, err)
	run, err := evaltests.Evaluate(t.Context(), suite.In(folder), runner(t, cfg))
	require.NoError(t, err)
	return run
}

func decisions(run *evaltests.Run) []string {
	var out []string
	for _, s := range run.Line.Seeds {
		out = append(out, s.Decision)
	}
	return out
}

// TestCachedRunner: the second run reads the first one's seed, ranks alike,
// and says what the filling took.
func TestCachedRunner(t *testing.T) {
	cache, cfg := t.TempDir(), engine.Config{Embedder: embedtest.New(64)}
	cold := measured(t, cache, corpus(), cfg, nil)
	warm := measured(t, cache, corpus(), cfg, nil)
	assert.Equal(t, gate.PASS, cold.Verdict.Verdict, "%v", cold.Verdict.Reasons)
	assert.Equal(t, gate.PASS, warm.Verdict.Verdict, "%v", warm.Verdict.Reasons)
	assert.Equal(t, []string{"reuse"}, decisions(warm))
	assert.Equal(t, cold.Line.Hashes, warm.Line.Hashes)
	assert.Equal(t, cold.Line.Seeds[0].Filled, warm.Line.Seeds[0].Filled, "what the filling took is kept with the seed")
	assert.Positive(t, warm.Line.Seeds[0].Filled)
	assert.Equal(t, []string{"cached", "suite"}, []string{warm.Line.Runner, warm.Line.Scope})
	var steps []string
	for _, s := range warm.Line.Seeds[0].Steps {
		steps = append(steps, s.Name)
	}
	assert.Equal(t, []string{"chunk", "count", "enrich", "embed", "store", "lexical", "dense", "check", "stamp"}, steps)
	for i := range cold.Rows {
		assert.Equal(t, cold.Rows[i].Ranking, warm.Rows[i].Ranking)
	}

	fresh := measured(t, cache, corpus(), cfg, func(s *evaltests.Suite) { s.Runner = seed.Ephemeral })
	assert.Equal(t, []string{"build"}, decisions(fresh))
	assert.Equal(t, cold.Line.Hashes.Treatment, fresh.Line.Hashes.Treatment)
	assert.NotEqual(t, cold.Line.Hashes.Question, fresh.Line.Hashes.Question, "kind and scope belong to the question")
	for i := range cold.Rows {
		assert.Equal(t, cold.Rows[i].Ranking, fresh.Rows[i].Ranking, "a cached store answers as a fresh one")
	}
}

// otherDigest is an embedder that says it is another model.
type otherDigest struct{ embed.Embedder }

func (o otherDigest) Info() embed.Info {
	i := o.Embedder.Info()
	i.Digest = strings.Repeat("0", 64)
	return i
}

// TestKeyParts: each part that a run can change makes another seed, and a
// setting of the search does not. TestKeyPartsOfTheBinary in tools/touchstone
// has those that are compiled in.
func TestKeyParts(t *testing.T) {
	cache, cfg := t.TempDir(), engine.Config{Embedder: embedtest.New(64)}
	first := measured(t, cache, corpus(), cfg, nil)
	for _, tc := range []struct {
		name string
		part string // empty: the seed stays
		cfg  func(*engine.Config)
		pack func(*pack.Pack)
	}{
		{"chunk size", seed.PartChunk, func(c *engine.Config) { c.Chunk = chunk.Config{MaxWords: 5} }, nil},
		{"chunk overlap", seed.PartChunk, func(c *engine.Config) { c.Chunk = chunk.Config{Overlap: 2} }, nil},
		{"model digest", seed.PartModel, func(c *engine.Config) { c.Embedder = otherDigest{c.Embedder} }, nil},
		{"model dimension", seed.PartModel, func(c *engine.Config) { c.Embedder = embedtest.New(32) }, nil},
		{"a byte of a document", seed.PartPack, nil, func(p *pack.Pack) { p.Documents[3].Text += "." }},
		{"a byte of a question", seed.PartPack, nil, func(p *pack.Pack) { p.Cases[3].Question.Text += "?" }},
		{"fusion weight", "", func(c *engine.Config) { c.Weights = engine.DefaultWeights; c.Weights.Vector = .9 }, nil},
		{"pool", "", func(c *engine.Config) { c.PoolSize = 7 }, nil},
		{"depth", "", func(c *engine.Config) { c.Depth = 20 }, nil},
		{"the default chunk size, said", "", func(c *engine.Config) { c.Chunk.MaxWords = chunk.DefaultMaxWords }, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg, p := cfg, corpus()
			if tc.cfg != nil {
				tc.cfg(&cfg)
			}
			if tc.pack != nil {
				tc.pack(p)
			}
			run := measured(t, cache, p, cfg, nil)
			require.NotEmpty(t, run.Line.Seeds, "%v", run.Verdict.Reasons)
			got := run.Line.Seeds[0]
			if tc.part == "" {
				assert.Equal(t, "reuse", got.Decision)
				assert.Equal(t, first.Line.Hashes.SeedKey, run.Line.Hashes.SeedKey)
				return
			}
			assert.Equal(t, "build", got.Decision, "another folder, and no question")
			assert.Equal(t, []string{tc.part}, seed.Parts(first.Line.Seeds[0].Parts).Differ(got.Parts))
			assert.NotEqual(t, first.Line.Hashes.SeedKey, run.Line.Hashes.SeedKey)
		})
	}
}

// TestParts: what is compiled in is among the parts.
func TestParts(t *testing.T) {
	parts, err := runner(t, engine.Config{}).Seeds().Parts(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{
		seed.PartAnalyzer, seed.PartChunk, seed.PartProvenance, "ingest.chunk", "ingest.embed", "ingest.enrich", "ingest.ingest", "ingest.lexical",
		"ingest.libraries", "ingest.store", seed.PartModel, seed.PartSchema,
	}, slices.Sorted(maps.Keys(parts)))
	for name, value := range parts {
		assert.NotEmpty(t, value, name)
	}
}

// conversations is a pack of three groups that share words.
func conversations() *pack.Pack {
	p := &pack.Pack{Manifest: pack.Manifest{Name: "talks", Version: "1", Unit: "document"}}
	for _, group := range []string{"anna", "ben", "../cleo"} {
		for i, thing := range []string{"otter", "falcon", "badger", "salmon"} {
			id := group + "/" + thing
			p.Documents = append(p.Documents, pack.Document{ID: id, Group: group, Text: fmt.Sprintf("%s saw the %s at place %d.", group, thing, i)})
			p.Cases = append(p.Cases, pack.Case{
				Question: pack.Question{ID: "q-" + id, Text: "who saw the " + thing}, Group: group, Stratum: "all",
				Gold: pack.Gold{Answerable: true, Grades: map[string]int{id: 1}},
			})
		}
	}
	return p
}

// TestGroupScope: a question meets the documents of its group and no others,
// and each group is a seed of its own, inside the cache.
func TestGroupScope(t *testing.T) {
	for _, kind := range []seed.Kind{seed.Cached, seed.Ephemeral} {
		t.Run(string(kind), func(t *testing.T) {
			cache := t.TempDir()
			run := measured(t, cache, conversations(), engine.Config{Embedder: embedtest.New(64)}, func(s *evaltests.Suite) {
				s.Scope, s.Runner = seed.ByGroup, kind
			})
			require.Equal(t, gate.PASS, run.Verdict.Verdict, "%v", run.Verdict.Reasons)
			assert.Equal(t, []string{"build", "build", "build"}, decisions(run))
			for _, row := range run.Rows {
				for _, e := range row.Ranking {
					assert.True(t, strings.HasPrefix(e.Doc, row.Group+"/"), "%s of group %s", e.Doc, row.Group)
				}
				assert.Len(t, row.Ranking, 4)
			}
			var outside []string
			require.NoError(t, filepath.WalkDir(filepath.Dir(cache), func(path string, _ os.DirEntry, err error) error {
				if filepath.Base(path) == seed.MarkFile && !strings.HasPrefix(path, cache) {
					outside = append(outside, path)
				}
				return err
			}))
			assert.Empty(t, outside)
		})
	}
}

// TestCaseScope: each case has a store of its own, of its group's documents.
func TestCaseScope(t *testing.T) {
	for _, kind := range []seed.Kind{seed.Cached, seed.Ephemeral} {
		t.Run(string(kind), func(t *testing.T) {
			run := measured(t, t.TempDir(), conversations(), engine.Config{Embedder: embedtest.New(64)}, func(s *evaltests.Suite) {
				s.Scope, s.Runner = seed.ByCase, kind
			})
			require.Equal(t, gate.PASS, run.Verdict.Verdict, "%v", run.Verdict.Reasons)
			assert.Len(t, run.Rows, 12)
			assert.Len(t, run.Rows[0].Ranking, 4)
		})
	}
}

// TestManyGroups: more stores than may be open at a time.
func TestManyGroups(t *testing.T) {
	p := &pack.Pack{Manifest: pack.Manifest{Name: "many", Version: "1", Unit: "document"}}
	for round := range 2 {
		for g := range 12 {
			id := fmt.Sprintf("g%02d/%d", g, round)
			p.Documents = append(p.Documents, pack.Document{ID: id, Group: fmt.Sprint(g), Text: fmt.Sprintf("round %d of the game", round)})
			p.Cases = append(p.Cases, pack.Case{
				Question: pack.Question{ID: id, Text: fmt.Sprintf("round %d", round)}, Group: fmt.Sprint(g), Stratum: "all",
				Gold: pack.Gold{Answerable: true, Grades: map[string]int{id: 1}},
			})
		}
	}
	run := measured(t, t.TempDir(), p, engine.Config{Embedder: embedtest.New(64)}, func(s *evaltests.Suite) { s.Scope = seed.ByGroup })
	assert.Equal(t, gate.PASS, run.Verdict.Verdict, "%v", run.Verdict.Reasons)
	assert.Len(t, run.Line.Seeds, 12, "a store that is opened again is noted once")
}

// TestConsolidated: groups merged in one store are refused for questions by
// group, unless the suite says so by the pack's name.
func TestConsolidated(t *testing.T) {
	cfg := engine.Config{Embedder: embedtest.New(64)}
	merged := func(s *evaltests.Suite) { s.Scope = seed.BySuite }
	run := measured(t, t.TempDir(), conversations(), cfg, merged)
	assert.Equal(t, gate.CNM, run.Verdict.Verdict)
	text := strings.Join(run.Verdict.Reasons, "\n")
	assert.Contains(t, text, "a consolidated store: 3 groups merged")
	assert.Contains(t, text, `say scope = "group", or consolidated = "talks"`)
	run = measured(t, t.TempDir(), conversations(), cfg, func(s *evaltests.Suite) { s.Scope, s.Consolidated = seed.BySuite, "talks" })
	assert.Equal(t, gate.PASS, run.Verdict.Verdict, "%v", run.Verdict.Reasons)
	assert.Contains(t, strings.Join(run.Line.Seeds[0].Allowed, "\n"), "consolidated: 3 groups merged")
	run = measured(t, t.TempDir(), conversations(), cfg, func(s *evaltests.Suite) { s.Scope, s.Consolidated = seed.BySuite, "yes" })
	assert.Equal(t, gate.CNM, run.Verdict.Verdict, "it is by name")
}

// TestDeadChannels: a channel that is on and has nothing to work on refuses
// every case, by the name of its substrate.
func TestDeadChannels(t *testing.T) {
	for channel, want := range map[string]string{
		record.ChannelGraph:    "EVAL REFUSED [graph]: substrate links: 0 rows (needs > 0)",
		record.ChannelTemporal: "EVAL REFUSED [temporal]: substrate event_dates: 0 rows (needs > 0)",
		record.ChannelPages:    "EVAL REFUSED [pages]: substrate pages: 0 rows (needs > 0)",
		record.ChannelEpisodes: "EVAL REFUSED [episodes]: substrate episodes: 0 rows (needs > 0)",
	} {
		t.Run(channel, func(t *testing.T) {
			cfg, err := builtin.Configure(engine.Config{Embedder: embedtest.New(64)}, []string{"channels." + channel + "=on"})
			require.NoError(t, err)
			run := measured(t, t.TempDir(), corpus(), cfg, nil)
			assert.Equal(t, gate.CNM, run.Verdict.Verdict)
			text := strings.Join(run.Verdict.Reasons, "\n")
			assert.Contains(t, text, want)
			assert.Contains(t, text, "EVAL_ALLOW_WIPE=1 touchstone seed build")
		})
	}
}

// TestContractOfASuite: a contract that the store does not hold ends the seed,
// and nothing is left of it; one that it holds is a gate of the run.
func TestContractOfASuite(t *testing.T) {
	cache, cfg := t.TempDir(), engine.Config{Embedder: embedtest.New(64), PoolSize: 15}
	contract := seed.Contract{Variant: "t", Preset: "strict"}
	run := measured(t, cache, corpus(), cfg, func(s *evaltests.Suite) { s.Contract = &contract })
	require.Equal(t, gate.PASS, run.Verdict.Verdict, "%v", run.Verdict.Reasons)
	assert.Equal(t, gate.Pass, run.Gates[len(run.Gates)-1].Verdict)
	assert.Equal(t, gate.ContractGate, run.Gates[len(run.Gates)-1].Name)

	tight := contract
	tight.Require = []string{"event_dates"}
	run = measured(t, t.TempDir(), corpus(), cfg, func(s *evaltests.Suite) { s.Contract = &tight })
	assert.Equal(t, gate.CNM, run.Verdict.Verdict)
	assert.Contains(t, strings.Join(run.Verdict.Reasons, "\n"), "substrate event_dates: 0 rows (needs >= 1, required)")

	small := cfg
	small.PoolSize = 16
	run = measured(t, t.TempDir(), corpus(), small, func(s *evaltests.Suite) { s.Contract = &contract })
	assert.Contains(t, strings.Join(run.Verdict.Reasons, "\n"), "shape: 30 documents are fewer than 2 x the largest candidate pool of 16")
	run = measured(t, t.TempDir(), corpus(), small, func(s *evaltests.Suite) { s.Contract, s.CapPool = &contract, true })
	require.Equal(t, gate.PASS, run.Verdict.Verdict, "%v", run.Verdict.Reasons)
	assert.Contains(t, strings.Join(run.Line.Seeds[0].Allowed, "\n"), "pool capped at 15 of 30 documents (was 16)")
	for _, s := range run.Rows[0].Stages {
		if s.Name == "candidates" {
			assert.Equal(t, 15, s.CutAt, "the cap is what was searched with")
		}
	}
}
