package engine

import (
	"context"
	"fmt"

	"github.com/touchstone-eval/touchstone/engine/enrich"
)

// enrichAgain enriches the documents that an older version stored. Each is a
// transaction of its own, so an open that is cut short is continued by the
// next.
func (e *Engine) enrichAgain(ctx context.Context) error {
	ids, err := e.store.Unenriched(ctx)
	if err != nil {
		return err
	}
	if len(ids) > 0 && e.cfg.ReadOnly {
		return fmt.Errorf("%d documents, such as %q, are not enriched by %s: open it once for writing", len(ids), ids[0], enrich.Version)
	}
	for _, id := range ids {
		d, err := e.store.Document(ctx, id)
		if err != nil {
			return err
		}
		if err := e.store.Enrich(ctx, id, *read(d)); err != nil {
			return err
		}
	}
	e.again = len(ids)
	return nil
}

// EnrichedAgain is the number of documents that [Open] had to enrich, because
// an older version had stored them.
func (e *Engine) EnrichedAgain() int { return e.again }
