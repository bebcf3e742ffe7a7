package record_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// checkout is a git repository with one commit.
func checkout(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	put := func(name, text string) { writeFile(t, dir, name, text) }
	put("main.go", "package main\n")
	put("sub/a.go", "package sub\n")
	put("go.mod", "module m\n")
	put("goldens/s/current.jsonl", "{}\n")
	put("sub/goldens/s/ledger.jsonl", "{}\n")
	put(".gitignore", "ignored/\n")
	git(t, dir, "add", "-A")
	git(t, dir, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "one")
	return dir
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

func writeFile(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func TestTreeChangesWithTheSources(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, dir string){
		"an edit": func(t *testing.T, dir string) { writeFile(t, dir, "main.go", "package main \n") },
		"an edit that is staged": func(t *testing.T, dir string) {
			writeFile(t, dir, "main.go", "package mian\n")
			git(t, dir, "add", "-A")
		},
		"a deleted file":             func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "main.go"))) },
		"an untracked file":          func(t *testing.T, dir string) { writeFile(t, dir, "new.go", "") },
		"an exec bit":                func(t *testing.T, dir string) { require.NoError(t, os.Chmod(filepath.Join(dir, "main.go"), 0o755)) },
		"a link":                     func(t *testing.T, dir string) { require.NoError(t, os.Symlink("main.go", filepath.Join(dir, "l.go"))) },
		"a broken link":              func(t *testing.T, dir string) { require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "l.go"))) },
		"a file called goldens":      func(t *testing.T, dir string) { writeFile(t, dir, "x/goldens", "") },
		"a folder called goldensx":   func(t *testing.T, dir string) { writeFile(t, dir, "goldensx/a", "") },
		"a name with quotes":         func(t *testing.T, dir string) { writeFile(t, dir, `a"b'c.go`, "") },
		"a name with blanks":         func(t *testing.T, dir string) { writeFile(t, dir, " a b ", "") },
		"a name with a leading dash": func(t *testing.T, dir string) { writeFile(t, dir, "-rf", "") },
		"a name that is a pathspec":  func(t *testing.T, dir string) { writeFile(t, dir, ":(exclude)main.go", "") },
		"a name with a line end":     func(t *testing.T, dir string) { writeFile(t, dir, "a\nb", "") },
		"a name in another script":   func(t *testing.T, dir string) { writeFile(t, dir, "файл-é-☕.go", "") },
		"a name that is not UTF-8":   func(t *testing.T, dir string) { writeFile(t, dir, "a\xffb", "") },
		"a file that git is told not to look at": func(t *testing.T, dir string) {
			git(t, dir, "update-index", "--assume-unchanged", "main.go")
			writeFile(t, dir, "main.go", "package other\n")
		},
		"a repository inside": func(t *testing.T, dir string) {
			writeFile(t, dir, "inner/a.go", "package inner\n")
			git(t, filepath.Join(dir, "inner"), "init", "-q")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := checkout(t)
			before := record.Tree(dir)
			require.Len(t, before, 64)
			require.Equal(t, before, record.Tree(filepath.Join(dir, "sub")), "from anywhere in the checkout")
			change(t, dir)
			after := record.Tree(dir)
			require.Len(t, after, 64)
			assert.NotEqual(t, before, after)
			assert.Equal(t, after, record.Tree(dir), "and stays")
			assert.False(t, record.SameTree(before, after))
			assert.True(t, record.SameTree(after, after))
		})
	}
}

func TestTreeKnowsTheExecBitOfUntrackedFiles(t *testing.T) {
	dir := checkout(t)
	writeFile(t, dir, "new.sh", "")
	before := record.Tree(dir)
	require.NoError(t, os.Chmod(filepath.Join(dir, "new.sh"), 0o755))
	after := record.Tree(dir)
	assert.NotEqual(t, before, after)
	require.NoError(t, os.Chmod(filepath.Join(dir, "new.sh"), 0o744))
	assert.Equal(t, after, record.Tree(dir), "git keeps no more than that one bit")
}

func TestTreeStays(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, dir string){
		"a new golden":          func(t *testing.T, dir string) { writeFile(t, dir, "goldens/t/current.jsonl", "x") },
		"an edited golden":      func(t *testing.T, dir string) { writeFile(t, dir, "goldens/s/current.jsonl", "x") },
		"a golden further down": func(t *testing.T, dir string) { writeFile(t, dir, "sub/goldens/s/ledger.jsonl", "x") },
		"a golden that is committed": func(t *testing.T, dir string) {
			writeFile(t, dir, "goldens/t/current.jsonl", "x")
			git(t, dir, "add", "goldens")
			git(t, dir, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "two")
		},
		"a run": func(t *testing.T, dir string) {
			_, err := record.NewFolder(record.Base(dir), dir, "go test", nil)
			require.NoError(t, err)
			writeFile(t, dir, "sub/.touchstone/cache/x", "")
		},
		"an ignored file": func(t *testing.T, dir string) { writeFile(t, dir, "ignored/x", "") },
		"a touched file":  func(t *testing.T, dir string) { writeFile(t, dir, "main.go", "package main\n") },
		"how diffs are shown": func(t *testing.T, dir string) {
			for _, kv := range [][2]string{{"diff.noprefix", "true"}, {"diff.context", "9"}, {"diff.algorithm", "patience"}, {"core.quotepath", "false"}, {"diff.external", "false"}, {"color.ui", "always"}} {
				git(t, dir, "config", kv[0], kv[1])
			}
		},
		"the index of a commit being made": func(t *testing.T, dir string) {
			t.Setenv("GIT_INDEX_FILE", filepath.Join(t.TempDir(), "index"))
			t.Setenv("GIT_DIR", "nowhere")
		},
		"literal pathspecs": func(t *testing.T, dir string) { t.Setenv("GIT_LITERAL_PATHSPECS", "1") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := checkout(t)
			writeFile(t, dir, "sub/a.go", "package sub // changed\n") // a diff that could be shown in many ways
			before := record.Tree(dir)
			require.Len(t, before, 64)
			change(t, dir)
			assert.Equal(t, before, record.Tree(dir))
		})
	}
}

func TestUnknownTree(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	require.Equal(t, record.UnknownTree, record.Tree(dir))
	require.Equal(t, record.UnknownTree, record.Tree(filepath.Join(dir, "none")))
	assert.False(t, record.SameTree(record.UnknownTree, record.UnknownTree), "unknown equals nothing")
	assert.False(t, record.SameTree("", ""))
	c := record.CurrentContext(dir)
	assert.Empty(t, c.Commit)
	assert.Equal(t, -1, c.DirtyFiles, "unknown, not clean")

	t.Setenv("PATH", t.TempDir())
	assert.Equal(t, record.UnknownTree, record.Tree("."), "without git")
}

func TestFolder(t *testing.T) {
	base := filepath.Join(t.TempDir(), "runs")
	a, err := record.NewFolder(base, t.TempDir(), "go test", []string{"-v"})
	require.NoError(t, err)
	b, err := record.NewFolder(base, t.TempDir(), "go test", nil)
	require.NoError(t, err)
	assert.NotEqual(t, a.Dir, b.Dir)
	assert.NotEqual(t, a.Nonce, b.Nonce)
	assert.NotContains(t, filepath.Base(a.Dir), ":")
	got, err := record.ReadFolder(a.Dir)
	require.NoError(t, err)
	assert.True(t, got.Started.Equal(a.Started))
	got.Started = a.Started
	assert.Equal(t, a, got)

	for name, text := range map[string]string{
		"not JSON": "{", "later format": `{"v":3,"nonce":"x"}`, "no format": `{"nonce":"x"}`, "no nonce": `{"v":1}`,
	} {
		dir := t.TempDir()
		writeFile(t, dir, record.FolderFile, text)
		_, err := record.ReadFolder(dir)
		require.ErrorContains(t, err, filepath.Join(dir, record.FolderFile)+": ", name)
	}
	_, err = record.ReadFolder(base)
	require.ErrorContains(t, err, "no run folder")
}

func TestBase(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "go.mod", "module x\n")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a", "go.mod"), 0o755)) // a folder of that name is no module
	assert.Equal(t, filepath.Join(dir, ".touchstone", "runs"), record.Base(filepath.Join(dir, "a")))
}

// TestRunsAreNoChange: a run that was just made does not make the checkout
// dirty for the next.
func TestRunsAreNoChange(t *testing.T) {
	dir := checkout(t)
	require.Zero(t, record.CurrentContext(dir).DirtyFiles)
	writeFile(t, dir, ".touchstone/runs/r/run.json", "{}")
	writeFile(t, dir, "sub/.touchstone/cache/x", "")
	require.Zero(t, record.CurrentContext(filepath.Join(dir, "sub")).DirtyFiles)
	writeFile(t, dir, "new.go", "")
	require.Equal(t, 1, record.CurrentContext(filepath.Join(dir, "sub")).DirtyFiles, "the whole checkout counts")
}

func TestAfter(t *testing.T) {
	dir := checkout(t)
	first := record.CurrentContext(dir).Commit
	writeFile(t, dir, "new.go", "")
	git(t, dir, "add", "-A")
	git(t, dir, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "two")
	second := record.CurrentContext(dir).Commit
	for _, tc := range []struct {
		first, commit string
		want          bool
	}{{first, second, true}, {second, first, false}, {first, first, true}} {
		got, err := record.After(dir, tc.first, tc.commit)
		require.NoError(t, err)
		assert.Equal(t, tc.want, got)
	}
	_, err := record.After(dir, "0123456789012345678901234567890123456789", second)
	assert.ErrorContains(t, err, "git cannot tell")
}
