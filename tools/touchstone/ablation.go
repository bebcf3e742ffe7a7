package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/compare/sweep"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

func sweepAblationCommand() *cobra.Command {
	var o ablationOptions
	c := &cobra.Command{
		Use:   "ablation [BASE_RUN RUN...]",
		Short: "Suites by arms, with one verdict for each cell",
		Long: `Suites by arms, with one verdict for each cell. With --pack and --arm, the
built-in engine is run: the base twice (its noise floor), then every arm, which
may differ from the base in its own settings alone. With runs, their records are
read; an arm is told by the name in its record, and differs from the base in the
same keys on every suite.

Exit codes: 0 no significant loss, 1 a significant loss in some cell, 2 refused.`,
		Example: "  touchstone sweep ablation --pack fixtures/godoc --arm lexical:weights.vector=0 --arm graph:channels.graph=on\n  touchstone sweep ablation BASE RUN RUN",
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := c.Flags()
	f.StringArrayVar(&o.packs, "pack", nil, "pack folder to run on (repeatable)")
	f.StringArrayVar(&o.arms, "arm", nil, "NAME:key=value[,key=value] of an arm (repeatable)")
	f.StringArrayVar(&o.arm.set, "set", nil, "key=value of the base and every arm (repeatable)")
	f.StringArrayVar(&o.aa, "aa", nil, "another run of the base's own treatment, where runs are given (repeatable)")
	f.StringVar(&o.arm.out, "out", "", "folder for the run folders (default .touchstone/runs)")
	f.IntVar(&o.arm.limit, "limit", 0, "at most this many cases of each pack, stratified")
	f.BoolVar(&o.json, "json", false, "one JSON document")
	return c
}

type ablationOptions struct {
	arm             runOptions
	packs, arms, aa []string
	json            bool
}

func (o ablationOptions) run(cmd *cobra.Command, args []string) error {
	var base, aa []compare.Side
	var arms []sweep.ArmRuns
	var err error
	switch {
	case len(args) == 0 && len(o.packs) > 0 && len(o.arms) > 0:
		base, aa, arms, err = o.runs(cmd)
	case len(args) > 1 && len(o.packs)+len(o.arms) == 0:
		base, aa, arms, err = o.recorded(args)
	default:
		return usage("sweep ablation: give --pack and --arm, or the base's run and those of the arms")
	}
	if err != nil {
		return err
	}
	m, err := sweep.NewMatrix(base, arms, sweep.MatrixOptions{AA: aa})
	if err != nil {
		return refused(err)
	}
	if o.json {
		err = report.JSON(cmd.OutOrStdout(), m)
	} else {
		err = report.Matrix(cmd.OutOrStdout(), m)
	}
	if err != nil {
		return refused(err)
	}
	return verdictExit(worstCell(m))
}

// worstCell is the outcome of the table as a gate.
func worstCell(m *sweep.Matrix) string {
	for _, r := range m.Rows {
		if slices.ContainsFunc(r.Cells, func(c sweep.Cell) bool { return c.Gate == compare.GateRegressed }) {
			return gate.REGRESSED
		}
	}
	return gate.PASS
}

// armSetting is one --arm.
type armSetting struct {
	name string
	set  []string
}

func parseArm(s string) (armSetting, error) {
	name, list, ok := strings.Cut(s, ":")
	if !ok || !record.ValidSuite(name) || name == "base" || list == "" {
		return armSetting{}, usage("sweep ablation: --arm %q; want NAME:key=value[,key=value], the name of lower-case letters, digits, dots, dashes and not base", s)
	}
	return armSetting{name, strings.Split(list, ",")}, nil
}

// effectiveKeys are the keys of the effective configuration that a setting of
// run --set moves.
func effectiveKeys(set []string) []string {
	var keys []string
	for _, s := range set {
		key, _, _ := strings.Cut(s, "=")
		switch {
		case key == "reranker":
			keys = append(keys, "judge")
		case strings.HasPrefix(key, "channels."):
			keys = append(keys, key, key+".weight")
		default:
			keys = append(keys, key)
		}
	}
	return keys
}

// runs makes the base, its A/A run and every arm on every pack.
func (o ablationOptions) runs(cmd *cobra.Command) (base, aa []compare.Side, arms []sweep.ArmRuns, err error) {
	var settings []armSetting
	for _, s := range o.arms {
		a, err := parseArm(s)
		if err != nil {
			return nil, nil, nil, err
		}
		if slices.ContainsFunc(settings, func(b armSetting) bool { return b.name == a.name }) {
			return nil, nil, nil, usage("sweep ablation: two arms are named %s", a.name)
		}
		if _, err := (armRun{o.arm, a.name, a.set}).configured(); err != nil {
			return nil, nil, nil, err
		}
		settings = append(settings, a)
		arms = append(arms, sweep.ArmRuns{Name: a.name, Keys: effectiveKeys(a.set)})
	}
	for _, dir := range o.packs {
		o.arm.pack = dir
		for _, to := range []*[]compare.Side{&base, &aa} {
			s, err := armRun{o.arm, "base", nil}.side(cmd)
			if err != nil {
				return nil, nil, nil, err
			}
			*to = append(*to, s)
		}
		for i, a := range settings {
			s, err := armRun{o.arm, a.name, a.set}.side(cmd)
			if err != nil {
				return nil, nil, nil, err
			}
			arms[i].Runs = append(arms[i].Runs, s)
		}
	}
	return base, aa, arms, nil
}

// recorded reads runs that were made before; the arms are told by the names in
// the records.
func (o ablationOptions) recorded(args []string) (base, aa []compare.Side, arms []sweep.ArmRuns, err error) {
	if base, err = compare.Open(args[0]); err != nil {
		return nil, nil, nil, refused(err)
	}
	for _, path := range o.aa {
		sides, err := compare.Open(path)
		if err != nil {
			return nil, nil, nil, refused(err)
		}
		aa = append(aa, sides...)
	}
	for _, path := range args[1:] {
		sides, err := compare.Open(path)
		if err != nil {
			return nil, nil, nil, refused(err)
		}
		for _, s := range sides {
			name := s.File.Run.Arm
			i := slices.IndexFunc(arms, func(a sweep.ArmRuns) bool { return a.Name == name })
			if i < 0 {
				i = len(arms)
				arms = append(arms, sweep.ArmRuns{Name: name})
			}
			arms[i].Runs = append(arms[i].Runs, s)
		}
	}
	return base, aa, arms, nil
}
