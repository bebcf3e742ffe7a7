package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/compare/sweep"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

func probeCommand() *cobra.Command {
	return group("probe", "Measure what a part of the engine is worth", probePoolCommand())
}

func probePoolCommand() *cobra.Command {
	var o probeOptions
	c := &cobra.Command{
		Use:   "pool PACK | RUN...",
		Short: "Measure pool sizes with the reranker on and off",
		Long: `Measure pool sizes with the reranker on and off. With a pack folder, every arm
is run on its own over one store; with runs, their records are read. The arms
may differ in the pool size and the reranker alone.

Exit codes: 0 measured, 2 refused: arms that differ in more, a store under 100
documents, a pool of half the corpus or more.`,
		Example: "  touchstone probe pool fixtures/scifact --reranker ce3-int8 --pools 10,20,50 --limit 60\n  touchstone probe pool RUN_OFF RUN_ON10 RUN_ON50",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.command(cmd, args) },
	}
	f := c.Flags()
	f.IntSliceVar(&o.pools, "pools", []int{10, 20, 50}, "pool sizes")
	f.StringVar(&o.reranker, "reranker", "", "model below EVAL_MODELS, or a path")
	f.StringArrayVar(&o.arm.set, "set", nil, "key=value of the engine, the same in every arm (repeatable)")
	f.StringVar(&o.arm.out, "out", "", "folder for the run folders (default .touchstone/runs)")
	f.StringVar(&o.arm.format, "format", "", "format of raw data")
	f.IntVar(&o.arm.limit, "limit", 0, "at most this many cases, stratified")
	f.StringVarP(&o.Measure, "measure", "m", "", "measure that decides (default nDCG@10)")
	f.StringVar(&o.Stratum, "stratum", "", "only the cases of a stratum that the pack declares")
	f.BoolVar(&o.json, "json", false, "one JSON document")
	return c
}

type probeOptions struct {
	sweep.PoolOptions
	arm      runOptions
	pools    []int
	reranker string
	json     bool
}

func (o probeOptions) command(cmd *cobra.Command, args []string) error {
	runs, err := areRuns(args)
	if err != nil {
		return err
	}
	if o.Stratum == sweep.BuriedStratum {
		return refused(&sweep.SelectionError{Stratum: o.Stratum})
	}
	var sides []compare.Side
	switch {
	case runs:
		for _, a := range args {
			found, err := compare.Open(a)
			if err != nil {
				return refused(err)
			}
			sides = append(sides, found...)
		}
	case len(args) > 1:
		return usage("probe pool: give one pack, or runs")
	default:
		if sides, err = o.run(cmd, args[0]); err != nil {
			return err
		}
	}
	r, err := sweep.Pool(sides, o.PoolOptions)
	if err != nil {
		return refused(err)
	}
	if o.json {
		return refused(report.JSON(cmd.OutOrStdout(), r))
	}
	return refused(report.Pool(cmd.OutOrStdout(), r))
}

// run makes every arm, the reranker off and on at each pool, each on its own.
func (o probeOptions) run(cmd *cobra.Command, dir string) ([]compare.Side, error) {
	if o.reranker == "" {
		return nil, usage("probe pool: --reranker is missing; name a model")
	}
	pools := slices.Clone(o.pools)
	slices.Sort(pools)
	pools = slices.Compact(pools)
	if len(pools) == 0 || pools[0] < 1 {
		return nil, usage("probe pool: --pools %v; want numbers of at least 1", o.pools)
	}
	o.arm.pack = dir
	suite, err := o.arm.suite(cmd)
	if err != nil {
		return nil, err
	}
	if suite.Pack == nil {
		return nil, refused(fmt.Errorf("%s: the pack is not here; is EVAL_PACKS set?", dir))
	}
	// Before hours of reranking, not after.
	if err := sweep.CheckShape(suite.Name, len(suite.Pack.Documents), pools); err != nil {
		return nil, refused(err)
	}
	var arms []armRun
	for _, p := range pools {
		size := "pool_size=" + strconv.Itoa(p)
		arms = append(arms,
			armRun{o.arm, fmt.Sprintf("off-%d", p), []string{size, "reranker=none"}},
			armRun{o.arm, fmt.Sprintf("on-%d", p), []string{size, "reranker=" + o.reranker}})
	}
	for _, a := range arms {
		if _, err := a.configured(); err != nil {
			return nil, err
		}
	}
	var sides []compare.Side
	for _, a := range arms {
		s, err := a.side(cmd)
		if err != nil {
			return nil, err
		}
		sides = append(sides, s)
	}
	return sides, nil
}
