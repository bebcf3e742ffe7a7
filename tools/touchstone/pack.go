package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

func packCommand() *cobra.Command {
	return group("pack", "Look at, make, pin and check packs", packListCommand(), packShowCommand(), packLintCommand(), packCheckCommand(),
		packLockCommand(), packImportCommand(), packGenerateCommand(), packRekeyCommand(), packExposeCommand())
}

// loadPack loads the pack in a folder; one that is not here or broken could
// not be measured.
func loadPack(dir, format string) (*pack.Pack, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, usage("pack %s: no such folder", dir)
	}
	return packAnswer(pack.Load(dir, pack.Options{Packs: os.Getenv("EVAL_PACKS"), Format: format}))
}

// asPinned holds a pack to its lock, if it has one: a folder without a
// suite.toml is measured as it lies only as long as nobody pinned it.
func asPinned(p *pack.Pack) error {
	if _, err := os.Lstat(filepath.Join(p.Dir, pack.LockFile)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return p.Check()
}

// scanPack is loadPack for what needs no documents.
func scanPack(dir string) (*pack.Pack, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, usage("pack %s: no such folder", dir)
	}
	// Pinning a corpus is reading it once: what is held is little, and what is
	// thrown away much, so that collecting often keeps the process small.
	debug.SetGCPercent(25)
	return packAnswer(pack.Scan(dir, pack.Options{Packs: os.Getenv("EVAL_PACKS")}))
}

// rawFormat is the flag for folders whose files do not tell what they are.
func rawFormat(c *cobra.Command, format *string) {
	c.Flags().StringVar(format, "format", "", fmt.Sprintf("format of raw data, one of %v (default: told by its files)", pack.Formats()))
}

func packAnswer(p *pack.Pack, err error) (*pack.Pack, error) {
	var modules *pack.MissingModulesError
	if errors.As(err, &modules) {
		err = fmt.Errorf("%w", err)
	}
	return p, refused(err)
}

func packCheckCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "check PACK",
		Short:   "Compare a pack with its lock, offline",
		Example: "  touchstone pack check fixtures/godoc",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := scanPack(args[0])
			if err != nil {
				return err
			}
			defer p.Close()
			var changed *pack.ChangedError
			err = p.Check()
			if asJSON && (err == nil || errors.As(err, &changed)) {
				changes := []string{}
				if changed != nil {
					changes = changed.Changes
				}
				if jsonErr := report.JSON(cmd.OutOrStdout(), map[string]any{"pack": p.Manifest.Name, "changes": changes, "counts": p.Counts()}); jsonErr != nil {
					return refused(jsonErr)
				}
			}
			if err != nil {
				return refused(err)
			}
			if !asJSON {
				n := p.Counts()
				fmt.Fprintf(cmd.OutOrStdout(), "%s: as pinned: %d documents, %d cases (%d answerable), %d judgements, %d files\n",
					p.Manifest.Name, n.Documents, n.Cases, n.Answerable, n.Judgements, len(p.Files))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}

func packLockCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "lock PACK",
		Short:   "Pin a pack as it is now: write its pack.lock.json",
		Example: "  touchstone pack lock fixtures/godoc",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := scanPack(args[0])
			if err != nil {
				return err
			}
			defer p.Close()
			lock, err := p.Lock()
			if err != nil {
				return refused(err)
			}
			if err := lock.Write(p.Dir); err != nil {
				return refused(err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: pinned %d documents, %d cases, content %.12s\n", lock.Name, lock.Counts.Documents, lock.Counts.Cases, lock.Content)
			return nil
		},
	}
}
