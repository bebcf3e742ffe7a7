package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/evaltests/adapt/builtin"
	"github.com/touchstone-eval/touchstone/evaltests/seed"
)

// edit is a change of a source file of this module.
type edit struct{ file, old, new string }

// TestKeyPartsOfTheBinary builds the command from edited sources and asks it
// for the parts of a seed: a line of the schema, the analyzer or the chunker is
// another key, and a line of the search is not. TestKeyParts in adapt/builtin
// has the parts that a run can change.
func TestKeyPartsOfTheBinary(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command twice")
	}
	pack := t.TempDir()
	for name, text := range map[string]string{
		"corpus.jsonl": `{"_id": "a", "text": "An otter."}` + "\n", "queries.jsonl": `{"_id": "q", "text": "otter"}` + "\n",
		"qrels/test.tsv": "query-id\tcorpus-id\tscore\nq\ta\t1\n",
	} {
		path := filepath.Join(pack, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	r, err := builtin.NewRunner(engine.Config{})
	require.NoError(t, err)
	defer r.Close()
	here, err := r.Seeds().Parts(t.Context())
	require.NoError(t, err)
	for _, tc := range []struct {
		name  string
		edits []edit
		want  []string // parts that differ
	}{
		{"what ingests", []edit{
			{"engine/store/migrations/0001_documents.sql", "CREATE TABLE meta (", "-- another schema line\nCREATE TABLE meta ("},
			{"engine/lexical/analysis.go", "fixed totals", "fixed totals, another analyzer"},
			{"engine/chunk/chunk.go", "// Split cuts text", "// Split once cut text"},
		}, []string{"analyzer", "ingest.chunk", "ingest.lexical", "ingest.store", "schema"}},
		{"what searches", []edit{
			{"engine/config.go", "Vector: 0.3", "Vector: 0.9"},
			{"engine/config.go", "DefaultPoolSize  = 50", "DefaultPoolSize  = 51"},
			{"engine/rerank/rerank.go", "package rerank", "package rerank // edited"},
			{"engine/fuse/fuse.go", "package fuse", "package fuse // edited"},
			{"engine/search.go", "package engine", "package engine // edited"},
		}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bin := built(t, tc.edits)
			cmd := exec.Command(bin, "seed", "show", pack, "--json")
			cmd.Env = append(os.Environ(), "EVAL_CACHE="+t.TempDir())
			out, err := cmd.Output()
			require.NoError(t, err)
			var shown struct{ Seeds []struct{ Parts seed.Parts } }
			require.NoError(t, json.Unmarshal(out, &shown))
			require.Len(t, shown.Seeds, 1)
			parts := shown.Seeds[0].Parts
			for _, own := range []string{seed.PartFormat, seed.PartPack, seed.PartGroup} {
				delete(parts, own)
			}
			assert.Equal(t, tc.want, here.Differ(parts))
		})
	}
}

// built is the command built from the sources here with edits laid over them.
func built(t *testing.T, edits []edit) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir := t.TempDir()
	texts := map[string]string{}
	for _, e := range edits {
		path := filepath.Join(root, filepath.FromSlash(e.file))
		text, ok := texts[path]
		if !ok {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			text = string(data)
		}
		require.Contains(t, text, e.old, "%s changed: find another line to edit", e.file)
		texts[path] = strings.Replace(text, e.old, e.new, 1)
	}
	replace := map[string]string{}
	for path, text := range texts {
		replace[path] = filepath.Join(dir, strings.ReplaceAll(path, string(filepath.Separator), "_"))
		require.NoError(t, os.WriteFile(replace[path], []byte(text), 0o644))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o644))
	bin := filepath.Join(dir, "touchstone")
	cmd := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", bin, ".")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return bin
}
