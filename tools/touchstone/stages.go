package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests/compare/stage"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

func stagesCommand() *cobra.Command {
	var o stagesOptions
	c := &cobra.Command{
		Use:   "stages RUN",
		Short: "Say which stage a result comes from",
		Long: `Say which stage a result comes from: what each step of the search did to the
cases, where wrong answers were lost, and which channels were of any use. All
of it is computed from the recorded entries and gold; nothing is run.

With --base and --control, a stage that the change must not have touched is
first held to the same stage of the base run, case by case.`,
		Example: "  touchstone stages .touchstone/runs/20260101T120000-0a1b2c3d\n  touchstone stages RUN -m RR@10 --all\n  touchstone stages RUN --base BASE --control lexical",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	f := c.Flags()
	f.StringVarP(&o.Measure, "measure", "m", "", "measure that decides (default: the run's first headline)")
	f.Float64Var(&o.Alpha, "alpha", 0, "familywise level over the steps (default .05)")
	f.Float64Var(&o.Margin, "margin", 0, "mean difference that counts as none (default .01)")
	f.StringVar(&o.suite, "suite", "", "only this suite")
	f.StringVar(&o.base, "base", "", "run that the control stages are held to")
	f.StringArrayVar(&o.control, "control", nil, "stage that must be the same as in --base (repeatable)")
	f.BoolVar(&o.all, "all", false, "every case and a sentence a step, not one screen")
	f.BoolVar(&o.json, "json", false, "one JSON document")
	return c
}

type stagesOptions struct {
	stage.Options
	suite, base string
	control     []string
	all, json   bool
}

// stagesResult is the account of one suite with what was checked first.
type stagesResult struct {
	*stage.Report
	Controls []stage.Control `json:"controls,omitempty"`
}

func (o stagesOptions) run(cmd *cobra.Command, dir string) error {
	if (o.base == "") != (len(o.control) == 0) {
		return usage("stages: --base and --control belong together")
	}
	files, err := suitesOf(dir, o.suite)
	if err != nil {
		return refused(err)
	}
	results := []stagesResult{}
	for _, f := range files {
		controls, err := o.check(f)
		if err != nil {
			return refused(err)
		}
		r, err := stage.Analyse(f, o.Options)
		if err != nil {
			return refused(err)
		}
		results = append(results, stagesResult{r, controls})
	}
	if o.json {
		return refused(report.JSON(cmd.OutOrStdout(), results))
	}
	for i, r := range results {
		if i > 0 {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		if err := report.Stages(cmd.OutOrStdout(), r.Report, r.Controls, o.all); err != nil {
			return refused(err)
		}
	}
	return nil
}

func (o stagesOptions) check(f *record.File) ([]stage.Control, error) {
	if o.base == "" {
		return nil, nil
	}
	bases, err := suitesOf(o.base, f.Run.Suite)
	if err != nil {
		return nil, err
	}
	if len(bases) != 1 {
		return nil, fmt.Errorf("%s: %d records of suite %s; give a run with one", o.base, len(bases), f.Run.Suite)
	}
	var out []stage.Control
	for _, name := range o.control {
		c, err := stage.Check(bases[0], f, name)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// suitesOf reads the records of a run folder that were run, all or of one
// suite.
func suitesOf(dir, suite string) ([]*record.File, error) {
	if _, err := record.ReadFolder(dir); err != nil {
		return nil, err
	}
	files, err := record.ReadAll(dir)
	if err != nil {
		return nil, err
	}
	var out []*record.File
	for _, f := range files {
		if f.Run.NotRun == "" && (suite == "" || f.Run.Suite == suite) {
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		what := "no suite was run"
		if suite != "" {
			what = "no record of suite " + suite
		}
		return nil, fmt.Errorf("%s: %s", shown(dir), what)
	}
	return out, nil
}
