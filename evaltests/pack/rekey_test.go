package pack_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

func TestRekey(t *testing.T) {
	regrade := func(t *testing.T, dir string) {
		replace(t, dir, "qrels.tsv", strings.Replace(read(t, dir, "qrels.tsv"), "q2\tfares-2\t2", "q2\tfares-2\t3", 1))
	}
	for _, tc := range []struct {
		name   string
		change func(t *testing.T, dir string)
		id     string
		want   string
	}{
		{"nothing changed", func(*testing.T, string) {}, "q2", "the gold of q2 is as it was"},
		{"another case", regrade, "q1", "more than the gold of q1 changed: case q2"},
		{"no such case", regrade, "q9", `case "q9" is not in both`},
		{"a document too", func(t *testing.T, dir string) {
			regrade(t, dir)
			replace(t, dir, "corpus.jsonl", strings.Replace(read(t, dir, "corpus.jsonl"), "at 7", "at 8", 1))
		}, "q2", "more than the gold of q2 changed: document boats"},
		{"the question too", func(t *testing.T, dir string) {
			regrade(t, dir)
			replace(t, dir, "queries.jsonl", strings.Replace(read(t, dir, "queries.jsonl"), "What is a single?", "What is a return?", 1))
		}, "q2", "more than the gold of q2 changed: case q2"},
		{"what the pack says of itself too", func(t *testing.T, dir string) {
			regrade(t, dir)
			replace(t, dir, "pack.toml", strings.Replace(read(t, dir, "pack.toml"), "version = \"1\"", "version = \"2\"", 1))
		}, "q2", "more than the gold of q2 changed: version of pack.toml"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := edited(t, "own", nil)
			old := load(t, dir)
			tc.change(t, dir)
			_, err := load(t, dir).Rekey(old, tc.id, "why")
			require.ErrorContains(t, err, tc.want)
			assert.NoFileExists(t, filepath.Join(dir, pack.RekeyFile))
		})
	}
	dir := edited(t, "own", nil)
	old := load(t, dir)
	regrade(t, dir)
	_, err := load(t, dir).Rekey(old, "q2", " ")
	require.ErrorContains(t, err, "the reason is missing")
	r, err := load(t, dir).Rekey(old, "q2", "it is the fare in force")
	require.NoError(t, err)
	assert.Equal(t, 2, r.Old.Grades["fares-2"])
	assert.Equal(t, 3, r.New.Grades["fares-2"])
	assert.Equal(t, []pack.Evidence{{Section: "Fares", Text: "A single costs"}}, r.Evidence)
	require.NoError(t, load(t, dir).Check())
	assert.Contains(t, read(t, dir, pack.RekeyFile), `"reason":"it is the fare in force"`)
	_, err = load(t, dir).Rekey(old, "q2", "again")
	require.ErrorContains(t, err, pack.RekeyFile+":1: this change of q2 is logged already; commit it")
}

func TestExposure(t *testing.T) {
	dir := edited(t, "own", nil)
	p := load(t, dir)
	for _, u := range []pack.Use{{Why: "weights", Run: "r1", Cases: []string{"q1", "q2", "q1"}}, {Why: "pool", Cases: []string{"q1"}}} {
		require.NoError(t, p.Expose(u))
	}
	e, err := pack.ReadExposure(dir)
	require.NoError(t, err)
	assert.Equal(t, []int{2, 1, 0, 2, 2}, []int{e.Times("q1"), e.Times("q2"), e.Times("q3"), e.Cases(), e.Most()})
	assert.Equal(t, []string{"q1"}, e.Beyond(p.Cases, 1))
	assert.Empty(t, e.Beyond(p.Cases, 2))
	require.EqualError(t, p.Expose(pack.Use{Why: "again", Run: "r1", Cases: []string{"q1"}}), "run r1 is counted already")
	require.EqualError(t, p.Expose(pack.Use{Why: "x", Cases: []string{"q9"}}), `pack own has no case "q9"`)
	require.Error(t, p.Expose(pack.Use{Cases: []string{"q1"}}))
	require.NoError(t, os.WriteFile(filepath.Join(dir, pack.ExposureFile), []byte("{\"why\":\"x\",\"cases\":[]}"), 0o644))
	_, err = pack.ReadExposure(dir)
	require.ErrorContains(t, err, pack.ExposureFile+":1: want why, and at least one case")
}
