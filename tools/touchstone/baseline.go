package main

import (
	"fmt"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

func baselineCommand() *cobra.Command {
	return group("baseline", "Keep runs under a name, to be held to later", baselineSave(), baselineShow(), baselineUse())
}

func module() (string, error) {
	root, ok := record.ModuleRoot(".")
	if !ok {
		return "", usage("baseline: no go.mod here or above; baselines are kept beside it")
	}
	return root, nil
}

func baselineSave() *cobra.Command {
	var layer, suite string
	var dirty, replace bool
	c := &cobra.Command{
		Use:   "save NAME RUN",
		Short: "Keep the records of a run, pinned to its commit",
		Long: `Keep the records of a run under .touchstone/baselines/NAME/layer/suite/arm__hash,
pinned to the commit that the run was made at. The layer is the surface by which
the subject was asked; layers never overwrite each other.`,
		Example: "  touchstone baseline save main .touchstone/runs/20260101T120000-0a1b2c3d\n  touchstone baseline save served RUN --layer http",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			root, err := module()
			if err != nil {
				return err
			}
			sides, err := compare.Open(args[1])
			if err != nil {
				return refused(err)
			}
			saved := 0
			for _, s := range sides {
				if suite != "" && s.File.Run.Suite != suite {
					continue
				}
				b, err := compare.Saving{
					Module: root, Name: args[0], Layer: layer, Side: s, Dirty: dirty, Replace: replace, When: time.Now(),
				}.Save()
				if err != nil {
					return refused(err)
				}
				saved++
				fmt.Fprintf(cmd.OutOrStdout(), "saved %s/%s of %s, commit %.12s, as %s\n", b.Suite, b.Arm, args[1], b.Commit, shown(b.Dir))
			}
			if saved == 0 {
				return refused(fmt.Errorf("%s: no record of suite %s", args[1], suite))
			}
			return nil
		},
	}
	c.Flags().StringVar(&layer, "layer", "library", fmt.Sprintf("surface by which the subject was asked, one of %v", compare.Layers))
	c.Flags().StringVar(&suite, "suite", "", "save the record of this suite only")
	c.Flags().BoolVar(&dirty, "allow-dirty", false, "save a run that was made with changes that are not committed")
	c.Flags().BoolVar(&replace, "replace", false, "replace another record in the same place")
	return c
}

func baselineShow() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "show [NAME]",
		Short:   "List what is kept, and whether it is still what was saved",
		Example: "  touchstone baseline show\n  touchstone baseline show main --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := baselines(args)
			if err != nil {
				return err
			}
			if asJSON {
				return refused(report.JSON(cmd.OutOrStdout(), list))
			}
			if len(list) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "no baseline is saved; save one with `touchstone baseline save NAME RUN`")
				return nil
			}
			var broken error
			tw := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(tw, "NAME\tLAYER\tSUITE\tARM\tCOMMIT\tSAVED\t")
			for _, b := range list {
				state := ""
				if err := b.Check(); err != nil {
					state, broken = "not what was saved", err
				}
				commit := fmt.Sprintf("%.12s", b.Commit)
				if b.Dirty != 0 {
					commit += " and changes"
				}
				fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", b.Name, b.Layer, b.Suite, b.Arm, commit, b.Saved.Format(time.DateOnly), state)
			}
			tw.Flush()
			return refused(broken)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}

func baselineUse() *cobra.Command {
	var layer string
	c := &cobra.Command{
		Use:   "use NAME",
		Short: "Check a baseline and print the setting that holds runs to it",
		Long: `Check a baseline and print the setting that holds runs to it. Nothing is
switched on behind your back: the variable is yours to export.`,
		Example: "  export \"$(touchstone baseline use main)\"\n  touchstone eval",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := baselines(args)
			if err != nil {
				return err
			}
			layers := map[string]bool{}
			for _, b := range list {
				layers[b.Layer] = true
				if err := b.Check(); err != nil {
					return refused(err)
				}
			}
			root, err := module()
			if err != nil {
				return err
			}
			dir := filepath.Join(compare.BaselineRoot(root), args[0])
			switch {
			case layer == "" && len(layers) > 1:
				return usage("baseline %s holds several layers; say which with --layer", args[0])
			case layer != "" && !layers[layer]:
				return refused(fmt.Errorf("baseline %s holds nothing of layer %s", args[0], layer))
			case layer != "":
				dir = filepath.Join(dir, layer)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "EVAL_BASELINE=%s\n", dir)
			return nil
		},
	}
	c.Flags().StringVar(&layer, "layer", "", "layer, where the baseline holds several")
	return c
}

func baselines(args []string) ([]compare.Baseline, error) {
	root, err := module()
	if err != nil {
		return nil, err
	}
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	list, err := compare.Baselines(root, name)
	return list, refused(err)
}
