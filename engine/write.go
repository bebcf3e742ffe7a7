package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/touchstone-eval/touchstone/engine/lexical"
	"github.com/touchstone-eval/touchstone/engine/store"
)

// Delete removes documents. If one is not in the store nothing is removed, and
// the error wraps [ErrNotFound].
func (e *Engine) Delete(ctx context.Context, ids ...string) error {
	e.writer.Lock()
	defer e.writer.Unlock()
	if err := e.writable(); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	if len(ids) == 0 {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	removed, state, err := e.store.Delete(ctx, ids...)
	if err != nil {
		return err
	}
	return e.publish(ctx, write{remove: removed, state: state, any: true}, &IngestReport{})
}

// write is what the indexes need to know of one or more writes to the store.
type write struct {
	put    []lexical.Document
	dense  []store.Chunk
	remove []string
	state  store.State
	any    bool
}

func (w *write) add(entry store.Entry, replaced []string, state store.State) {
	w.any, w.state = true, state
	w.remove = append(w.remove, replaced...)
	for _, c := range entry.Chunks {
		w.put = append(w.put, lexical.Document{ID: c.ID, Title: entry.Document.Title, Text: entry.Document.Text[c.Start:c.End]})
		if c.Vector != nil {
			w.dense = append(w.dense, c)
		}
	}
}

// publish brings the indexes up to the store. What is committed must be
// published, so ctx cannot cut it short. It is called with both locks.
func (e *Engine) publish(ctx context.Context, w write, report *IngestReport) error {
	if !w.any {
		return nil
	}
	fail := func(err error) error {
		e.behind = fmt.Errorf("engine %s: the indexes lack a write that is in the store: open the folder again to repair it: %w", e.dir, err)
		return e.behind
	}
	start := time.Now()
	if err := e.lexical.Apply(w.put, w.remove, w.state.String()); err != nil {
		return fail(err)
	}
	totals, err := e.store.Totals(context.WithoutCancel(ctx))
	if err != nil {
		return fail(err)
	}
	e.totals = totals
	report.time("lexical", start)

	start = time.Now()
	for _, id := range w.remove {
		e.dense.Remove(id)
	}
	for _, c := range w.dense {
		if err := e.dense.Put(c.ID, c.Vector.Values); err != nil {
			return fail(err)
		}
	}
	report.time("dense", start)
	return nil
}
