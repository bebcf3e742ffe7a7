package evaltests

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// baselineGolden is the value of EVAL_BASELINE that means the suite's golden.
const baselineGolden = "golden"

// setDecision takes the [decision] table: the rule by which runs of the suite
// will be compared.
func (s *Suite) setDecision(d *record.Decision) error {
	if d == nil {
		return nil
	}
	filled, err := d.Filled()
	if err != nil {
		return fmt.Errorf("decision: %w", err)
	}
	if !slices.Contains(names(s.Measures), filled.Primary) {
		return fmt.Errorf("decision: primary = %q is not among measures", filled.Primary)
	}
	s.Decision = &filled
	return nil
}

// decide writes the rule and the gate of the baseline into the run line, before
// anything is measured.
func (x *session) decide() error {
	if x.suite.Decision != nil {
		hash, err := x.suite.Decision.Hash()
		if err != nil {
			return err
		}
		x.run.Decision, x.run.Hashes.Decision = x.suite.Decision, hash
	}
	if name := x.baselineGate(); name != "" {
		x.run.Gates = append(x.run.Gates, name)
	}
	return nil
}

// baselineGate names the gate that EVAL_BASELINE adds, empty when it adds none:
// a suite that is paired with its golden anyway is not paired twice.
func (x *session) baselineGate() string {
	s := x.suite
	switch {
	case s.env.Baseline == "" || len(s.Headline) == 0:
		return ""
	case s.env.Baseline != baselineGolden:
		return "baseline " + s.primary()
	case s.Paired:
		return ""
	}
	return "paired " + s.primary()
}

// primary is the measure that decides.
func (s *Suite) primary() string {
	if s.Decision != nil {
		return s.Decision.Primary
	}
	return s.Headline[0]
}

// holdToBaseline adds the gate that EVAL_BASELINE asks for.
func (x *session) holdToBaseline(run *Run) {
	name := x.baselineGate()
	switch {
	case name == "":
	case x.suite.env.Baseline != baselineGolden:
		t, err := x.againstBaseline()
		run.Gates = append(run.Gates, gate.BaselineRegression(name, t, err))
	case x.suite.Golden == nil:
		run.Gates = append(run.Gates, record.Gate{
			Name: name, Verdict: gate.CouldNotMeasure, Reason: "EVAL_BASELINE=golden and the suite has no golden",
			Action: "give it a [golden] table and bless a run, or name a recorded run",
		})
	default:
		g := gate.PairedRegression(x.suite.primary(), run.Drift)
		if g.Verdict == gate.NotApplicable && run.Drift.Advisory == "" {
			g.Verdict = gate.CouldNotMeasure // it was asked for
		}
		run.Gates = append(run.Gates, g)
	}
}

// againstBaseline compares the rows so far with the recorded run.
func (x *session) againstBaseline() (*compare.Treatment, error) {
	root, _ := record.ModuleRoot(".")
	path := compare.Locate(root, x.suite.env.Baseline)
	sides, err := compare.Open(path)
	if err != nil {
		return nil, fmt.Errorf("EVAL_BASELINE: %w", err)
	}
	base, err := compare.Of(sides, x.suite.Name)
	if err != nil {
		return nil, fmt.Errorf("EVAL_BASELINE: %w", err)
	}
	live := compare.Side{Label: "this run", Folder: x.suite.folder, File: &record.File{
		Path: x.writer.Path(), Run: x.run, Rows: x.rows, State: record.Complete, // every planned case has its row
	}}
	o := compare.Options{After: func(first, commit string) (bool, error) { return record.After(".", first, commit) }}
	if x.suite.Decision != nil {
		for _, m := range compare.Differences(base.File.Run, x.run) {
			if slices.Contains(x.suite.Decision.Vary, m.Key) {
				o.Vary = append(o.Vary, m.Key)
			}
		}
		if slices.Contains(x.suite.Decision.Vary, compare.IngestSources) && base.File.Run.Hashes.SeedKey != x.run.Hashes.SeedKey {
			o.Vary = append(o.Vary, compare.IngestSources)
		}
	}
	if o.Breaks, err = compare.ReadBreaks(filepath.Join(root, "goldens"), x.suite.Name); err != nil {
		return nil, err
	}
	c, err := compare.Compare(base, []compare.Side{live}, o)
	if err != nil {
		return nil, err
	}
	return c.Treatments[0], nil
}
