package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/touchstone-eval/touchstone/engine/chunk"
	"github.com/touchstone-eval/touchstone/engine/embed"
	"github.com/touchstone-eval/touchstone/engine/enrich"
	"github.com/touchstone-eval/touchstone/engine/lexical"
	"github.com/touchstone-eval/touchstone/engine/store"
)

// Fingerprint is all that decides what an ingest leaves in the folder, apart
// from the code. Settings of the search are not part of it.
type Fingerprint struct {
	Schema   string // hash of the store's tables
	Model    embed.Info
	Chunk    chunk.Config
	Analyzer string
	Enrich   string // rules of the enrichment
}

// Hash is SHA-256 over the fingerprint, hex.
func (f Fingerprint) Hash() string {
	data, err := json.Marshal(f)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Fingerprint returns the fingerprint of an open engine.
func (e *Engine) Fingerprint() Fingerprint {
	return Fingerprint{Schema: store.SchemaHash(), Model: e.model, Chunk: e.cfg.Chunk, Analyzer: lexical.Analysis(), Enrich: enrich.Version}
}
