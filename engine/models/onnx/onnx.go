package onnx

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	_ "github.com/gomlx/gomlx/backends/simplego" // the pure-Go backend registers itself
	"github.com/knights-analytics/hugot/backends"
	"github.com/knights-analytics/hugot/options"
	"golang.org/x/sync/errgroup"
)

// The backends.
const (
	Go  = "GO"  // pure Go
	ORT = "ORT" // ONNX Runtime; needs a build with the tag ORT
)

// ErrClosed is the error of Run after Close.
var ErrClosed = errors.New("onnx: model is closed: open a new one")

// Input is one sequence of tokens, special tokens included.
type Input struct {
	IDs   []int
	Types []int // as long as IDs; nil means all 0
}

// Options say how a model is run.
type Options struct {
	MaxTokens int    // longest input there will be, at least 1
	Batch     int    // inputs that the pure-Go backend takes at once; 0 means 1
	Backend   string // Go or ORT; empty means Default

	// Alone runs an input that comes by itself on all cores. Only ONNX Runtime
	// needs it, and holds the model in memory twice then.
	Alone bool
}

// Model is an open model. It is safe for concurrent use.
type Model struct {
	backend string
	max     int
	batch   int
	output  int
	width   int
	rank    int

	mu     sync.RWMutex // held for reading while the model runs
	closed bool
	model  *backends.Model
	alone  *backends.Model // for a single input; nil if that is run as any other
	free   func() error

	serial sync.Mutex // hugot's pure-Go path writes to the model on every call
}

// Open reads the bytes of an ONNX file. External data files are not followed.
func Open(onnx []byte, o Options) (_ *Model, err error) {
	if o.MaxTokens < 1 || o.Batch < 0 {
		return nil, fmt.Errorf("onnx: max tokens %d, batch %d: want at least 1 and 0", o.MaxTokens, o.Batch)
	}
	m := &Model{backend: o.Backend, max: o.MaxTokens, batch: max(1, o.Batch)}
	if m.backend == "" {
		m.backend = Default
	}
	if m.model, err = m.load(onnx, 1); err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	m.free = func() error { return free(m.model, m.backend) }
	if err := m.shape(); err != nil {
		return nil, errors.Join(fmt.Errorf("onnx: %w", err), m.free())
	}
	cores := min(runtime.GOMAXPROCS(0), mostThreads)
	if !o.Alone || m.backend != ORT || cores == 1 {
		return m, nil
	}
	if m.alone, err = m.load(onnx, cores); err != nil {
		return nil, errors.Join(fmt.Errorf("onnx: %w", err), m.free())
	}
	m.free = func() error { return errors.Join(free(m.model, m.backend), free(m.alone, m.backend)) }
	return m, nil
}

// mostThreads are those that a question's few tokens can keep busy.
const mostThreads = 4

// load reads a model, to be run by so many threads under ONNX Runtime.
func (m *Model) load(onnx []byte, threads int) (_ *backends.Model, err error) {
	opts := options.Defaults()
	opts.Backend = m.backend
	switch m.backend {
	case Go:
		opts.GoMLXOptions.BatchBuckets = []int{m.batch}
		opts.GoMLXOptions.SequenceBuckets = lengths(m.max)
	case ORT:
		if opts.BackendOptions, err = ortSession(threads); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("backend %q: want %s or %s", m.backend, Go, ORT)
	}
	// hugot changes into the model's folder while ONNX Runtime loads it; the
	// folder that the process is in already is no change.
	model := &backends.Model{ID: "onnx", Path: ".", OnnxBytes: onnx, Pipelines: map[string]backends.Pipeline{}}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("load the model: %v", r)
		}
	}()
	if err := backends.CreateModelBackend(model, opts); err != nil {
		return nil, fmt.Errorf("load the model: %w", err)
	}
	if m.backend == Go {
		if err := inSequence(model.GoMLXModel); err != nil {
			return nil, fmt.Errorf("load the model: %w", err)
		}
	}
	return model, nil
}

// lengths are those that the pure-Go backend sees: powers of two, and max.
func lengths(longest int) []int {
	var out []int
	for n := 16; n < longest; n *= 2 {
		out = append(out, n)
	}
	return append(out, longest)
}

// outputs are the names that are looked for where a model has several.
var outputs = []string{"last_hidden_state", "token_embeddings", "logits"}

// shape checks that the model is of the form that hugot can feed, and picks
// its output.
func (m *Model) shape() error {
	for _, in := range m.model.InputsMeta {
		if !slices.Contains([]string{"input_ids", "token_type_ids", "attention_mask"}, in.Name) {
			return fmt.Errorf("the model has an input %q; want input_ids, attention_mask, token_type_ids", in.Name)
		}
	}
	if !slices.ContainsFunc(m.model.InputsMeta, func(i backends.InputOutputInfo) bool { return i.Name == "input_ids" }) {
		return errors.New("the model has no input input_ids")
	}
	metas := m.model.OutputsMeta
	m.output = -1
	if len(metas) == 1 {
		m.output = 0
	}
	for _, name := range outputs {
		if m.output < 0 {
			m.output = slices.IndexFunc(metas, func(o backends.InputOutputInfo) bool { return o.Name == name })
		}
	}
	if m.output < 0 {
		return fmt.Errorf("the model has %d outputs; want one, or one that is called %s", len(metas), strings.Join(outputs, " or "))
	}
	dims := metas[m.output].Dimensions
	m.rank = len(dims)
	if m.rank != 2 && m.rank != 3 || dims[m.rank-1] < 1 {
		return fmt.Errorf("output %s is of shape %v; want [batch, width] or [batch, tokens, width] with a fixed width", metas[m.output].Name, dims)
	}
	m.width = int(dims[m.rank-1])
	return nil
}

// Width is the length of every row of the output.
func (m *Model) Width() int { return m.width }

// PerToken tells whether the output has a row for every token, or one row.
func (m *Model) PerToken() bool { return m.rank == 3 }

// Backend is Go or ORT.
func (m *Model) Backend() string { return m.backend }

// Close frees the model. It waits for calls of Run; further ones fail. A
// second Close does nothing.
func (m *Model) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	m.closed = true
	return m.free()
}

// Run calls yield with the output of every input: one row a token, or a
// single row if the model is not PerToken. Calls come in any order, some at
// the same time, each for another index; rows belong to yield.
//
// An error is for the call as a whole: of the context, which is looked at
// between batches, or of the model. Some inputs have been yielded then.
func (m *Model) Run(ctx context.Context, inputs []Input, yield func(i int, rows [][]float32)) error {
	for i, in := range inputs {
		if len(in.IDs) == 0 || len(in.IDs) > m.max || (in.Types != nil && len(in.Types) != len(in.IDs)) {
			return fmt.Errorf("onnx: input %d has %d tokens and %d types; want 1 to %d, and a type for each or none", i, len(in.IDs), len(in.Types), m.max)
		}
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed {
		return ErrClosed
	}
	model := m.model
	if m.alone != nil && len(inputs) == 1 {
		model = m.alone
	}
	var done atomic.Int64
	step := func(batch []int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		out, err := m.run(model, inputs, batch)
		if err != nil {
			return err
		}
		for k, i := range batch {
			yield(i, out[k])
		}
		done.Add(int64(len(batch)))
		return nil
	}
	workers := new(errgroup.Group)
	workers.SetLimit(1)
	if m.backend == ORT {
		workers.SetLimit(runtime.GOMAXPROCS(0))
	}
	for _, batch := range m.batches(inputs) {
		workers.Go(func() error { return step(batch) })
	}
	if err := workers.Wait(); err != nil {
		return fmt.Errorf("onnx: stopped after %d of %d inputs: %w", done.Load(), len(inputs), err)
	}
	return nil
}

// batches groups the indices of inputs that may share a run.
func (m *Model) batches(inputs []Input) [][]int {
	var out [][]int
	if m.backend == ORT {
		for i := range inputs {
			out = append(out, []int{i})
		}
		return out
	}
	steps := lengths(m.max)
	byLength := make([][]int, len(steps))
	for i, in := range inputs {
		at, _ := slices.BinarySearch(steps, len(in.IDs))
		byLength[at] = append(byLength[at], i)
	}
	for _, same := range byLength {
		out = slices.AppendSeq(out, slices.Chunk(same, m.batch))
	}
	return out
}

func (m *Model) run(model *backends.Model, inputs []Input, which []int) (out [][][]float32, err error) {
	if m.backend == Go {
		m.serial.Lock()
		defer m.serial.Unlock()
	}
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("the model panicked: %v", r)
		}
	}()
	batch := backends.NewBatch(len(which))
	for _, i := range which {
		t := tokenized(inputs[i])
		batch.Input = append(batch.Input, t)
		batch.MaxSequenceLength = max(batch.MaxSequenceLength, len(t.TokenIDs))
	}
	defer func() { err = errors.Join(err, batch.Destroy()) }()
	if err := backends.CreateInputTensors(batch, model, m.backend); err != nil {
		return nil, err
	}
	base := &backends.BasePipeline{Model: model, PipelineName: "onnx", Runtime: m.backend}
	if err := backends.RunSessionOnBatch(batch, base); err != nil {
		return nil, err
	}
	return m.rows(batch)
}

func tokenized(in Input) backends.TokenizedInput {
	n := len(in.IDs)
	t := backends.TokenizedInput{
		TokenIDs: make([]uint32, n), TypeIDs: make([]uint32, n), AttentionMask: make([]uint32, n), MaxAttentionIndex: n - 1,
	}
	for k, id := range in.IDs {
		t.TokenIDs[k] = uint32(id)
		t.AttentionMask[k] = 1
		if in.Types != nil {
			t.TypeIDs[k] = uint32(in.Types[k])
		}
	}
	return t
}

// rows checks what came back: a shape that is not understood must not become
// a vector.
func (m *Model) rows(batch *backends.PipelineBatch) ([][][]float32, error) {
	var out [][][]float32
	switch v := batch.OutputValues[m.output].(type) {
	case [][][]float32:
		out = v
	case [][]float32:
		for _, row := range v {
			out = append(out, [][]float32{row})
		}
	}
	if len(out) < batch.Size {
		return nil, fmt.Errorf("the model returned %d outputs (%T) for %d inputs", len(out), batch.OutputValues[m.output], batch.Size)
	}
	out = out[:batch.Size]
	for i, rows := range out {
		want := 1
		if m.PerToken() {
			want = len(batch.Input[i].TokenIDs)
		}
		if len(rows) != want || len(rows[0]) != m.width {
			return nil, fmt.Errorf("the model returned %d rows, want %d of %d values", len(rows), want, m.width)
		}
	}
	return out, nil
}
