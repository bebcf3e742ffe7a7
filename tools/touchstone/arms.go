package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/adapt/builtin"
	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// armRun is one configuration of the built-in engine to be run on a pack.
type armRun struct {
	runOptions
	name string   // of the arm
	more []string // settings beside those of runOptions
}

// configured checks the settings before anything is run.
func (a armRun) configured() (engine.Config, error) {
	cfg, err := builtin.Configure(engine.Config{}, slices.Concat(a.set, a.more))
	var model *builtin.ModelError
	switch {
	case errors.As(err, &model):
		return cfg, refused(err)
	case err != nil:
		return cfg, &exit{exitUsage, err}
	}
	return cfg, nil
}

// side runs the arm and reads its record back. Stores are shared through the
// cache of seeds: what differs is what the settings say.
func (a armRun) side(cmd *cobra.Command) (compare.Side, error) {
	cfg, err := a.configured()
	if err != nil {
		return compare.Side{}, err
	}
	o := a.runOptions
	o.arm = a.name
	suite, err := o.suite(cmd)
	if err != nil {
		return compare.Side{}, err
	}
	base := o.out
	if base == "" {
		base = record.Base(".")
	}
	folder, err := record.NewFolder(base, ".", "touchstone run", nil)
	if err != nil {
		return compare.Side{}, refused(err)
	}
	subject, err := builtin.NewRunner(cfg)
	if err != nil {
		return compare.Side{}, refused(err)
	}
	defer subject.Close()
	fmt.Fprintf(cmd.ErrOrStderr(), "touchstone: suite %s, arm %s, %d cases; run folder %s\n", suite.Name, a.name, len(suite.Cases), shown(folder.Dir))
	// The gates of the suite are for its own configuration, and a golden for
	// its own rankings; an arm is compared.
	suite.Gates, suite.Golden, suite.Paired = nil, nil, false
	done, err := evaltests.Evaluate(cmd.Context(), suite.In(folder), subject)
	if err != nil {
		return compare.Side{}, refused(err)
	}
	if done.Verdict.Verdict == gate.NotRun || done.Verdict.Outcomes[record.Scored] == 0 {
		return compare.Side{}, refused(fmt.Errorf("%s: arm %s was not measured: %v", suite.Name, a.name, done.Verdict.Reasons))
	}
	f, err := record.Read(done.Path)
	if err != nil {
		return compare.Side{}, refused(err)
	}
	return compare.Side{Label: shown(folder.Dir), Folder: folder, File: f}, nil
}

// areRuns reports whether all arguments are recorded runs rather than packs.
func areRuns(args []string) (bool, error) {
	runs := 0
	for _, a := range args {
		sides, err := compare.Open(a)
		if err == nil && len(sides) > 0 {
			runs++
		}
	}
	if runs > 0 && runs < len(args) {
		return false, usage("%d of %d arguments are runs; give runs alone, or one pack", runs, len(args))
	}
	return runs > 0, nil
}
