package builtin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/embed"
	"github.com/touchstone-eval/touchstone/engine/enrich"
	"github.com/touchstone-eval/touchstone/engine/lexical"
	"github.com/touchstone-eval/touchstone/engine/store"
	"github.com/touchstone-eval/touchstone/evaltests/digest"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/seed"
)

// seeds is the engine's side of seed.Build.
type seeds struct {
	cfg      engine.Config // with an embedder, which it owns if own is set
	embedder engine.ConfigValue
	own      embed.Embedder
}

var _ seed.Engine = (*seeds)(nil)

// newSeeds opens the default model once for all stores.
func newSeeds(cfg engine.Config) (*seeds, error) {
	s := &seeds{cfg: cfg}
	isDefault := cfg.Embedder == nil
	if isDefault {
		m, err := embed.Default()
		if err != nil {
			return nil, fmt.Errorf("open the default model: %w", err)
		}
		s.cfg.Embedder, s.own = m, m
	}
	s.embedder = s.cfg.Effective()["embedder"]
	s.embedder.Default = isDefault
	return s, nil
}

func (s *seeds) Close() error {
	if s.own == nil {
		return nil
	}
	return s.own.Close()
}

func (s *seeds) fingerprint() engine.Fingerprint {
	return engine.Fingerprint{
		Schema: store.SchemaHash(), Model: s.cfg.Embedder.Info(), Chunk: s.cfg.Chunk.Effective(), Analyzer: lexical.Analysis(), Enrich: enrich.Version,
	}
}

// Parts are what a store of this engine depends on.
func (s *seeds) Parts(ctx context.Context) (seed.Parts, error) {
	libraries, err := Libraries(ctx)
	if err != nil {
		return nil, err
	}
	print := s.fingerprint()
	parts := seed.Parts{
		seed.PartSchema: print.Schema, seed.PartModel: store.ModelDigest(print.Model), seed.PartAnalyzer: print.Analyzer,
		seed.PartProvenance:           print.Enrich,
		seed.PartChunk:                fmt.Sprintf("max_words=%d overlap=%d", print.Chunk.MaxWords, print.Chunk.Overlap),
		seed.PartIngest + "libraries": libraries,
	}
	for name, hash := range engine.IngestSource() {
		parts[seed.PartIngest+name] = hash
	}
	return parts, nil
}

// open opens a folder for one thing and closes it.
func (s *seeds) open(ctx context.Context, dir string, readOnly bool, concurrency int, do func(*engine.Engine) error) error {
	if !readOnly {
		if err := seed.RequireMark(dir); err != nil {
			return err
		}
	}
	cfg := s.cfg
	cfg.ReadOnly, cfg.Concurrency = readOnly, concurrency
	e, err := engine.Open(ctx, dir, cfg)
	if err != nil {
		return err
	}
	return errors.Join(do(e), e.Close())
}

// Fill ingests documents.
func (s *seeds) Fill(ctx context.Context, dir string, source func(pack.Document) (string, string), corpus []pack.Document, concurrency int) (seed.Report, error) {
	var out seed.Report
	err := s.open(ctx, dir, false, concurrency, func(e *engine.Engine) error {
		docs := make([]engine.Document, len(corpus))
		for i, d := range corpus {
			docs[i] = document(d)
			docs[i].Source, docs[i].ID = source(d)
		}
		report, err := e.Ingest(ctx, docs...)
		out = account(report, concurrency)
		return err
	})
	return out, err
}

// sideBySide are the steps of a batch that run beside those of other batches.
var sideBySide = []string{"chunk", "count", "enrich", "embed"}

// account turns the engine's report into the seed's.
func account(report engine.IngestReport, concurrency int) seed.Report {
	out := seed.Report{Documents: report.Documents}
	for _, step := range report.Steps {
		n := 1
		if slices.Contains(sideBySide, step.Name) {
			n = concurrency
		}
		out.Steps = append(out.Steps, seed.Step{Name: step.Name, Micros: step.Wall.Microseconds(), Concurrency: n})
	}
	type without struct{ step, reason string }
	seen := map[without]map[string]bool{}
	for _, k := range report.Skipped {
		w := without{k.Step, k.Reason}
		if seen[w] == nil {
			seen[w] = map[string]bool{}
		}
		seen[w][k.DocumentID] = true
	}
	for w, documents := range seen {
		out.Skipped = append(out.Skipped, seed.Skipped{Step: w.step, Reason: w.reason, Documents: len(documents)})
	}
	slices.SortFunc(out.Skipped, func(a, b seed.Skipped) int {
		return strings.Compare(a.Step+"\x00"+a.Reason, b.Step+"\x00"+b.Reason)
	})
	return out
}

// Survey counts what a store holds.
func (s *seeds) Survey(ctx context.Context, dir string) (v seed.Survey, err error) {
	err = s.open(ctx, dir, true, 1, func(e *engine.Engine) error {
		v, err = surveyOf(ctx, e)
		return err
	})
	return v, err
}

// surveyOf counts over an open engine. What cannot be counted is unknown in
// the survey, and no error.
func surveyOf(ctx context.Context, e *engine.Engine) (seed.Survey, error) {
	v := seed.Survey{Model: e.Config()["embedder"].Value}
	for _, c := range e.Substrates(ctx) {
		s, err := seed.ParseSubstrate(c.Name)
		if err != nil {
			return v, err
		}
		v.Counts = append(v.Counts, seed.Count{
			Substrate: s, Model: c.Model, Counted: seed.TallyOf(c.Count.N, c.Count.Err), Enumerated: seed.TallyOf(c.Enumerated.N, c.Enumerated.Err),
		})
	}
	q, err := e.Survey(ctx)
	v.Sources, v.Duplicates, v.Classified = seed.TallyOf(q.Sources, err), seed.TallyOf(q.Duplicates, err), seed.TallyOf(q.Enriched, err)
	v.Dated, v.Cued = seed.TallyOf(q.Dated, err), seed.TallyOf(q.Cued, err)
	v.Truncated, v.Zero = seed.TallyOf(q.Truncated, err), seed.TallyOf(q.Zero, err)
	probe, err := e.ProbeEmbedder(ctx)
	if err != nil {
		v.Conformance = &seed.Conformance{Checks: 1, Failed: []string{"the live model fails: " + err.Error()}}
		return v, ctx.Err()
	}
	v.Conformance = &seed.Conformance{Checks: len(probe.Checks), MinCosine: probe.MinCosine}
	for _, k := range probe.Checks {
		if !k.OK {
			v.Conformance.Failed = append(v.Conformance.Failed, k.Name+": "+k.Detail)
		}
	}
	return v, nil
}

// Content is the digest of all that a store holds.
func (s *seeds) Content(ctx context.Context, dir string) (string, error) {
	return engine.ReadContentDigest(ctx, dir)
}

// ReadStamp reads the note inside the store.
func (s *seeds) ReadStamp(ctx context.Context, dir string) (string, bool, error) {
	return engine.ReadStamp(ctx, dir)
}

// WriteStamp writes it.
func (s *seeds) WriteStamp(ctx context.Context, dir, text string) error {
	return s.open(ctx, dir, false, 1, func(e *engine.Engine) error { return e.SetStamp(ctx, text) })
}

// Backfill opens the store for writing, which brings it up to date.
func (s *seeds) Backfill(ctx context.Context, dir string) error {
	return s.open(ctx, dir, false, 1, func(*engine.Engine) error { return nil })
}

func document(d pack.Document) engine.Document {
	return engine.Document{ID: d.ID, Title: d.Title, Text: d.Text, Date: d.Date, Meta: d.Meta}
}

// storeHash stands for what a store depends on apart from the code that filled
// it: goldens are held to it, so that they survive an edit of the ingest which
// changes nothing.
func storeHash(print engine.Fingerprint) (string, error) {
	return digest.Pairs("touchstone/seed/1", map[string]any{"ingest": print})
}
