package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

func TestBetween(t *testing.T) {
	text, err := between("head\n"+begin+"old\n"+end+"tail\n", "new\n")
	require.NoError(t, err)
	assert.Equal(t, "head\n"+begin+"\nnew\n"+end+"tail\n", text)
	again, err := between(text, "new\n")
	require.NoError(t, err)
	assert.Equal(t, text, again)
	for _, doc := range []string{"", begin, end + begin, "head\n" + end} {
		_, err := between(doc, "new\n")
		require.ErrorContains(t, err, "around the figures", doc)
	}
}

// The document has the place that the command writes to.
func TestDocumentHasMarkers(t *testing.T) {
	doc, err := os.ReadFile("../../docs/retrieval.md")
	require.NoError(t, err)
	_, err = between(string(doc), "")
	require.NoError(t, err)
}

// A small pack through the engine: what the tables are made of.
func TestSweep(t *testing.T) {
	p, err := pack.Load("../../evaltests/pack/testdata/smart", pack.Options{})
	require.NoError(t, err)
	env, err := evaltests.ParseEnv([]string{"EVAL_OUT=" + t.TempDir()})
	require.NoError(t, err)
	l, err := newLab(env, io.Discard)
	require.NoError(t, err)
	defer func() { require.NoError(t, l.close()) }()
	c, err := l.sweep(context.Background(), p, []float64{0, 0.5, 1})
	require.NoError(t, err)
	assert.True(t, c.Graded)
	assert.Equal(t, 2, c.Cases)
	_, err = c.At(0, "vector", linear)
	require.Error(t, err, "an arm of weight 0 has no figures")
	alone, err := c.At(0, "final", linear)
	require.NoError(t, err)
	arm, err := c.At(1, "lexical", linear)
	require.NoError(t, err)
	assert.Equal(t, arm, alone)

	choice, err := Choose(c.Weights, []Curve{c})
	require.NoError(t, err)
	f := Figures{Subject: l.subject, Class: "here", Development: []Curve{c}, Choice: choice, Check: []Curve{c}, Test: []Curve{c}}
	text, err := f.Markdown()
	require.NoError(t, err)
	for _, want := range []string{"| smart | 2 |", "`nDCG(dcg='exp-log2')@10`", "| smart | BM25 alone | ", "Embedder `" + l.subject + "`"} {
		assert.Contains(t, text, want)
	}
	again, err := f.Markdown()
	require.NoError(t, err)
	assert.Equal(t, text, again)

	// Two sets over one content share a store.
	before := len(l.stores)
	_, err = l.sweep(context.Background(), p, []float64{1})
	require.NoError(t, err)
	assert.Len(t, l.stores, before)
}

func TestRunRefusesPartOfTheQuestions(t *testing.T) {
	t.Setenv("EVAL_LIMIT", "5")
	err := run(context.Background(), "../../fixtures", "-", io.Discard, io.Discard)
	require.ErrorContains(t, err, "EVAL_LIMIT is set")
}

func TestRunWithoutPacks(t *testing.T) {
	t.Setenv("EVAL_PACKS", "")
	t.Setenv("EVAL_OUT", t.TempDir())
	doc := filepath.Join(t.TempDir(), "doc.md")
	require.NoError(t, os.WriteFile(doc, []byte(begin+"old\n"+end), 0o644))
	err := run(context.Background(), "../../fixtures", doc, io.Discard, io.Discard)
	require.ErrorContains(t, err, "pack scifact-train: not here")
	text, err := os.ReadFile(doc)
	require.NoError(t, err)
	assert.True(t, strings.Contains(string(text), "old"), "a failed run leaves the document alone")
}
