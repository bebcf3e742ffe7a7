package evaltests

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/golden"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// T is what Require needs of a test, so that a fake can prove the red.
type T interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	FailNow()
	Context() context.Context
}

// Run is a finished suite invocation.
type Run struct {
	Suite   *Suite
	Folder  *record.Folder
	Path    string // of the record
	Line    record.Run
	Rows    []record.Row
	Gates   []record.Gate
	Drift   golden.SuiteResult // zero when the suite has no golden
	Verdict record.Verdict
	// Blessing says how the blessing ended that EVAL_BLESS asked for; empty
	// when it asked for none of this suite.
	Blessing string
}

// In makes the suite write its record into folder instead of the process's
// own run folder.
func (s *Suite) In(folder *record.Folder) *Suite {
	s.folder = folder
	return s
}

// Evaluate runs every case of the suite against the subject and returns the
// finished run. The error is for the instrument (the record could not be
// written); what the subject does wrong is in the run.
func Evaluate(ctx context.Context, s *Suite, subject Subject) (*Run, error) {
	x, err := s.begin(ctx, subject, testName{})
	if err != nil {
		return nil, err
	}
	defer x.close()
	if x.active() {
		err := each(ctx, s.workers(), s.calls(), func(ctx context.Context, c call) error {
			_, err := x.one(ctx, c.Case, c.repeat)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return x.finish(false)
}

// active reports whether cases are to be run.
func (x *session) active() bool {
	return x.suite.notRun == "" && x.suite.problem == nil && x.ended == nil
}

func (x *session) close() {
	if x.writer != nil {
		x.writer.Close()
	}
}

// Load reads the suite file at path, relative to the package folder as Go
// tests are, and the environment. A suite file with a defect fails the test
// at once, with file:line.
func Load(t T, path string) *Suite {
	t.Helper()
	env, err := ParseEnv(os.Environ())
	if err == nil {
		var s *Suite
		if s, err = LoadSuite(path, env); err == nil {
			t.Logf("touchstone: %s", env.Banner())
			if err = knownBlessing(filepath.Dir(path), env.Bless, s.Name); err == nil {
				return s
			}
		}
	}
	t.Errorf("%s: %v", gate.CNM, err)
	t.FailNow()
	return nil
}

// knownBlessing refuses to bless a suite that the module of dir does not have:
// a misspelt name would bless nothing and look like success.
func knownBlessing(dir, bless, loaded string) error {
	if bless == "" || bless == loaded {
		return nil
	}
	files, err := SuiteFiles(goldenRoot(dir))
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(files, func(f SuiteFile) bool { return f.Name == bless }) {
		return fmt.Errorf("EVAL_BLESS=%s: no suite file of this module has that name", bless)
	}
	return nil
}

// Run runs the suite as subtests of t, one a case:
// suite=godoc/arm=base/case=q17. A scored case passes, a refused or skipped
// one is skipped with its reason, a failed or timed-out one logs; only
// [Run.Require] fails the test. Cases that -run, -skip or -failfast kept from
// running make the run partial, and no gate is evaluated.
func (s *Suite) Run(t *testing.T, subject Subject) *Run {
	t.Helper()
	x, err := s.begin(t.Context(), subject, testName{t.Name(), testPackage()})
	if err != nil {
		t.Fatalf("%s: %s: %v", s.Name, gate.CNM, err)
	}
	t.Cleanup(x.close)
	calls := s.calls()
	var ran atomic.Int64
	subtest := func(t *testing.T, name string, c call) {
		t.Run(name, func(t *testing.T) {
			ran.Add(1)
			row, err := x.one(t.Context(), c.Case, c.repeat)
			if err != nil {
				t.Fatalf("%s: the record could not be written: %v", c.Question.ID, err)
			}
			switch o := row.Outcome; o.State {
			case record.Refused, record.Skipped:
				t.Skipf("%s: %s; %s", o.State, o.Reason, o.Action)
			case record.Failed, record.TimedOut:
				t.Logf("%s: %s; %s", o.State, o.Reason, o.Action)
			}
		})
	}
	group := fmt.Sprintf("suite=%s/arm=%s", s.Name, s.Arm)
	switch {
	case !x.active():
	case s.workers() > 1:
		// One group, so that all cases have ended before the gates look.
		t.Run(group, func(t *testing.T) {
			sideBySide(s.workers(), calls, func(c call) { subtest(t, c.name(), c) })
		})
	default:
		for _, c := range calls {
			subtest(t, group+"/"+c.name(), c)
		}
	}
	run, err := x.finish(int(ran.Load()) < len(calls) && x.active())
	if err != nil {
		t.Fatalf("%s: %s: the record could not be completed: %v", s.Name, gate.CNM, err)
	}
	return run
}

// Require fails the test unless the verdict is PASS, saying for each reason
// what was found and what to do. A suite that is not run here by design (its
// pack is elsewhere, another tier) does not fail; the record names it.
func (r *Run) Require(t T) {
	t.Helper()
	where := "record: " + r.Path
	switch r.Verdict.Verdict {
	case gate.PASS:
		t.Logf("%s: PASS, %d of %d scored; %s", r.Suite.Name, r.Verdict.Outcomes[record.Scored], r.Verdict.Planned, where)
		return
	case gate.NotRun:
		t.Logf("%s: not run: %s; %s", r.Suite.Name, strings.Join(r.Verdict.Reasons, "; "), where)
		return
	}
	for _, reason := range r.Verdict.Reasons {
		t.Errorf("%s: %s: %s", r.Suite.Name, r.Verdict.Verdict, reason)
	}
	for _, g := range r.Gates {
		if (g.Verdict == gate.Regressed || g.Verdict == gate.CouldNotMeasure) && g.Action != "" {
			t.Logf("%s: gate %s: %s", r.Suite.Name, g.Name, g.Action)
		}
	}
	if r.Blessing != "" {
		t.Errorf("%s", r.Blessing)
	}
	t.Errorf("%s: %s; %s", r.Suite.Name, r.Verdict.Verdict, where)
	t.FailNow()
}

// testPackage is the import path of the running test binary, empty when it is
// none.
func testPackage() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return strings.TrimSuffix(info.Path, ".test")
}

// process is the run folder of this process, made once: all suites of a test
// binary share it, and under `touchstone eval` all binaries of a run do.
var process struct {
	once   sync.Once
	folder *record.Folder
	err    error
}

func processFolder(env Env) (*record.Folder, error) {
	process.once.Do(func() { process.folder, process.err = openFolder(env) })
	return process.folder, process.err
}

func openFolder(env Env) (*record.Folder, error) {
	if env.Nonce == "" {
		base := env.Out
		if base == "" {
			base = record.Base(".")
		}
		folder, err := record.NewFolder(base, ".", "go test", nil)
		if err == nil {
			fmt.Fprintf(os.Stderr, "touchstone: record in %s\n", folder.Dir)
		}
		return folder, err
	}
	if env.Out == "" {
		return nil, errors.New("EVAL_NONCE is set and EVAL_OUT is not; both come from `touchstone eval`, never by hand")
	}
	folder, err := record.ReadFolder(env.Out)
	if err != nil {
		return nil, err
	}
	if folder.Nonce != env.Nonce {
		return nil, fmt.Errorf("%s: nonce %.8s, EVAL_NONCE is %.8s; both come from `touchstone eval`, never by hand", env.Out, folder.Nonce, env.Nonce)
	}
	return folder, nil
}
