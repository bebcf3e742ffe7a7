package onnxtest

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// CrossEncoder writes the folder of a cross-encoder: the score of a pair is
// the sum of the weights of the passage's words; a word without a weight
// weighs nothing.
func CrossEncoder(t testing.TB, weights map[string]float32) string {
	t.Helper()
	words := wordsOf(t, weights)
	table := make([]float32, 0, len(words))
	for _, w := range words {
		table = append(table, weights[w])
	}
	return folder(t, words, model(
		[]string{"input_ids", "attention_mask", "token_type_ids"},
		output{"logits", []int64{0, 1}},
		[]tensor{floats("table", table, int64(len(words)), 1), ints("one", 1), ints("two", 2)},
		node{"Gather", []string{"table", "input_ids"}, "rows", nil}, // [B, S, 1]
		node{"Mul", []string{"attention_mask", "token_type_ids"}, "passage", nil},
		node{"Cast", []string{"passage"}, "mask", map[string]int64{"to": 1}},
		node{"Unsqueeze", []string{"mask", "one"}, "masks", nil}, // [B, 1, S]
		node{"MatMul", []string{"masks", "rows"}, "sums", nil},   // [B, 1, 1]
		node{"Squeeze", []string{"sums", "two"}, "logits", nil},  // [B, 1]
	))
}

// Embedder writes the folder of an embedder: the row of a token is the one
// that the test gives its word, which may hold special tokens' too; other
// tokens have a zero row.
func Embedder(t testing.TB, rows map[string][]float32) string {
	t.Helper()
	words := wordsOf(t, rows)
	width := 0
	for _, r := range rows {
		width = max(width, len(r))
	}
	var table []float32
	for _, w := range words {
		row := make([]float32, width)
		copy(row, rows[w])
		table = append(table, row...)
	}
	return folder(t, words, model(
		[]string{"input_ids", "attention_mask"},
		output{"last_hidden_state", []int64{0, 0, int64(width)}},
		[]tensor{floats("table", table, int64(len(words)), int64(width)), ints("two", 2)},
		node{"Gather", []string{"table", "input_ids"}, "rows", nil},
		node{"Cast", []string{"attention_mask"}, "mask", map[string]int64{"to": 1}},
		node{"Unsqueeze", []string{"mask", "two"}, "masks", nil},
		node{"Mul", []string{"rows", "masks"}, "last_hidden_state", nil},
	))
}

// wordsOf is the vocabulary: special tokens first, then words in byte order.
func wordsOf[V any](t testing.TB, m map[string]V) []string {
	t.Helper()
	if len(m) == 0 {
		t.Fatal("onnxtest: no words: give at least one")
	}
	words := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]"}
	var own []string
	for w := range m {
		if !slices.Contains(words, w) {
			own = append(own, w)
		}
	}
	slices.Sort(own)
	return append(words, own...)
}

func folder(t testing.TB, words []string, onnx []byte) string {
	t.Helper()
	vocabulary := map[string]int{}
	for i, w := range words {
		vocabulary[w] = i
	}
	tokenizer, err := json.Marshal(map[string]any{
		"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": []any{},
		"normalizer":     map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": true},
		"pre_tokenizer":  map[string]any{"type": "BertPreTokenizer"},
		"post_processor": nil, "decoder": nil,
		"model": map[string]any{
			"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
			"max_input_chars_per_word": 100, "vocab": vocabulary,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "toy")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"model.onnx": onnx, "tokenizer.json": tokenizer} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

type (
	node struct {
		op      string
		inputs  []string
		output  string
		numbers map[string]int64 // attributes
	}
	output struct {
		name string
		dims []int64 // 0 is any
	}
	tensor struct{ bytes []byte }
)

// Numbers of the fields in onnx.proto.
func model(inputs []string, out output, initializers []tensor, nodes ...node) []byte {
	var graph []byte
	for _, n := range nodes {
		graph = field(graph, 1, n.bytes())
	}
	graph = field(graph, 2, []byte("toy"))
	for _, i := range initializers {
		graph = field(graph, 5, i.bytes)
	}
	for _, in := range inputs {
		graph = field(graph, 11, value(in, 7, []int64{0, 0}))
	}
	graph = field(graph, 12, value(out.name, 1, out.dims))
	m := number(nil, 1, 8)                             // IR version
	m = field(m, 8, number(field(nil, 1, nil), 2, 13)) // operator set
	return field(m, 7, graph)
}

func (n node) bytes() []byte {
	var b []byte
	for _, in := range n.inputs {
		b = field(b, 1, []byte(in))
	}
	b = field(b, 2, []byte(n.output))
	b = field(b, 4, []byte(n.op))
	for name, v := range n.numbers { // one at most
		b = field(b, 5, number(number(field(nil, 1, []byte(name)), 3, v), 20, 2))
	}
	return b
}

func value(name string, kind int64, dims []int64) []byte {
	var shape []byte
	for i, d := range dims {
		if d == 0 {
			shape = field(shape, 1, field(nil, 2, []byte{'a' + byte(i)}))
		} else {
			shape = field(shape, 1, number(nil, 1, d))
		}
	}
	tensor := field(number(nil, 1, kind), 2, shape)
	return field(field(nil, 1, []byte(name)), 2, field(nil, 1, tensor))
}

func floats(name string, values []float32, dims ...int64) tensor {
	var raw []byte
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return newTensor(name, 1, raw, dims)
}

func ints(name string, values ...int64) tensor {
	var raw []byte
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	return newTensor(name, 7, raw, []int64{int64(len(values))})
}

func newTensor(name string, kind int64, raw []byte, dims []int64) tensor {
	var b []byte
	for _, d := range dims {
		b = number(b, 1, d)
	}
	b = number(b, 2, kind)
	return tensor{field(field(b, 8, []byte(name)), 9, raw)}
}

// field and number append what protobuf calls a length-delimited field and a
// varint.
func field(b []byte, id int, data []byte) []byte {
	b = binary.AppendUvarint(b, uint64(id)<<3|2)
	b = binary.AppendUvarint(b, uint64(len(data)))
	return append(b, data...)
}

func number(b []byte, id int, v int64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(id)<<3), uint64(v))
}
