package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/golden"
	"github.com/touchstone-eval/touchstone/evaltests/metric/trec"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

func goldenCheckCommand() *cobra.Command {
	var o goldenOptions
	var file, order string
	var k int
	var asJSON bool
	c := &cobra.Command{
		Use:   "check [SUITE] [--run DIR | --run FILE --golden FILE]",
		Short: "Check a run, a file of rankings, or the goldens themselves",
		Long: `Check a run, a file of rankings, or the goldens themselves.

  golden check                          every golden is vouched for by its ledger,
                                        leads back to its anchor, and has a suite
  golden check SUITE --run DIR          the run against the suite's golden
  golden check --run FILE --golden FILE a TREC run against a golden file, or
                                        against another TREC run

It ends with 0, 1 for drift, 2 when something could not be compared.`,
		Example: "  touchstone golden check\n  touchstone golden check godoc --run RUN\n  touchstone golden check --run new.trec --golden old.trec --k 10",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			switch {
			case file != "" && (len(args) > 0 || o.run == ""):
				return usage("golden check: --golden compares two files: give --run FILE and no suite")
			case file != "":
				res, err := checkFiles(o.run, file, trec.Order(order), k)
				if err != nil {
					return refused(err)
				}
				return showCheck(out, res, asJSON)
			case len(args) == 0 && o.run != "":
				return usage("golden check: --run needs a suite, or --golden FILE")
			case len(args) == 0:
				return checkFolders(out)
			}
			if err := o.check(cmd, args[0], true); err != nil {
				return err
			}
			_, res, err := o.recheck(args[0])
			if err != nil {
				return refused(err)
			}
			return showCheck(out, res, asJSON)
		},
	}
	o.addRun(c)
	c.Flags().StringVar(&file, "golden", "", "golden file, or TREC run, to check a TREC run against")
	c.Flags().StringVar(&order, "order", string(trec.Trec), "order of TREC files: trec, trec9, input, id-asc")
	c.Flags().IntVar(&k, "k", 10, "depth, where the golden does not say it")
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}

// recheck holds a recorded run to the golden as it is now.
func (o *goldenOptions) recheck(suite string) (*record.File, golden.SuiteResult, error) {
	_, f, err := o.recordOf(suite)
	if err != nil {
		return nil, golden.SuiteResult{}, err
	}
	if f.State != record.Complete {
		return nil, golden.SuiteResult{}, fmt.Errorf("%s is %s (%s)", f.Path, f.State, f.Detail)
	}
	cfg, err := configOf(f)
	if err != nil {
		return nil, golden.SuiteResult{}, err
	}
	root, err := goldensRoot()
	if err != nil {
		return nil, golden.SuiteResult{}, err
	}
	return f, golden.CheckSuite(filepath.Join(root, suite), suite, cfg, f.Run, f.Rows), nil
}

// checkFolders looks at the goldens of the module without a run.
func checkFolders(out io.Writer) error {
	root, err := goldensRoot()
	if err != nil {
		return refused(err)
	}
	lost, err := orphans(nil, nil)
	if err != nil {
		return refused(err)
	}
	orphan := map[string]bool{}
	for _, name := range lost {
		orphan[name] = true
	}
	dirs, err := os.ReadDir(root)
	if err != nil {
		return refused(fmt.Errorf("%w; there is no golden to check", err))
	}
	bad := 0
	for _, d := range dirs {
		if !d.IsDir() {
			continue
		}
		line := ""
		chain, err := golden.ReadChain(filepath.Join(root, d.Name()))
		switch {
		case orphan[d.Name()]:
			line = "orphan: no suite with a [golden] table has that name; remove the folder, or restore the suite"
		case err != nil:
			line = err.Error()
		default:
			fmt.Fprintf(out, "%s: sound, %d blessings from the anchor\n", d.Name(), len(chain.Path))
			continue
		}
		bad++
		fmt.Fprintf(out, "%s: %s\n", d.Name(), line)
	}
	if bad > 0 {
		return verdictExit(gate.CNM)
	}
	return nil
}

// checkFiles holds a TREC run to a golden file or another TREC run.
func checkFiles(run, goldenFile string, order trec.Order, k int) (golden.SuiteResult, error) {
	live, err := trec.LoadRun(run)
	if err != nil {
		return golden.SuiteResult{}, err
	}
	lists, err := listsOf(live, order)
	if err != nil {
		return golden.SuiteResult{}, fmt.Errorf("%s: %w", run, err)
	}
	data, err := os.ReadFile(goldenFile)
	if err != nil {
		return golden.SuiteResult{}, err
	}
	if bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n\ufeff"), []byte("{")) {
		g, err := golden.Read(goldenFile)
		if err != nil {
			return golden.SuiteResult{}, err
		}
		return golden.CheckLists(g, lists)
	}
	old, err := trec.LoadRun(goldenFile)
	if err != nil {
		return golden.SuiteResult{}, err
	}
	blessed, err := listsOf(old, order)
	if err != nil {
		return golden.SuiteResult{}, fmt.Errorf("%s: %w", goldenFile, err)
	}
	return golden.CheckLists(golden.FromLists(filepath.Base(goldenFile), k, blessed), lists)
}

func listsOf(run *trec.Run, order trec.Order) (map[string]golden.List, error) {
	lists := map[string]golden.List{}
	for _, q := range run.Questions() {
		r, err := run.Ranking(q, order)
		if err != nil {
			return nil, fmt.Errorf("question %s: %w", q, err)
		}
		l := golden.List{IDs: r.IDs(), Scores: make([]float64, r.Len())}
		for i := range l.Scores {
			l.Scores[i], _ = r.Score(i)
		}
		lists[q] = l
	}
	return lists, nil
}

// showCheck prints a result and turns it into an exit code.
func showCheck(out io.Writer, res golden.SuiteResult, asJSON bool) error {
	all := append([]golden.SuiteResult{res}, res.Stages...)
	if asJSON {
		if err := writeJSON(out, movesOf(res, nil)); err != nil {
			return refused(err)
		}
	} else {
		for _, r := range all {
			fmt.Fprintln(out, headOf(r))
			for _, reason := range r.Reasons {
				fmt.Fprintf(out, "  %s\n", printable(reason))
			}
			if r.Action != "" {
				fmt.Fprintf(out, "  %s\n", r.Action)
			}
		}
	}
	return verdictExit(worstOf(all))
}

// worstOf is the verdict of several checks: a regression outweighs what could
// not be measured.
func worstOf(all []golden.SuiteResult) string {
	verdict := gate.PASS
	for _, r := range all {
		switch {
		case r.Advisory != "":
		case r.Verdict == golden.Regressed:
			return gate.REGRESSED
		case r.Verdict != golden.Pass:
			verdict = gate.CNM
		}
	}
	return verdict
}

// headOf is a check in one line.
func headOf(r golden.SuiteResult) string {
	name := r.Suite
	if r.Stage != "" {
		name += ", stage " + r.Stage
	}
	s := fmt.Sprintf("%s: %s; %d of %d cases compared, %d moved, %d drifted", name, strings.ToUpper(r.Verdict), r.Compared, r.Planned, r.Moved, r.Drifted)
	if r.Compared > 0 {
		s += fmt.Sprintf(", mean RBO %.4f", r.MeanRBO)
	}
	if r.Advisory != "" {
		s += " (" + r.Advisory + ")"
	}
	return s
}

func writeJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
