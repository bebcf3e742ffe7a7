package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

func compareCommand() *cobra.Command {
	var o compareOptions
	c := &cobra.Command{
		Use:   "compare BASE TREATMENT...",
		Short: "Say whether the difference of runs is real",
		Long: `Say whether the difference of runs is real, case by case: what broke, what was
mended, how much of it is more than noise, and whether the change did it.

A run is the folder that a run printed, one of its records, or the name of a
saved baseline. All treatments are one family, and so is what was compared with
the base before: the base's run folder keeps a log, and p-values are corrected
over it. Runs that differ in anything that was not declared are refused with 2.

Exit codes: 0 no significant loss, 1 a significant loss, 2 not comparable.`,
		Example: "  touchstone compare RUN_A RUN_B --vary weights.vector\n  touchstone compare RUN_A RUN_B --aa RUN_A2 --aa RUN_A3\n  touchstone compare RUN_A RUN_B --vary judge --control lexical --margin 0.01",
		Args:    cobra.MinimumNArgs(2),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0], args[1:]) },
	}
	o.flags(c)
	c.Flags().StringVar(&o.suite, "suite", "", "compare this suite only")
	c.Flags().StringArrayVar(&o.aa, "aa", nil, "another run of the base's own treatment, for the noise floor (repeatable)")
	return c
}

// compareOptions are what compare and ab share.
type compareOptions struct {
	suite, measure, markdown    string
	aa, vary, channels, control []string
	margin                      float64
	marginSet                   bool
	partial, json, all          bool
}

func (o *compareOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringSliceVar(&o.vary, "vary", nil, "keys of the configuration that may differ; "+compare.IngestSources+" for changed code that fills the store")
	f.StringSliceVar(&o.channels, "channel", nil, "channels that were changed, for attribution (default: told by the keys)")
	f.StringSliceVar(&o.control, "control", nil, "stages that must be identical case by case")
	f.BoolVar(&o.partial, "partial", false, "compare runs of which under 95 % of the cases are pairs, or that were cut short")
	f.StringVarP(&o.measure, "measure", "m", "", "decide on this measure in place of the suite's; exploratory")
	f.Float64Var(&o.margin, "margin", 0, "mean difference that is none in practice, in place of the suite's")
	f.BoolVar(&o.json, "json", false, "one JSON document")
	f.BoolVar(&o.all, "all", false, "all moved cases, measures and stages")
	f.StringVar(&o.markdown, "md", "", "write Markdown to this file, - for standard output")
}

func (o compareOptions) run(cmd *cobra.Command, base string, treatments []string) error {
	root, _ := record.ModuleRoot(".")
	o.marginSet = cmd.Flags().Changed("margin")
	open := func(name string) ([]compare.Side, error) {
		sides, err := compare.Open(compare.Locate(root, name))
		return sides, refused(err)
	}
	bases, err := open(base)
	if err != nil {
		return err
	}
	var others, aas [][]compare.Side
	for _, name := range treatments {
		sides, err := open(name)
		if err != nil {
			return err
		}
		others = append(others, sides)
	}
	for _, name := range o.aa {
		sides, err := open(name)
		if err != nil {
			return err
		}
		aas = append(aas, sides)
	}
	suites := compare.Suites(bases)
	if o.suite != "" {
		if !slices.Contains(suites, o.suite) {
			return refused(fmt.Errorf("%s: no record of suite %s; it has %s", base, o.suite, strings.Join(suites, ", ")))
		}
		suites = []string{o.suite}
	}
	var all []*compare.Comparison
	for _, suite := range suites {
		c, err := o.one(suite, bases, others, aas)
		if err != nil {
			return refused(err)
		}
		all = append(all, c)
	}
	// Logged before anything is shown: who has seen a p-value has tried an arm.
	for _, c := range all {
		if err := c.Log(familyStore()); err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "touchstone: the family of %s could not be logged, so later comparisons will not count this one: %v\n", c.Suite, err)
		}
	}
	if err := o.show(cmd, all); err != nil {
		return refused(err)
	}
	return verdictExit(gateOf(all))
}

// familyStore is the module's; empty outside of one.
func familyStore() string {
	root, ok := record.ModuleRoot(".")
	if !ok {
		return ""
	}
	return compare.FamilyStore(root)
}

// one compares the runs of one suite.
func (o compareOptions) one(suite string, bases []compare.Side, others, aas [][]compare.Side) (*compare.Comparison, error) {
	base, err := compare.Of(bases, suite)
	if err != nil {
		return nil, err
	}
	opts := compare.Options{Vary: o.vary, Channels: o.channels, Control: o.control, Partial: o.partial, All: o.all || o.json, After: func(first, commit string) (bool, error) { return record.After(".", first, commit) }}
	var treatments []compare.Side
	for _, sides := range others {
		t, err := compare.Of(sides, suite)
		if err != nil {
			return nil, err
		}
		treatments = append(treatments, t)
	}
	for _, sides := range aas {
		t, err := compare.Of(sides, suite)
		if err != nil {
			return nil, err
		}
		opts.AA = append(opts.AA, t)
	}
	if opts.Rule, err = o.rule(base.File.Run); err != nil {
		return nil, err
	}
	if root, ok := record.ModuleRoot("."); ok {
		if opts.Breaks, err = compare.ReadBreaks(filepath.Join(root, "goldens"), suite); err != nil {
			return nil, err
		}
	}
	if opts.Family, err = compare.ReadFamily(base, familyStore()); err != nil {
		return nil, err
	}
	return compare.Compare(base, treatments, opts)
}

// rule is the base's with what flags change; nil when they change nothing.
func (o compareOptions) rule(run record.Run) (*record.Decision, error) {
	if o.measure == "" && !o.marginSet {
		return nil, nil
	}
	var d record.Decision
	switch {
	case run.Decision != nil:
		d = *run.Decision
	case len(run.Headline) > 0:
		d.Primary = run.Headline[0]
	}
	if o.measure != "" {
		d.Primary = o.measure
	}
	if o.marginSet {
		d.Margin = o.margin
	}
	if _, err := d.Filled(); err != nil {
		return nil, &exit{exitUsage, err}
	}
	return &d, nil
}

func (o compareOptions) show(cmd *cobra.Command, all []*compare.Comparison) error {
	out := cmd.OutOrStdout()
	if o.markdown != "" {
		if err := writeTo(out, o.markdown, func(w io.Writer) error {
			for _, c := range all {
				if err := report.ComparisonMarkdown(w, c); err != nil {
					return err
				}
			}
			return nil
		}); err != nil || o.markdown == "-" {
			return err
		}
	}
	if o.json {
		return report.JSON(out, struct {
			Comparisons []*compare.Comparison `json:"comparisons"`
			Gate        string                `json:"gate"`
		}{all, gateOf(all)})
	}
	for i, c := range all {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := report.Comparison(out, c, report.Style{Color: colour(out), All: o.all}); err != nil {
			return err
		}
	}
	return nil
}

// writeTo writes to a file, or for - to standard output.
func writeTo(stdout io.Writer, path string, write func(io.Writer) error) error {
	if path == "-" {
		return write(stdout)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// gateOf is the worst outcome of all treatments.
func gateOf(all []*compare.Comparison) string {
	worst := gate.PASS
	for _, c := range all {
		for _, t := range c.Treatments {
			switch {
			case t.Gate == compare.GateRegressed:
				worst = gate.REGRESSED
			case t.Gate == compare.GateCNM && worst == gate.PASS:
				worst = gate.CNM
			}
		}
	}
	return worst
}
