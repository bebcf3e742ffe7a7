package evaltests_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

// writePack writes a small locked BEIR pack of n questions and the given
// suite.toml, and returns the path of the suite file.
func writePack(t *testing.T, n int, suite string) string {
	t.Helper()
	dir := t.TempDir()
	var corpus, queries, qrels strings.Builder
	qrels.WriteString("query-id\tcorpus-id\tscore\n")
	for i := range n {
		fmt.Fprintf(&corpus, `{"_id":"d%d","title":"t","text":"text number %d"}`+"\n", i, i)
		fmt.Fprintf(&queries, `{"_id":"q%d","text":"where is number %d"}`+"\n", i, i)
		fmt.Fprintf(&qrels, "q%d\td%d\t1\n", i, i)
	}
	for name, text := range map[string]string{
		"pack.toml":    "name = \"small\"\nversion = \"1\"\nunit = \"document\"\nformat = \"beir\"\nrole = \"guard\"\nauthored = \"self\"\n",
		"corpus.jsonl": corpus.String(), "queries.jsonl": queries.String(), "qrels.tsv": qrels.String(), "suite.toml": suite,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	p, err := pack.Load(dir, pack.Options{})
	require.NoError(t, err)
	lock, err := p.Lock()
	require.NoError(t, err)
	require.NoError(t, lock.Write(dir))
	return filepath.Join(dir, "suite.toml")
}

const minimal = "suite = \"small\"\npack = \".\"\ntier = \"smoke\"\n"

func TestLoadSuiteRefuses(t *testing.T) {
	for _, tc := range []struct{ name, toml, err string }{
		{"unknown key", minimal + "flour = 1\n", `suite.toml:4: unknown key "flour"`},
		{"unknown key in a gate", minimal + "[[gate]]\nmeasure = \"nDCG@10\"\nflour = 1\n", `suite.toml:6: unknown key "gate.flour"`},
		{"not TOML", "suite = \n", "suite.toml:1"},
		{"wrong type", "suite = 3\n", "suite.toml:1"},
		{"name", "suite = \"a b\"\n", `suite = "a b"`},
		{"tier", minimal + "arm = \"x\"\n[golden]\nk = 0\n", "golden.k = 0"},
		{"timeout", minimal + "case_timeout = \"5\"\n", "case_timeout"},
		{"measure", minimal + "measures = [\"nDGC@10\"]\n", "nDCG"},
		{"headline not measured", minimal + "headline = [\"P@7\"]\n", `headline "P@7" is not among measures`},
		{"gate not measured", minimal + "[[gate]]\nmeasure = \"P@7\"\nfloor = 0.5\n", "P@7 is not among measures"},
		{"stage gate not measured", minimal + "[[gate]]\nmeasure = \"P@1\"\nstage = \"lexical\"\nfloor = 0.5\n", "P@1 is not among stage_measures"},
		{"gate without threshold", minimal + "[[gate]]\nmeasure = \"nDCG@10\"\n", "no floor, ceiling or target"},
		{"floor of nothing", minimal + "[[gate]]\nmeasure = \"nDCG@10\"\nfloor = 0.0\n", "floor 0"},
		{"floor not a number", minimal + "[[gate]]\nmeasure = \"nDCG@10\"\nfloor = nan\n", "not finite"},
		{"paired with what", minimal + "paired_regression = \"yesterday\"\n[golden]\n", `paired_regression = "yesterday"; want "golden"`},
		{"paired without a golden", minimal + "paired_regression = \"golden\"\n", "no [golden] table to pair with"},
		{"golden of a stage twice", minimal + "[golden]\nstages = [\"vector\", \"vector\"]\n", `golden.stages: "vector"`},
		{"golden of the final stage", minimal + "[golden]\nstages = [\"final\"]\n", `golden.stages: "final"`},
		{"decision without a measure", minimal + "[decision]\nmargin = 0.1\n", "decision: primary"},
		{"decision on what is not measured", minimal + "[decision]\nprimary = \"P@7\"\n", `decision: primary = "P@7" is not among measures`},
		{"decision by no such correction", minimal + "[decision]\nprimary = \"R@5\"\ncorrection = \"luck\"\n", `correction = "luck"`},
		{"waiver without end", minimal + "[[waiver]]\nreason = \"x\"\nmax = 1\n", "waiver"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := writePack(t, 2, tc.toml)
			_, err := evaltests.LoadSuite(path, evaltests.Env{Tier: "smoke"})
			require.Error(t, err)
			assert.Contains(t, err.Error(), tc.err)
			assert.Contains(t, err.Error(), "suite.toml")
		})
	}
}

// TestSuiteExample holds the one example of all keys in docs/suite.md to the
// decoder, and the decoder's keys to the example.
func TestSuiteExample(t *testing.T) {
	text, err := os.ReadFile("../docs/suite.md")
	require.NoError(t, err)
	found := regexp.MustCompile("(?s)```toml\n(.*?)```").FindSubmatch(text)
	require.NotNil(t, found, "docs/suite.md has no toml block")
	path := writePack(t, 2, string(found[1]))
	s, err := evaltests.LoadSuite(path, evaltests.Env{Tier: "deep"})
	require.NoError(t, err)
	assert.NotEmpty(t, s.Gates)
	assert.NotEmpty(t, s.Waivers)
	require.NotNil(t, s.Golden)
	for _, key := range evaltests.SuiteKeys() {
		assert.Regexp(t, `(?m)^(\[+)?`+regexp.QuoteMeta(key)+`(\]+)?( =|$| *#)`, string(found[1]), "key %s is not in the example", key)
	}
}

func TestLimitIsStratified(t *testing.T) {
	p := &pack.Pack{Manifest: pack.Manifest{Name: "p", Unit: "document"}}
	for i := range 100 {
		stratum := "rare"
		if i < 90 {
			stratum = "common" // a plain prefix would take only these
		}
		p.Cases = append(p.Cases, pack.Case{Question: pack.Question{ID: fmt.Sprintf("q%d", i), Text: "x"}, Stratum: stratum})
	}
	s, err := evaltests.NewSuite(p, evaltests.Env{Tier: "smoke", Limit: 15})
	require.NoError(t, err)
	got := map[string]int{}
	for _, c := range s.Cases {
		got[c.Stratum]++
	}
	assert.Equal(t, 15, len(s.Cases))
	assert.InDelta(t, 1.5, got["rare"], 0.5)
	assert.Equal(t, map[string]int{"common": 90 - got["common"], "rare": 10 - got["rare"]}, s.LeftOut)

	s, err = evaltests.NewSuite(p, evaltests.Env{Tier: "smoke", Limits: map[string]int{"other": 1}})
	require.NoError(t, err)
	assert.Len(t, s.Cases, 100)
	assert.Empty(t, s.LeftOut)
}

func TestSubtestNamesAreUnique(t *testing.T) {
	for _, tc := range []struct{ name, a, b string }{
		{"blank and underscore", "q 1", "q_1"},
		{"no-break space", "x\u00a0y", "x_y"},
		{"equal", "q", "q"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := &pack.Pack{Manifest: pack.Manifest{Name: "p", Unit: "document"}}
			for _, id := range []string{tc.a, tc.b} {
				p.Cases = append(p.Cases, pack.Case{Question: pack.Question{ID: id, Text: "x"}})
			}
			_, err := evaltests.NewSuite(p, evaltests.Env{Tier: "smoke"})
			require.Error(t, err)
			assert.Contains(t, err.Error(), "same subtest name")
		})
	}
}

// TestPacksPage holds the files shown in docs/packs.md to their readers.
func TestPacksPage(t *testing.T) {
	text, err := os.ReadFile("../docs/packs.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllSubmatch(text, -1)
	require.Len(t, blocks, 3, "pack.toml, suite.toml, eval.inventory.toml")

	suite := writePack(t, 2, string(blocks[1][1]))
	_, err = evaltests.LoadSuite(suite, evaltests.Env{Tier: "smoke"})
	require.NoError(t, err)

	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, pack.ManifestFile), blocks[0][1], 0o644))
	m, err := pack.ReadManifest(dir)
	require.NoError(t, err)
	assert.Equal(t, "handbook", m.Name)

	inventory := filepath.Join(dir, gate.InventoryFile)
	require.NoError(t, os.WriteFile(inventory, blocks[2][1], 0o644))
	inv, err := gate.ReadInventory(inventory)
	require.NoError(t, err)
	assert.Equal(t, 120, inv.Suites[0].Planned)
}
