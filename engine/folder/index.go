package folder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/store"
)

// StoreName is the folder, within the indexed one, that an index is kept in
// unless another is given.
const StoreName = ".touchstone-engine"

// ErrNotIndexed is wrapped by the error of [Open] for a folder that is to be
// read and was never indexed.
var ErrNotIndexed = errors.New("not indexed")

// ErrOtherFolder is wrapped by the error of [Open] for a store that holds
// another folder than the one it is opened for.
var ErrOtherFolder = errors.New("holds another folder")

// Options say how an index is opened. The zero value is a working default.
type Options struct {
	Store    string        // folder of the store; empty means StoreName in the indexed folder
	MaxBytes int64         // larger files are left out; 0 means DefaultMaxBytes
	Engine   engine.Config // its ReadOnly opens the index for searches only
}

// Index is an open index of a folder. Searches are safe for concurrent use.
type Index struct {
	dir, at  string // the folder and its store, absolute, links resolved
	maxBytes int64
	engine   *engine.Engine
	store    *store.Store // beside the engine, for what it does not hand out
}

// Notes that the store keeps of a folder.
const (
	rootNote  = "folder.root"  // which folder this is
	pathsNote = "folder.paths" // JSON list of all documents, and perhaps of some that are not there (any more)
)

// Open opens the index of the folder dir. Unless it is opened read-only, a
// store that does not exist is made.
func Open(ctx context.Context, dir string, o Options) (_ *Index, err error) {
	x := &Index{maxBytes: o.MaxBytes}
	if x.maxBytes == 0 {
		x.maxBytes = DefaultMaxBytes
	}
	if x.dir, err = resolve(dir); err != nil {
		return nil, fmt.Errorf("folder %s: %w", dir, err)
	}
	if info, err := os.Stat(x.dir); err != nil {
		return nil, fmt.Errorf("folder %s: %w", dir, reason(err))
	} else if !info.IsDir() {
		return nil, fmt.Errorf("folder %s: not a folder", dir)
	}
	at := o.Store
	if at == "" {
		at = filepath.Join(dir, StoreName)
	}
	if x.at, err = resolve(at); err != nil {
		return nil, fmt.Errorf("store %s: %w", at, err)
	}
	if x.at == x.dir {
		return nil, fmt.Errorf("store %s: is the folder itself; give another", at)
	}
	file := filepath.Join(x.at, "store.sqlite")
	if o.Engine.ReadOnly {
		if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("folder %s: %w: no store at %s", dir, ErrNotIndexed, at)
		}
	}
	if x.engine, err = engine.Open(ctx, x.at, o.Engine); err != nil {
		return nil, err
	}
	if x.store, err = store.Open(ctx, file, store.Options{ReadOnly: o.Engine.ReadOnly}); err != nil {
		return nil, errors.Join(err, x.engine.Close())
	}
	if err := x.claim(ctx, o.Engine.ReadOnly); err != nil {
		return nil, errors.Join(fmt.Errorf("store %s: %w", at, err), x.Close())
	}
	return x, nil
}

// resolve makes a path absolute and follows its links, as far as it exists.
func resolve(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rest := ""
	for at := abs; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest), nil
		} else if !errors.Is(err, os.ErrNotExist) || at == filepath.Dir(at) {
			return "", reason(err)
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// inside is the path of the store relative to the folder, with slashes; empty
// if it is not within.
func (x *Index) inside() string {
	rel, err := filepath.Rel(x.dir, x.at)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// claim notes which folder an empty store is for, and refuses a store of
// another. A store within its folder may be moved along with it.
func (x *Index) claim(ctx context.Context, readOnly bool) error {
	here := x.dir
	if rel := x.inside(); rel != "" {
		here = "the folder above " + rel
	}
	note, found, err := x.store.Meta(ctx, rootNote)
	if err != nil {
		return err
	}
	if found && note == here {
		return nil
	}
	n, err := x.store.Count(ctx, store.Documents)
	if err != nil {
		return err
	}
	if n > 0 || readOnly {
		if !found {
			note = "documents that came from no folder"
		}
		return fmt.Errorf("%w: %s: give another store", ErrOtherFolder, note)
	}
	return x.store.SetMeta(ctx, rootNote, here)
}

// Documents is the number of documents in the index.
func (x *Index) Documents(ctx context.Context) (int, error) {
	return x.store.Count(ctx, store.Documents)
}

// Close frees the store.
func (x *Index) Close() error {
	return errors.Join(x.store.Close(), x.engine.Close())
}

// paths returns the noted paths, in order.
func (x *Index) paths(ctx context.Context) ([]string, error) {
	note, found, err := x.store.Meta(ctx, pathsNote)
	if err != nil || !found {
		return nil, err
	}
	var paths []string
	if err := json.Unmarshal([]byte(note), &paths); err != nil {
		return nil, fmt.Errorf("store %s: note %s: %w", x.at, pathsNote, err)
	}
	return paths, nil
}

func (x *Index) setPaths(ctx context.Context, paths []string) error {
	data, err := json.Marshal(paths)
	if err != nil {
		return err
	}
	return x.store.SetMeta(ctx, pathsNote, string(data))
}

// union returns the sorted union of two lists.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.SortFunc(all, strings.Compare)
	return slices.Compact(all)
}
