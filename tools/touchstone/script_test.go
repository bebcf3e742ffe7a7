package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"touchstone": main})
}

// TestScripts runs the command in toy modules of their own: testdata/toy is a
// module with one suite over a tiny pack, whose subject does what the variable
// TOY says. The contract is that nothing but a sound, complete, passing run
// ends with 0.
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs test binaries of a module of its own")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	cache := goEnv(t, "GOCACHE", "GOMODCACHE")
	home := t.TempDir()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GOCACHE", cache[0])
			env.Setenv("GOMODCACHE", cache[1])
			env.Setenv("GOFLAGS", "-mod=mod -buildvcs=false")
			env.Setenv("GOPROXY", "off")
			env.Setenv("GONOSUMDB", "*")
			outside, err := os.MkdirTemp(home, "")
			if err != nil {
				return err
			}
			env.Setenv("OUTSIDE", outside)
			env.Setenv("HOME", home) // not in the work folder: it would be untracked content
			for k, v := range map[string]string{
				"GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org",
				"GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.org",
			} {
				env.Setenv(k, v)
			}
			return toyModule(root, env.WorkDir)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"lastrun": lastRun,
			"serve":   serveInBackground,
			"get":     get,
			"unserve": unserve,
		},
	})
}

func goEnv(t *testing.T, names ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// toyModule copies testdata/toy to dir with a go.mod that replaces the suite
// by this checkout, at the versions of its own go.mod.
func toyModule(root, dir string) error {
	if err := os.CopyFS(dir, os.DirFS("testdata/toy")); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	const path = "github.com/touchstone-eval/touchstone"
	mod = bytes.Replace(mod, []byte("module "+path), []byte("module example.org/toy"), 1)
	mod = fmt.Appendf(mod, "\nrequire %s v0.0.0\n\nreplace %s => %s\n", path, path, root)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o644); err != nil {
		return err
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o644)
}

// exits runs a command and demands its exit code: exits 2 touchstone eval.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code command [args...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if err != nil {
		exit, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if got := fmt.Sprint(code); got != args[0] {
		ts.Fatalf("%s ended with %s, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

// lastrun sets a variable to the newest run folder: lastrun RUN.
func lastRun(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: lastrun NAME")
	}
	dirs, err := filepath.Glob(ts.MkAbs(".touchstone/runs/*"))
	ts.Check(err)
	newest, at := "", int64(-1)
	for _, d := range dirs {
		info, err := os.Stat(filepath.Join(d, "run.json"))
		ts.Check(err)
		if m := info.ModTime().UnixNano(); m > at {
			newest, at = d, m
		}
	}
	if newest == "" {
		ts.Fatalf("no run folder")
	}
	ts.Setenv(args[0], newest)
}
