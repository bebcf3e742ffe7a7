package main

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

// writeFindings reads runs and writes what they show: the page to dir/findings.md
// and its rows to dir/findings.json, or one of them to standard output.
func writeFindings(cmd *cobra.Command, args []string, dir string, remarks []string, asJSON bool) error {
	var sides []compare.Side
	for _, a := range args {
		found, err := compare.Open(a)
		if err != nil {
			return refused(err)
		}
		sides = append(sides, found...)
	}
	f, err := report.BuildFindings(sides, runAgain)
	if err != nil {
		return refused(err)
	}
	f.Remarks = remarks
	var page, rows bytes.Buffer
	if err := report.FindingsMarkdown(&page, f); err != nil {
		return refused(err)
	}
	if err := report.JSON(&rows, f); err != nil {
		return refused(err)
	}
	if dir != "" {
		if err := os.WriteFile(dir+"/findings.md", page.Bytes(), 0o644); err != nil {
			return refused(err)
		}
		return refused(os.WriteFile(dir+"/findings.json", rows.Bytes(), 0o644))
	}
	out := &page
	if asJSON {
		out = &rows
	}
	_, err = out.WriteTo(cmd.OutOrStdout())
	return refused(err)
}

// runAgain is the command that makes such a run.
func runAgain(run record.Run) string {
	parts := []string{runWith(run)}
	if len(run.LeftOut) > 0 {
		parts = append(parts, "--limit", strconv.Itoa(len(run.Plan)))
	}
	if run.Arm != "" && run.Arm != "base" {
		parts = append(parts, "--arm", shellWord(run.Arm))
	}
	return strings.Join(parts, " ")
}
