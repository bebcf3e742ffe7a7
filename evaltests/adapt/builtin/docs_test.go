package builtin_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
	"github.com/touchstone-eval/touchstone/evaltests/adapt/builtin"
)

var row = regexp.MustCompile("(?m)^\\| `([^`]+)`( \\*)? \\|(?: `([^`]+)` \\|)?")

// tableOf returns the rows of the table below a heading of docs/engine.md:
// first cell, star or not, and second cell if it is code.
func tableOf(t *testing.T, heading string) (rows [][]string) {
	t.Helper()
	doc, err := os.ReadFile("../../../docs/engine.md")
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(doc), "\n## "+heading+"\n")
	require.True(t, ok, "docs/engine.md has no heading %q", heading)
	section, _, _ = strings.Cut(section, "\n## ")
	for _, m := range row.FindAllStringSubmatch(section, -1) {
		rows = append(rows, m[1:])
	}
	return rows
}

func first(rows [][]string) (out []string) {
	for _, r := range rows {
		out = append(out, r[0])
	}
	return out
}

// TestEnginePageSettings holds docs/engine.md to what Configure understands,
// to the defaults of the engine, and to which settings decide what is stored.
func TestEnginePageSettings(t *testing.T) {
	_, err := builtin.Configure(engine.Config{}, []string{"?=1"})
	require.Error(t, err)
	_, list, ok := strings.Cut(err.Error(), "want key=value with one of ")
	require.True(t, ok, err)
	rows := tableOf(t, "Settings")
	assert.ElementsMatch(t, strings.Split(list, ", "), first(rows))

	defaults := engine.Config{}.Effective()
	names := map[string]string{"reranker": "judge"} // as the engine's record has it
	for _, r := range rows {
		key, stored, value := r[0], r[1] != "", r[2]
		name := key
		if n, ok := names[key]; ok {
			name = n
		}
		want, ok := defaults[name]
		require.True(t, ok, key)
		if value == "off" {
			value = "false"
		}
		assert.Equal(t, want.Value, value, "the default of %s", key)
		given, err := builtin.Configure(engine.Config{}, []string{key + "=" + r[2]})
		require.NoError(t, err)
		assert.Equal(t, want.Value, given.Effective()[name].Value, "%s set to its default", key)
		if key == "embedder" {
			assert.True(t, stored, "an engine refuses vectors of another model")
			continue
		}
		assert.Equal(t, decidesTheStore(t, key), stored, "%s decides what is stored", key)
	}
}

// decidesTheStore tells whether an engine with the setting refuses a store
// that was made without it.
func decidesTheStore(t *testing.T, key string) bool {
	t.Helper()
	value := "3"
	switch {
	case key == "reranker":
		return false // reads only what a search found
	case strings.HasPrefix(key, "channels."):
		value = "on"
	}
	dir := t.TempDir()
	plain := engine.Config{Embedder: embedtest.New(8)}
	e, err := engine.Open(t.Context(), dir, plain)
	require.NoError(t, err)
	_, err = e.Ingest(t.Context(), engine.Document{ID: "a", Text: "An otter swims."})
	require.NoError(t, err)
	require.NoError(t, e.Close())
	other, err := builtin.Configure(plain, []string{key + "=" + value})
	require.NoError(t, err)
	e, err = engine.Open(t.Context(), dir, other)
	if err != nil {
		require.ErrorIs(t, err, engine.ErrOtherChunks, key)
		return true
	}
	require.NoError(t, e.Close())
	return false
}

// TestEnginePageStages holds the tables of stages and channels to those of a
// search, in order.
func TestEnginePageStages(t *testing.T) {
	e, err := engine.Open(t.Context(), t.TempDir(), engine.Config{Embedder: embedtest.New(8)})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	r, err := e.Search(t.Context(), engine.Query{Text: "otter", K: 1})
	require.NoError(t, err)
	var stages, channels []string
	for _, s := range r.Stages {
		stages = append(stages, s.Name)
	}
	for _, c := range r.Channels {
		if !slices.Contains(stages, c.Name) { // the two arms are stages
			channels = append(channels, c.Name)
		}
	}
	assert.Equal(t, stages, first(tableOf(t, "Stages of a search")))
	assert.Equal(t, channels, first(tableOf(t, "Channels")))
}
