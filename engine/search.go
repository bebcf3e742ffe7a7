package engine

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/touchstone-eval/touchstone/engine/chunk"
	"github.com/touchstone-eval/touchstone/engine/embed"
	"github.com/touchstone-eval/touchstone/engine/enrich"
	"github.com/touchstone-eval/touchstone/engine/fuse"
	"github.com/touchstone-eval/touchstone/engine/lexical"
)

// ArmError is the failure of an arm that is not optional, or of all that ran.
type ArmError struct {
	Arm string // StageVector or StageLexical
	Err error
}

func (e *ArmError) Error() string { return e.Arm + " arm: " + e.Err.Error() }
func (e *ArmError) Unwrap() error { return e.Err }

// Search answers a query. Any text is a valid question; where an arm can do
// nothing with it, its stage gives the reason. For all k and settings equal
// otherwise, a smaller k gives the beginning of a larger one's list.
func (e *Engine) Search(ctx context.Context, q Query) (*Result, error) {
	if q.K < 1 {
		return nil, fmt.Errorf("search: k %d: want at least 1", q.K)
	}
	if q.Unit != "" && q.Unit != UnitChunk && q.Unit != UnitDocument {
		return nil, fmt.Errorf("search: unit %q: want %q or %q", q.Unit, UnitChunk, UnitDocument)
	}
	asOf, err := q.asOf()
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	q.Text = strings.ToValidUTF8(q.Text, "\uFFFD")
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed {
		return nil, fmt.Errorf("search: %w", ErrClosed)
	}
	s := search{engine: e, ctx: ctx, query: q, asOf: asOf, documents: map[string]string{}}
	if err := s.run(); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return &Result{Hits: s.hits, Stages: s.stages, Channels: s.channels(), Config: maps.Clone(e.effective)}, nil
}

func (q Query) asOf() (*enrich.Moment, error) {
	if q.AsOf == "" {
		return nil, nil
	}
	m, ok := enrich.ParseMoment(q.AsOf)
	if !ok {
		return nil, fmt.Errorf("as of %.40q: want a date such as 2026-05-01, or an RFC 3339 time", q.AsOf)
	}
	return &m, nil
}

// search is one query on its way through the stages.
type search struct {
	engine *Engine
	ctx    context.Context
	query  Query
	asOf   *enrich.Moment // nil if unknown

	allow     func(id string) bool // nil without filters
	stages    []Stage
	hits      []Hit             // of the last stage
	documents map[string]string // by chunk
	fused     []fuse.Hit

	joinedChannels []Channel // those beside the two arms, in order

	explain map[string]string // of the lexical arm, by chunk
}

func (s *search) run() error {
	if err := s.filter(); err != nil {
		return err
	}
	if err := s.arms(); err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		run  func(*Stage) error
	}{
		{StageFusion, s.fuse},
		{StageBoosted, s.boost},
		{StageCandidates, s.pool},
		{StageRerank, s.rerank},
		{StageFinal, s.final},
	} {
		start := time.Now()
		stage := Stage{Name: step.name, State: Executed, Total: len(s.hits)}
		if err := step.run(&stage); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		stage.Latency = time.Since(start)
		stage.Hits = s.hits
		s.stages = append(s.stages, stage)
	}
	return nil
}

func (s *search) filter() error {
	if len(s.query.Filters) == 0 {
		return nil
	}
	set, err := s.engine.store.Matching(s.ctx, s.query.Filters)
	if err != nil {
		return err
	}
	s.allow = func(id string) bool { _, ok := set[id]; return ok }
	return nil
}

// arms runs both arms. It fails if one fails that is not optional, or if none
// that ran is left.
func (s *search) arms() error {
	c := s.engine.cfg
	var failed error
	executed := false
	for _, arm := range []struct {
		name     string
		weight   float64
		optional bool
		run      func(*Stage) error
	}{
		{StageVector, c.Weights.Vector, c.Optional.Vector, s.vector},
		{StageLexical, c.Weights.Lexical, c.Optional.Lexical, s.lexical},
	} {
		start := time.Now()
		stage := Stage{Name: arm.name, State: Executed, CutAt: c.Depth}
		if arm.weight == 0 {
			stage.State, stage.Reason = Skipped, "its weight is 0"
		} else if err := arm.run(&stage); err != nil {
			failed = &ArmError{arm.name, err}
			if !arm.optional || s.ctx.Err() != nil {
				return failed
			}
			stage = Stage{Name: arm.name, State: Failed, Reason: err.Error(), CutAt: c.Depth}
		}
		executed = executed || stage.State == Executed
		if stage.State == Executed && len(stage.Hits) == 0 && stage.Reason == "" {
			stage.Reason = "no passage matches"
			if s.allow != nil {
				stage.Reason += " within the filters"
			}
		}
		stage.Latency = time.Since(start)
		s.stages = append(s.stages, stage)
	}
	if failed != nil && !executed {
		return failed
	}
	return nil
}

func (s *search) vector(stage *Stage) error {
	e := s.engine
	if strings.TrimSpace(s.query.Text) == "" {
		stage.Reason = "the question has no text"
		return nil
	}
	vectors, err := e.embed(s.ctx, []string{s.query.Text})
	if err != nil {
		return err
	}
	if vectors[0].Err != nil {
		return fmt.Errorf("embed the question: %w", vectors[0].Err)
	}
	if isZero(vectors[0]) {
		stage.Reason = "the model knows no part of the question"
		return nil
	}
	if vectors[0].Truncated {
		stage.Reason = fmt.Sprintf("the model read only the first %d of %d tokens of the question", e.model.MaxTokens, vectors[0].Tokens)
	}
	found, err := e.dense.Search(s.ctx, vectors[0].Values, e.cfg.Depth, s.allow)
	if err != nil {
		return err
	}
	stage.Total = found.Total
	for _, h := range found.Hits {
		if err := s.add(stage, h.ID, h.Score); err != nil {
			return err
		}
	}
	return nil
}

func isZero(v embed.Vector) bool {
	for _, x := range v.Values {
		if x != 0 {
			return false
		}
	}
	return true
}

func (s *search) lexical(stage *Stage) error {
	e := s.engine
	if e.behind != nil {
		return e.behind
	}
	found, err := e.lexical.Search(s.ctx, lexical.Query{
		Text: s.query.Text, K: e.cfg.Depth, Allow: s.allow, Explain: s.query.Explain,
		Totals: lexical.Totals{Passages: e.totals.Chunks, Tokens: e.totals.Tokens},
	})
	if err != nil {
		return err
	}
	if found.Terms == 0 {
		return s.literal(stage)
	}
	stage.Total = found.Total
	s.explain = make(map[string]string, len(found.Hits))
	for _, h := range found.Hits {
		s.explain[h.ID] = h.Explain
		if err := s.add(stage, h.ID, h.Score); err != nil {
			return err
		}
	}
	return nil
}

// add appends a passage to a stage and notes its document.
func (s *search) add(stage *Stage, id string, score float64) error {
	document, _, err := chunk.ParseID(id)
	if err != nil {
		return err
	}
	s.documents[id] = document
	stage.Hits = append(stage.Hits, Hit{ChunkID: id, DocumentID: document, Score: score})
	return nil
}
