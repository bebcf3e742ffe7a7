package evaltests

import (
	"context"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Subject is the engine under test. Search is all it must have; the other
// interfaces here are found by assertion.
//
// An error from [record.Refuse] or [record.Skip] says that the case was not
// answered for a reason other than quality; the subject's own deadline counts
// as a timeout; any other error is a failed case.
type Subject interface {
	Search(ctx context.Context, q pack.Question) (record.Observation, error)
}

// Ingester is a subject that a suite can fill. Ingest is called once, with
// the whole corpus, before the first question.
type Ingester interface {
	Ingest(ctx context.Context, corpus []pack.Document) error
}

// Fingerprinter is a subject that says what it is. Without it, runs of the
// subject cannot be told apart, and the record says so.
type Fingerprinter interface {
	Fingerprint(ctx context.Context) (Fingerprint, error)
}

// Fingerprint is the effective configuration of a subject.
type Fingerprint struct {
	Config  map[string]record.Set // every value that can change a ranking
	SeedKey string                // digest over what the stored content depends on: schema, chunking, models
}

// SubstrateReporter is a subject that counts what it searches. A count that
// is 0, negative or unknown, two that disagree, "documents" that are not as
// many as the pack's, and no count at all refuse every case: an empty store
// measures as "no effect", not as a failure.
type SubstrateReporter interface {
	Substrates(ctx context.Context) ([]Substrate, error)
}

// Substrate is one thing that a subject searches, counted in two ways.
type Substrate struct {
	Name       string // documents, chunks, lexical, vectors, ...
	Counted    int    // by the store's own count
	Enumerated int    // by walking the entries
	Err        error  // why the counts are unknown
	Optional   bool   // 0 is no violation
}
