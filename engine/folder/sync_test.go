package folder_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
	"github.com/touchstone-eval/touchstone/engine/folder"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

func open(t *testing.T, dir string, o folder.Options) *folder.Index {
	t.Helper()
	o.Engine.Embedder = embedtest.New(32)
	x, err := folder.Open(t.Context(), dir, o)
	require.NoError(t, err)
	return x
}

// synced brings a folder's index up to date and closes it.
func synced(t *testing.T, dir string, o folder.Options) folder.Report {
	t.Helper()
	x := open(t, dir, o)
	defer func() { require.NoError(t, x.Close()) }()
	r, err := x.Sync(t.Context(), nil)
	require.NoError(t, err)
	return r
}

func counts(r folder.Report) string {
	return fmt.Sprintf("new %d changed %d unchanged %d removed %d skipped %d documents %d", r.New, r.Changed, r.Unchanged, r.Removed, len(r.Skips), r.Documents)
}

func TestSyncFollowsTheFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"a.md": "# Alpha\nfirst", "sub/b.txt": "second", "sub/c.html": "<p>third",
		"logo.png": "\x89PNG\x00", "latin.txt": "caf\xe9", ".git/config.txt": "hidden", "sub/.x.md": "hidden",
	})
	r := synced(t, dir, folder.Options{})
	assert.Equal(t, "new 3 changed 0 unchanged 0 removed 0 skipped 2 documents 3", counts(r))
	assert.Equal(t, []folder.Skip{{Path: "latin.txt", Reason: "not UTF-8: byte 3 is 0xe9: convert the file"}, {Path: "logo.png", Reason: "not Markdown, text or HTML"}}, r.Skips)
	assert.Equal(t, 3, r.Hidden, ".git, sub/.x.md and the store")

	r = synced(t, dir, folder.Options{})
	assert.Equal(t, "new 0 changed 0 unchanged 3 removed 0 skipped 2 documents 3", counts(r))

	write(t, dir, map[string]string{"a.md": "# Alpha\nother", "d.md": "fourth", "sub/c.html": "\x00"})
	require.NoError(t, os.Remove(filepath.Join(dir, "sub/b.txt")))
	r = synced(t, dir, folder.Options{})
	assert.Equal(t, "new 1 changed 1 unchanged 0 removed 2 skipped 3 documents 2", counts(r))
	x := open(t, dir, folder.Options{Engine: engine.Config{ReadOnly: true}})
	defer x.Close()
	for question, want := range map[string]string{"other": "a.md", "fourth": "d.md"} {
		a, err := x.Search(t.Context(), folder.Question{Text: question, K: 5})
		require.NoError(t, err)
		assert.Equal(t, want, a.Hits[0].Path)
		assert.Len(t, a.Hits, 2)
	}
}

// A file that shrank to another of the same size is changed all the same.
func TestSyncSameSize(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.md": "aaaa"})
	synced(t, dir, folder.Options{})
	write(t, dir, map[string]string{"a.md": "bbbb"})
	assert.Equal(t, "new 0 changed 1 unchanged 0 removed 0 skipped 0 documents 1", counts(synced(t, dir, folder.Options{})))
}

func TestSyncLimitsAndLinks(t *testing.T) {
	outside := t.TempDir()
	write(t, outside, map[string]string{"secret.md": "secret"})
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.md": "alpha", "big.md": strings.Repeat("x", 101)})
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(dir, "link.md")))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "linked")))
	r := synced(t, dir, folder.Options{MaxBytes: 100})
	assert.Equal(t, "new 1 changed 0 unchanged 0 removed 0 skipped 3 documents 1", counts(r))
	assert.Equal(t, []folder.Skip{
		{Path: "big.md", Reason: "101 bytes: at most 100 are read"},
		{Path: "link.md", Reason: "symbolic link: not followed"},
		{Path: "linked", Reason: "symbolic link: not followed"},
	}, r.Skips)
}

// Cut short after any number of files, the index holds what the progress said,
// and the next run adds the rest only.
func TestSyncCutShort(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{}
	for i := range 250 {
		files[fmt.Sprintf("%03d.md", i)] = fmt.Sprintf("# Note %d\ntext", i)
	}
	write(t, dir, files)
	ctx, cancel := context.WithCancel(t.Context())
	x := open(t, dir, folder.Options{})
	told := 0
	r, err := x.Sync(ctx, func(p folder.Progress) {
		if told = p.Read; told > 0 {
			cancel()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, x.Close())
	assert.Equal(t, 100, told)
	assert.Equal(t, "new 100 changed 0 unchanged 0 removed 0 skipped 0 documents 100", counts(r))
	assert.Equal(t, "new 150 changed 0 unchanged 100 removed 0 skipped 0 documents 250", counts(synced(t, dir, folder.Options{})))
}

// What a cut run stored is known to the next, though its file is gone by then.
func TestSyncCutShortThenRemoved(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{}
	for i := range 150 {
		files[fmt.Sprintf("%03d.md", i)] = "text"
	}
	write(t, dir, files)
	ctx, cancel := context.WithCancel(t.Context())
	x := open(t, dir, folder.Options{})
	_, err := x.Sync(ctx, func(p folder.Progress) {
		if p.Read > 0 {
			cancel()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, x.Close())
	for i := range 149 {
		require.NoError(t, os.Remove(filepath.Join(dir, fmt.Sprintf("%03d.md", i))))
	}
	assert.Equal(t, "new 1 changed 0 unchanged 0 removed 100 skipped 0 documents 1", counts(synced(t, dir, folder.Options{})))
}

func TestSyncEmptied(t *testing.T) {
	dir := t.TempDir()
	assert.Equal(t, "new 0 changed 0 unchanged 0 removed 0 skipped 0 documents 0", counts(synced(t, dir, folder.Options{})))
	write(t, dir, map[string]string{"a.md": "alpha"})
	synced(t, dir, folder.Options{})
	require.NoError(t, os.Remove(filepath.Join(dir, "a.md")))
	x := open(t, dir, folder.Options{})
	defer x.Close()
	_, err := x.Sync(t.Context(), nil)
	assert.ErrorContains(t, err, "holds no file to read, while 1 are indexed: is it mounted?")
	n, err := x.Documents(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1, n)
}

func TestOpen(t *testing.T) {
	base := t.TempDir()
	dir, other, store := filepath.Join(base, "notes"), filepath.Join(base, "other"), filepath.Join(base, "store")
	write(t, dir, map[string]string{"a.md": "alpha"})
	write(t, other, map[string]string{"b.md": "beta"})
	fails := func(dir string, o folder.Options) error {
		t.Helper()
		o.Engine.Embedder = embedtest.New(32)
		x, err := folder.Open(t.Context(), dir, o)
		if !assert.Error(t, err) {
			x.Close()
		}
		return err
	}
	reading := engine.Config{ReadOnly: true}

	assert.ErrorIs(t, fails(dir, folder.Options{Engine: reading}), folder.ErrNotIndexed)
	assert.NoDirExists(t, filepath.Join(dir, folder.StoreName), "who only reads makes no store")
	assert.ErrorIs(t, fails(filepath.Join(base, "nowhere"), folder.Options{}), os.ErrNotExist)
	assert.ErrorContains(t, fails(filepath.Join(dir, "a.md"), folder.Options{}), "not a folder")
	assert.ErrorContains(t, fails(dir, folder.Options{Store: dir}), "is the folder itself")

	// A store of one folder is no store of another: its documents would go.
	synced(t, dir, folder.Options{Store: store})
	assert.ErrorIs(t, fails(other, folder.Options{Store: store}), folder.ErrOtherFolder)
	assert.ErrorIs(t, fails(other, folder.Options{Store: store, Engine: reading}), folder.ErrOtherFolder)
	assert.Equal(t, "new 0 changed 0 unchanged 1 removed 0 skipped 0 documents 1", counts(synced(t, dir, folder.Options{Store: store})))

	// The same folder by another name.
	alias := filepath.Join(base, "alias")
	require.NoError(t, os.Symlink(dir, alias))
	assert.Equal(t, "new 0 changed 0 unchanged 1 removed 0 skipped 0 documents 1", counts(synced(t, alias, folder.Options{Store: store})))

	// A store within moves with its folder, and is not text of it.
	in := filepath.Join(other, "idx")
	synced(t, other, folder.Options{Store: in})
	write(t, in, map[string]string{"readme.md": "not a document"})
	moved := filepath.Join(base, "moved")
	require.NoError(t, os.Rename(other, moved))
	assert.Equal(t, "new 0 changed 0 unchanged 1 removed 0 skipped 0 documents 1", counts(synced(t, moved, folder.Options{Store: filepath.Join(moved, "idx")})))

	// Documents of an engine that knew no folder.
	plain := filepath.Join(base, "plain")
	e, err := engine.Open(t.Context(), plain, engine.Config{Embedder: embedtest.New(32)})
	require.NoError(t, err)
	_, err = e.Ingest(t.Context(), engine.Document{ID: "x", Text: "x"})
	require.NoError(t, err)
	require.NoError(t, e.Close())
	assert.ErrorIs(t, fails(dir, folder.Options{Store: plain}), folder.ErrOtherFolder)
}
