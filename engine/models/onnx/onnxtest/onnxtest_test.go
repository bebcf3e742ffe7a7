package onnxtest_test

import (
	"testing"

	"github.com/touchstone-eval/touchstone/engine/models/onnx/onnxtest"
	"github.com/touchstone-eval/touchstone/engine/rerank"
)

// The models need a test to live in, so this is a test where other packages
// have an example.
func TestCrossEncoderSumsItsWords(t *testing.T) {
	judge, err := rerank.OpenModel(onnxtest.CrossEncoder(t, map[string]float32{"otter": 2, "river": 1}), rerank.ModelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer judge.Close()
	scores, err := judge.Judge(t.Context(), "otter", []rerank.Passage{{Text: "The otter, the river"}, {Text: "Nothing"}})
	if err != nil || scores[0] != 3 || scores[1] != 0 {
		t.Fatal(scores, err)
	}
}
