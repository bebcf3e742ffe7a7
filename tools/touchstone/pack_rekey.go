package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

func packRekeyCommand() *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "rekey PACK CASE --reason TEXT",
		Short: "Log a change of one case's gold, and pin it",
		Long: `Log a change of one case's gold, and pin it. Correct the gold in the pack's
files first; what it was is taken from the last commit. Refused if anything
else in the pack differs from that commit, or if the engine does: a key that is
corrected together with what it judges proves nothing. Runs and baselines that
were made before keep the gold they had, are named, and are compared with
nothing that was made after.`,
		Example: `  touchstone pack rekey fixtures/handbook q17 --reason "the 2024 rate holds since May"`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(reason) == "" {
				return usage("pack rekey: --reason is missing; say what was wrong with the key")
			}
			p, err := loadPack(args[0], "")
			if err != nil {
				return err
			}
			old, err := committed(p.Dir)
			if err != nil {
				return refused(err)
			}
			r, err := p.Rekey(old, args[1], reason)
			if err != nil {
				return refused(err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: gold of %s: %v, was %v; logged in %s, pinned\n",
				p.Manifest.Name, r.Case, r.New.Grades, r.Old.Grades, shown(filepath.Join(p.Dir, pack.RekeyFile)))
			fmt.Fprintln(cmd.ErrOrStderr(), "touchstone: records made before hold the old gold, and are not compared with new ones; goldens of this case must be blessed again")
			return oldBaselines(cmd, p.Manifest.Name)
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "what was wrong with the key")
	return c
}

// oldBaselines names the baselines over a pack that was rekeyed. They are not
// graded again: a record is what a run found by the gold it had, sealed with
// the gates and the verdict that followed from it.
func oldBaselines(cmd *cobra.Command, name string) error {
	root, ok := record.ModuleRoot(".")
	if !ok {
		return nil
	}
	list, err := compare.Baselines(root, "")
	if err != nil {
		return refused(err)
	}
	for _, b := range list {
		f, err := record.Read(filepath.Join(b.Dir, filepath.Base(b.Record)))
		if err != nil {
			return refused(err)
		}
		if f.Run.Pack.Name == name {
			fmt.Fprintf(cmd.ErrOrStderr(), "touchstone: baseline %s holds the old gold (%s): measure the sources of commit %.12s over the new pack, and save that run with `touchstone baseline save %s RUN --layer %s --replace`\n",
				b.Name, shown(b.Dir), b.Commit, b.Name, b.Layer)
		}
	}
	return nil
}

// committed loads a pack as the last commit has it, from a tree in which the
// engine is as committed.
func committed(dir string) (p *pack.Pack, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	git := func(args ...string) ([]byte, error) {
		cmd := exec.Command("git", append([]string{"-C", abs}, args...)...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
		}
		return out, nil
	}
	top, err := git("rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("%s: the old gold is that of the last commit, and this is no git checkout: %w", dir, err)
	}
	if root, ok := record.ModuleRoot(strings.TrimSpace(string(top))); ok {
		changed, err := git("status", "--porcelain", "--", filepath.Join(root, "engine"), filepath.Join(root, "go.mod"), filepath.Join(root, "go.sum"))
		if err != nil {
			return nil, err
		}
		if len(changed) > 0 {
			return nil, fmt.Errorf("the engine differs from the last commit too: %s; commit or undo that first", strings.Join(strings.Fields(string(changed)), " "))
		}
	}
	archive, err := git("archive", "--format=tar", "HEAD", "--", ".")
	if err != nil {
		return nil, fmt.Errorf("%s: not in the last commit: %w", dir, err)
	}
	tmp, err := os.MkdirTemp("", "touchstone-rekey-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if err := unpack(archive, tmp); err != nil {
		return nil, err
	}
	return pack.Load(tmp, pack.Options{Packs: os.Getenv("EVAL_PACKS")})
}

// unpack writes the files of a git archive.
func unpack(archive []byte, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	r := tar.NewReader(bytes.NewReader(archive))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		name := filepath.FromSlash(h.Name)
		if sub := filepath.Dir(name); sub != "." {
			if err := root.MkdirAll(sub, 0o755); err != nil {
				return err
			}
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if err := root.WriteFile(name, data, 0o644); err != nil {
			return err
		}
	}
}

func packExposeCommand() *cobra.Command {
	var why string
	c := &cobra.Command{
		Use:   "expose PACK RUN --why TEXT",
		Short: "Note that the cases of a run were used for tuning",
		Long: `Note that the cases of a run were used for tuning: each counts once more in the
pack's exposure.jsonl. A suite with max_exposure names the cases beyond it.`,
		Example: `  touchstone pack expose fixtures/godoc .touchstone/runs/20260101T000000Z-1 --why "fusion weight"`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(why) == "" {
				return usage("pack expose: --why is missing; say what was chosen by these cases")
			}
			p, err := loadPack(args[0], "")
			if err != nil {
				return err
			}
			files, err := record.ReadAll(args[1])
			if err != nil || len(files) == 0 {
				return usage("pack expose: %s: no record of a run", args[1])
			}
			u := pack.Use{Why: why, Run: filepath.Base(filepath.Clean(args[1]))}
			for _, f := range files {
				if f.Run.Pack.Name == p.Manifest.Name {
					u.Cases = append(u.Cases, f.Run.Plan...)
				}
			}
			if len(u.Cases) == 0 {
				return refused(fmt.Errorf("%s: no record over the pack %s", args[1], p.Manifest.Name))
			}
			if err := p.Expose(u); err != nil {
				return refused(err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %d cases counted once more\n", p.Manifest.Name, len(u.Cases))
			return nil
		},
	}
	c.Flags().StringVar(&why, "why", "", "what was chosen by them")
	return c
}
