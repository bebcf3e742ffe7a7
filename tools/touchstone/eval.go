package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

func evalCommand() *cobra.Command {
	var inventoryPath, resume string
	var suites []string
	var asJSON, verbose bool
	c := &cobra.Command{
		Use:   "eval [-- go test arguments]",
		Short: "Run the suites in a fresh run folder and give the verdict",
		Long: `Run the suites in a fresh run folder and give the verdict.

It runs go test -tags eval -count=1 on the packages of the inventory, then
holds the records to the inventory. A forgotten tag, a filter, a cached test
result, a killed test binary or an old record ends with 2, never with 0.`,
		Example: "  touchstone eval\n  touchstone eval --suite godoc\n  touchstone eval -- -run '^TestGodoc$' -v\n  touchstone eval --resume .touchstone/runs/20260101T120000-0a1b2c3d",
		Args: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); len(args) > 0 && at != 0 {
				return usage("eval: found %q; arguments of go test stand after --", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := newEvaluation(cmd, inventoryPath, suites, args, resume)
			if err != nil {
				return err
			}
			unlock, err := e.folder.Lock()
			if err != nil {
				return refused(err)
			}
			defer unlock()
			e.verbose = verbose
			return e.run(cmd, asJSON)
		},
	}
	c.Flags().StringVar(&inventoryPath, "inventory", "", "inventory file (default: "+gate.InventoryFile+" of the module)")
	c.Flags().StringSliceVar(&suites, "suite", nil, "hold the run to these suites of the inventory only")
	c.Flags().StringVar(&resume, "resume", "", "take up this run folder again: finished cases are kept, the rest is run")
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "show what go test prints")
	return c
}

// goTest are the arguments that every evaluation begins with.
var goTest = []string{"test", "-tags", "eval", "-count=1", "-json"}

// evaluation is one `touchstone eval`.
type evaluation struct {
	inventory gate.Inventory
	env       evaltests.Env
	args      []string
	dir       string // that go test runs in; empty is the working folder
	folder    *record.Folder
	progress  io.Writer
	verbose   bool
}

func newEvaluation(cmd *cobra.Command, inventoryPath string, suites, args []string, resume string) (*evaluation, error) {
	inv, path, err := inventory(inventoryPath)
	if err != nil {
		return nil, err
	}
	if inv == nil {
		return nil, usage("eval: no %s in this module; it lists the suites that a run must contain", gate.InventoryFile)
	}
	env, err := evaltests.ParseEnv(os.Environ())
	if err != nil {
		return nil, &exit{exitUsage, err}
	}
	if env.Nonce != "" {
		return nil, usage("eval: EVAL_NONCE is set by this command; unset it")
	}
	if resume != "" && len(suites) == 0 {
		// What the run is held to is the run's, as the arguments of go test are.
		if folder, err := record.ReadFolder(resume); err == nil {
			suites = folder.Suites
		}
	}
	if len(suites) > 0 {
		var kept []gate.Required
		for _, name := range suites {
			i := slices.IndexFunc(inv.Suites, func(r gate.Required) bool { return r.Name == name })
			if i < 0 {
				return nil, usage("eval: suite %q is not in the inventory", name)
			}
			kept = append(kept, inv.Suites[i])
		}
		inv.Suites = kept
	}
	e := &evaluation{inventory: *inv, env: env, progress: cmd.ErrOrStderr()}
	if resume != "" {
		return e, e.takeUp(resume, path, args)
	}
	e.args = append(slices.Clone(goTest), args...)
	if !slices.ContainsFunc(args, isPattern) {
		// The patterns are relative to the inventory, wherever this runs.
		e.args = append(e.args, inv.Packages...)
		e.dir = filepath.Dir(path)
	}
	base := env.Out
	if base == "" {
		base = record.Base(".")
	}
	if e.folder, err = record.NewFolder(base, ".", "touchstone eval", e.args); err != nil {
		return nil, refused(err)
	}
	if len(suites) > 0 {
		e.folder.Suites = suites
		return e, refused(e.folder.Write())
	}
	return e, nil
}

// isPattern tells package patterns from flags and their values.
func isPattern(arg string) bool {
	return strings.HasPrefix(arg, "./") || strings.HasPrefix(arg, "../") || arg == "." || arg == ".." || strings.HasSuffix(arg, "/...")
}

func (e *evaluation) run(cmd *cobra.Command, asJSON bool) error {
	fmt.Fprintf(e.progress, "touchstone: %s; run folder %s\n", e.env.Banner(), shown(e.folder.Dir))
	tests, err := e.goTest(cmd.Context())
	if err != nil {
		return refused(err)
	}
	j, err := judge(e.folder.Dir, &e.inventory, e.env.Tier)
	if err != nil {
		return err
	}
	j.goldens(e.env.Bless)
	for _, reason := range tests.unexplained(j, e.progress) {
		j.cannot("%s", reason)
	}
	if tree := record.Tree("."); e.folder.Tree != record.UnknownTree && !record.SameTree(tree, e.folder.Tree) {
		j.cannot("the sources changed while the run was going on")
	}
	summarise(e.progress, j)
	return j.show(cmd, asJSON, false)
}

// goTest runs the tests and follows their events.
func (e *evaluation) goTest(ctx context.Context) (*testEvents, error) {
	out, err := filepath.Abs(e.folder.Dir)
	if err != nil {
		return nil, err
	}
	test := exec.CommandContext(ctx, "go", e.args...)
	test.Dir = e.dir
	test.Env = append(os.Environ(), "EVAL_NONCE="+e.folder.Nonce, "EVAL_OUT="+out)
	if path, err := filepath.Abs(e.env.Baseline); err == nil && e.env.Baseline != "" {
		if _, err := os.Stat(path); err == nil { // tests run in the folders of their packages
			test.Env = append(test.Env, "EVAL_BASELINE="+path)
		}
	}
	test.Cancel = func() error { return test.Process.Signal(os.Interrupt) }
	events, err := test.StdoutPipe()
	if err != nil {
		return nil, err
	}
	test.Stderr = e.progress
	if err := test.Start(); err != nil {
		return nil, fmt.Errorf("go test: %w; is Go installed?", err)
	}
	t := &testEvents{}
	if err := t.follow(events, e.progress, e.verbose); err != nil {
		return nil, err
	}
	if err := test.Wait(); err != nil {
		var failed *exec.ExitError
		if !errors.As(err, &failed) {
			return nil, err
		}
		t.failed = true
		t.code = failed.ExitCode()
	}
	return t, nil
}

// testEvents is what go test -json said.
type testEvents struct {
	failed   bool
	code     int
	tests    []string          // top-level tests that failed
	binaries []string          // packages that failed without a failing test: killed, panicked, not built
	said     map[string]string // by failed test: what it printed
	running  map[string]map[string]bool
}

type testEvent struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Output      string
	FailedBuild string
}

// follow reads events to their end. Lines that are no event are shown.
func (t *testEvents) follow(r io.Reader, progress io.Writer, verbose bool) error {
	t.running, t.said = map[string]map[string]bool{}, map[string]string{}
	lines := bufio.NewReaderSize(r, 1<<16)
	held := map[string][]string{} // output by package and test, shown if the package dies
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var ev testEvent
			if jsonErr := json.Unmarshal(line, &ev); jsonErr != nil || ev.Action == "" {
				progress.Write(line)
			} else {
				t.take(ev, held, progress, verbose)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (t *testEvents) take(ev testEvent, held map[string][]string, progress io.Writer, verbose bool) {
	switch ev.Action {
	case "output", "build-output":
		key := ev.Package + ev.ImportPath
		if verbose || ev.Action == "build-output" {
			io.WriteString(progress, ev.Output)
			return
		}
		// The record has the cases. What is worth showing is what a package
		// that died printed, and what its unfinished tests did.
		key += "\x00" + ev.Test
		held[key] = append(held[key], ev.Output)
	case "run":
		if t.running[ev.Package] == nil {
			t.running[ev.Package] = map[string]bool{}
		}
		t.running[ev.Package][ev.Test] = true
	case "pass", "skip", "fail":
		if ev.Test != "" {
			delete(t.running[ev.Package], ev.Test)
			key := ev.Package + "\x00" + ev.Test
			if ev.Action == "fail" && !strings.Contains(ev.Test, "/") {
				name := ev.Package + "." + ev.Test
				t.tests = append(t.tests, name)
				t.said[name] = strings.Join(held[key], "")
			} else if ev.Action == "fail" {
				// What a subtest printed is what its test failed for.
				root, _, _ := strings.Cut(ev.Test, "/")
				root = ev.Package + "\x00" + root
				held[root] = append(held[root], held[key]...)
			}
			delete(held, key)
			return
		}
		if ev.Action == "fail" {
			prefix := ev.Package + "."
			named := slices.ContainsFunc(t.tests, func(s string) bool { return strings.HasPrefix(s, prefix) })
			if !named || len(t.running[ev.Package]) > 0 {
				t.binaries = append(t.binaries, ev.Package)
				for _, test := range append(slices.Sorted(maps.Keys(t.running[ev.Package])), "") {
					for _, text := range held[ev.Package+"\x00"+test] {
						io.WriteString(progress, text)
					}
				}
			}
		}
	}
}

// unexplained lists failures of go test that the records do not account for.
// A suite that is red makes its test fail, which is how it should be; a test
// binary that was killed, or a failing test beside the suites, must not be
// lost.
func (t *testEvents) unexplained(j *judged, progress io.Writer) []string {
	// A TestMain that drops the result makes the binary end with 0 although
	// tests failed, so the events count, not the exit code alone.
	if !t.failed && len(t.tests) == 0 && len(t.binaries) == 0 {
		return nil
	}
	var out []string
	for _, p := range t.binaries {
		out = append(out, fmt.Sprintf("go test: %s did not end by itself (killed, panicked or not built)", p))
	}
	accounted := map[string]bool{}
	for _, s := range j.verdict.Suites {
		if s.File != nil && (s.Verdict == gate.REGRESSED || s.Verdict == gate.CNM) {
			root, _, _ := strings.Cut(s.File.Run.Test, "/")
			name := s.File.Run.Package + "." + root
			accounted[name] = true
			if s.Unsound {
				io.WriteString(progress, t.said[name]) // the record broke off, and so does not say why
			}
		}
	}
	for _, name := range t.tests {
		if !accounted[name] {
			out = append(out, fmt.Sprintf("go test: %s failed and no record says why; it printed the lines above", name))
			io.WriteString(progress, t.said[name])
		}
	}
	if len(out) == 0 && len(t.tests) == 0 {
		out = append(out, fmt.Sprintf("go test ended with %d and named no test", t.code))
	}
	return out
}

// summarise adds the report to the summary of a CI job. A summary that cannot
// be written is no reason to fail a run.
func summarise(progress io.Writer, j *judged) {
	path := os.Getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return
	}
	r, err := j.report()
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
			err = errors.Join(report.Markdown(f, r), f.Close())
		}
	}
	if err != nil {
		fmt.Fprintf(progress, "touchstone: summary: %v\n", err)
	}
}
