package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

func abCommand() *cobra.Command {
	var o compareOptions
	var again int
	c := &cobra.Command{
		Use:   "ab BASE_REF",
		Short: "Run a commit and the checkout on this machine, and compare them",
		Long: `Run a commit and the checkout on this machine, and compare them. The commit is
checked out in a work tree of its own in a temporary folder, which is removed in
the end; the checkout is left alone. The base is run once more, so that its noise
is known. The run folders are kept with the others.

Exit codes: 0 no significant loss, 1 a significant loss, 2 not comparable or a
side that left no record.`,
		Example: "  touchstone ab main\n  touchstone ab HEAD~1 --suite godoc --vary weights.vector",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if again < 0 {
				return usage("ab: --again %d; want a number from 0", again)
			}
			return ab(cmd, args[0], again, o)
		},
	}
	o.flags(c)
	c.Flags().StringVar(&o.suite, "suite", "", "run and compare this suite of the inventory only")
	c.Flags().IntVar(&again, "again", 1, "how often the base is run again for the noise floor")
	return c
}

func ab(cmd *cobra.Command, ref string, again int, o compareOptions) (err error) {
	ctx := cmd.Context()
	top, err := gitOut(ctx, ".", "rev-parse", "--show-toplevel")
	if err != nil {
		return refused(fmt.Errorf("ab: this is no git checkout: %w", err))
	}
	commit, err := gitOut(ctx, ".", "rev-parse", "--verify", "--end-of-options", ref+"^{commit}")
	if err != nil {
		return usage("ab: %q names no commit", ref)
	}
	root, ok := record.ModuleRoot(".")
	if !ok {
		return usage("ab: no go.mod here or above")
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return refused(err)
	}
	inside, err := filepath.Rel(top, root)
	if err != nil {
		return refused(err)
	}
	env, err := evaltests.ParseEnv(os.Environ())
	if err != nil {
		return &exit{exitUsage, err}
	}
	if env.Nonce != "" || env.Bless != "" || env.Baseline != "" {
		return usage("ab: EVAL_NONCE, EVAL_BLESS and EVAL_BASELINE have no place here; unset them")
	}
	out := env.Out
	if out == "" {
		out = record.Base(root)
	}
	temp, err := os.MkdirTemp("", "touchstone-ab-")
	if err != nil {
		return refused(err)
	}
	tree := filepath.Join(temp, "base")
	defer func() {
		// Not under the context, which an interrupt has ended.
		_, removed := gitOut(context.WithoutCancel(ctx), top, "worktree", "remove", "--force", tree)
		if removed != nil { // it was never added, or is half there
			os.RemoveAll(tree)
			_, removed = gitOut(context.WithoutCancel(ctx), top, "worktree", "prune")
		}
		if clean := errors.Join(removed, os.RemoveAll(temp)); clean != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "touchstone: %s could not be cleaned up: %v\n", temp, clean)
		}
	}()
	if _, err := gitOut(ctx, top, "worktree", "add", "--detach", "--quiet", tree, commit); err != nil {
		return refused(fmt.Errorf("ab: %w", err))
	}
	r := abRuns{cmd: cmd, out: out, root: root, temp: temp, tier: env.Tier, suite: o.suite}
	r.recall()
	base := filepath.Join(tree, inside)
	var runs []string
	for i := range again + 1 {
		dir, err := r.run(fmt.Sprintf("base %.12s, run %d of %d", commit, i+1, again+1), base)
		if err != nil {
			return refused(fmt.Errorf("ab: %s: %w", ref, err))
		}
		runs = append(runs, dir)
	}
	head, err := r.run("the checkout", root)
	if err != nil {
		return refused(fmt.Errorf("ab: the checkout: %w", err))
	}
	o.aa = runs[1:]
	err = o.run(cmd, runs[0], []string{head})
	var e *exit
	if errors.As(err, &e) && e.code == exitRefused && e.err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "touchstone: the runs are kept; once what differs is declared: touchstone compare %s %s%s --vary ...\n",
			shown(runs[0]), shown(head), aaFlags(runs[1:]))
	}
	return err
}

func aaFlags(runs []string) string {
	s := ""
	for _, r := range runs {
		s += " --aa " + shown(r)
	}
	return s
}

// gitOut runs git and returns its first line. Variables of a hook that point
// elsewhere would make a work tree of another repository.
func gitOut(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == "GIT_DIR" || name == "GIT_WORK_TREE" || name == "GIT_INDEX_FILE"
	})
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
