package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/touchstone-eval/touchstone/engine/embed"
	"github.com/touchstone-eval/touchstone/engine/store"
)

// Survey is what a store knows of its own quality.
type Survey = store.Survey

// Survey counts duplicates, what was enriched, dated and cut short.
func (e *Engine) Survey(ctx context.Context) (Survey, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed {
		return Survey{}, ErrClosed
	}
	return e.store.Survey(ctx)
}

// ContentDigest is SHA-256, hex, over all that is stored of documents: see
// [store.Store.ContentDigest].
func (e *Engine) ContentDigest(ctx context.Context) (string, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed {
		return "", ErrClosed
	}
	return e.store.ContentDigest(ctx)
}

// Skipped returns the steps that documents went without, by document id.
func (e *Engine) Skipped(ctx context.Context) (map[string][]store.Skip, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed {
		return nil, ErrClosed
	}
	return e.store.Skipped(ctx)
}

// probed is how many stored passages a [Engine.ProbeEmbedder] embeds again.
const probed = 8

// ProbeEmbedder holds the live model to the stored vectors: it embeds passages
// spread over the store again, alone and in one batch, and compares dimension,
// norm and direction. With a reference for the model ([embed.ReferenceFor]) it
// makes the checks of [embed.Probe] too. A store without vectors has nothing
// to compare with, which is a failed check. The error is of a call that failed.
func (e *Engine) ProbeEmbedder(ctx context.Context) (embed.Conformance, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed {
		return embed.Conformance{}, ErrClosed
	}
	c := embed.Conformance{MinCosine: 1}
	models, err := e.store.Models(ctx)
	if err != nil {
		return c, err
	}
	one := embed.Check{Name: "one model", OK: len(models) == 1 && models[0] == e.model}
	if !one.OK {
		names := make([]string, len(models))
		for i, m := range models {
			names[i] = modelName(m)
		}
		one.Detail = fmt.Sprintf("the store has vectors of %q, the live model is %s", names, modelName(e.model))
	}
	c.Checks = append(c.Checks, one)
	if err := e.probeStored(ctx, &c); err != nil {
		return c, err
	}
	reference, ok, err := embed.ReferenceFor(e.model)
	if err != nil || !ok {
		return c, err
	}
	r, err := embed.Probe(ctx, e.embedder, reference)
	if err != nil {
		return c, err
	}
	c.MinCosine = min(c.MinCosine, r.MinCosine)
	c.Checks = append(c.Checks, r.Checks...)
	return c, nil
}

// probeStored compares stored vectors with what the model makes of their
// passages now.
func (e *Engine) probeStored(ctx context.Context, c *embed.Conformance) error {
	stored := map[string][]float32{}
	var ids []string
	err := e.store.EachVector(ctx, e.model, func(id string, values []float32) error {
		ids = append(ids, id)
		stored[id] = values
		return nil
	})
	if err != nil {
		return err
	}
	again := embed.Check{Name: "stored passages", OK: len(ids) > 0, Detail: "no vector of the live model is stored"}
	norm := embed.Check{Name: "stored norms", OK: true}
	for _, id := range ids {
		if n := length(stored[id]); n != 0 && math.Abs(n-1) > 1e-3 {
			norm.OK, norm.Detail = false, fmt.Sprintf("chunk %s: norm %v, want 1", id, n)
			break
		}
	}
	if n := len(ids); n > probed {
		spread := make([]string, probed)
		for i := range spread {
			spread[i] = ids[i*(n-1)/(probed-1)]
		}
		ids = slices.Compact(spread)
	}
	passages, err := e.store.Passages(ctx, ids...)
	if err != nil {
		return err
	}
	texts := make([]string, len(passages))
	for i, p := range passages {
		texts[i] = passageText(p.Title, p.Text)
	}
	batch, err := e.embed(ctx, texts)
	if err != nil {
		return err
	}
	for i, id := range ids {
		alone, err := e.embed(ctx, texts[i:i+1])
		if err != nil {
			return err
		}
		if err := errors.Join(batch[i].Err, alone[0].Err); err != nil {
			again.OK, again.Detail = false, fmt.Sprintf("chunk %s: %v", id, err)
			break
		}
		live, alike := cosine(batch[i].Values, stored[id]), cosine(batch[i].Values, alone[0].Values)
		c.MinCosine = min(c.MinCosine, live)
		if !(live >= embed.MinCosine) || !(alike >= embed.MinCosine) {
			again.OK = false
			again.Detail = fmt.Sprintf("chunk %s: cosine %.6f to the stored vector, %.6f between alone and in a batch, want at least %v", id, live, alike, embed.MinCosine)
			break
		}
	}
	c.Checks = append(c.Checks, norm, again)
	return nil
}

func length(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(float64(x) * float64(x))
	}
	return math.Sqrt(sum)
}

// cosine of two zero vectors is 1: the model says of both that it knows
// nothing of the text.
func cosine(a, b []float32) float64 {
	la, lb := length(a), length(b)
	if la == 0 && lb == 0 {
		return 1
	}
	sum := 0.0
	for i := range min(len(a), len(b)) {
		sum += float64(float64(a[i]) * float64(b[i]))
	}
	return sum / float64(la*lb)
}
