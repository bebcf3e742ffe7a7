package record_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// TestListsAreWrittenOnce: whatever the stages hold, a row read back is the row
// that was written, and a list that hands another on takes no place.
func TestListsAreWrittenOnce(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		entries := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) record.Entry {
			return record.Entry{Doc: rapid.StringMatching(`[ab]`).Draw(t, "doc"), Score: rapid.Float64Range(0, 1).Draw(t, "score")}
		}), 1, 6).Draw(t, "entries")
		row := record.Row{Suite: "s", Arm: "base", Mode: "default", Case: "q", Outcome: record.Outcome{State: record.Scored}}
		for i := range rapid.IntRange(0, 4).Draw(t, "stages") {
			s := record.Stage{Name: fmt.Sprint("s", i), State: record.Executed}
			s.Entries = append(s.Entries, entries[:rapid.IntRange(1, len(entries)).Draw(t, "cut")]...)
			row.Stages = append(row.Stages, s)
		}
		row.Ranking = append(row.Ranking, entries[:rapid.IntRange(1, len(entries)).Draw(t, "cut")]...)
		w, err := record.Create(dir, fmt.Sprint("s", n))
		require.NoError(t, err)
		require.NoError(t, w.Run(record.Run{Suite: "s", Arm: "base", Plan: []string{"q"}}))
		require.NoError(t, w.Row(row))
		require.NoError(t, w.End(record.End{}))
		f, err := record.Read(w.Path())
		require.NoError(t, err)
		require.Equal(t, record.Complete, f.State, f.Detail)
		row.Head = f.Rows[0].Head
		assert.Equal(t, row, f.Rows[0])
	})
}

func TestListsAreReadStrictly(t *testing.T) {
	list := []record.Entry{{Doc: "a", Score: 2}, {Doc: "b", Score: 1}}
	dir := t.TempDir()
	w, err := record.Create(dir, "s")
	require.NoError(t, err)
	require.NoError(t, w.Run(record.Run{Suite: "s", Arm: "base", Plan: []string{"q"}}))
	require.NoError(t, w.Row(record.Row{
		Suite: "s", Arm: "base", Mode: "default", Case: "q", Outcome: record.Outcome{State: record.Scored}, Ranking: list,
		Stages: []record.Stage{{Name: "lexical", State: record.Executed, Entries: list}, {Name: "final", State: record.Executed, Entries: list}},
	}))
	require.NoError(t, w.Close())
	data, err := os.ReadFile(w.Path())
	require.NoError(t, err)
	require.Equal(t, 1, bytes.Count(data, []byte(`"doc":"a"`)), "written once")
	for _, tc := range []struct{ name, old, new, want string }{
		{"a stage that is not there", `"ranking_same_as":{"stage":"lexical"`, `"ranking_same_as":{"stage":"dense"`, `ranking: same as stage "dense", which is not among`},
		{"a stage that comes later", `"same_as":{"stage":"lexical","n":2}}]`, `"same_as":{"stage":"final","n":2}}]`, `stage final: same as stage "final"`},
		{"more than there is", `"same_as":{"stage":"lexical","n":2}}]`, `"same_as":{"stage":"lexical","n":3}}]`, "same as the first 3 of stage lexical, which has 2"},
		{"none", `"same_as":{"stage":"lexical","n":2}}]`, `"same_as":{"stage":"lexical","n":0}}]`, "same as the first 0"},
		{"both", `"entries":null`, `"entries":[]`, "found entries beside same_as"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.Contains(t, string(data), tc.old)
			path := filepath.Join(t.TempDir(), "s.1.1.jsonl")
			require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(data), tc.old, tc.new, 1)), 0o644))
			f, err := record.Read(path)
			require.NoError(t, err)
			assert.Equal(t, record.Tampered, f.State)
			assert.Contains(t, f.Detail, tc.want)
		})
	}
}
