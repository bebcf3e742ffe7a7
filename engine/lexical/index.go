package lexical

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/blevesearch/bleve/v2"
	index "github.com/blevesearch/bleve_index_api"
)

// ErrStale is wrapped by the error of [Open] for an index that is absent,
// unreadable or of other analysis settings: it must be built again.
var ErrStale = errors.New("the lexical index must be built again")

// Document is a passage to be indexed.
type Document struct {
	ID    string
	Title string
	Text  string
}

// Index is a bleve index in a folder. It is safe for concurrent use.
type Index struct {
	path  string
	bleve bleve.Index
	close func() error
}

func newIndex(path string, b bleve.Index) *Index {
	return &Index{path: path, bleve: b, close: sync.OnceValue(b.Close)} // bleve panics when closed twice
}

var (
	formatKey = []byte("touchstone.format")
	stateKey  = []byte("touchstone.state")
)

// Create makes an empty index in a folder, in place of whatever is there.
func Create(path string) (*Index, error) {
	if err := os.RemoveAll(path); err != nil {
		return nil, fmt.Errorf("lexical %s: remove the old index: %w", path, err)
	}
	b, err := bleve.New(path, indexMapping)
	if err != nil {
		return nil, fmt.Errorf("lexical %s: create: %w", path, err)
	}
	if err := b.SetInternal(formatKey, []byte(format())); err != nil {
		return nil, errors.Join(fmt.Errorf("lexical %s: note the format: %w", path, err), b.Close())
	}
	return newIndex(path, b), nil
}

// Open opens the index in a folder, after it read all of it to compare
// checksums. An index that can only be replaced gives an error that wraps
// [ErrStale].
func Open(path string, readOnly bool) (*Index, error) {
	// bleve panics on damaged files, and for a writable index does so in the
	// background, where nothing can stop it. So the first look is read-only.
	x, err := load(path, true)
	if err != nil {
		return nil, err
	}
	if err := x.verify(); err != nil {
		return nil, errors.Join(fmt.Errorf("lexical %s: %w: %w", path, ErrStale, err), x.Close())
	}
	if readOnly {
		return x, nil
	}
	if err := x.Close(); err != nil {
		return nil, fmt.Errorf("lexical %s: %w", path, err)
	}
	return load(path, false)
}

func load(path string, readOnly bool) (_ *Index, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("lexical %s: %w: its files are damaged: %v", path, ErrStale, p)
		}
	}()
	b, err := bleve.OpenUsing(path, map[string]any{"read_only": readOnly, "bolt_timeout": "10s"})
	if err != nil {
		return nil, fmt.Errorf("lexical %s: %w: %w", path, ErrStale, err)
	}
	got, err := b.GetInternal(formatKey)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lexical %s: %w: read the format: %w", path, ErrStale, err), b.Close())
	}
	if string(got) != format() {
		return nil, errors.Join(fmt.Errorf("lexical %s: %w: its format is %q, this version writes %q", path, ErrStale, got, format()), b.Close())
	}
	return newIndex(path, b), nil
}

// Close frees the folder. Further calls of it do nothing; any other call after
// it fails.
func (x *Index) Close() error { return x.close() }

// Apply indexes and removes passages and notes a state, all or nothing, on
// disk when it returns. A passage with a known id is replaced; removals of
// unknown ids are ignored.
func (x *Index) Apply(put []Document, remove []string, state string) error {
	batch := x.bleve.NewBatch()
	for _, id := range remove {
		batch.Delete(id)
	}
	for _, d := range put {
		if err := batch.Index(d.ID, map[string]any{field: content(d.Title, d.Text)}); err != nil {
			return fmt.Errorf("lexical %s: index %s: %w", x.path, d.ID, err)
		}
	}
	batch.SetInternal(stateKey, []byte(state))
	if err := x.bleve.Batch(batch); err != nil {
		return fmt.Errorf("lexical %s: write a batch of %d passages and %d removals: %w", x.path, len(put), len(remove), err)
	}
	return nil
}

// State returns what the last [Index.Apply] noted, empty for a new index.
func (x *Index) State() (string, error) {
	state, err := x.bleve.GetInternal(stateKey)
	if err != nil {
		return "", fmt.Errorf("lexical %s: read the state: %w", x.path, err)
	}
	return string(state), nil
}

// Count returns the number of passages by the index's own count.
func (x *Index) Count() (int, error) {
	n, err := x.bleve.DocCount()
	if err != nil {
		return 0, fmt.Errorf("lexical %s: count: %w", x.path, err)
	}
	return int(n), nil
}

// Each calls fn with the id of every passage, in no stated order, until fn
// fails.
func (x *Index) Each(ctx context.Context, fn func(id string) error) (err error) {
	advanced, err := x.bleve.Advanced()
	if err != nil {
		return fmt.Errorf("lexical %s: enumerate: %w", x.path, err)
	}
	reader, err := advanced.Reader()
	if err != nil {
		return fmt.Errorf("lexical %s: enumerate: %w", x.path, err)
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	all, err := reader.DocIDReaderAll()
	if err != nil {
		return fmt.Errorf("lexical %s: enumerate: %w", x.path, err)
	}
	defer func() { err = errors.Join(err, all.Close()) }()
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("lexical %s: enumerate: %w", x.path, err)
		}
		var internal index.IndexInternalID
		internal, err = all.Next()
		if err != nil {
			return fmt.Errorf("lexical %s: enumerate: %w", x.path, err)
		}
		if internal == nil {
			return nil
		}
		id, err := reader.ExternalID(internal)
		if err != nil {
			return fmt.Errorf("lexical %s: enumerate: %w", x.path, err)
		}
		if err := fn(id); err != nil {
			return err
		}
	}
}
