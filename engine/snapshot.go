package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/touchstone-eval/touchstone/engine/store"
)

// SnapshotPatience is how long a [Snapshot] waits for a store that is busy.
const SnapshotPatience = 60 * time.Second

// SnapshotReport says what a [Snapshot] did.
type SnapshotReport struct {
	Bytes   int64  // of the copied store
	Lexical string // "copied", or "rebuilt" where a writer has the folder open or its index is behind
}

// Snapshot copies the engine's folder dir, which others may be writing to, to
// a new folder dest. The store's file stays as it is, to the byte and the time
// of its last change; SQLite may touch the files beside it. dest holds either
// a whole copy or nothing.
func Snapshot(ctx context.Context, dir, dest string) (report SnapshotReport, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("snapshot of %s: %w", dir, err)
		}
	}()
	if _, err := os.Stat(filepath.Join(dir, storeFile)); err != nil {
		return report, fmt.Errorf("no store: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
		return report, err
	}
	if err := os.Mkdir(dest, 0o755); err != nil {
		return report, err // also for a folder that is there: nothing is overwritten
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dest))
		}
	}()
	// With the lock there is no writer, and the index goes with the store.
	lock := flock.New(filepath.Join(dir, lockFile), flock.SetFlag(os.O_RDONLY))
	alone, lockErr := lock.TryRLock()
	if lockErr == nil && alone {
		defer lock.Close()
	}
	if err := store.Backup(ctx, filepath.Join(dir, storeFile), filepath.Join(dest, storeFile), SnapshotPatience); err != nil {
		return report, err
	}
	if lockErr == nil && alone {
		// A copy that fails is no loss: the index is made of the store.
		if copyErr := os.CopyFS(filepath.Join(dest, lexicalDir), os.DirFS(filepath.Join(dir, lexicalDir))); copyErr != nil {
			if err := os.RemoveAll(filepath.Join(dest, lexicalDir)); err != nil {
				return report, err
			}
		}
	}
	s, err := store.Open(ctx, filepath.Join(dest, storeFile), store.Options{})
	if err != nil {
		return report, err
	}
	e := &Engine{dir: dest, store: s, release: []func() error{s.Close}}
	rebuilt, err := e.repairLexical(ctx)
	if err = errors.Join(err, e.undo()); err != nil {
		return report, err
	}
	report.Lexical = "copied"
	if rebuilt {
		report.Lexical = "rebuilt"
	}
	info, err := os.Stat(filepath.Join(dest, storeFile))
	if err != nil {
		return report, err
	}
	report.Bytes = info.Size()
	return report, nil
}
