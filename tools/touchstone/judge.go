package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

// judged is a run folder with its records and what they say.
type judged struct {
	folder  *record.Folder
	files   []*record.File
	tier    string
	verdict gate.RunVerdict
}

// judge reads a run folder and decides it. inv may be nil.
func judge(dir string, inv *gate.Inventory, tier string) (*judged, error) {
	folder, err := record.ReadFolder(dir)
	if err != nil {
		return nil, refused(err)
	}
	files, err := record.ReadAll(dir)
	if err != nil {
		return nil, refused(err)
	}
	if tier == "" {
		tier = "smoke"
		for _, f := range files {
			if f.Run.Tier != "" { // a record killed in its first line has none
				tier = f.Run.Tier
			}
		}
	}
	j := &judged{folder: folder, files: files, tier: tier}
	j.verdict = gate.Judge(folder, files, inv, tier, record.Class())
	return j, nil
}

// shown is a path as people will type it: relative where that is shorter.
func shown(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(wd, path); err == nil && len(rel) < len(path) {
		return rel
	}
	return path
}

// cannot notes a reason that concerns the run as a whole.
func (j *judged) cannot(format string, args ...any) {
	j.verdict.Reasons = append(j.verdict.Reasons, fmt.Sprintf(format, args...))
	j.verdict.Verdict = gate.CNM
}

// report is what is shown of the run, with the measurement breaks of the module
// at hand.
func (j *judged) report() (report.Run, error) {
	r, err := report.Build(shown(j.folder.Dir), j.tier, j.verdict)
	if root, ok := record.ModuleRoot("."); ok && err == nil {
		err = r.MarkBreaks(j.verdict, filepath.Join(root, "goldens"), func(first, commit string) (bool, error) { return record.After(".", first, commit) })
	}
	return r, err
}

// show prints the report and returns the verdict as an exit code.
func (j *judged) show(cmd *cobra.Command, asJSON, all bool) error {
	r, err := j.report()
	if err != nil {
		return refused(err)
	}
	out := cmd.OutOrStdout()
	if asJSON {
		err = report.JSON(out, r)
	} else {
		err = report.Text(out, r, report.Style{Color: colour(out), All: all})
	}
	if err != nil {
		return refused(err)
	}
	return verdictExit(j.verdict.Verdict)
}

func verdictExit(verdict string) error {
	if code := gate.ExitCode(verdict); code != exitOK {
		return &exit{code: code}
	}
	return nil
}

// colour reports whether w is a terminal that wants colour.
func colour(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// inventory reads the inventory at path; when the path was not given, the one
// of the module at hand, or none.
func inventory(path string) (*gate.Inventory, string, error) {
	if path == "" {
		root, ok := record.ModuleRoot(".")
		if !ok {
			return nil, "", nil
		}
		path = filepath.Join(root, gate.InventoryFile)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, "", nil
		}
	}
	inv, err := gate.ReadInventory(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", usage("--inventory %w", err)
	}
	if err != nil {
		return nil, "", refused(err)
	}
	return &inv, path, nil
}

func verdictCommand() *cobra.Command {
	var inventoryPath, notBefore, tier string
	var asJSON bool
	c := &cobra.Command{
		Use:   "verdict RUN",
		Short: "Judge a finished run against the inventory",
		Long: `Judge a finished run against the inventory: every record must be whole, of
this run and of these sources, and the suites that the inventory requires must
be there with their planned cases. RUN is the folder that the run printed;
there is no "latest".`,
		Example: "  touchstone verdict .touchstone/runs/20260101T120000-0a1b2c3d\n  touchstone verdict RUN --not-before 2026-01-01T12:00:00Z",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			inv, _, err := inventory(inventoryPath)
			if err != nil {
				return err
			}
			if inv == nil {
				return usage("verdict: no %s in this module; without it a run that ran nothing would look whole: name one with --inventory", gate.InventoryFile)
			}
			if tier != "" && !gate.ValidTier(tier) {
				return usage("verdict: --tier %q; want smoke, full or deep", tier)
			}
			j, err := judge(args[0], inv, tier)
			if err != nil {
				return err
			}
			switch tree := record.Tree("."); {
			case record.SameTree(j.folder.Tree, tree):
			case tree == record.UnknownTree || j.folder.Tree == record.UnknownTree:
				j.cannot("the tree id is unknown, so the run cannot be shown to be of these sources; judge it in the git checkout it was made in")
			default:
				j.cannot("the run is of tree %.12s, the checkout is %.12s: it is an old record, run again", j.folder.Tree, tree)
			}
			j.goldens("")
			if notBefore != "" {
				at, err := time.Parse(time.RFC3339, notBefore)
				if err != nil {
					return usage("--not-before %q: want RFC 3339, for instance 2026-01-01T12:00:00Z", notBefore)
				}
				if j.folder.Started.Before(at) {
					j.cannot("the run started %s, before %s", j.folder.Started.Format(time.RFC3339), notBefore)
				}
			}
			return j.show(cmd, asJSON, false)
		},
	}
	c.Flags().StringVar(&inventoryPath, "inventory", "", "inventory file (default: "+gate.InventoryFile+" of the module)")
	c.Flags().StringVar(&tier, "tier", "", "tier that the run must be complete for (default: the run's own)")
	c.Flags().StringVar(&notBefore, "not-before", "", "refuse a run that started before this time (RFC 3339)")
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}

func reportCommand() *cobra.Command {
	var asJSON, all, findings bool
	var markdown, dir string
	var remarks []string
	c := &cobra.Command{
		Use:   "report RUN",
		Short: "Show a run: terminal, JSON, Markdown; or what many runs show",
		Example: "  touchstone report RUN --all\n  touchstone report RUN --md summary.md\n  touchstone report RUN --json\n" +
			"  touchstone report --findings RUN... --out docs",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case findings:
				return writeFindings(cmd, args, dir, remarks, asJSON)
			case dir != "" || len(remarks) > 0:
				return usage("report: --out and --remark are for --findings")
			case len(args) > 1:
				return usage("report: %d runs; give one, or --findings", len(args))
			}
			j, err := judge(args[0], nil, "")
			if err != nil {
				return err
			}
			r, err := j.report()
			if err != nil {
				return refused(err)
			}
			if markdown != "" {
				if err := writeMarkdown(cmd.OutOrStdout(), markdown, r); err != nil {
					return refused(err)
				}
				if markdown == "-" {
					return nil
				}
			}
			if asJSON {
				return refused(report.JSON(cmd.OutOrStdout(), r))
			}
			if markdown != "" {
				return nil
			}
			return refused(report.Text(cmd.OutOrStdout(), r, report.Style{Color: colour(cmd.OutOrStdout()), All: all}))
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	c.Flags().BoolVar(&all, "all", false, "all gates, strata, stages and broken cases")
	c.Flags().StringVar(&markdown, "md", "", "write Markdown to this file, - for standard output")
	c.Flags().BoolVar(&findings, "findings", false, "what all the runs show about the parts of the engine, as Markdown")
	c.Flags().StringVar(&dir, "out", "", "with --findings: write findings.md and findings.json to this folder")
	c.Flags().StringArrayVar(&remarks, "remark", nil, "with --findings: a remark that no row holds, marked as one (repeatable)")
	return c
}

func writeMarkdown(stdout io.Writer, path string, r report.Run) error {
	if path == "-" {
		return report.Markdown(stdout, r)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := report.Markdown(f, r); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
