package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

func cleanCommand() *cobra.Command {
	var dir string
	var keep int
	var dry, asJSON bool
	c := &cobra.Command{
		Use:   "clean --keep N",
		Short: "Remove old run folders",
		Long: `Remove run folders but for the newest N. Only folders that a run made are
removed (those with a sound run.json); a run that is going on stays, and so
does everything else in the folder.`,
		Example: "  touchstone clean --keep 10\n  touchstone clean --keep 0 --runs /tmp/runs --dry-run",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("keep") || keep < 0 {
				return usage("clean: say with --keep how many runs stay, 0 or more")
			}
			if dir == "" {
				dir = record.Base(".")
			}
			done, err := clean(dir, keep, dry)
			if err != nil {
				return refused(err)
			}
			if asJSON {
				return refused(report.JSON(cmd.OutOrStdout(), done))
			}
			for _, r := range done.Removed {
				fmt.Fprintf(cmd.OutOrStdout(), "%s\t%s\n", map[bool]string{false: "removed", true: "would remove"}[dry], filepath.Join(shown(dir), r))
			}
			for _, r := range done.Busy {
				fmt.Fprintf(cmd.OutOrStdout(), "going on\t%s\n", filepath.Join(shown(dir), r))
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d removed (%.1f MB), %d kept\n", len(done.Removed), float64(done.Bytes)/1e6, done.Kept)
			return nil
		},
	}
	c.Flags().IntVar(&keep, "keep", 0, "how many of the newest runs stay")
	c.Flags().StringVar(&dir, "runs", "", "folder of run folders (default .touchstone/runs)")
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would be removed, and remove nothing")
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}

// cleaned is what clean did.
type cleaned struct {
	Removed []string `json:"removed"`
	Busy    []string `json:"going_on,omitempty"`
	Kept    int      `json:"kept"`
	Bytes   int64    `json:"bytes"`
	DryRun  bool     `json:"dry_run,omitempty"`
}

func clean(dir string, keep int, dry bool) (cleaned, error) {
	done := cleaned{Removed: []string{}, DryRun: dry}
	runs, err := runFolders(dir)
	if err != nil {
		return done, err
	}
	for i, r := range runs {
		if i < keep {
			done.Kept++
			continue
		}
		name := filepath.Base(r.Dir)
		unlock, err := r.Lock()
		if err != nil {
			done.Busy = append(done.Busy, name)
			done.Kept++
			continue
		}
		size, err := sizeOf(r.Dir)
		if err == nil && !dry {
			err = os.RemoveAll(r.Dir)
		}
		unlock()
		if err != nil {
			return done, err
		}
		done.Removed = append(done.Removed, name)
		done.Bytes += size
	}
	return done, nil
}

// runFolders are the runs in dir, the newest first. What is no sound run
// folder, and links to one, are passed over.
func runFolders(dir string) ([]*record.Folder, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var runs []*record.Folder
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if f, err := record.ReadFolder(filepath.Join(dir, e.Name())); err == nil {
			runs = append(runs, f)
		}
	}
	slices.SortFunc(runs, func(a, b *record.Folder) int {
		if d := b.Started.Compare(a.Started); d != 0 {
			return d
		}
		return strings.Compare(b.Dir, a.Dir)
	})
	return runs, nil
}

// sizeOf is what the files below dir hold.
func sizeOf(dir string) (int64, error) {
	var size int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}
