package evaltests_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// TestResumeAtAnyByte cuts a finished record at any byte, as a kill may leave
// it, and takes the run up again: no finished case is asked again, and verdict,
// gates and rows are those of the run that was not cut.
func TestResumeAtAnyByte(t *testing.T) {
	path := writePack(t, 6, minimal+"[[gate]]\nmeasure = \"RR@10\"\nfloor = 0.3\n")
	asked := 0
	subject := answer(func(_ context.Context, q pack.Question) (record.Observation, error) {
		asked++
		n := q.Text[len(q.Text)-1:]
		if n == "0" {
			return found("d0", "d1")
		}
		return found("d"+n, "d0")
	})
	evaluate := func(t require.TestingT, folder *record.Folder) *evaltests.Run {
		s, err := evaltests.LoadSuite(path, evaltests.Env{Tier: "smoke", Repeat: 2})
		require.NoError(t, err)
		run, err := evaltests.Evaluate(context.Background(), s.In(folder), subject)
		require.NoError(t, err)
		return run
	}
	shape := func(run *evaltests.Run) string {
		f, err := record.Read(run.Path)
		require.NoError(t, err)
		require.Equal(t, record.Complete, f.State, f.Detail)
		for i := range f.Rows {
			f.Rows[i].Micros = 0
		}
		text, err := json.Marshal([]any{f.Rows, f.Gates, f.Verdict})
		require.NoError(t, err)
		return string(text)
	}
	folder, err := record.NewFolder(t.TempDir(), ".", "test", nil)
	require.NoError(t, err)
	whole := evaluate(t, folder)
	require.Equal(t, 12, asked)
	data, err := os.ReadFile(whole.Path)
	require.NoError(t, err)
	want := shape(whole)
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		cut := rapid.IntRange(0, len(data)-1).Draw(t, "cut")
		folder, err := record.NewFolder(base, ".", "test", nil)
		require.NoError(t, err)
		folder.Nonce = whole.Folder.Nonce
		folder.Resumed = []time.Time{time.Unix(0, 0).UTC()}
		require.NoError(t, folder.Write())
		path := filepath.Join(folder.Dir, filepath.Base(whole.Path))
		require.NoError(t, os.WriteFile(path, data[:cut], 0o644))
		left, err := record.Read(path)
		require.NoError(t, err)
		asked = 0
		run := evaluate(t, folder)
		assert.Equal(t, 12-len(left.Rows), asked, "finished cases are not asked again")
		require.Equal(t, want, shape(run))
		files, err := record.ReadAll(folder.Dir)
		require.NoError(t, err)
		assert.Len(t, files, 1)
	})
}
