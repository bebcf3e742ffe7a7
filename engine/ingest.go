package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/touchstone-eval/touchstone/engine/chunk"
	"github.com/touchstone-eval/touchstone/engine/embed"
	"github.com/touchstone-eval/touchstone/engine/enrich"
	"github.com/touchstone-eval/touchstone/engine/lexical"
	"github.com/touchstone-eval/touchstone/engine/store"
)

// Document is a document as it is ingested.
type Document = store.Document

// ErrNotFound is wrapped by errors about a document that was never ingested.
var ErrNotFound = store.ErrNotFound

// IngestReport says what an [Engine.Ingest] did.
type IngestReport struct {
	Documents int      // now in the store, of those given
	Chunks    int      // their passages
	Replaced  int      // documents that took the place of one with the same id
	Truncated []string // passages too long for the model, which saw their beginning
	Skipped   []SkippedStep
	Steps     []StepTime // in the order in which a batch goes through them
}

// SkippedStep is a step that a document went without.
type SkippedStep struct {
	DocumentID string
	Step       string // chunk, embed, or one of the enrichment's: see [enrich.Skip]
	Reason     string
}

// StepTime is the wall time of a step, summed over all batches. Batches that
// were prepared side by side each count in full: see [Config.Concurrency].
type StepTime struct {
	Name string
	Wall time.Duration
}

// time adds the time since start to a step.
func (r *IngestReport) time(name string, start time.Time) { r.add(name, time.Since(start)) }

func (r *IngestReport) add(name string, wall time.Duration) {
	for i := range r.Steps {
		if r.Steps[i].Name == name {
			r.Steps[i].Wall += wall
			return
		}
	}
	r.Steps = append(r.Steps, StepTime{name, wall})
}

// Ingest adds documents; one with a known id replaces the former, and of two
// with one id in docs the later counts. Nothing is ingested if a document is
// not valid. After another error, or when ctx ends, the documents that the
// report counts are complete and the others untouched.
func (e *Engine) Ingest(ctx context.Context, docs ...Document) (IngestReport, error) {
	var report IngestReport
	e.writer.Lock()
	defer e.writer.Unlock()
	if err := e.writable(); err != nil {
		return report, fmt.Errorf("ingest: %w", err)
	}
	last := make(map[string]int, len(docs))
	for i, d := range docs {
		if err := d.Validate(); err != nil {
			return report, fmt.Errorf("ingest: %w", err)
		}
		last[d.ID] = i
	}
	var batches [][]Document
	var batch []Document
	for i, d := range docs {
		if last[d.ID] != i {
			report.Replaced++
			continue
		}
		if batch = append(batch, d); len(batch) == e.cfg.BatchSize {
			batches = append(batches, batch)
			batch = nil
		}
	}
	if len(batch) > 0 {
		batches = append(batches, batch)
	}
	if err := e.ingestBatches(ctx, batches, &report); err != nil {
		return report, fmt.Errorf("ingest: %w", err)
	}
	return report, nil
}

// prepared is a batch that is ready to be stored.
type prepared struct {
	entries []store.Entry
	report  IngestReport // of the steps before the store
	err     error
}

// ingestBatches prepares up to Config.Concurrency batches side by side and
// stores them one by one, in their order.
func (e *Engine) ingestBatches(ctx context.Context, batches [][]Document, report *IngestReport) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ahead := make([]chan prepared, len(batches))
	begin := func(i int) {
		ahead[i] = make(chan prepared, 1)
		go func() {
			var p prepared
			p.entries, p.err = e.prepare(ctx, batches[i], &p.report)
			ahead[i] <- p
		}()
	}
	begun := 0
	for i := range batches {
		for ; begun < len(batches) && begun < i+e.cfg.Concurrency; begun++ {
			begin(begun)
		}
		p := <-ahead[i]
		for _, s := range p.report.Steps {
			report.add(s.Name, s.Wall)
		}
		if p.err == nil {
			p.err = e.storeBatch(ctx, p.entries, report)
		}
		if p.err != nil {
			cancel()
			for j := i + 1; j < begun; j++ {
				<-ahead[j] // none is left at work when Ingest returns
			}
			return p.err
		}
	}
	return nil
}

// writable is called with the writer lock.
func (e *Engine) writable() error {
	switch {
	case e.closed:
		return ErrClosed
	case e.cfg.ReadOnly:
		return fmt.Errorf("engine %s: opened read-only", e.dir)
	case e.behind != nil:
		return e.behind
	}
	return nil
}

func (e *Engine) storeBatch(ctx context.Context, entries []store.Entry, report *IngestReport) (err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var w write
	start := time.Now()
	for _, entry := range entries {
		if err = ctx.Err(); err != nil {
			break
		}
		// What is begun is finished, so that a cancelled ingest ends between
		// two documents.
		var state store.State
		var replaced []string
		if replaced, state, err = e.store.Put(context.WithoutCancel(ctx), entry); err != nil {
			break
		}
		w.add(entry, replaced, state)
		report.count(entry, len(replaced) > 0)
	}
	report.time("store", start)
	return errors.Join(err, e.publish(ctx, w, report))
}

func (r *IngestReport) count(entry store.Entry, replaced bool) {
	r.Documents++
	r.Chunks += len(entry.Chunks)
	if replaced {
		r.Replaced++
	}
	for _, c := range entry.Chunks {
		if c.Vector != nil && c.Vector.Truncated {
			r.Truncated = append(r.Truncated, c.ID)
		}
	}
	for _, s := range entry.Skipped {
		r.Skipped = append(r.Skipped, SkippedStep{entry.Document.ID, s.Step, s.Reason})
	}
	for _, s := range entry.Enriched.Skipped {
		r.Skipped = append(r.Skipped, SkippedStep{entry.Document.ID, s.Step, s.Reason})
	}
}

// prepare cuts, counts, enriches and embeds, and needs no lock.
func (e *Engine) prepare(ctx context.Context, docs []Document, report *IngestReport) ([]store.Entry, error) {
	start := time.Now()
	entries := make([]store.Entry, len(docs))
	var texts []string
	for i, d := range docs {
		entries[i] = store.Entry{Document: d, Model: e.model}
		for _, c := range e.split(d) {
			entries[i].Chunks = append(entries[i].Chunks, store.Chunk{ID: chunk.ID(d.ID, c.Ordinal), Start: c.Start, End: c.End})
			texts = append(texts, passageText(d.Title, c.Text))
		}
		if len(entries[i].Chunks) == 0 {
			entries[i].Skipped = append(entries[i].Skipped, store.Skip{Step: "chunk", Reason: "no title and no text"})
		}
	}
	report.time("chunk", start)

	start = time.Now()
	for i := range entries {
		for j := range entries[i].Chunks {
			c, d := &entries[i].Chunks[j], entries[i].Document
			c.Tokens = lexical.Tokens(d.Title, d.Text[c.Start:c.End])
		}
	}
	report.time("count", start)

	start = time.Now()
	for i, d := range docs {
		entries[i].Enriched = read(d)
	}
	report.time("enrich", start)

	start = time.Now()
	vectors, err := e.embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	for i := range entries {
		for j := range entries[i].Chunks {
			c := &entries[i].Chunks[j]
			v := vectors[0]
			vectors = vectors[1:]
			if v.Err != nil {
				entries[i].Skipped = append(entries[i].Skipped, store.Skip{Step: "embed", Reason: fmt.Sprintf("chunk %s: %v", c.ID, v.Err)})
				continue
			}
			c.Vector = &v
		}
	}
	report.time("embed", start)
	return entries, nil
}

// read needs only the document itself, so that neither the order of documents
// nor what else is stored decides what it finds.
func read(d Document) *enrich.Result {
	r := enrich.Read(enrich.Document{ID: d.ID, Title: d.Title, Text: d.Text, Date: d.Date})
	return &r
}

// split gives a document that has only a title one passage, of no text.
func (e *Engine) split(d Document) []chunk.Chunk {
	chunks := chunk.Split(d.Text, e.cfg.Chunk)
	if len(chunks) == 0 && strings.TrimSpace(d.Title) != "" {
		chunks = []chunk.Chunk{{}}
	}
	return chunks
}

// passageText is what the model reads of a passage.
func passageText(title, text string) string {
	return strings.TrimSpace(title + "\n" + text)
}

// embed checks what the embedder promises, for a wrong count would give
// passages the vectors of their neighbours.
func (e *Engine) embed(ctx context.Context, texts []string) ([]embed.Vector, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	vectors, err := e.embedder.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embed %d texts with %s: %w", len(texts), e.model.Name, err)
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("embed with %s: %d vectors for %d texts", e.model.Name, len(vectors), len(texts))
	}
	for i, v := range vectors {
		if v.Err == nil && len(v.Values) != e.model.Dim {
			return nil, fmt.Errorf("embed with %s: text %d: a vector of %d numbers, the model says %d", e.model.Name, i, len(v.Values), e.model.Dim)
		}
		if v.Err == nil {
			vectors[i].Err = finite(v.Values)
		}
	}
	return vectors, nil
}

func finite(values []float32) error {
	for i, v := range values {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("the model returned %v at %d", v, i)
		}
	}
	return nil
}
