package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"

	"github.com/touchstone-eval/touchstone/engine/chunk"
	"github.com/touchstone-eval/touchstone/engine/dense"
	"github.com/touchstone-eval/touchstone/engine/embed"
	"github.com/touchstone-eval/touchstone/engine/lexical"
	"github.com/touchstone-eval/touchstone/engine/store"
)

// Names of what an engine keeps in its folder.
const (
	storeFile  = "store.sqlite"
	lexicalDir = "lexical"
	lockFile   = "lock"
)

// ErrClosed is returned by every call after [Engine.Close].
var ErrClosed = errors.New("the engine is closed")

// ErrInUse is wrapped by the error of [Open] for a folder that another engine
// writes to, or that is read while it should be written.
var ErrInUse = errors.New("the folder is in use")

// ErrOtherModel is wrapped by the error of [Open] for a folder whose vectors
// were made by another model.
var ErrOtherModel = errors.New("made by another model")

// ErrOtherChunks is wrapped by the error of [Open] for a folder whose passages
// were cut with other settings.
var ErrOtherChunks = errors.New("cut with other settings")

// Engine is an open folder. It is safe for concurrent use: searches run side
// by side, writes wait for each other, and a search sees all of a batch or
// none of it.
type Engine struct {
	dir       string
	cfg       Config // filled
	effective map[string]ConfigValue
	embedder  embed.Embedder
	model     embed.Info

	writer sync.Mutex // held by one Ingest or Delete

	mu      sync.RWMutex // guards what follows, and that store and indexes agree
	closed  bool
	store   *store.Store
	lexical *lexical.Index
	dense   *dense.Index
	totals  store.Totals
	again   int   // documents that Open enriched
	behind  error // why the lexical index lacks a write; nil if it has all

	release []func() error // undoes Open, last first
}

// Open opens the engine in a folder, which is made if it is absent.
func Open(ctx context.Context, dir string, cfg Config) (_ *Engine, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	e := &Engine{dir: dir, cfg: cfg.filled(), effective: cfg.Effective()}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("engine %s: %w", dir, err), e.undo())
		}
	}()
	if err := e.lock(); err != nil {
		return nil, err
	}
	if err := e.openEmbedder(); err != nil {
		return nil, err
	}
	if e.store, err = store.Open(ctx, filepath.Join(dir, storeFile), store.Options{ReadOnly: cfg.ReadOnly}); err != nil {
		return nil, err
	}
	e.release = append(e.release, e.store.Close)
	if err := e.checkOrigin(ctx); err != nil {
		return nil, err
	}
	if err := e.enrichAgain(ctx); err != nil {
		return nil, err
	}
	if err := e.openLexical(ctx); err != nil {
		return nil, err
	}
	if e.totals, err = e.store.Totals(ctx); err != nil {
		return nil, err
	}
	e.dense = dense.New(e.model.Dim)
	if err := e.store.EachVector(ctx, e.model, e.dense.Put); err != nil {
		return nil, err
	}
	return e, nil
}

// lock keeps a second writer out, of this process or another.
func (e *Engine) lock() error {
	if !e.cfg.ReadOnly {
		if err := os.MkdirAll(e.dir, 0o755); err != nil {
			return err
		}
	} else if _, err := os.Stat(filepath.Join(e.dir, storeFile)); err != nil {
		return fmt.Errorf("nothing to open read-only: %w", err)
	}
	lock := flock.New(filepath.Join(e.dir, lockFile))
	try := lock.TryLock
	if e.cfg.ReadOnly {
		try = lock.TryRLock
	}
	ok, err := try()
	if err != nil {
		return fmt.Errorf("lock the folder: %w", err)
	}
	if !ok {
		return fmt.Errorf("%w: close the other engine first, or open both read-only", ErrInUse)
	}
	e.release = append(e.release, lock.Close)
	return nil
}

func (e *Engine) openEmbedder() error {
	e.embedder = e.cfg.Embedder
	if e.embedder == nil {
		m, err := embed.Default()
		if err != nil {
			return fmt.Errorf("open the default model: %w", err)
		}
		e.embedder = m
		e.release = append(e.release, m.Close)
	}
	e.model = e.embedder.Info()
	if e.model.Dim < 1 {
		return fmt.Errorf("model %q says its vectors have %d numbers: want at least 1", e.model.Name, e.model.Dim)
	}
	e.effective["embedder"] = ConfigValue{modelName(e.model), e.cfg.Embedder == nil}
	return nil
}

const chunkNote = "chunk"

// checkOrigin refuses to mix vectors of two models or passages of two
// settings. An empty folder takes on the engine's.
func (e *Engine) checkOrigin(ctx context.Context) error {
	models, err := e.store.Models(ctx)
	if err != nil {
		return err
	}
	for _, m := range models {
		if m != e.model {
			return fmt.Errorf("its vectors are %w: %s, opened with %s: open it with that model, or ingest into a new folder",
				ErrOtherModel, modelName(m), modelName(e.model))
		}
	}
	documents, err := e.store.Count(ctx, store.Documents)
	if err != nil {
		return err
	}
	note, found, err := e.store.Meta(ctx, chunkNote)
	if err != nil {
		return err
	}
	here := chunkSettings(e.cfg.Chunk)
	if documents > 0 && note != here {
		return fmt.Errorf("its passages are %w: %s, opened with %s: open it with those, or ingest into a new folder",
			ErrOtherChunks, note, here)
	}
	if (!found || note != here) && !e.cfg.ReadOnly {
		return e.store.SetMeta(ctx, chunkNote, here)
	}
	return nil
}

func chunkSettings(c chunk.Config) string {
	return fmt.Sprintf("max_words=%d overlap=%d", c.MaxWords, c.Overlap)
}

// Config returns every setting in effect by name.
func (e *Engine) Config() map[string]ConfigValue { return maps.Clone(e.effective) }

// Close waits for running calls and frees the folder. Further calls of it do
// nothing.
func (e *Engine) Close() error {
	e.writer.Lock()
	defer e.writer.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	return e.undo()
}

func (e *Engine) undo() error {
	var errs []error
	for i := len(e.release) - 1; i >= 0; i-- {
		errs = append(errs, e.release[i]())
	}
	e.release = nil
	return errors.Join(errs...)
}
