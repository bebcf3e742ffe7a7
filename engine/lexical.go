package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/touchstone-eval/touchstone/engine/lexical"
	"github.com/touchstone-eval/touchstone/engine/store"
)

// rebuildBatch is the number of passages indexed at once; scores do not
// depend on it.
const rebuildBatch = 500

// openLexical opens the lexical index. One that is not a complete image of the
// store is built again, or refused when read-only.
func (e *Engine) openLexical(ctx context.Context) error {
	_, err := e.repairLexical(ctx)
	return err
}

// repairLexical is openLexical, and says whether it built the index again.
func (e *Engine) repairLexical(ctx context.Context) (rebuilt bool, err error) {
	path := filepath.Join(e.dir, lexicalDir)
	x, err := lexical.Open(path, e.cfg.ReadOnly)
	if err == nil {
		if err = e.compareLexical(ctx, x); err == nil {
			e.lexical = x
			e.release = append(e.release, x.Close)
			return false, nil
		}
		if closeErr := x.Close(); closeErr != nil {
			return false, errors.Join(err, closeErr)
		}
	}
	if !errors.Is(err, lexical.ErrStale) {
		return false, err
	}
	if e.cfg.ReadOnly {
		return false, fmt.Errorf("%w: open it once for writing", err)
	}
	return true, e.rebuildLexical(ctx, path)
}

// compareLexical returns an error that wraps [lexical.ErrStale] if the index
// has seen other writes than the store, or holds another number of passages.
func (e *Engine) compareLexical(ctx context.Context, x *lexical.Index) error {
	want, err := e.store.State(ctx)
	if err != nil {
		return err
	}
	got, err := x.State()
	if err != nil {
		return err
	}
	if got != want.String() {
		return fmt.Errorf("%w: it is at write %.20q, the store at %.20q", lexical.ErrStale, got, want)
	}
	passages, err := e.store.Count(ctx, store.Chunks)
	if err != nil {
		return err
	}
	indexed, err := x.Count()
	if err != nil {
		return err
	}
	if indexed != passages {
		return fmt.Errorf("%w: it holds %d passages, the store %d", lexical.ErrStale, indexed, passages)
	}
	return nil
}

// rebuildLexical makes the index anew. The state is noted with the last batch,
// so a rebuild that was cut short is recognised.
func (e *Engine) rebuildLexical(ctx context.Context, path string) error {
	x, err := lexical.Create(path)
	if err != nil {
		return err
	}
	e.release = append(e.release, x.Close)
	state, err := e.store.State(ctx)
	if err != nil {
		return err
	}
	var batch []lexical.Document
	recounted := map[string]int{}
	err = e.store.EachPassage(ctx, func(p store.Passage) error {
		// Another version of the analyzer may count otherwise.
		if n := lexical.Tokens(p.Title, p.Text); n != p.Tokens {
			recounted[p.ID] = n
		}
		batch = append(batch, lexical.Document{ID: p.ID, Title: p.Title, Text: p.Text})
		if len(batch) < rebuildBatch {
			return nil
		}
		err := x.Apply(batch, nil, "")
		batch = batch[:0]
		return err
	})
	if err != nil {
		return err
	}
	if err := e.store.SetTokens(ctx, recounted); err != nil {
		return err
	}
	if err := x.Apply(batch, nil, state.String()); err != nil {
		return err
	}
	e.lexical = x
	return e.compareLexical(ctx, x)
}
