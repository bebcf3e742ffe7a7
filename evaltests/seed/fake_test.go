package seed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/touchstone-eval/touchstone/evaltests/digest"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/seed"
)

// fake is an engine whose store is one JSON file.
type fake struct {
	parts  seed.Parts
	fail   func(step string) error // before a step: fill, survey, stamp, backfill
	change func(*seed.Survey)
	fills  int
}

type fakeStore struct {
	Version   string
	Documents []pack.Document
	Stamp     string
}

func newFake() *fake {
	return &fake{parts: seed.Parts{
		seed.PartSchema: "1", seed.PartChunk: "c", seed.PartAnalyzer: "a", seed.PartModel: "m", seed.PartProvenance: "e",
		"ingest.store": "s", "ingest.chunk": "k",
	}}
}

func (f *fake) before(step string) error {
	if f.fail == nil {
		return nil
	}
	return f.fail(step)
}

func (f *fake) read(dir string) (s fakeStore, err error) {
	data, err := os.ReadFile(filepath.Join(dir, "store.json"))
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(data, &s)
}

func (f *fake) write(dir string, s fakeStore) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "store.json"), data, 0o644)
}

func (f *fake) Parts(context.Context) (seed.Parts, error) {
	if f.parts == nil {
		return nil, errors.New("this engine cannot tell")
	}
	return f.parts, nil
}

func (f *fake) Fill(_ context.Context, dir string, source func(pack.Document) (string, string), docs []pack.Document, n int) (seed.Report, error) {
	f.fills++
	if err := f.write(dir, fakeStore{Version: f.parts[seed.PartSchema], Documents: docs}); err != nil {
		return seed.Report{}, err
	}
	if err := f.before("fill"); err != nil {
		return seed.Report{}, err
	}
	return seed.Report{Documents: len(docs), Steps: []seed.Step{{Name: "fill", Micros: 1, Concurrency: n}},
		Skipped: []seed.Skipped{{Step: "dates", Reason: "no date", Documents: 1}}}, nil
}

func (f *fake) Survey(_ context.Context, dir string) (seed.Survey, error) {
	if err := f.before("survey"); err != nil {
		return seed.Survey{}, err
	}
	s, err := f.read(dir)
	if err != nil {
		return seed.Survey{}, err
	}
	v := sound(len(s.Documents))
	if f.change != nil {
		f.change(&v)
	}
	return v, nil
}

// sound is a survey of a store of n documents that violates nothing.
func sound(n int) seed.Survey {
	v := seed.Survey{
		Model: "m", Sources: seed.Known(1), Duplicates: seed.Known(0), Classified: seed.Known(n), Dated: seed.Known(n / 2), Cued: seed.Known(n),
		Truncated: seed.Known(0), Zero: seed.Known(0), Conformance: &seed.Conformance{Checks: 3, MinCosine: 1},
	}
	for _, s := range seed.Substrates() {
		c := seed.Count{Substrate: s, Counted: seed.Known(n), Enumerated: seed.Known(n)}
		if s == seed.Vectors {
			c.Model = "m"
		}
		v.Counts = append(v.Counts, c)
	}
	return v
}

func (f *fake) Content(_ context.Context, dir string) (string, error) {
	s, err := f.read(dir)
	if err != nil {
		return "", err
	}
	return digest.Pairs("fake", map[string]any{"documents": s.Documents})
}

func (f *fake) ReadStamp(_ context.Context, dir string) (string, bool, error) {
	s, err := f.read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	return s.Stamp, s.Stamp != "", err
}

func (f *fake) WriteStamp(_ context.Context, dir, text string) error {
	if err := f.before("stamp"); err != nil {
		return err
	}
	s, err := f.read(dir)
	if err != nil {
		return err
	}
	s.Stamp = text
	return f.write(dir, s)
}

func (f *fake) Backfill(_ context.Context, dir string) error {
	if err := f.before("backfill"); err != nil {
		return err
	}
	s, err := f.read(dir)
	if err != nil {
		return err
	}
	s.Version = f.parts[seed.PartSchema]
	return f.write(dir, s)
}

func documents(n int) []pack.Document {
	out := make([]pack.Document, n)
	for i := range out {
		out[i] = pack.Document{ID: fmt.Sprintf("d%d", i), Text: fmt.Sprintf("text %d", i)}
	}
	return out
}

func request(t testing.TB, cache string) seed.Request {
	t.Helper()
	return seed.Request{Kind: seed.Cached, Cache: cache, Pack: "toy", Digest: "0123456789abcdef", Unit: "document", Documents: documents(10)}
}
