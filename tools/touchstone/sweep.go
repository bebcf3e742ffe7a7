package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests/compare/sweep"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

func sweepCommand() *cobra.Command {
	return group("sweep", "Try settings: the fusion weight by replay, arms by running them", sweepFusionCommand(), sweepAblationCommand())
}

func sweepFusionCommand() *cobra.Command {
	var o struct {
		sweep.FusionOptions
		weights, suite string
		json           bool
	}
	c := &cobra.Command{
		Use:   "fusion RUN",
		Short: "Replay the fusion of a run at other weights of the vector arm",
		Long: `Replay the fusion of a run at other weights of the vector arm. Nothing is run:
both arms are in the record. The replay must first reproduce what was recorded,
position by position, else there is no curve and the exit code is 2.`,
		Example: "  touchstone sweep fusion .touchstone/runs/20260101T120000-0a1b2c3d\n  touchstone sweep fusion RUN --weights 0:1:0.05 -m RR@10",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			weights, err := sweep.ParseWeights(o.weights)
			if err != nil {
				return &exit{exitUsage, fmt.Errorf("sweep fusion: --%w", err)}
			}
			o.Weights = weights
			files, err := suitesOf(args[0], o.suite)
			if err != nil {
				return refused(err)
			}
			type result struct {
				*sweep.Curve
				Confirm string `json:"confirm"`
			}
			results := []result{}
			for _, f := range files {
				curve, err := sweep.Fusion(f, o.FusionOptions)
				if err != nil {
					return refused(err)
				}
				results = append(results, result{curve, confirmRun(f.Run, curve.Best)})
			}
			if o.json {
				return refused(report.JSON(cmd.OutOrStdout(), results))
			}
			for i, r := range results {
				if i > 0 {
					fmt.Fprintln(cmd.OutOrStdout())
				}
				if err := report.Curve(cmd.OutOrStdout(), r.Curve, r.Confirm); err != nil {
					return refused(err)
				}
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&o.weights, "weights", sweep.DefaultWeights, "weights of the vector arm, from:to:step or with commas; the recorded one is added")
	f.StringVarP(&o.Measure, "measure", "m", "", "measure that decides (default: the run's first headline)")
	f.StringVar(&o.suite, "suite", "", "only this suite")
	f.BoolVar(&o.json, "json", false, "one JSON document")
	return c
}

// confirmRun is the command that runs the recorded configuration with another
// weight of the vector arm.
func confirmRun(run record.Run, weight float64) string {
	return runWith(run, fmt.Sprintf("weights.vector=%.6g", weight))
}

// runWith is the command that runs the recorded configuration, with the
// settings that are given in the place of its own.
func runWith(run record.Run, set ...string) string {
	dir := packFolder(run.Pack.Name)
	if dir == "" {
		dir = "PACK"
	}
	parts := []string{"touchstone run --pack", shellWord(dir)}
	replaced := map[string]bool{}
	for _, s := range set {
		key, _, _ := strings.Cut(s, "=")
		replaced[key] = true
		parts = append(parts, "--set", shellWord(s))
	}
	for _, key := range slices.Sorted(maps.Keys(run.Config)) {
		v := run.Config[key]
		if v.Default || replaced[key] || key == "read_only" {
			continue
		}
		if s := settingOf(key, v.Value, run.Config); s != "" {
			parts = append(parts, "--set", shellWord(s))
		}
	}
	return strings.Join(parts, " ")
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./=][A-Za-z0-9_./=:+-]*$`)

// shellWord is s as one word of a POSIX shell: what a record says is copied to
// a terminal, and is not to be a command there.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// settingOf writes an effective value as `run --set` takes it; empty for one
// that is said with another.
func settingOf(key, value string, config map[string]record.Set) string {
	name, isChannel := strings.CutPrefix(key, "channels.")
	switch {
	case key == "judge", key == "embedder":
		if key == "judge" {
			key = "reranker"
		}
		value, _, _ = strings.Cut(value, "@")
	case isChannel && strings.HasSuffix(name, ".weight"):
		return ""
	case isChannel && value == "true":
		value = config[key+".weight"].Value
	}
	return key + "=" + value
}

// packFolder finds the folder of a pack by its name among the fixtures of the
// module; empty if it lies elsewhere.
func packFolder(name string) string {
	root, ok := record.ModuleRoot(".")
	if !ok {
		return ""
	}
	found, err := filepath.Glob(filepath.Join(root, "fixtures", "*", "pack.toml"))
	if err != nil {
		return ""
	}
	for _, path := range found {
		if m, err := pack.ReadManifest(filepath.Dir(path)); err == nil && m.Name == name {
			return shown(filepath.Dir(path))
		}
	}
	return ""
}
