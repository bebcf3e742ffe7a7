package selftest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/digest"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/seed"
)

// substrateMutants take away what a search works on. They need a suite with a
// contract, and a subject that can be surveyed and has every channel on.
func substrateMutants() []Mutant {
	refused := []string{gate.KeyRefused, gate.KeyScored}
	dead := func(name, channel string, s seed.Substrate) Mutant {
		return Mutant{
			Name: name, Verdict: gate.CNM, Red: refused,
			Says:  []string{fmt.Sprintf("EVAL REFUSED [%s]: substrate %s: 0 rows (needs > 0)", channel, s), seed.Reseed, "1 of 1 stores"},
			Apply: wrap(change{survey: rows(s, 0)}),
		}
	}
	violates := func(name, says string, change change) Mutant {
		return Mutant{Name: name, Verdict: gate.CNM, Red: refused, Says: []string{"contract violated: ", says, "mend what fills the store", "1 of 1 stores"}, Apply: wrap(change)}
	}
	spoilt := func(name string, spoil func(cache, dir string) error, says ...string) Mutant {
		return Mutant{Name: name, Verdict: gate.CNM, Red: refused, Says: append(says, "1 of 1 stores"), Apply: seeded(spoil)}
	}
	survey := func(f func(v *seed.Survey)) change { return change{survey: f} }
	conformance := func(failed string) change {
		return survey(func(v *seed.Survey) { v.Conformance = &seed.Conformance{Checks: 9, Failed: []string{failed}} })
	}
	return []Mutant{
		dead("zero vectors", record.ChannelVector, seed.Vectors),
		dead("lexical index empty", record.ChannelLexical, seed.Lexical),
		dead("zero links", record.ChannelGraph, seed.Links),
		dead("zero dates", record.ChannelTemporal, seed.EventDates),
		dead("pages empty", record.ChannelPages, seed.Pages),
		dead("zero episodes", record.ChannelEpisodes, seed.Episodes),
		{Name: "zero chunks", Verdict: gate.CNM, Red: refused, Says: []string{"EVAL REFUSED [rerank]: substrate chunks: 0 rows (needs > 0)", seed.Reseed},
			Apply: wrap(change{survey: rows(seed.Chunks, 0), channels: []string{record.ChannelRerank}})},
		{Name: "count query failing, of dates", Verdict: gate.CNM, Red: refused,
			Says: []string{"EVAL REFUSED [temporal]: substrate event_dates: count unknown: no such table: event_dates", seed.Reseed},
			Apply: wrap(survey(func(v *seed.Survey) {
				counts(v, seed.EventDates, seed.Unknown(errors.New("no such table: event_dates")), seed.Known(7))
			}))},
		violates("duplicate sources", "duplicates on (source, source_id): 2 (needs 0)", survey(func(v *seed.Survey) { v.Duplicates = seed.Known(2) })),
		violates("documents that enrichment has not read", "classified documents: 119 of 120", survey(func(v *seed.Survey) { v.Classified = seed.Known(119) })),
		violates("corpus below twice the pool", "shape: 120 documents are fewer than 2 x the largest candidate pool of 61; use a larger corpus", change{pool: 61}),
		violates("mixed embedding models", "mixed models: 3 vectors of other beside the live model", survey(func(v *seed.Survey) {
			v.Counts = append(v.Counts, seed.Count{Substrate: seed.Vectors, Model: "other", Counted: seed.Known(3), Enumerated: seed.Known(3)})
		})),
		violates("wrong pooling", "embedder: pooling: cls, the reference has mean", conformance("pooling: cls, the reference has mean")),
		violates("unit norm lost", "embedder: unit length", conformance("unit length: norm 2, want 1")),
		violates("vectors without a direction", "vectors without a direction: 60 of 120", survey(func(v *seed.Survey) { v.Zero = seed.Known(60) })),
		spoilt("stamp forged", func(_, dir string) error {
			return edited(dir, func(s *fileStore) { s.Documents = s.Documents[:100] })
		}, "is not what was stamped", "the stamp was forged, or the store was changed", "EVAL_ALLOW_WIPE=1"),
		spoilt("stamp of another key", func(_, dir string) error {
			return edited(dir, func(s *fileStore) {
				parts := seed.Parts{"chunk": "other"}
				key, _ := parts.Key() // of one part that is known
				s.Stamp, _ = seed.Stamp{V: 1, Key: key, Parts: parts, Content: "x"}.Text()
			})
		}, "its stamp is of another seed", "EVAL_ALLOW_WIPE=1"),
		spoilt("store without the mark", func(_, dir string) error { return os.Remove(filepath.Join(dir, seed.MarkFile)) },
			"the store is not ours, and is neither written to nor wiped", "give another EVAL_CACHE"),
		spoilt("lock held", func(_, dir string) error {
			lock := flock.New(dir + ".lock")
			held, err := lock.TryLock()
			if err == nil && !held {
				err = errors.New("the lock is taken already")
			}
			holding = append(holding, lock)
			return err
		}, "lock held: another process is filling it", "EVAL_PARALLEL_OK=1"),
		{Name: "benign: over a cached seed", Verdict: gate.PASS, Apply: seeded(func(string, string) error { return nil })},
		{Name: "benign: a survey that reports more than is asked", Verdict: gate.PASS, Apply: wrap(survey(rows(seed.Facts, 5)))},
	}
}

// holding are the locks of "lock held", for as long as the process lives: one
// that nothing refers to is let go of by the garbage collector, which closes
// its file.
var holding []*flock.Flock

// rows sets both counts of a substrate.
func rows(s seed.Substrate, n int) func(*seed.Survey) {
	return func(v *seed.Survey) { counts(v, s, seed.Known(n), seed.Known(n)) }
}

func counts(v *seed.Survey, s seed.Substrate, counted, enumerated seed.Tally) {
	for i := range v.Counts {
		if v.Counts[i].Substrate == s {
			v.Counts[i].Counted, v.Counts[i].Enumerated = counted, enumerated
		}
	}
}

// seeded puts the trial's subject over a cached seed, made once and then
// spoilt.
func seeded(spoil func(cache, dir string) error) func(*Trial) error {
	return func(t *Trial) error {
		cache := filepath.Join(t.Folder.Dir, "cache")
		inner, ok := t.Subject.(surveyed)
		if !ok {
			return errors.New("selftest: the subject cannot be surveyed")
		}
		s := &seededSubject{surveyed: inner, cache: cache}
		requests, err := t.Suite.Requests(s)
		if err != nil {
			return err
		}
		store, err := s.OpenStore(context.Background(), requests[0])
		if err != nil {
			return err
		}
		dir := store.Seed().Dir
		if err := errors.Join(store.Close(), spoil(cache, dir)); err != nil {
			return err
		}
		t.Subject = s
		return nil
	}
}

// surveyed is a subject with all that the substrate mutants need.
type surveyed interface {
	evaltests.Subject
	evaltests.Ingester
	evaltests.Surveyor
	evaltests.Fingerprinter
	Pool() int
}

// seededSubject makes its stores through seed.Build, as files.
type seededSubject struct {
	surveyed
	cache string
}

func (s *seededSubject) Runner() seed.Kind { return seed.Cached }

// Ingest does nothing: the documents come from the seed.
func (s *seededSubject) Ingest(context.Context, []pack.Document) error { return nil }

func (s *seededSubject) OpenStore(ctx context.Context, r seed.Request) (evaltests.Store, error) {
	r.Cache = s.cache
	sd, err := seed.Build(ctx, fileEngine{s.surveyed}, r)
	if err != nil {
		return nil, err
	}
	st, err := readStore(sd.Dir)
	if err == nil {
		err = s.surveyed.Ingest(ctx, st.Documents)
	}
	if err != nil {
		return nil, errors.Join(err, sd.Close())
	}
	return &fileSubject{s.surveyed, sd}, nil
}

type fileSubject struct {
	surveyed
	seed *seed.Seed
}

func (f *fileSubject) Seed() *seed.Seed { return f.seed }
func (f *fileSubject) Close() error     { return f.seed.Close() }

// fileEngine keeps a store as one JSON file.
type fileEngine struct{ subject surveyed }

type fileStore struct {
	Documents []pack.Document
	Stamp     string
}

const fileStoreName = "store.json"

func readStore(dir string) (s fileStore, err error) {
	data, err := os.ReadFile(filepath.Join(dir, fileStoreName))
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(data, &s)
}

func edited(dir string, change func(*fileStore)) error {
	s, err := readStore(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	change(&s)
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, fileStoreName), data, 0o644)
}

func (e fileEngine) Parts(context.Context) (seed.Parts, error) {
	return seed.Parts{seed.PartSchema: "1", seed.PartChunk: "none", seed.PartModel: "toy", seed.PartAnalyzer: "words", seed.PartProvenance: "none"}, nil
}

func (e fileEngine) Fill(_ context.Context, dir string, _ func(pack.Document) (string, string), docs []pack.Document, n int) (seed.Report, error) {
	err := edited(dir, func(s *fileStore) { s.Documents = docs })
	return seed.Report{Documents: len(docs), Steps: []seed.Step{{Name: "store", Concurrency: n}}}, err
}

func (e fileEngine) Survey(ctx context.Context, dir string) (seed.Survey, error) {
	s, err := readStore(dir)
	if err != nil {
		return seed.Survey{}, err
	}
	if err := e.subject.Ingest(ctx, s.Documents); err != nil {
		return seed.Survey{}, err
	}
	return e.subject.Survey(ctx)
}

func (e fileEngine) Content(_ context.Context, dir string) (string, error) {
	s, err := readStore(dir)
	if err != nil {
		return "", err
	}
	return digest.Pairs("touchstone/selftest/1", map[string]any{"documents": s.Documents})
}

func (e fileEngine) ReadStamp(_ context.Context, dir string) (string, bool, error) {
	s, err := readStore(dir)
	return s.Stamp, s.Stamp != "", err
}

func (e fileEngine) WriteStamp(_ context.Context, dir, text string) error {
	return edited(dir, func(s *fileStore) { s.Stamp = text })
}

func (e fileEngine) Backfill(context.Context, string) error { return nil }
