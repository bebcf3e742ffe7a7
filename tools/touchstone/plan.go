package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/report"
	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

func planCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "plan SUITE",
		Short: "Show what a run of a suite would ask, without running it",
		Long: `Show what a run of a suite would ask under the environment at hand (EVAL_TIER,
EVAL_LIMIT, EVAL_SHARD, EVAL_REPEAT): cases by stratum, what a limit leaves
out, calls, how long that took last time, and the difference that two runs of
it could tell apart. SUITE is a name, or the path of a suite file.`,
		Example: "  touchstone plan godoc\n  EVAL_LIMIT=30 touchstone plan godoc\n  EVAL_TIER=full touchstone plan fixtures/scifact/suite.toml --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			env, err := evaltests.ParseEnv(os.Environ())
			if err != nil {
				return &exit{exitUsage, err}
			}
			path, err := suitePath(args[0])
			if err != nil {
				return err
			}
			s, err := evaltests.LoadSuite(path, env)
			if err != nil {
				return refused(err)
			}
			p := planOf(s, env)
			if asJSON {
				return refused(report.JSON(cmd.OutOrStdout(), p))
			}
			p.text(cmd.OutOrStdout())
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}

// suitePath finds a suite file by its path, or by the suite's name in the
// module at hand.
func suitePath(nameOrPath string) (string, error) {
	if info, err := os.Stat(nameOrPath); err == nil && info.Mode().IsRegular() {
		return nameOrPath, nil
	}
	root, ok := record.ModuleRoot(".")
	if !ok {
		return "", usage("%s: no such file, and no go.mod here or above that would have a suite of that name", nameOrPath)
	}
	files, err := evaltests.SuiteFiles(root)
	if err != nil {
		return "", refused(err)
	}
	var names []string
	for _, f := range files {
		if f.Name == nameOrPath {
			return f.Path, nil
		}
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return "", usage("suite %q: not among the suite files of this module: %s", nameOrPath, strings.Join(names, ", "))
}

// planned is what a run would ask.
type planned struct {
	Suite   string          `json:"suite"`
	Tier    string          `json:"tier"`
	NotRun  string          `json:"not_run,omitempty"`
	Problem string          `json:"problem,omitempty"`
	Action  string          `json:"action,omitempty"`
	Cases   int             `json:"cases"`
	Left    int             `json:"left_out"`
	Shard   string          `json:"shard,omitempty"`
	Calls   int             `json:"calls"`
	Strata  []stratumPlan   `json:"strata,omitempty"`
	Seconds *float64        `json:"seconds,omitempty"` // estimate; absent: unknown
	Last    string          `json:"last_run,omitempty"`
	Detects []detectionPlan `json:"detects,omitempty"`
}

type stratumPlan struct {
	Stratum string `json:"stratum"`
	Cases   int    `json:"cases"`
	Left    int    `json:"left_out"`
}

// detectionPlan is the mean difference that two runs could tell apart.
type detectionPlan struct {
	Measure    string  `json:"measure"`
	Cases      int     `json:"cases"`
	Difference float64 `json:"difference"`
	Rho        float64 `json:"assumed_correlation"`
}

// rho is assumed between the values of a case in two runs: nobody knows it
// before the second, and of two versions of one engine it is high.
const rho = 0.7

func planOf(s *evaltests.Suite, env evaltests.Env) planned {
	ready := s.Ready()
	p := planned{Suite: s.Name, Tier: s.Tier, NotRun: ready.NotRun, Problem: ready.Problem, Action: ready.Action, Shard: env.Shard.String()}
	if s.Pack == nil || p.NotRun != "" || p.Problem != "" {
		return p
	}
	p.Cases, p.Calls = s.Planned()
	at := map[string]int{}
	for _, c := range s.Pack.Cases {
		i, known := at[c.Stratum]
		if !known {
			i = len(p.Strata)
			at[c.Stratum] = i
			p.Strata = append(p.Strata, stratumPlan{Stratum: c.Stratum, Left: s.LeftOut[c.Stratum]})
		}
		p.Strata[i].Cases++
	}
	for i := range p.Strata {
		p.Strata[i].Cases -= p.Strata[i].Left
		p.Left += p.Strata[i].Left
	}
	p.price(s)
	return p
}

// price estimates from the newest complete record of the suite.
func (p *planned) price(s *evaltests.Suite) {
	f, dir := lastRecord(s.Name, s.Arm)
	if f == nil || len(f.Rows) == 0 {
		return
	}
	p.Last = dir
	seconds := f.End.Wall * float64(p.Calls) / float64(len(f.Rows))
	p.Seconds = &seconds
	for _, name := range s.Headline {
		var values []float64
		for _, r := range f.Cases() {
			if v, ok := r.Measures[name]; ok && r.Ranked() {
				values = append(values, v)
			}
		}
		n := len(values) * p.Cases / max(1, len(f.Run.Plan)) // the same share of answerable cases
		sd := spread(values) * math.Sqrt(2*(1-rho))
		if n < 2 || sd == 0 {
			continue
		}
		if _, d, err := stat.PairedTMDE(n, sd, 0.05, 0.8); err == nil && d > 0 {
			p.Detects = append(p.Detects, detectionPlan{Measure: name, Cases: n, Difference: d, Rho: rho})
		}
	}
}

func spread(x []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sum += float64((v - mean) * (v - mean))
	}
	return math.Sqrt(sum / float64(max(1, len(x)-1)))
}

// lastRecord is the newest complete record of a suite in the module's runs.
func lastRecord(suite, arm string) (*record.File, string) {
	runs, err := runFolders(record.Base("."))
	if err != nil {
		return nil, ""
	}
	for _, r := range runs {
		files, err := record.ReadAll(r.Dir)
		if err != nil {
			continue
		}
		for _, f := range files {
			if f.Run.Suite == suite && f.Run.Arm == arm && f.State == record.Complete && f.Run.NotRun == "" {
				return f, shown(r.Dir)
			}
		}
	}
	return nil, ""
}

func (p planned) text(w io.Writer) {
	fmt.Fprintf(w, "suite %s, tier %s\n", p.Suite, p.Tier)
	switch {
	case p.NotRun != "":
		fmt.Fprintf(w, "not run: %s\n", p.NotRun)
		return
	case p.Problem != "":
		fmt.Fprintf(w, "could not be measured: %s\n", strings.TrimSuffix(p.Problem+"; "+p.Action, "; "))
		return
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "STRATUM\tCASES\tLEFT OUT")
	for _, s := range p.Strata {
		fmt.Fprintf(tw, "%s\t%d\t%d\n", printable(s.Stratum), s.Cases, s.Left)
	}
	fmt.Fprintf(tw, "all\t%d\t%d\n", p.Cases, p.Left)
	tw.Flush()
	calls := fmt.Sprintf("%d calls", p.Calls)
	if p.Shard != "" {
		calls += " in shard " + p.Shard
	}
	if p.Seconds == nil {
		fmt.Fprintf(w, "%s; how long they take is unknown: no complete record of the suite is in %s\n", calls, shown(record.Base(".")))
	} else {
		fmt.Fprintf(w, "%s, about %.0f s by the last run (%s)\n", calls, *p.Seconds, p.Last)
	}
	for _, d := range p.Detects {
		fmt.Fprintf(w, "%s: two runs tell a mean difference of %.4f apart (paired over %d cases, power .8, if values of a case correlate by %.1f)\n", d.Measure, d.Difference, d.Cases, d.Rho)
	}
}
