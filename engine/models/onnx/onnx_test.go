package onnx_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/touchstone-eval/touchstone/engine/models/onnx"
	"github.com/touchstone-eval/touchstone/engine/models/onnx/onnxtest"
)

// toy is an embedder whose row for the token of id n is (n, 1).
func toy(t testing.TB, o onnx.Options) *onnx.Model {
	t.Helper()
	rows := map[string][]float32{"[PAD]": {0, 1}, "[UNK]": {1, 1}, "[CLS]": {2, 1}, "[SEP]": {3, 1}}
	for i, w := range []string{"a", "b", "c", "d"} {
		rows[w] = []float32{float32(4 + i), 1}
	}
	return open(t, onnxtest.Embedder(t, rows), o)
}

func open(t testing.TB, dir string, o onnx.Options) *onnx.Model {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "model.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := onnx.Open(data, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func TestRows(t *testing.T) {
	for _, batch := range []int{0, 1, 3} {
		t.Run(fmt.Sprint("batch ", batch), func(t *testing.T) {
			m := toy(t, onnx.Options{MaxTokens: 40, Batch: batch})
			if m.Width() != 2 || !m.PerToken() || m.Backend() != onnx.Default {
				t.Fatalf("width %d, per token %t, backend %s", m.Width(), m.PerToken(), m.Backend())
			}
			var inputs []onnx.Input
			for n := 1; n <= 40; n++ { // all lengths, the longest too
				ids := make([]int, n)
				for k := range ids {
					ids[k] = (n + k) % 8
				}
				inputs = append(inputs, onnx.Input{IDs: ids})
			}
			got := make([][][]float32, len(inputs))
			if err := m.Run(t.Context(), inputs, func(i int, rows [][]float32) { got[i] = rows }); err != nil {
				t.Fatal(err)
			}
			for i, in := range inputs {
				if len(got[i]) != len(in.IDs) {
					t.Fatalf("input %d: %d rows for %d tokens", i, len(got[i]), len(in.IDs))
				}
				for k, id := range in.IDs {
					if !slices.Equal(got[i][k], []float32{float32(id), 1}) {
						t.Fatalf("input %d, token %d: row %v, want %d 1", i, k, got[i][k], id)
					}
				}
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	m := toy(t, onnx.Options{MaxTokens: 4})
	for name, in := range map[string]onnx.Input{
		"empty": {}, "too long": {IDs: make([]int, 5)}, "a type too few": {IDs: []int{1, 2}, Types: []int{0}},
	} {
		err := m.Run(t.Context(), []onnx.Input{{IDs: []int{1}}, in}, func(int, [][]float32) { t.Errorf("%s: it ran", name) })
		if err == nil || !strings.Contains(err.Error(), "input 1 has ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := m.Run(t.Context(), nil, nil); err != nil {
		t.Errorf("no inputs: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	inputs := slices.Repeat([]onnx.Input{{IDs: []int{1}}}, 50)
	n := 0
	var mu sync.Mutex
	err := m.Run(ctx, inputs, func(int, [][]float32) {
		mu.Lock()
		defer mu.Unlock()
		n++
		cancel()
	})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "of 50 inputs") || n > 10 {
		t.Errorf("cancelled by the first: %v after %d", err, n)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if err := m.Run(t.Context(), inputs, nil); !errors.Is(err, onnx.ErrClosed) {
		t.Errorf("after close: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		data []byte
		o    onnx.Options
		want string
	}{
		"no ONNX":    {[]byte("hello"), onnx.Options{MaxTokens: 8}, "load the model"},
		"empty":      {nil, onnx.Options{MaxTokens: 8}, "onnx: "},
		"no tokens":  {nil, onnx.Options{}, "max tokens 0"},
		"no backend": {nil, onnx.Options{MaxTokens: 8, Backend: "abacus"}, `backend "abacus"`},
	} {
		if _, err := onnx.Open(tc.data, tc.o); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want it to say %q", name, err, tc.want)
		}
	}
	if onnx.Default == onnx.Go {
		_, err := onnx.Open(nil, onnx.Options{MaxTokens: 8, Backend: onnx.ORT})
		if err == nil || !strings.Contains(err.Error(), "make ort") {
			t.Errorf("ONNX Runtime in a build without it: %v", err)
		}
	}
}

// TestSideBySide: calls from many goroutines get their own rows, and Close
// waits for them.
func TestSideBySide(t *testing.T) {
	m := toy(t, onnx.Options{MaxTokens: 8, Batch: 2})
	var wg, begun sync.WaitGroup
	begun.Add(8)
	for g := range 8 {
		wg.Go(func() {
			for round := range 20 {
				if round == 10 {
					begun.Done()
				}
				err := m.Run(t.Context(), []onnx.Input{{IDs: []int{g, 1}}, {IDs: []int{g}}, {IDs: []int{0, g}}}, func(i int, rows [][]float32) {
					if at := i / 2; rows[at][0] != float32(g) {
						t.Errorf("goroutine %d, input %d: %v", g, i, rows)
					}
				})
				if errors.Is(err, onnx.ErrClosed) {
					return
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	begun.Wait()
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
}
