package embed

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
)

// The default model: 256 dimensions, a vocabulary of its own, int4 rows.
// tools/distill makes both files and records their inputs.
var (
	//go:embed model/model.onnx
	defaultONNX []byte
	//go:embed model/tokenizer.json
	defaultTokenizer []byte
)

const (
	defaultName = "static-256"
	defaultDim  = 256

	defaultONNXSHA256      = "a02e7fe83abf3dc6f45976e07e6d124c93c8f1bb29f9f08299df77439f723c23"
	defaultTokenizerSHA256 = "b1b234f1ccae631a7e1c2da6928fc2e83756bdb28579e556471d007522495fa6"
)

// Default opens the model that is part of the binary: a static token
// embedding distilled from all-MiniLM-L6-v2. It reads and writes no file.
//
// A text is cleaned, cut into tokens, and becomes the mean of its tokens'
// rows, scaled to unit length; word order does not count. Nothing is ever
// truncated, so MaxTokens is 0. An empty text, or one without a single known
// token (some scripts have none), is the zero vector and not an error.
//
// Values are equal to the bit for any batch, order, number of cores and
// platform. Each call loads its own copy (about 15 MB): share the embedder.
func Default() (Embedder, error) {
	tok, err := newTokenizer(defaultTokenizer)
	if err != nil {
		return nil, fmt.Errorf("embed: default tokenizer: %w", err)
	}
	table, err := newTable(defaultONNX, defaultDim)
	if err != nil {
		return nil, fmt.Errorf("embed: default model: %w", err)
	}
	return &static{
		info: Info{
			Name:    defaultName,
			Digest:  filesDigest(defaultONNXSHA256, defaultTokenizerSHA256),
			Pooling: "mean",
			Dim:     defaultDim,
		},
		tokens: tok.ids,
		table:  table,
	}, nil
}

// filesDigest is what `sha256sum model.onnx tokenizer.json | sha256sum` prints.
func filesDigest(onnx, tokenizer string) string {
	sum := sha256.Sum256([]byte(onnx + "  model.onnx\n" + tokenizer + "  tokenizer.json\n"))
	return hex.EncodeToString(sum[:])
}
