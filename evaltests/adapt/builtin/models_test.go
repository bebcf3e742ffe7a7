package builtin_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
	"github.com/touchstone-eval/touchstone/engine/models/onnx/onnxtest"
	"github.com/touchstone-eval/touchstone/evaltests/adapt/builtin"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// TestConfigureModels: models are named, looked up below EVAL_MODELS, and
// recorded as what they are.
func TestConfigureModels(t *testing.T) {
	embedder := onnxtest.Embedder(t, map[string][]float32{"[CLS]": {1, 0, 0}, "otter": {0, 1, 0}, "falcon": {0, 0, 1}})
	judge := onnxtest.CrossEncoder(t, map[string]float32{"dusk": 1, "guards": 2})
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(dir, "axes"), os.DirFS(embedder)))
	require.NoError(t, os.CopyFS(filepath.Join(dir, "guard"), os.DirFS(judge)))
	t.Setenv("EVAL_MODELS", dir)

	cfg, err := builtin.Configure(engine.Config{}, []string{"embedder=axes", "reranker=guard"})
	require.NoError(t, err)
	run := evaluate(t, cfg, nil)
	assert.Contains(t, run.Line.Config["embedder"].Value, "axes@")
	assert.Contains(t, run.Line.Config["judge"].Value, "guard@")
	assert.False(t, run.Line.Config["judge"].Default)
	stage, ok := run.Rows[0].Stage("rerank")
	require.True(t, ok)
	assert.Equal(t, record.Executed, stage.State, stage.Reason)
	assert.Contains(t, stage.Entries[0].Doc, "-guards", "the judge's favourite is first")

	again, err := builtin.Configure(engine.Config{}, []string{"embedder=" + filepath.Join(dir, "axes")})
	require.NoError(t, err)
	assert.Same(t, cfg.Embedder, again.Embedder, "one folder is one open model")

	back, err := builtin.Configure(cfg, []string{"embedder=default", "reranker=none"})
	require.NoError(t, err)
	assert.Nil(t, back.Embedder)
	assert.Nil(t, back.Judge)

	for pair, want := range map[string]string{
		"embedder=none-such":             "touchstone models get",
		"reranker=none-such":             "touchstone models get",
		"embedder=":                      "want a name or a path",
		"reranker=..":                    "want a name or a path",
		"reranker=axes":                  "want one for a pair",
		"embedder=guard":                 "no row for each token",
		"embedder=" + dir + "/axes/none": "no such file",
	} {
		_, err := builtin.Configure(engine.Config{Embedder: embedtest.New(4)}, []string{pair})
		assert.ErrorContains(t, err, want, pair)
	}
}
