package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/progress"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

func progressCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "progress [SUITE]",
		Short: "Show what runs were kept in goldens/SUITE/progress.jsonl, and keep one",
		Long: `Show what runs were kept in goldens/SUITE/progress.jsonl, of one suite or of
all, in the order of their runs. Where the question hash or the first measure
changes, or a measurement break lies between, the series is broken and the
reason stands there. A difference of two lines is not computed: touchstone
compare says whether one is real.`,
		Example: "  touchstone progress\n  touchstone progress godoc --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, root, err := progressFiles()
			if err != nil {
				return err
			}
			suites := args
			if len(args) == 0 {
				if suites, err = files.Suites(); err != nil {
					return refused(err)
				}
			} else if err := knownSuites(root, args...); err != nil {
				return &exit{exitUsage, err}
			}
			all := []progress.Series{}
			for _, suite := range suites {
				lines, err := files.Read(suite)
				if err != nil {
					return refused(err)
				}
				breaks, err := compare.ReadBreaks(files.Goldens, suite)
				if err != nil {
					return refused(err)
				}
				all = append(all, progress.Draw(suite, lines, breaks, ancestry)...)
			}
			if asJSON {
				return refused(report.JSON(cmd.OutOrStdout(), all))
			}
			return refused(writeProgress(cmd.OutOrStdout(), all))
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	c.AddCommand(progressAdd(), progressSettle(), progressWithdraw())
	return c
}

func ancestry(first, commit string) (bool, error) { return record.After(".", first, commit) }

// progressFiles are the files of the module at hand.
func progressFiles() (progress.Files, string, error) {
	root, ok := record.ModuleRoot(".")
	if !ok {
		return progress.Files{}, "", usage("progress: no go.mod here or above; the lines are kept beside it")
	}
	return progress.Files{Goldens: filepath.Join(root, "goldens"), Lock: filepath.Join(root, ".touchstone", "progress.lock")}, root, nil
}

// knownSuites refuses names that neither a suite file nor the inventory of the
// module has: their lines would lie where nobody looks.
func knownSuites(root string, names ...string) error {
	files, err := evaltests.SuiteFiles(root)
	if err != nil {
		return err
	}
	known := inventorySuites(root)
	for _, f := range files {
		if !f.Aside() && !slices.Contains(known, f.Name) {
			known = append(known, f.Name)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("suite %q: not among the suites of this module: %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// inventorySuites are the suites that the inventory of a module lists, among
// them those that are made in Go and have no suite file.
func inventorySuites(root string) []string {
	inv, err := gate.ReadInventory(filepath.Join(root, gate.InventoryFile))
	if err != nil {
		return nil // told by who needs it
	}
	var names []string
	for _, s := range inv.Suites {
		names = append(names, s.Name)
	}
	return names
}

func progressAdd() *cobra.Command {
	var note, suite, against string
	var settled bool
	c := &cobra.Command{
		Use:   "add RUN --note TEXT",
		Short: "Keep a line of each suite that a run measured",
		Long: `Keep a line of each suite that a run measured, in goldens/SUITE/progress.jsonl:
date, commit, hashes, headline with denominators, stage table, limits and
evidence as the record has them, and what the run measures as you put it. A run
that was interrupted gets a line without figures. Commit the file.`,
		Example: "  touchstone progress add .touchstone/runs/20260101T120000-0a1b2c3d --note 'longer chunks'\n  touchstone progress add RUN --suite godoc --note 'longer chunks' --against main",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(note) == "" {
				return usage("progress add: say with --note what the run measures")
			}
			files, root, err := progressFiles()
			if err != nil {
				return err
			}
			j, err := judge(args[0], nil, "")
			if err != nil {
				return err
			}
			shown, err := report.Build(args[0], j.tier, j.verdict)
			if err != nil {
				return refused(err)
			}
			taken, err := recordsToKeep(j, root, suite)
			if err != nil {
				return err
			}
			var lines []progress.Line
			for _, f := range taken {
				before, err := files.Read(f.Run.Suite)
				if err != nil {
					return refused(err)
				}
				var of report.Suite
				if at := slices.IndexFunc(shown.Suites, func(s report.Suite) bool { return s.Record == f.Path }); at >= 0 {
					of = shown.Suites[at]
				}
				l, err := progress.New(f, of, j.folder.Started, note, before)
				if err == nil && against != "" {
					err = pairWith(&l, f, against, root)
				}
				if err != nil {
					return refused(err)
				}
				if settled {
					l.Status = progress.Settled
				}
				lines = append(lines, l)
			}
			for _, l := range lines {
				err := files.Update(l.Suite, func(before []progress.Line) ([]progress.Line, error) { return append(before, l), nil })
				if err != nil {
					return refused(err)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s  %s, arm %s: kept in %s\n", l.ID, l.Suite, l.Arm, progressPath(files, l.Suite))
			}
			return nil
		},
	}
	c.Flags().StringVar(&note, "note", "", "what the run measures, in a sentence")
	c.Flags().StringVar(&suite, "suite", "", "keep a line of this suite only")
	c.Flags().StringVar(&against, "against", "", "run or baseline from which this run differs significantly: the line's evidence")
	c.Flags().BoolVar(&settled, "settled", false, "the question that the run was made for is answered")
	return c
}

func progressPath(files progress.Files, suite string) string {
	return shown(filepath.Join(files.Goldens, suite, progress.FileName))
}

// recordsToKeep are the records of a run that get a line: all before any is
// written, so that a refusal leaves nothing half done.
func recordsToKeep(j *judged, root, suite string) ([]*record.File, error) {
	var out []*record.File
	for _, f := range j.files {
		switch {
		case f.Run.NotRun != "" || suite != "" && f.Run.Suite != suite:
			continue
		case f.Run.Suite == "":
			return nil, refused(fmt.Errorf("%s: cut short in its first line; it does not say of what it is", f.Path))
		case f.State == record.Tampered:
			return nil, refused(fmt.Errorf("%s: the record was edited: %s; its figures are no evidence", f.Path, f.Detail))
		}
		if err := knownSuites(root, f.Run.Suite); err != nil {
			return nil, refused(err)
		}
		out = append(out, f)
	}
	if len(out) == 0 {
		what := "no suite was measured in it"
		if suite != "" {
			what = "no record of suite " + suite
		}
		return nil, refused(fmt.Errorf("%s: %s", j.folder.Dir, what))
	}
	return out, nil
}

// pairWith compares the run with the one that against names.
func pairWith(l *progress.Line, f *record.File, against, root string) error {
	sides, err := compare.Open(compare.Locate(root, against))
	if err != nil {
		return err
	}
	base, err := compare.Of(sides, f.Run.Suite)
	if err != nil {
		return err
	}
	breaks, err := compare.ReadBreaks(filepath.Join(root, "goldens"), f.Run.Suite)
	if err != nil {
		return err
	}
	folder, err := record.ReadFolder(filepath.Dir(f.Path))
	if err != nil {
		return err
	}
	var vary []string
	if d := base.File.Run.Decision; d != nil {
		vary = d.Vary
	}
	c, err := compare.Compare(base, []compare.Side{{Label: filepath.Dir(f.Path), Folder: folder, File: f}}, compare.Options{Vary: vary, Breaks: breaks, After: ancestry})
	if err != nil {
		return err
	}
	return l.PairWith(base, c)
}

func progressSettle() *cobra.Command {
	return &cobra.Command{
		Use: "settle ID", Short: "Say that the question of a line is answered",
		Example: "  touchstone progress settle 0a1b2c3d4e5f",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, _, err := progressFiles()
			if err != nil {
				return err
			}
			suite, err := files.Settle(args[0])
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "%s of %s is settled\n", args[0], suite)
			}
			return refused(err)
		},
	}
}

func progressWithdraw() *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "withdraw ID --reason TEXT", Short: "Take a line back; it stays, with the reason and without figures",
		Example: "  touchstone progress withdraw 0a1b2c3d4e5f --reason 'the cache was of another checkout'",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(reason) == "" {
				return usage("progress withdraw: say with --reason why")
			}
			files, _, err := progressFiles()
			if err != nil {
				return err
			}
			suite, err := files.Withdraw(args[0], reason)
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "%s of %s is withdrawn\n", args[0], suite)
			}
			return refused(err)
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why its figures are not to be used")
	return c
}

func writeProgress(w io.Writer, all []progress.Series) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "no run is kept; keep one with `touchstone progress add RUN --note TEXT`")
		return err
	}
	for i, s := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s, arm %s\n", s.Suite, printable(s.Arm))
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, p := range s.Points {
			if p.Broken != "" {
				// The table ends here too: nobody should read down a column.
				tw.Flush()
				fmt.Fprintf(w, "-- broken: %s\n", printable(p.Broken))
			}
			commit := fmt.Sprintf("%.12s", p.Commit)
			switch {
			case p.Commit == "":
				commit = "no commit"
			case p.Dirty > 0:
				commit += " and changes"
			}
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", p.Date.Format(time.DateOnly), p.ID, commit, figureOf(p), p.Evidence, p.Status, printable(p.Note))
		}
		tw.Flush()
		for _, p := range s.Points {
			for _, limit := range p.Limits {
				fmt.Fprintf(w, "  %s: %s\n", p.ID, printable(limit))
			}
			if p.Status == progress.Withdrawn {
				fmt.Fprintf(w, "  %s: withdrawn: %s\n", p.ID, printable(p.Why))
			}
			if p.Unsound != "" {
				fmt.Fprintf(w, "  %s: not to be quoted: measurement break: %s\n", p.ID, printable(p.Unsound))
			}
			if a := p.Against; a != nil {
				fmt.Fprintf(w, "  %s: against %.12s: %s %+.4f, adjusted p = %.3g, %d pairs\n", p.ID, a.Record, a.Measure, a.Mean, a.P, a.Pairs)
			}
		}
	}
	return nil
}

// figureOf is what of a point may be quoted.
func figureOf(p progress.Point) string {
	f, ok := p.Quotable()
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%s %.4f n=%d; %d of %d scored", f.Measure, f.Mean, f.N, p.Scored, p.Planned)
}

// unkept names the runs that have a record without a line.
func unkept(dir string, files progress.Files) ([]string, error) {
	runs, err := runFolders(dir)
	if err != nil {
		return nil, err
	}
	kept := map[string]map[string]bool{}
	var out []string
	for _, r := range runs {
		found, err := record.ReadAll(r.Dir)
		if err != nil {
			continue // named among the runs
		}
		if slices.ContainsFunc(found, func(f *record.File) bool {
			if f.Run.NotRun != "" || f.Run.Suite == "" || f.State == record.Tampered {
				return false
			}
			if kept[f.Run.Suite] == nil {
				lines, readErr := files.Read(f.Run.Suite)
				err = errors.Join(err, readErr)
				kept[f.Run.Suite] = map[string]bool{}
				for _, l := range lines {
					kept[f.Run.Suite][l.ID] = true
				}
			}
			return !kept[f.Run.Suite][progress.IDOf(f)]
		}) {
			out = append(out, shown(r.Dir))
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// progress names the runs of which nothing is remembered.
func (d *diagnosis) progress(dir, root string) {
	files := progress.Files{Goldens: filepath.Join(root, "goldens")}
	names, err := unkept(dir, files)
	switch {
	case err != nil:
		d.add("progress", note, err.Error(), "correct the file, or restore it from version control")
	case len(names) == 0:
		d.add("progress", well, "each run has its line", "")
	default:
		const most = 5
		text := strings.Join(names[:min(most, len(names))], ", ")
		if len(names) > most {
			text += fmt.Sprintf(" and %d more", len(names)-most)
		}
		d.add("progress", note, fmt.Sprintf("%d runs have no line in progress.jsonl: %s", len(names), text),
			"touchstone progress add RUN --note TEXT, for those that matter")
	}
}
