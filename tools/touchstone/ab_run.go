package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// abortDelay is how long an interrupted test binary may take to end.
const abortDelay = 10 * time.Second

// abRuns makes the runs of both sides.
type abRuns struct {
	cmd             *cobra.Command
	out, root, temp string
	tier, suite     string
	test            abTest // of the one suite, once a record tells it
}

// abTest is the Go test of a suite.
type abTest struct{ pattern, pkg string }

// abRecent is how many earlier runs are asked which test a suite is.
const abRecent = 20

// recall takes the test of the one suite from an earlier run of this checkout.
// It may be out of date: run finds out.
func (r *abRuns) recall() {
	if r.suite == "" {
		return
	}
	folders, err := os.ReadDir(r.out)
	if err != nil {
		return // there is no earlier run
	}
	slices.Reverse(folders) // their names begin with the time
	for _, f := range folders[:min(abRecent, len(folders))] {
		files, err := filepath.Glob(filepath.Join(r.out, f.Name(), r.suite+".*.jsonl"))
		if err != nil {
			return
		}
		for _, path := range files {
			if file, err := record.Read(path); err == nil && r.learn(file) {
				return
			}
		}
	}
}

// learn takes the test of the one suite from a record of it.
func (r *abRuns) learn(f *record.File) bool {
	run := f.Run
	if run.Suite != r.suite || run.Test == "" || run.Package == "" || run.Package[0] == '-' {
		return false
	}
	var elements []string
	for _, e := range strings.Split(run.Test, "/") { // a suite may be run by a subtest
		elements = append(elements, "^"+regexp.QuoteMeta(e)+"$")
	}
	r.test = abTest{strings.Join(elements, "/"), run.Package}
	return true
}

// run runs the module at dir and returns the run folder: the one suite alone
// where a record tells its test, else all suites of the inventory. Red gates are
// no obstacle: what counts is that every suite left a whole record.
func (r *abRuns) run(what, dir string) (string, error) {
	inv, err := gate.ReadInventory(filepath.Join(dir, gate.InventoryFile))
	if err != nil {
		return "", fmt.Errorf("%w; ab runs the suites of the inventory", err)
	}
	if r.suite != "" && !slices.ContainsFunc(inv.Suites, func(s gate.Required) bool { return s.Name == r.suite }) {
		return "", fmt.Errorf("suite %q is not in its inventory", r.suite)
	}
	if r.test != (abTest{}) {
		folder, _, err := r.once(fmt.Sprintf("%s, -run '%s'", what, r.test.pattern), dir, []string{"-run", r.test.pattern, r.test.pkg})
		if err != nil || folder != "" {
			return folder, err
		}
		fmt.Fprintf(r.cmd.ErrOrStderr(), "touchstone: that test left no record of suite %s; all suites are run\n", r.suite)
		r.test = abTest{}
	} else if r.suite != "" {
		what += fmt.Sprintf(", all suites, since no record tells which test runs %s", r.suite)
	}
	folder, said, err := r.once(what, dir, inv.Packages)
	if err == nil && folder == "" {
		io.WriteString(r.cmd.ErrOrStderr(), said)
		err = errors.New("it left no record")
	}
	return folder, err
}

// once is one go test. It returns no folder if the run left no record, and then
// what was said.
func (r *abRuns) once(what, dir string, args []string) (path, said string, err error) {
	args = append([]string{"test", "-tags", "eval", "-count=1"}, args...)
	folder, err := record.NewFolder(r.out, dir, "touchstone ab", args)
	if err != nil {
		return "", "", err
	}
	if folder.Dir, err = filepath.Abs(folder.Dir); err != nil {
		return "", "", err
	}
	fmt.Fprintf(r.cmd.ErrOrStderr(), "touchstone: %s; run folder %s\n", what, shown(folder.Dir))
	test := exec.CommandContext(r.cmd.Context(), "go", args...)
	test.Dir = dir
	test.Env = append(os.Environ(), "EVAL_NONCE="+folder.Nonce, "EVAL_OUT="+folder.Dir, "EVAL_TIER="+r.tier,
		"GOTMPDIR="+r.temp) // an interrupted go command may leave its build there
	for name, place := range map[string]string{"EVAL_MODELS": "models", "EVAL_CACHE": "cache"} {
		// Models are not in the work tree, and a store is the same in both.
		if path := filepath.Join(r.root, ".touchstone", place); os.Getenv(name) == "" {
			test.Env = append(test.Env, name+"="+path)
		}
	}
	var text strings.Builder
	test.Stdout, test.Stderr = &text, &text
	test.Cancel = func() error { return test.Process.Signal(os.Interrupt) }
	test.WaitDelay = abortDelay
	runErr := test.Run()
	if err := r.cmd.Context().Err(); err != nil {
		return "", "", fmt.Errorf("interrupted: %w", err)
	}
	files, err := record.ReadAll(folder.Dir)
	if err != nil {
		return "", "", err
	}
	for _, f := range files {
		if r.suite == "" || f.Run.Suite == r.suite {
			r.learn(f)
			return folder.Dir, "", nil
		}
	}
	if runErr != nil {
		fmt.Fprintf(&text, "go test: %v\n", runErr)
	}
	return "", text.String(), nil
}
