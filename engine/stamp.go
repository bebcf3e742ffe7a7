package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/touchstone-eval/touchstone/engine/store"
)

const stampNote = "stamp"

// SetStamp writes a note into the store that says what the store is, in place
// of the one it has. Ingests do not touch it: it speaks of the moment at which
// it was written.
func (e *Engine) SetStamp(ctx context.Context, stamp string) error {
	e.writer.Lock()
	defer e.writer.Unlock()
	if err := e.writable(); err != nil {
		return fmt.Errorf("stamp: %w", err)
	}
	return e.store.SetMeta(ctx, stampNote, stamp)
}

// ReadStamp reads the note of a folder's store without opening an engine, and
// whether there is one. A folder without a store has none.
func ReadStamp(ctx context.Context, dir string) (stamp string, ok bool, err error) {
	path := filepath.Join(dir, storeFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	stamp, ok, err = store.ReadMeta(ctx, path, stampNote)
	if err != nil {
		return "", false, fmt.Errorf("engine %s: read the stamp: %w", dir, err)
	}
	return stamp, ok, nil
}

// ReadContentDigest is [Engine.ContentDigest] of a folder that need not be
// open, and may be of a former version.
func ReadContentDigest(ctx context.Context, dir string) (string, error) {
	return store.ReadContentDigest(ctx, filepath.Join(dir, storeFile))
}
