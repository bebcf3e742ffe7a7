package rerank

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/touchstone-eval/touchstone/engine/embed"
	"github.com/touchstone-eval/touchstone/engine/models/onnx"
)

// The values that a zero field of [ModelOptions] stands for.
const (
	DefaultMaxTokens = 512 // where tokenizer.json does not say where to cut
	DefaultBatch     = 4
)

// ModelOptions say how a cross-encoder of a folder is used.
type ModelOptions struct {
	Name      string        // empty means the folder's
	MaxTokens int           // of question and passage together; 0 means where tokenizer.json truncates, or else DefaultMaxTokens
	Budget    time.Duration // most time for one question; 0 means no limit but the context's
	Batch     int           // pairs that the pure-Go backend takes at once; 0 means DefaultBatch
	Backend   string        // onnx.Go or onnx.ORT; empty means onnx.Default
}

// CrossEncoder is a [Judge] that reads question and passage together.
type CrossEncoder struct {
	name   string
	tokens *embed.Tokenizer
	max    int
	budget time.Duration
	run    *onnx.Model
}

// OpenModel opens a cross-encoder: a folder with model.onnx, of which the
// output is one number a pair, and tokenizer.json of BERT's kind (uncased
// WordPiece), such as cross-encoder/ms-marco-MiniLM-L-6-v2.
//
// It reads [CLS] question [SEP] title, text [SEP]; of a pair that is too long
// the passage is cut. The score is the model's own number, without a sigmoid,
// which would make ties of large numbers. The score of a pair is equal to the
// bit whatever passages stand beside it, and differs between the backends by
// some 1e-4.
func OpenModel(dir string, o ModelOptions) (*CrossEncoder, error) {
	c, err := openModel(dir, o)
	if err != nil {
		return nil, fmt.Errorf("rerank: model %s: %w", dir, err)
	}
	return c, nil
}

func openModel(dir string, o ModelOptions) (*CrossEncoder, error) {
	if o.Name == "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		o.Name = filepath.Base(abs)
	}
	files, err := embed.ReadFiles(dir)
	if err != nil {
		return nil, err
	}
	tokens, err := embed.NewTokenizer(files.Tokenizer)
	if err != nil {
		return nil, err
	}
	if o.MaxTokens == 0 {
		o.MaxTokens = tokens.Limit()
	}
	if o.MaxTokens == 0 {
		o.MaxTokens = DefaultMaxTokens
	}
	if o.Batch == 0 {
		o.Batch = DefaultBatch
	}
	switch {
	case o.MaxTokens < 8:
		return nil, fmt.Errorf("max tokens %d; want at least 8", o.MaxTokens)
	case files.Positions > 0 && o.MaxTokens > files.Positions:
		return nil, fmt.Errorf("max tokens %d; the model has %d positions", o.MaxTokens, files.Positions)
	case o.Budget < 0:
		return nil, fmt.Errorf("budget %s; want at least 0", o.Budget)
	}
	run, err := onnx.Open(files.ONNX, onnx.Options{MaxTokens: o.MaxTokens, Batch: o.Batch, Backend: o.Backend})
	if err != nil {
		return nil, err
	}
	if run.PerToken() || run.Width() != 1 {
		return nil, errors.Join(fmt.Errorf("it returns %d numbers for a pair or its tokens; want one for a pair, as a cross-encoder does", run.Width()), run.Close())
	}
	name := fmt.Sprintf("%s@%.12s max_tokens=%d backend=%s", o.Name, files.Digest, o.MaxTokens, strings.ToLower(run.Backend()))
	if o.Budget > 0 {
		name += " budget=" + o.Budget.String()
	}
	return &CrossEncoder{name: name, tokens: tokens, max: o.MaxTokens, budget: o.Budget, run: run}, nil
}

// Name tells model, settings and backend.
func (c *CrossEncoder) Name() string { return c.name }

// Close frees the model. Judge fails afterwards.
func (c *CrossEncoder) Close() error { return c.run.Close() }

// Judge scores the passages. It looks at the clock between batches, and when
// the context's deadline or the budget has passed, it returns an error that
// wraps [ErrDeadline] and says how far it came.
func (c *CrossEncoder) Judge(ctx context.Context, question string, passages []Passage) ([]float64, error) {
	budget := ctx
	if c.budget > 0 {
		var cancel context.CancelFunc
		budget, cancel = context.WithTimeout(ctx, c.budget)
		defer cancel()
	}
	var judged atomic.Int64
	scores, err := c.judge(budget, question, passages, &judged)
	switch {
	case err == nil:
		return scores, nil
	case ctx.Err() == nil && budget.Err() != nil:
		return nil, fmt.Errorf("%w: a budget of %s was over after %d of %d passages", ErrDeadline, c.budget, judged.Load(), len(passages))
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("%w: the deadline of the search passed after %d of %d passages", ErrDeadline, judged.Load(), len(passages))
	}
	return nil, err
}

func (c *CrossEncoder) judge(ctx context.Context, question string, passages []Passage, judged *atomic.Int64) ([]float64, error) {
	asked, err := c.tokens.IDs(ctx, question)
	if err != nil {
		return nil, fmt.Errorf("the question: %w", err)
	}
	inputs := make([]onnx.Input, len(passages))
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i, p := range passages {
		workers.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			ids, err := c.tokens.IDs(ctx, p.Title+"\n"+p.Text)
			if err != nil {
				return fmt.Errorf("passage %s: %w", p.ID, err)
			}
			inputs[i].IDs, inputs[i].Types = c.tokens.Pair(asked, ids, c.max)
			return nil
		})
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	scores := make([]float64, len(passages))
	err = c.run.Run(ctx, inputs, func(i int, rows [][]float32) {
		scores[i] = float64(rows[0][0])
		judged.Add(1)
	})
	if err != nil {
		return nil, err
	}
	for i, s := range scores {
		if math.IsNaN(s) || math.IsInf(s, 0) {
			return nil, fmt.Errorf("passage %s: the model returned %v", passages[i].ID, s)
		}
	}
	return scores, nil
}
