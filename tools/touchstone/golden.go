package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/golden"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

func goldenCommand() *cobra.Command {
	return group("golden", "Check rankings against the blessed ones, and bless deliberately",
		goldenCheckCommand(), goldenShowCommand(), goldenAcceptCommand(), goldenRejectCommand(), goldenAnchorCommand(), goldenLogCommand())
}

// goldenOptions are the flags that the golden commands share.
type goldenOptions struct {
	run, arm, reason string
	cases            []string
	allowCI          bool
}

func (o *goldenOptions) addRun(c *cobra.Command) {
	c.Flags().StringVar(&o.run, "run", "", "run folder")
	c.Flags().StringVar(&o.arm, "arm", "base", "arm of the suite")
}

func (o *goldenOptions) addCases(c *cobra.Command, what string) {
	c.Flags().StringArrayVar(&o.cases, "case", nil, what+" (repeatable; default: all)")
}

// check refuses flags and arguments that name nothing.
func (o *goldenOptions) check(cmd *cobra.Command, suite string, needRun bool) error {
	verb := "golden " + cmd.Name()
	if !record.ValidSuite(suite) {
		return usage("%s: suite %q; want lower-case letters, digits, dots, dashes", verb, suite)
	}
	if needRun && o.run == "" {
		return usage("%s: --run is missing; give the folder that the run printed", verb)
	}
	if slices.Contains(o.cases, "") {
		return usage("%s: --case is empty; name a case", verb)
	}
	return nil
}

func goldenAcceptCommand() *cobra.Command {
	var o goldenOptions
	var allowShrink bool
	c := &cobra.Command{
		Use:   "accept SUITE --run DIR --reason TEXT",
		Short: "Make the rankings of a run the golden of a suite",
		Long: `Make the rankings of a run the golden of a suite. It is refused unless the run
is complete, of the sources in this checkout and of the gate's platform, with
every planned case scored, all labelled gates green and no significant loss in
the moved cases. With --case the other cases stay as they are. A CI job may
accept only with --allow-ci, on a branch that is not the default one.`,
		Example: "  touchstone golden accept godoc --run .touchstone/runs/20260101T120000-0a1b2c3d --reason 'title boost'\n" +
			"  touchstone golden accept godoc --run RUN --case gd001 --case gd017 --reason 'synonyms of shard'",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd, args[0], true); err != nil {
				return err
			}
			b, err := o.blessing(args[0])
			if err != nil {
				return refused(err)
			}
			b.AllowShrink = allowShrink
			g, err := b.Accept()
			if err != nil {
				return refused(err)
			}
			ledger, err := golden.ReadLedger(b.Dir)
			if err != nil {
				return refused(err)
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "%s: blessed %s to depth %d, digest %.12s; run again to verify, then commit %s\n", args[0], extent(ledger[len(ledger)-1]), b.K, g.Digest, shown(b.Dir))
			anchor, err := golden.Read(filepath.Join(b.Dir, golden.AnchorFile))
			if err != nil {
				return refused(err)
			}
			creep, err := golden.MeasureCreep(anchor, g)
			if err != nil {
				return refused(err)
			}
			if creep.Drifted > 0 {
				fmt.Fprintf(out, "%s: %s; these stay red until the anchor moves: touchstone golden anchor %s --reason TEXT\n", args[0], creep, args[0])
			}
			return nil
		},
	}
	o.addRun(c)
	o.addCases(c, "accept this case only")
	c.Flags().StringVar(&o.reason, "reason", "", "why the rankings were meant to move")
	c.Flags().BoolVar(&allowShrink, "allow-shrink", false, "the golden may lose more than a tenth of its cases")
	c.Flags().BoolVar(&o.allowCI, "allow-ci", false, "a CI job may write, off the default branch")
	return c
}

func goldenRejectCommand() *cobra.Command {
	var o goldenOptions
	c := &cobra.Command{
		Use:   "reject SUITE --run DIR [--case ID ...] [--reason TEXT]",
		Short: "Note in a run folder that pending rankings must not be accepted",
		Long: `Note in a run folder that pending rankings must not be accepted. The golden is
not touched: an accept of the rest of the run leaves the rejected cases as they
are, and they stay red until the change is undone.`,
		Example: "  touchstone golden reject godoc --run RUN --case gd017 --reason 'the old answer is right'",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd, args[0], true); err != nil {
				return err
			}
			if _, err := record.ReadFolder(o.run); err != nil {
				return refused(err)
			}
			n, err := golden.Reject(o.run, args[0], o.arm, o.cases, o.reason)
			if err != nil {
				return refused(err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: rejected %d pending cases of %s; the golden is as it was\n", args[0], n, shown(o.run))
			return nil
		},
	}
	o.addRun(c)
	o.addCases(c, "reject this case only")
	c.Flags().StringVar(&o.reason, "reason", "", "why not")
	return c
}

func goldenAnchorCommand() *cobra.Command {
	var o goldenOptions
	c := &cobra.Command{
		Use:   "anchor SUITE --reason TEXT",
		Short: "Let the anchor follow the current golden, and print the creep",
		Long: `Let the anchor follow the current golden, and print the creep: what the
blessings since the last anchor add up to.`,
		Example: "  touchstone golden anchor godoc --reason 'release 1.4: the creep was reviewed'",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd, args[0], false); err != nil {
				return err
			}
			dir, err := goldenDir(args[0])
			if err != nil {
				return refused(err)
			}
			creep, err := golden.Anchoring{
				Dir: dir, Tree: record.Tree("."), Commit: record.CurrentContext(".").Commit, Reason: o.reason,
				By: golden.Who(".", os.Getenv), When: time.Now(), AllowCI: o.allowCI,
			}.Move()
			if err != nil {
				return refused(err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: anchor moved to the current golden; commit %s\n%s\n", args[0], shown(dir), creep)
			return nil
		},
	}
	c.Flags().StringVar(&o.reason, "reason", "", "why what the blessings add up to was meant")
	c.Flags().BoolVar(&o.allowCI, "allow-ci", false, "a CI job may write, off the default branch")
	return c
}

// goldenDir is goldens/<suite> of the module at hand. It must be there.
func goldenDir(suite string) (string, error) {
	root, err := goldensRoot()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, suite)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s: no golden of suite %s", shown(dir), suite)
	}
	return dir, nil
}

func goldensRoot() (string, error) {
	root, ok := record.ModuleRoot(".")
	if !ok {
		return "", fmt.Errorf("no go.mod above the working folder; work inside the module that holds goldens/")
	}
	return filepath.Join(root, "goldens"), nil
}

// recordOf finds the suite's record in a run folder.
func (o *goldenOptions) recordOf(suite string) (*record.Folder, *record.File, error) {
	folder, err := record.ReadFolder(o.run)
	if err != nil {
		return nil, nil, err
	}
	files, err := record.ReadAll(o.run)
	if err != nil {
		return nil, nil, err
	}
	var found *record.File
	for _, f := range files {
		if f.Run.Suite != suite || f.Run.Arm != o.arm {
			continue
		}
		if found != nil {
			return nil, nil, fmt.Errorf("%s: holds more than one record of suite %s; use a run that ran it once", o.run, suite)
		}
		found = f
	}
	if found == nil {
		return nil, nil, fmt.Errorf("%s: no record of suite %s, arm %s", o.run, suite, o.arm)
	}
	// The record is judged anew, so an edited one cannot vouch.
	v := gate.Judge(folder, []*record.File{found}, nil, found.Run.Tier, record.Class())
	for _, s := range v.Suites {
		if s.Unsound && found.State == record.Complete {
			return nil, nil, fmt.Errorf("%s: %v", found.Path, s.Reasons)
		}
	}
	return folder, found, nil
}

// blessing is the decision that the flags describe.
func (o *goldenOptions) blessing(suite string) (golden.Blessing, error) {
	folder, found, err := o.recordOf(suite)
	if err != nil {
		return golden.Blessing{}, err
	}
	root, err := goldensRoot()
	if err != nil {
		return golden.Blessing{}, err
	}
	dir := filepath.Join(root, suite)
	return golden.Blessing{
		Dir: dir, Record: found, Folder: folder, Tree: record.Tree("."), K: found.Run.GoldenK, Only: o.cases,
		Reason: o.reason, By: golden.Who(".", os.Getenv), When: time.Now(), Classes: evaltests.GoldenClasses(dir, suite), AllowCI: o.allowCI,
	}, nil
}

// configOf is the [golden] table of a suite file of this module, or what a
// record still tells of it.
func configOf(f *record.File) (golden.Config, error) {
	root, ok := record.ModuleRoot(".")
	if ok {
		files, err := evaltests.SuiteFiles(root)
		if err != nil {
			return golden.Config{}, err
		}
		for _, s := range files {
			if s.Name == f.Run.Suite && s.Golden != nil {
				return *s.Golden, s.Golden.Validate()
			}
		}
	}
	if f.Run.GoldenK < 1 {
		return golden.Config{}, fmt.Errorf("%s: the suite has no [golden] table", f.Run.Suite)
	}
	cfg := golden.DefaultConfig()
	cfg.K = f.Run.GoldenK
	for _, g := range f.Gates {
		if stage, ok := golden.DriftStage(g.Name); ok && stage != "" {
			cfg.Stages = append(cfg.Stages, stage)
		} else if ok && g.Floor != nil {
			cfg.MeanRBO = *g.Floor
		}
	}
	return cfg, nil
}

// orphans are the golden folders that belong to no suite of the module, nor to
// one of the others: suites that have a golden, and known ones that have none.
func orphans(suites, known []string) ([]string, error) {
	root, err := goldensRoot()
	if err != nil {
		return nil, nil // no module, no goldens
	}
	files, err := evaltests.SuiteFiles(filepath.Dir(root))
	if err != nil {
		return nil, err
	}
	known = append(known, inventorySuites(filepath.Dir(root))...)
	for _, f := range files {
		known = append(known, f.Name)
		if f.Golden != nil || f.Defect != nil { // nobody knows what a broken one checks
			suites = append(suites, f.Name)
		}
	}
	return golden.Orphans(root, suites, known)
}

// goldens adds what a run says of the module's goldens as a whole: folders
// that no suite checks, and how a blessing ended.
func (j *judged) goldens(bless string) {
	lost, err := orphans(j.programSuites())
	if err != nil {
		j.cannot("goldens: %v", err)
	}
	for _, name := range lost {
		j.cannot("goldens/%s is an orphan: no suite has that name, so nothing checks it; remove it, or restore its suite", name)
	}
	if bless == "" {
		return
	}
	how, err := evaltests.BlessingOf(j.folder.Dir, bless)
	switch {
	case err != nil:
		j.cannot("blessing: %v", err)
	case how == "":
		j.cannot("EVAL_BLESS=%s: no suite of that name was run, so nothing was blessed", bless)
	default:
		j.cannot("%s", how)
	}
}

// programSuites are the suites of the run, which may be made in Go and have no
// suite file: those with a golden, and all.
func (j *judged) programSuites() (guarded, all []string) {
	for _, f := range j.files {
		all = append(all, f.Run.Suite)
		if f.Run.GoldenK > 0 {
			guarded = append(guarded, f.Run.Suite)
		}
	}
	return guarded, all
}
