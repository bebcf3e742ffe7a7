package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/adapt/builtin"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/seed"
)

func runCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run --pack PACK",
		Short: "Evaluate the built-in engine on a pack folder",
		Long: `Evaluate the built-in engine on a pack folder. With a suite.toml in the folder
its gates decide; without one there are no gates, and the exit code is 0 if
every case was scored, else 2.`,
		Example: "  touchstone run --pack fixtures/godoc\n  touchstone run --pack scifact-csv --format scifact --limit 50\n  touchstone run --pack fixtures/godoc --set weights.vector=0.3 --arm light",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	f := c.Flags()
	f.StringVar(&o.pack, "pack", "", "folder with pack.toml, or raw data")
	f.StringVar(&o.format, "format", "", fmt.Sprintf("format of raw data, one of %v (default: told by its files)", pack.Formats()))
	f.StringArrayVar(&o.set, "set", nil, "key=value of the engine, for instance weights.vector=0.3 (repeatable)")
	f.StringVar(&o.arm, "arm", "", "name of this configuration in the record (default base)")
	f.StringVar(&o.out, "out", "", "folder for the run folder (default .touchstone/runs)")
	f.StringVar(&o.tier, "tier", "", "smoke, full or deep (default: the suite's own)")
	f.StringVar(&o.scope, "scope", "", "what one store holds: suite, group or case (default: as suite.toml says)")
	f.IntVar(&o.limit, "limit", 0, "at most this many cases, stratified")
	f.BoolVar(&o.json, "json", false, "one JSON document")
	return c
}

type runOptions struct {
	scope                        string
	pack, format, arm, out, tier string
	set                          []string
	limit                        int
	json                         bool
}

func (o runOptions) run(cmd *cobra.Command) error {
	if o.pack == "" {
		return usage("run: --pack is missing; give a folder")
	}
	cfg, err := builtin.Configure(engine.Config{}, o.set)
	var model *builtin.ModelError
	switch {
	case errors.As(err, &model):
		return refused(err)
	case err != nil:
		return &exit{exitUsage, err}
	}
	suite, err := o.suite(cmd)
	if err != nil {
		return err
	}
	base := o.out
	if base == "" {
		base = record.Base(".")
	}
	folder, err := record.NewFolder(base, ".", "touchstone run", nil)
	if err != nil {
		return refused(err)
	}
	subject, err := builtin.NewRunner(cfg)
	if err != nil {
		return refused(err)
	}
	defer subject.Close()
	fmt.Fprintf(cmd.ErrOrStderr(), "touchstone: suite %s, %d cases; run folder %s\n", suite.Name, len(suite.Cases), shown(folder.Dir))
	done, err := evaltests.Evaluate(cmd.Context(), suite.In(folder), subject)
	if err != nil {
		return refused(err)
	}
	j, err := judge(folder.Dir, nil, done.Line.Tier)
	if err != nil {
		return err
	}
	// A pack that is not here is no verdict on the engine, but who asked for
	// it by name did not get it.
	if done.Verdict.Verdict == gate.NotRun {
		j.verdict.Verdict = gate.CNM
	}
	return j.show(cmd, o.json, false)
}

// suite is that of the folder's suite.toml, or one without gates.
func (o runOptions) suite(cmd *cobra.Command) (*evaltests.Suite, error) {
	env, err := evaltests.ParseEnv(os.Environ())
	if err != nil {
		return nil, &exit{exitUsage, err}
	}
	if o.limit < 0 {
		return nil, usage("run: --limit %s; want at least 1", strconv.Itoa(o.limit))
	}
	if o.limit > 0 {
		env.Limit, env.Limits = o.limit, nil
	}
	if o.tier != "" && !gate.ValidTier(o.tier) {
		return nil, usage("run: --tier %q; want smoke, full or deep", o.tier)
	}
	if o.arm != "" && !record.ValidSuite(o.arm) {
		return nil, usage("run: --arm %q; want lower-case letters, digits, dots, dashes", o.arm)
	}
	env.Tier = o.tier
	if env.Tier == "" {
		env.Tier = "deep" // asked for by name, so whatever tier it is of
	}
	path := filepath.Join(o.pack, "suite.toml")
	var s *evaltests.Suite
	if _, statErr := os.Stat(path); statErr == nil && o.format == "" {
		if s, err = evaltests.LoadSuite(path, env); err != nil {
			return nil, refused(err)
		}
	} else {
		if info, statErr := os.Stat(o.pack); statErr != nil || !info.IsDir() {
			return nil, usage("run: --pack %s: no such folder", o.pack)
		}
		p, err := pack.Load(o.pack, pack.Options{Packs: env.Packs, Format: o.format})
		if err != nil {
			return nil, refused(err)
		}
		if err := asPinned(p); err != nil {
			return nil, refused(err)
		}
		if s, err = evaltests.NewSuite(p, env); err != nil {
			return nil, refused(err)
		}
	}
	switch scope := seed.Scope(o.scope); {
	case scope == "":
	case !slices.Contains(seed.Scopes(), scope):
		return nil, usage("run: --scope %q; want one of %v", o.scope, seed.Scopes())
	default:
		s.Scope = scope
	}
	if o.arm != "" {
		s.Arm = o.arm
	}
	return s, nil
}
