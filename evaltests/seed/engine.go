package seed

import (
	"context"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

// Engine is what a subject does for its seeds. Each call opens the store in a
// folder and closes it again.
type Engine interface {
	// Parts are what the subject's stores depend on: see [PartSchema] and its
	// neighbours. An error says that the subject cannot tell, and then it
	// cannot have cached seeds.
	Parts(ctx context.Context) (Parts, error)
	// Fill stores documents in an empty folder, or one that holds a mark only,
	// through the subject's own ingest.
	Fill(ctx context.Context, dir string, source func(pack.Document) (source, id string), docs []pack.Document, concurrency int) (Report, error)
	// Survey counts what the store holds, and never writes to it.
	Survey(ctx context.Context, dir string) (Survey, error)
	// Content is a digest of all that the store holds, of a store of any
	// version.
	Content(ctx context.Context, dir string) (string, error)
	// ReadStamp reads the note inside the store, of a store of any version.
	ReadStamp(ctx context.Context, dir string) (text string, found bool, err error)
	// WriteStamp writes it.
	WriteStamp(ctx context.Context, dir, text string) error
	// Backfill brings a store of a former version up to date, as opening it
	// for work would.
	Backfill(ctx context.Context, dir string) error
}

// Report says how a store was filled.
type Report struct {
	Documents int
	Steps     []Step
	Skipped   []Skipped
}
