package embed

import "context"

// Info names the model behind an [Embedder]. Two embedders whose Info differs
// produce vectors of different spaces, which a store must never mix.
type Info struct {
	Name      string // for instance "static-256"
	Digest    string // SHA-256 over the model's files, hex
	Pooling   string // "mean"
	Dim       int    // length of every vector
	MaxTokens int    // longer texts are cut there; 0 means never cut
}

// Vector is the outcome for one text.
type Vector struct {
	Values    []float32 // unit length, or all zero for a text without a known token; nil when Err is set
	Tokens    int       // tokens of the text before any cut; 0 when the model cannot tell
	Truncated bool      // the text was longer than MaxTokens
	Err       error     // this text alone failed
}

// Embedder turns texts into vectors. Implementations are safe for concurrent
// use, and the vector of a text does not depend on its neighbours in a batch.
type Embedder interface {
	Info() Info
	// Embed returns one Vector a text, in the order of texts. The error is
	// for the call as a whole (closed, cancelled); a text that cannot be
	// embedded carries its own. An empty slice returns an empty slice.
	Embed(ctx context.Context, texts []string) ([]Vector, error)
	Close() error
}
