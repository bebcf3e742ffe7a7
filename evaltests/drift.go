package evaltests

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/golden"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// drift checks the run against the suite's golden, adds the gates of the
// oracle, and leaves in the run folder what waits for a decision.
func (x *session) drift(run *Run) error {
	s := x.suite
	run.Drift = golden.CheckSuite(s.GoldenDir, s.Name, *s.Golden, x.run, x.rows)
	if slices.Contains(GoldenClasses(s.GoldenDir, s.Name), x.run.Identity.Class) {
		// Where goldens are blessed drift blocks, whatever platform this one
		// is of: else a golden from elsewhere would disarm the gate.
		run.Drift.Advisory = ""
		for i := range run.Drift.Stages {
			run.Drift.Stages[i].Advisory = ""
		}
	}
	for _, d := range append([]golden.SuiteResult{run.Drift}, run.Drift.Stages...) {
		run.Gates = append(run.Gates, driftGate(*s.Golden, d))
	}
	if s.Paired {
		run.Gates = append(run.Gates, gate.PairedRegression(s.Headline[0], run.Drift))
	}
	return golden.WritePending(s.folder.Dir, x.run, *s.Golden, run.Drift)
}

// goldenGates names the gates that drift will add.
func (s *Suite) goldenGates() []string {
	names := []string{golden.DriftGate}
	for _, stage := range s.Golden.Stages {
		names = append(names, golden.DriftGate+" "+stage)
	}
	if s.Paired {
		names = append(names, "paired "+s.Headline[0])
	}
	return names
}

// driftGate is the oracle's result as a gate line.
func driftGate(cfg golden.Config, d golden.SuiteResult) record.Gate {
	g := record.Gate{
		Name: golden.DriftGate, Stage: d.Stage, Floor: &cfg.MeanRBO, Denominator: d.Compared, Planned: d.Planned,
		Verdict: d.Verdict, Reason: strings.Join(d.Reasons, "; "), Action: d.Action,
	}
	if d.Stage != "" {
		g.Name += " " + d.Stage
	}
	if d.Compared > 0 {
		g.Value = &d.MeanRBO
	}
	if d.Advisory != "" {
		g.Verdict, g.Reason = gate.NotApplicable, strings.TrimSuffix(d.Advisory+"; "+g.Reason, "; ")
	}
	return g
}

// GoldenClasses are the platform classes on which the golden of a suite in dir
// (goldens/<suite>) holds and may be blessed: the gate's, and those on which
// the inventory of the module requires the suite.
func GoldenClasses(dir, suite string) []string {
	classes := []string{golden.GateClass}
	root, ok := record.ModuleRoot(dir)
	if !ok {
		return classes
	}
	inv, err := gate.ReadInventory(filepath.Join(root, gate.InventoryFile))
	if err != nil {
		return classes // without an inventory nothing is required anywhere
	}
	for _, r := range inv.Suites {
		if r.Name == suite {
			classes = append(classes, r.Platforms...)
		}
	}
	return classes
}

// blesses reports whether this run is to replace the suite's golden.
func (x *session) blesses() bool { return x.suite.env.Bless == x.suite.Name && x.suite.notRun == "" }

// toBless makes the verdict of a blessing run what it is: nobody has compared
// the run with what it blesses, so it is never green.
func toBless(v *record.Verdict) {
	if v.Verdict == gate.PASS {
		v.Reasons = nil
	}
	v.Verdict = gate.CNM
	v.Keys = append(v.Keys, golden.KeyBlessing)
	v.Reasons = append(v.Reasons, "this run was to bless (EVAL_BLESS); run again to verify")
}

// bless accepts the finished record, as `touchstone golden accept` would, and
// says how that ended.
func (x *session) bless(path string) string {
	s := x.suite
	f, err := record.Read(path)
	if err != nil {
		return fmt.Sprintf("%s: not blessed: %v", s.Name, err)
	}
	k := 0
	if s.Golden != nil {
		k = s.Golden.K
	}
	dir := s.GoldenDir
	if dir == "" {
		dir = "goldens" // never written: without a [golden] table nothing is blessed
	}
	g, err := golden.Blessing{
		Dir: dir, Record: f, Folder: s.folder, Tree: record.Tree("."), K: k, Reason: s.env.BlessReason,
		By: golden.Who(".", os.Getenv), When: time.Now(), Classes: GoldenClasses(dir, s.Name),
	}.Accept()
	if err != nil {
		return fmt.Sprintf("%s: not blessed: %v", s.Name, err)
	}
	return fmt.Sprintf("%s: blessed, digest %.12s; run again to verify, then commit %s", s.Name, g.Digest, filepath.Join("goldens", s.Name))
}

// blessingNote is where a run folder says how the blessing of a suite ended.
func blessingNote(folder, suite string) string {
	return filepath.Join(folder, "artifacts", suite+".blessing.txt")
}

func noteBlessing(folder, suite, text string) error {
	path := blessingNote(folder, suite)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text+"\n"), 0o644)
}

// BlessingOf is how the blessing of a suite ended in a run folder, empty where
// the run did not come to it.
func BlessingOf(folder, suite string) (string, error) {
	data, err := os.ReadFile(blessingNote(folder, suite))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(data)), err
}
