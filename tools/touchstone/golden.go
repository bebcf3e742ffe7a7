package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/golden"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

func goldenCommand() *cobra.Command {
	return group("golden", "Bless rankings deliberately", goldenAcceptCommand())
}

func goldenAcceptCommand() *cobra.Command {
	var run, reason, arm string
	c := &cobra.Command{
		Use:   "accept SUITE --run DIR --reason TEXT",
		Short: "Make the rankings of a run the golden of a suite",
		Long: `Make the rankings of a run the golden of a suite. It is refused unless the run
is complete, of the sources in this checkout, with every planned case scored
and all labelled gates green.`,
		Example: "  touchstone golden accept godoc --run .touchstone/runs/20260101T120000-0a1b2c3d --reason 'title boost'",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if run == "" {
				return usage("golden accept: --run is missing; give the folder that the run printed")
			}
			if !record.ValidSuite(args[0]) {
				return usage("golden accept: suite %q; want lower-case letters, digits, dots, dashes", args[0])
			}
			b, err := blessing(args[0], arm, run, reason)
			if err != nil {
				return refused(err)
			}
			g, err := b.Accept()
			if err != nil {
				return refused(err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: blessed %d cases to depth %d, digest %.12s; commit %s\n", args[0], len(g.Cases), b.K, g.Digest, b.Dir)
			return nil
		},
	}
	c.Flags().StringVar(&run, "run", "", "run folder")
	c.Flags().StringVar(&reason, "reason", "", "why the rankings were meant to move")
	c.Flags().StringVar(&arm, "arm", "base", "arm of the suite")
	return c
}

// blessing finds the suite's record in a run folder.
func blessing(suite, arm, dir, reason string) (golden.Blessing, error) {
	folder, err := record.ReadFolder(dir)
	if err != nil {
		return golden.Blessing{}, err
	}
	files, err := record.ReadAll(dir)
	if err != nil {
		return golden.Blessing{}, err
	}
	var found *record.File
	for _, f := range files {
		if f.Run.Suite != suite || f.Run.Arm != arm {
			continue
		}
		if found != nil {
			return golden.Blessing{}, fmt.Errorf("%s: holds more than one record of suite %s; bless from a run that ran it once", dir, suite)
		}
		found = f
	}
	if found == nil {
		return golden.Blessing{}, fmt.Errorf("%s: no record of suite %s, arm %s", dir, suite, arm)
	}
	// The record is judged anew, so an edited one cannot vouch.
	v := gate.Judge(folder, []*record.File{found}, nil, found.Run.Tier, record.Class())
	for _, s := range v.Suites {
		if s.Verdict == gate.CNM && found.Verdict != nil && found.Verdict.Verdict != gate.CNM {
			return golden.Blessing{}, fmt.Errorf("%s: %v", found.Path, s.Reasons)
		}
	}
	root, ok := record.ModuleRoot(".")
	if !ok {
		return golden.Blessing{}, fmt.Errorf("no go.mod above the working folder; bless inside the module that holds goldens/")
	}
	return golden.Blessing{
		Dir: filepath.Join(root, "goldens", suite), Record: found, Folder: folder, Tree: record.Tree("."),
		K: found.Run.GoldenK, Reason: reason, When: time.Now(),
	}, nil
}
