package selftest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Mutant is one injected fault, or a benign twin.
type Mutant struct {
	Name    string
	Verdict string   // that it must lead to
	Red     []string // keys of gate.Decide that it must turn red, or KeyLoad, KeyRecord; sorted
	Says    []string // what the failure must tell a person: where, and what to do
	Apply   func(*Trial) error
}

// Keys of what is caught outside a suite's own verdict.
const (
	KeyLoad   = "load"   // the suite could not be made
	KeyRecord = "record" // the record cannot be believed
	KeyMerge  = "merge"  // the shards cannot be joined
	KeyResume = "resume" // the run cannot be taken up again
)

// Trial is what a mutant works on.
type Trial struct {
	Suite   *evaltests.Suite
	Subject evaltests.Subject
	Folder  *record.Folder
	After   func(recordPath string) error // tampers with the finished record
	// Evaluate runs the trial; nil is evaltests.Evaluate. It may set Folder.
	Evaluate func(ctx context.Context, t *Trial) (*evaltests.Run, error)
}

// Outcome is what a mutant led to.
type Outcome struct {
	Verdict string
	Red     []string // sorted
	Text    []string // every reason, action and failure message
}

// Try applies a mutant to a fresh trial and runs it to its verdict.
func Try(ctx context.Context, m Mutant, fresh func() (*Trial, error)) (Outcome, error) {
	t, err := fresh()
	if err != nil {
		return Outcome{}, err
	}
	if m.Apply != nil {
		if err := m.Apply(t); err != nil {
			// The loader is the gate that caught it.
			var load *loadError
			if errors.As(err, &load) {
				return Outcome{Verdict: gate.CNM, Red: []string{KeyLoad}, Text: []string{load.Error()}}, nil
			}
			return Outcome{}, err
		}
	}
	evaluate := t.Evaluate
	if evaluate == nil {
		evaluate = once
	}
	run, err := evaluate(ctx, t)
	var stopped *stopError
	switch {
	case errors.As(err, &stopped):
		return Outcome{Verdict: gate.CNM, Red: []string{stopped.key}, Text: []string{stopped.Error()}}, nil
	case err != nil:
		return Outcome{}, err
	}
	if t.After != nil {
		if err := t.After(run.Path); err != nil {
			return Outcome{}, err
		}
	}
	files, err := record.ReadAll(t.Folder.Dir)
	if err != nil {
		return Outcome{}, err
	}
	judged := gate.Judge(t.Folder, files, nil, run.Line.Tier, record.Class())
	out := Outcome{Verdict: judged.Verdict, Text: slices.Clone(judged.Reasons)}
	for _, s := range judged.Suites {
		out.Text = append(out.Text, s.Reasons...)
		if s.Verdict != run.Verdict.Verdict {
			out.Red = []string{KeyRecord}
		}
	}
	if out.Red == nil {
		out.Red = slices.Sorted(slices.Values(run.Verdict.Keys))
	}
	f := &FakeT{}
	if !f.Do(func() { run.Require(f) }) != (run.Verdict.Verdict == gate.PASS) {
		return Outcome{}, fmt.Errorf("%s: verdict %s, but Require failed the test: %v", m.Name, run.Verdict.Verdict, f.failed)
	}
	for _, g := range run.Gates {
		out.Text = append(out.Text, g.Reason, g.Action)
	}
	for _, r := range run.Rows {
		out.Text = append(out.Text, r.Outcome.Reason, r.Outcome.Action)
	}
	out.Text = append(out.Text, f.Lines...)
	return out, nil
}

func once(ctx context.Context, t *Trial) (*evaltests.Run, error) {
	return evaltests.Evaluate(ctx, t.Suite.In(t.Folder), t.Subject)
}

// stopError marks what was refused before there was a verdict, by its key.
type stopError struct {
	key string
	error
}

// loadError marks an error of loading a mutated suite.
type loadError struct{ err error }

func (e *loadError) Error() string { return e.err.Error() }

// FakeT is a test that only notes what is said to it.
type FakeT struct {
	Lines  []string
	failed bool
}

type stopped struct{}

// Do runs f as a test would and reports whether it failed.
func (t *FakeT) Do(f func()) (failed bool) {
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(stopped); !ok {
				panic(p)
			}
		}
		failed = t.failed
	}()
	f()
	return t.failed
}

// The methods of evaltests.T.
func (t *FakeT) Helper()                  {}
func (t *FakeT) Name() string             { return "TestMutant" }
func (t *FakeT) Context() context.Context { return context.Background() }
func (t *FakeT) Logf(format string, args ...any) {
	t.Lines = append(t.Lines, fmt.Sprintf(format, args...))
}
func (t *FakeT) Errorf(format string, args ...any) {
	t.failed = true
	t.Logf(format, args...)
}
func (t *FakeT) FailNow() {
	t.failed = true
	panic(stopped{})
}

// truncate cuts a record in the middle of its last line.
func truncate(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data[:len(data)-40], 0o644)
}

// edit changes one digit of a measure in a record.
func edit(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	at := slices.Index(data, '9')
	if at < 0 {
		return fmt.Errorf("%s: no digit to edit", path)
	}
	data[at] = '8'
	return os.WriteFile(path, data, 0o644)
}

// in returns a file of the suite's golden folder.
func in(t *Trial, name string) string { return filepath.Join(t.Suite.GoldenDir, name) }
