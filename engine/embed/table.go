package embed

import (
	"errors"
	"fmt"
	"sync"

	_ "github.com/gomlx/gomlx/backends/simplego" // the pure-Go backend registers itself
	"github.com/knights-analytics/hugot/backends"
	"github.com/knights-analytics/hugot/options"
)

// shapes are the lengths that token ids are padded to. The backend compiles a
// graph for each shape and keeps it, so there must be few.
var shapes = []int{16, 128, 1024}

// table computes rows of a static embedding through hugot's pure-Go backend,
// whatever backend the rest of the program uses.
type table struct {
	dim int

	mu    sync.Mutex // hugot writes to the model on every call
	model *backends.Model
	base  *backends.BasePipeline
}

// newTable loads the bytes of an ONNX file with the inputs input_ids and
// attention_mask and the output last_hidden_state of dim columns.
func newTable(onnx []byte, dim int) (*table, error) {
	opts := options.Defaults()
	opts.Backend = "GO"
	opts.GoMLXOptions.BatchBuckets = []int{1}
	opts.GoMLXOptions.SequenceBuckets = shapes
	model := &backends.Model{ID: "default", OnnxBytes: onnx, Pipelines: map[string]backends.Pipeline{}}
	if err := backends.CreateModelBackend(model, opts); err != nil {
		return nil, err
	}
	if len(model.OutputsMeta) != 1 || len(model.OutputsMeta[0].Dimensions) != 3 || model.OutputsMeta[0].Dimensions[2] != int64(dim) {
		return nil, fmt.Errorf("outputs are %v, want one of shape [batch sequence %d]", model.OutputsMeta, dim)
	}
	base := &backends.BasePipeline{Model: model, PipelineName: "default", Runtime: opts.Backend}
	return &table{dim: dim, model: model, base: base}, nil
}

// rows returns one row for each id, each computed apart from its neighbours.
func (t *table) rows(ids []int) ([][]float32, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.model == nil {
		return nil, ErrClosed
	}
	out := make([][]float32, 0, len(ids))
	for len(ids) > 0 {
		n := min(len(ids), shapes[len(shapes)-1])
		part, err := t.run(ids[:n])
		if err != nil {
			return nil, err
		}
		out, ids = append(out, part...), ids[n:]
	}
	return out, nil
}

func (t *table) run(ids []int) (rows [][]float32, err error) {
	input := backends.TokenizedInput{
		TokenIDs:      make([]uint32, len(ids)),
		AttentionMask: make([]uint32, len(ids)),
	}
	for i, id := range ids {
		input.TokenIDs[i] = uint32(id)
		input.AttentionMask[i] = 1
	}
	batch := backends.NewBatch(1)
	batch.Input = []backends.TokenizedInput{input}
	batch.MaxSequenceLength = len(ids)
	defer func() { err = errors.Join(err, batch.Destroy()) }()
	if err := backends.CreateInputTensors(batch, t.model, t.base.Runtime); err != nil {
		return nil, err
	}
	if err := backends.RunSessionOnBatch(batch, t.base); err != nil {
		return nil, err
	}
	values, ok := batch.OutputValues[0].([][][]float32)
	if !ok || len(values) != 1 || len(values[0]) != len(ids) {
		return nil, fmt.Errorf("model returned %T, want [1][%d][%d]float32", batch.OutputValues[0], len(ids), t.dim)
	}
	return values[0], nil
}

func (t *table) closed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.model == nil
}

func (t *table) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.model != nil {
		t.model.GoMLXModel.Destroy()
		t.model, t.base = nil, nil
	}
}
