package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/chunk"
)

// TestReadersAndWriter: a search sees all of a batch or none of it, in both
// arms, and no call fails because another runs.
func TestReadersAndWriter(t *testing.T) {
	e := open(t, t.TempDir(), engine.Config{Chunk: small, BatchSize: 2})
	pair := func(i int) []engine.Document {
		text := fmt.Sprintf("fox version%d", i)
		return []engine.Document{{ID: "left", Text: text}, {ID: "right", Text: text + strings.Repeat(" fox", i%3)}}
	}
	ingest(t, e, pair(0)...)
	ingest(t, e, corpus(30)...)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var readers, writers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for ctx.Err() == nil {
				r, err := e.Search(context.Background(), engine.Query{Text: "fox", K: 10})
				if err != nil {
					t.Error(err)
					return
				}
				lexical, _ := r.Stage(engine.StageLexical)
				vector, _ := r.Stage(engine.StageVector)
				if lexical.Total != 2 || vector.Total < lexical.Total || vector.Total != 2+passages {
					t.Errorf("%d of 2 lexical hits, %d of %d vectors", lexical.Total, vector.Total, 2+passages)
					return
				}
			}
		})
	}
	readers.Go(func() {
		for ctx.Err() == nil {
			for _, s := range e.Substrates(context.Background()) {
				if s.Count != s.Enumerated {
					t.Errorf("%+v", s)
					return
				}
			}
		}
	})
	for range 2 {
		writers.Go(func() {
			for i := range 15 {
				if _, err := e.Ingest(context.Background(), pair(i)...); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	stop()
	readers.Wait()
}

// passages is the number of passages of corpus(30), cut small.
var passages = func() int {
	n := 0
	for _, d := range corpus(30) {
		n += len(chunk.Split(d.Text, small))
	}
	return n
}()

// TestSearchesSideBySide: the same answers as one after the other.
func TestSearchesSideBySide(t *testing.T) {
	e := open(t, t.TempDir(), engine.Config{Chunk: small})
	ingest(t, e, corpus(60)...)
	want := rankings(t, e)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			if diff := cmp.Diff(want, rankings(t, e)); diff != "" {
				t.Errorf("(-alone +beside others):\n%.2000s", diff)
			}
		})
	}
	wg.Wait()
}

// TestCloseWaits: a search that has begun is finished, one that comes too
// late is told so.
func TestCloseWaits(t *testing.T) {
	e := open(t, t.TempDir(), engine.Config{Chunk: small})
	ingest(t, e, corpus(60)...)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				r, err := e.Search(context.Background(), engine.Query{Text: questions[6], K: 5})
				if err != nil {
					if !strings.Contains(err.Error(), engine.ErrClosed.Error()) {
						t.Error(err)
					}
					return
				}
				if len(r.Hits) != 5 {
					t.Errorf("%d hits", len(r.Hits))
				}
			}
		})
	}
	shut(t, e)
	wg.Wait()
}
