package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/engine/models"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

func modelsCommand() *cobra.Command {
	return group("models", "List, fetch and verify the full models", modelsListCommand(), modelsGetCommand(), modelsVerifyCommand())
}

// modelsOptions are the flags that all commands of the group have.
type modelsOptions struct {
	lock, dir string
	json      bool
}

func (o *modelsOptions) flags(c *cobra.Command) {
	c.Flags().StringVar(&o.lock, "lock", "models.lock.json", "file that names the models and their digests")
	c.Flags().StringVar(&o.dir, "to", "", "folder of the models (default EVAL_MODELS, or else .touchstone/models)")
	c.Flags().BoolVar(&o.json, "json", false, "one JSON document")
}

// load reads the lock and picks the named models, or all of them.
func (o *modelsOptions) load(names []string) ([]models.Model, error) {
	if o.dir == "" {
		o.dir = models.Dir()
	}
	lock, err := models.ReadLock(o.lock)
	if errors.Is(err, os.ErrNotExist) {
		return nil, usage("%w; give it with --lock", err)
	}
	if err != nil {
		return nil, refused(err)
	}
	if len(names) == 0 {
		return lock.Models, nil
	}
	var picked []models.Model
	for _, name := range names {
		m, err := lock.Model(name)
		if err != nil {
			return nil, &exit{exitUsage, err}
		}
		picked = append(picked, m)
	}
	return picked, nil
}

// modelState is one line of list, get and verify.
type modelState struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	State  string `json:"state"` // in place, absent, changed
	Bytes  int64  `json:"bytes"`
	Source string `json:"source,omitempty"` // that get took it from
	Detail string `json:"detail,omitempty"` // what is wrong
}

func stateOf(dir string, m models.Model) (modelState, error) {
	s := modelState{Name: m.Name, Kind: m.Kind, State: "in place"}
	for _, f := range m.Files {
		s.Bytes += f.Size
	}
	err := models.Verify(dir, m)
	var absent *models.AbsentError
	switch {
	case errors.As(err, &absent):
		s.State = "absent"
	case err != nil:
		s.State = "changed"
	}
	if err != nil {
		s.Detail = err.Error()
	}
	return s, err
}

func (o *modelsOptions) show(cmd *cobra.Command, states []modelState) error {
	if o.json {
		return refused(report.JSON(cmd.OutOrStdout(), map[string]any{"dir": o.dir, "models": states}))
	}
	for _, s := range states {
		line := fmt.Sprintf("%s\t%s\t%.1f MB\t%s", s.Name, s.Kind, float64(s.Bytes)/1e6, s.State)
		if s.Source != "" {
			line += "\tfrom " + s.Source
		}
		fmt.Fprintln(cmd.OutOrStdout(), line)
	}
	return nil
}

func modelsListCommand() *cobra.Command {
	var o modelsOptions
	c := &cobra.Command{
		Use:   "list",
		Short: "Show the models of the lock, and whether they are in place",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := o.load(nil)
			if err != nil {
				return err
			}
			states := []modelState{}
			for _, m := range all {
				s, _ := stateOf(o.dir, m) // what is wrong is in the state
				states = append(states, s)
			}
			return o.show(cmd, states)
		},
	}
	o.flags(c)
	return c
}

func modelsVerifyCommand() *cobra.Command {
	var o modelsOptions
	c := &cobra.Command{
		Use:   "verify [MODEL ...]",
		Short: "Read every file again and compare it with the lock, offline",
		Long: `Read every file again and compare it with the lock, offline. Without names
the models that are in place are verified; that there is none is a failure too,
since nothing was verified.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			all, err := o.load(names)
			if err != nil {
				return err
			}
			states, failed := []modelState{}, []error{}
			for _, m := range all {
				s, err := stateOf(o.dir, m)
				if s.State == "absent" && len(names) == 0 {
					continue
				}
				states = append(states, s)
				if err != nil {
					failed = append(failed, err)
				}
			}
			if err := o.show(cmd, states); err != nil {
				return err
			}
			if len(states) == 0 {
				failed = append(failed, fmt.Errorf("models: none of %d is in %s: nothing was verified; fetch with `touchstone models get`", len(all), o.dir))
			}
			return refused(errors.Join(failed...))
		},
	}
	o.flags(c)
	return c
}

func modelsGetCommand() *cobra.Command {
	var (
		o    modelsOptions
		from string
	)
	c := &cobra.Command{
		Use:   "get [MODEL ...]",
		Short: "Put models in place, from the first source that serves them",
		Long: `Put models in place, from the first source of the lock that serves them: a
local folder (--from; with --to, EVAL_MODELS too), the Hugging Face hub, a Maven
repository (MAVEN_REPO, a mirror in ~/.m2/settings.xml, or the public one).
Every file is checked against the lock before the model appears. Without names,
every model that some source serves without a folder of yours.`,
		Example: "  touchstone models get\n  touchstone models get ce3-int8 --from ../models",
		RunE: func(cmd *cobra.Command, names []string) error {
			all, err := o.load(names)
			if err != nil {
				return err
			}
			g, err := getter(cmd, o.dir, from)
			if err != nil {
				return err
			}
			states, failed := []modelState{}, []error{}
			for _, m := range all {
				if len(names) == 0 && !m.Remote() && from == "" {
					if s, _ := stateOf(o.dir, m); s.State == "absent" {
						fmt.Fprintf(cmd.ErrOrStderr(), "touchstone: model %s: only a local folder serves it; give one with --from\n", m.Name)
						states = append(states, s)
						continue
					}
				}
				got, err := g.Get(cmd.Context(), m)
				if err != nil {
					failed = append(failed, err)
				}
				s, _ := stateOf(o.dir, m)
				s.Source = got.Source
				states = append(states, s)
			}
			if err := o.show(cmd, states); err != nil {
				return err
			}
			return refused(errors.Join(failed...))
		},
	}
	o.flags(c)
	c.Flags().StringVar(&from, "from", "", "folder that holds models by name, or the files of one")
	return c
}

func getter(cmd *cobra.Command, dir, from string) (models.Getter, error) {
	maven, err := models.MavenEnv()
	if err != nil {
		return models.Getter{}, refused(err)
	}
	g := models.Getter{Dir: dir, Maven: maven, Log: func(format string, args ...any) {
		fmt.Fprintf(cmd.ErrOrStderr(), "touchstone: "+format+"\n", args...)
	}}
	if from != "" {
		if info, err := os.Stat(from); err != nil || !info.IsDir() {
			return g, usage("models get: --from %s: no such folder", from)
		}
		g.From = append(g.From, from)
	}
	if env := os.Getenv("EVAL_MODELS"); env != "" && filepath.Clean(env) != filepath.Clean(dir) {
		g.From = append(g.From, env)
	}
	return g, nil
}
