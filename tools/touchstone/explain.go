package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

func explainCommand() *cobra.Command {
	var asJSON bool
	var suite string
	var depth int
	c := &cobra.Command{
		Use:     "explain RUN CASE",
		Short:   "Show one case through all stages",
		Example: "  touchstone explain .touchstone/runs/20260101T120000-0a1b2c3d gd017",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := record.ReadAll(args[0])
			if err != nil {
				return refused(err)
			}
			f, row, err := findCase(files, suite, args[1])
			if err != nil {
				return refused(err)
			}
			if asJSON {
				return refused(report.JSON(cmd.OutOrStdout(), row))
			}
			return refused(report.Explain(cmd.OutOrStdout(), f.Run, row, depth))
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	c.Flags().StringVar(&suite, "suite", "", "suite, where several have a case of that id")
	c.Flags().IntVar(&depth, "depth", 10, "ranks to show of each stage")
	return c
}

func findCase(files []*record.File, suite, id string) (*record.File, record.Row, error) {
	var file *record.File
	var row record.Row
	var suites []string
	for _, f := range files {
		if suite != "" && f.Run.Suite != suite {
			continue
		}
		for _, r := range f.Cases() {
			if r.Case == id {
				file, row = f, r
				suites = append(suites, f.Run.Suite)
			}
		}
	}
	switch len(suites) {
	case 0:
		return nil, row, fmt.Errorf("case %q: not in this run; the report lists the broken ones", id)
	case 1:
		return file, row, nil
	}
	return nil, row, fmt.Errorf("case %q: found in %s; say which with --suite", id, strings.Join(suites, ", "))
}
