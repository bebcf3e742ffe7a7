package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/evaltests/adapt/builtin"
	"github.com/touchstone-eval/touchstone/evaltests/report"
	"github.com/touchstone-eval/touchstone/evaltests/seed"
)

func seedCommand() *cobra.Command {
	return group("seed", "Make, check and look at the stores of a pack",
		seedVerb("build", "Make the stores of a pack's suite, or find them in the cache",
			`Make the stores of a pack's suite, or find them in the cache (EVAL_CACHE). A
store that cannot be used is refused; EVAL_ALLOW_WIPE=1 wipes it and seeds
again.`, buildSeed),
		seedVerb("check", "Hold the stores that are there to stamp, content and contract",
			`Hold the stores that are there to their stamps, their content and the pack's
contract. It changes nothing. 2 if a store is missing or cannot be used.`, checkSeed),
		seedVerb("show", "Say what the stores of a pack depend on, and where they are",
			`Say what the stores of a pack depend on, under which key they are filed, and
what filling them took.`, showSeed))
}

// seedReport is one store as --json prints it.
type seedReport struct {
	Group     string         `json:"group,omitempty"`
	Documents int            `json:"documents"`
	Key       string         `json:"key"`
	Dir       string         `json:"dir"`
	Decision  seed.Action    `json:"decision"`
	Reason    string         `json:"reason"`
	Do        string         `json:"do,omitempty"`
	Parts     seed.Parts     `json:"parts"`
	Filled    *seed.Filled   `json:"filled,omitempty"`
	Skipped   []seed.Skipped `json:"skipped,omitempty"`
	Report    []string       `json:"report,omitempty"`
	Allowed   []string       `json:"allowed,omitempty"`
	Micros    int64          `json:"micros,omitempty"`
}

// seedDo does one thing to one store; ok is false if the store cannot be used.
type seedDo func(cmd *cobra.Command, e seed.Engine, r seed.Request) (s *seed.Seed, ok bool, err error)

func seedVerb(use, short, long string, do seedDo) *cobra.Command {
	var set []string
	var format string
	var asJSON bool
	c := &cobra.Command{
		Use: use + " PACK", Short: short, Long: long, Args: cobra.ExactArgs(1),
		Example: "  touchstone seed " + use + " fixtures/godoc",
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := builtin.Configure(engine.Config{}, set)
			var model *builtin.ModelError
			switch {
			case errors.As(err, &model):
				return refused(err)
			case err != nil:
				return &exit{exitUsage, err}
			}
			suite, err := runOptions{pack: args[0], format: format}.suite(cmd)
			if err != nil {
				return err
			}
			runner, err := builtin.NewRunner(cfg)
			if err != nil {
				return refused(err)
			}
			defer runner.Close()
			requests, err := suite.Requests(runner)
			if err != nil {
				return refused(err)
			}
			var all []seedReport
			bad := 0
			for _, r := range requests {
				r.Kind = seed.Cached // an ephemeral store leaves nothing to build
				s, ok, err := do(cmd, runner.Seeds(), r)
				if err != nil {
					return refused(err)
				}
				if !ok {
					bad++
				}
				all = append(all, seedReport{
					Group: r.Group, Documents: len(r.Documents), Key: s.Key, Dir: s.Dir, Decision: s.Decision.Action, Reason: s.Decision.Reason, Do: s.Decision.Do,
					Parts: s.Parts, Filled: s.Mark.Fill, Skipped: s.Mark.Skip, Report: s.Result.Report, Allowed: s.Result.Allowed, Micros: s.Took.Microseconds(),
				})
			}
			if asJSON {
				err = report.JSON(cmd.OutOrStdout(), map[string]any{"pack": suite.Pack.Manifest.Name, "seeds": all})
			} else {
				err = writeSeeds(cmd.OutOrStdout(), suite.Pack.Manifest.Name, all, use == "show")
			}
			if err == nil && bad > 0 {
				err = fmt.Errorf("%d of %d stores cannot be used; make them with `touchstone seed build %s`", bad, len(all), args[0])
			}
			return refused(err)
		},
	}
	c.Flags().StringArrayVar(&set, "set", nil, "key=value of the engine, as for run (repeatable)")
	c.Flags().StringVar(&format, "format", "", "format of raw data (default: told by its files)")
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}

func buildSeed(cmd *cobra.Command, e seed.Engine, r seed.Request) (*seed.Seed, bool, error) {
	s, err := seed.Build(cmd.Context(), e, r)
	if err != nil {
		return nil, false, err
	}
	return s, true, s.Close()
}

func checkSeed(cmd *cobra.Command, e seed.Engine, r seed.Request) (*seed.Seed, bool, error) {
	r.Flags = seed.Flags{} // what may be done about a store is no part of what it is
	s, err := seed.Look(cmd.Context(), e, r)
	if err != nil {
		return nil, false, err
	}
	return s, s.Decision.Action == seed.ToReuse, nil
}

func showSeed(cmd *cobra.Command, e seed.Engine, r seed.Request) (*seed.Seed, bool, error) {
	s, _, err := checkSeed(cmd, e, r)
	return s, true, err
}

func writeSeeds(w io.Writer, name string, all []seedReport, parts bool) error {
	for _, s := range all {
		of := name
		if s.Group != "" {
			of += "/" + s.Group
		}
		fmt.Fprintf(w, "%q: %d documents, key %.12s, %s\n", of, s.Documents, s.Key, shown(s.Dir))
		text := s.Reason
		if s.Do != "" {
			text += "; " + s.Do
		}
		fmt.Fprintf(w, "  %s: %s\n", s.Decision, text)
		if f := s.Filled; f != nil {
			fmt.Fprintf(w, "  %s in %v, concurrency %d:", f.How, time.Duration(f.Micros)*time.Microsecond, f.Concurrency)
			for _, step := range f.Steps {
				fmt.Fprintf(w, " %s %v", step.Name, time.Duration(step.Micros)*time.Microsecond)
			}
			fmt.Fprintln(w)
		}
		for _, k := range s.Skipped {
			fmt.Fprintf(w, "  %d documents without %s: %s\n", k.Documents, k.Step, k.Reason)
		}
		for _, line := range slices.Concat(s.Allowed, s.Report) {
			fmt.Fprintf(w, "  %s\n", line)
		}
		if parts {
			for _, part := range slices.Sorted(maps.Keys(s.Parts)) {
				fmt.Fprintf(w, "  part %s = %q\n", part, s.Parts[part])
			}
		}
	}
	return nil
}

func snapshotCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "snapshot STORE DEST",
		Short: "Copy the folder of an engine that others write to, and mark the copy as a sandbox",
		Long: `Copy the folder of an engine that others write to, and mark the copy as a
sandbox. The bytes of the store stay as they are; a store that is busy is
waited for, at most 60 s. DEST must not be there.`,
		Example: "  touchstone snapshot ~/notes/.touchstone-index /tmp/copy",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if info, err := os.Stat(args[0]); err != nil || !info.IsDir() {
				return usage("snapshot %s: no such folder", args[0])
			}
			r, err := builtin.Snapshot(cmd.Context(), args[0], args[1])
			if err != nil {
				return refused(err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %d bytes copied, lexical index %s, marked as a sandbox\n", shown(args[1]), r.Bytes, r.Lexical)
			return nil
		},
	}
}
