package embed

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
)

// testdata/reference.json holds what another tokenizer and another runtime make
// of the same model files (tools/distill/reference.py).
func TestMatchesReferenceImplementation(t *testing.T) {
	data, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Text   string
		IDs    []int
		Vector []float64
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	tok, err := newTokenizer(defaultTokenizer)
	if err != nil {
		t.Fatal(err)
	}
	e := openDefault(t)
	for _, c := range cases {
		ids, err := tok.ids(context.Background(), c.Text)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(ids, c.IDs) && len(ids)+len(c.IDs) > 0 {
			t.Errorf("%.40q: tokens %v, want %v", c.Text, ids, c.IDs)
		}
		got := embedAll(t, e, c.Text)[0]
		for k, want := range c.Vector {
			if math.Abs(float64(got[k])-want) > 1e-6 {
				t.Errorf("%.40q: value %d is %v, want %v", c.Text, k, got[k], want)
				break
			}
		}
	}
}

// The record of how the model was made must be about the files that are here.
func TestLockNamesTheEmbeddedFiles(t *testing.T) {
	data, err := os.ReadFile("../../tools/distill/model.lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Output map[string]struct{ SHA256 string }
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"model.onnx": defaultONNXSHA256, "tokenizer.json": defaultTokenizerSHA256} {
		if got := lock.Output[name].SHA256; got != want {
			t.Errorf("model.lock.json: %s has SHA-256 %q, embedded file %q: run tools/distill/lock.py", name, got, want)
		}
	}
}
