package embed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/touchstone-eval/touchstone/engine/models/onnx"
)

// Pooling rules: how the rows of a text's tokens become its vector.
const (
	Mean = "mean" // their mean, special tokens included
	CLS  = "cls"  // the row of [CLS]
)

// DefaultMaxTokens is what sentence-transformers cuts all-MiniLM-L6-v2 at,
// whatever its tokenizer.json says.
const DefaultMaxTokens = 256

// ModelOptions say how a model of a folder is used. The zero value is right
// for all-MiniLM-L6-v2.
type ModelOptions struct {
	Name      string // empty means the folder's
	Pooling   string // Mean or CLS; empty means Mean
	MaxTokens int    // texts are cut there, special tokens included; 0 means DefaultMaxTokens
	Backend   string // onnx.Go or onnx.ORT; empty means onnx.Default
}

// OpenModel opens a sentence-embedding model: a folder with model.onnx and
// tokenizer.json of BERT's kind (uncased WordPiece), such as
// all-MiniLM-L6-v2.
//
// A text is cleaned (accents are dropped, letters made lower case), cut into
// tokens, put between [CLS] and [SEP], cut at MaxTokens with the [SEP] kept,
// run, pooled, and scaled to unit length. A text of which the vocabulary knows
// nothing is the zero vector.
//
// The vector of a text is equal to the bit whatever stands beside it. It
// differs between the backends by about 1e-7. The Digest is over both files;
// the backend is not part of it.
func OpenModel(dir string, o ModelOptions) (Embedder, error) {
	m, err := openModel(dir, o)
	if err != nil {
		return nil, fmt.Errorf("embed: model %s: %w", dir, err)
	}
	return m, nil
}

func openModel(dir string, o ModelOptions) (*model, error) {
	if o.Name == "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		o.Name = filepath.Base(abs)
	}
	if o.Pooling == "" {
		o.Pooling = Mean
	}
	if o.MaxTokens == 0 {
		o.MaxTokens = DefaultMaxTokens
	}
	if o.Pooling != Mean && o.Pooling != CLS {
		return nil, fmt.Errorf("pooling %q; want %s or %s", o.Pooling, Mean, CLS)
	}
	if o.MaxTokens < 3 {
		return nil, fmt.Errorf("max tokens %d; want at least 3", o.MaxTokens)
	}
	files, err := ReadFiles(dir)
	if err != nil {
		return nil, err
	}
	if files.Positions > 0 && o.MaxTokens > files.Positions {
		return nil, fmt.Errorf("max tokens %d; the model has %d positions", o.MaxTokens, files.Positions)
	}
	tokens, err := NewTokenizer(files.Tokenizer)
	if err != nil {
		return nil, err
	}
	run, err := onnx.Open(files.ONNX, onnx.Options{MaxTokens: o.MaxTokens, Backend: o.Backend, Alone: true})
	if err != nil {
		return nil, err
	}
	if !run.PerToken() {
		return nil, errors.Join(errors.New("it returns no row for each token, as a sentence-embedding model does"), run.Close())
	}
	return &model{
		info:   Info{Name: o.Name, Digest: files.Digest, Pooling: o.Pooling, Dim: run.Width(), MaxTokens: o.MaxTokens},
		tokens: tokens,
		run:    run,
	}, nil
}

// Files are those of a model's folder.
type Files struct {
	ONNX      []byte // model.onnx
	Tokenizer []byte // tokenizer.json
	Digest    string // SHA-256 over both, hex
	Positions int    // max_position_embeddings of config.json; 0 if it is absent or does not say
}

// ReadFiles reads a model's folder.
func ReadFiles(dir string) (Files, error) {
	var f Files
	var err error
	if f.ONNX, err = os.ReadFile(filepath.Join(dir, "model.onnx")); err != nil {
		return Files{}, fmt.Errorf("want a folder with model.onnx and tokenizer.json: %w", err)
	}
	if f.Tokenizer, err = os.ReadFile(filepath.Join(dir, "tokenizer.json")); err != nil {
		return Files{}, fmt.Errorf("want a folder with model.onnx and tokenizer.json: %w", err)
	}
	sum := func(data []byte) string {
		s := sha256.Sum256(data)
		return hex.EncodeToString(s[:])
	}
	f.Digest = filesDigest(sum(f.ONNX), sum(f.Tokenizer))
	config, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	var c struct {
		Positions int `json:"max_position_embeddings"`
	}
	if err == nil {
		err = json.Unmarshal(config, &c)
	}
	if err != nil {
		return Files{}, fmt.Errorf("config.json: %w", err)
	}
	f.Positions = c.Positions
	return f, nil
}

// model is an embedder of a folder.
type model struct {
	info   Info
	tokens *Tokenizer
	run    *onnx.Model
}

func (m *model) Info() Info   { return m.info }
func (m *model) Close() error { return m.run.Close() }

func (m *model) Embed(ctx context.Context, texts []string) ([]Vector, error) {
	out := make([]Vector, 0, len(texts))
	for part := range slices.Chunk(texts, group) {
		vectors, err := m.embed(ctx, part)
		if errors.Is(err, onnx.ErrClosed) {
			return nil, ErrClosed
		}
		if err != nil {
			return nil, fmt.Errorf("embed: stopped after %d of %d texts: %w", len(out), len(texts), err)
		}
		out = append(out, vectors...)
	}
	if len(texts) == 0 {
		if err := m.run.Run(ctx, nil, nil); err != nil {
			return nil, ErrClosed
		}
	}
	return out, nil
}

func (m *model) embed(ctx context.Context, texts []string) ([]Vector, error) {
	out := make([]Vector, len(texts))
	inputs := make([]onnx.Input, len(texts))
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i, text := range texts {
		workers.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			ids, err := m.tokens.IDs(ctx, text)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				out[i].Err = err
				return nil
			}
			out[i].Tokens = len(ids) + 2
			out[i].Truncated = out[i].Tokens > m.info.MaxTokens
			out[i].Values = make([]float32, m.info.Dim)
			if m.tokens.Known(ids) {
				inputs[i].IDs = m.tokens.Single(ids, m.info.MaxTokens)
			}
			return nil
		})
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	var which []int // the texts that the model is asked about
	var asked []onnx.Input
	for i, in := range inputs {
		if len(in.IDs) > 0 {
			which = append(which, i)
			asked = append(asked, in)
		}
	}
	err := m.run.Run(ctx, asked, func(k int, rows [][]float32) {
		v := &out[which[k]]
		if m.info.Pooling == CLS {
			rows = rows[:1]
		}
		if v.Err = pool(v.Values, rows); v.Err != nil {
			v.Values = nil
		}
	})
	return out, err
}

// pool sets values to the mean of the rows, scaled to unit length. It adds in
// float64, row by row, and each product is rounded by itself, so that no
// platform can fuse a multiplication with an addition and get other bits.
func pool(values []float32, rows [][]float32) error {
	sum := make([]float64, len(values))
	for _, row := range rows {
		for k, x := range row {
			sum[k] += float64(x)
		}
	}
	squares := 0.0
	for _, x := range sum {
		squares += float64(x * x)
	}
	if math.IsNaN(squares) || math.IsInf(squares, 0) || squares == 0 {
		return fmt.Errorf("the model returned a vector of squared length %v", squares)
	}
	norm := math.Sqrt(squares)
	for k, x := range sum {
		values[k] = float32(x / norm)
	}
	return nil
}
