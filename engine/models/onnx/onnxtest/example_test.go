package onnxtest_test

import (
	"fmt"
	"testing"

	"github.com/touchstone-eval/touchstone/engine/models/onnx/onnxtest"
	"github.com/touchstone-eval/touchstone/engine/rerank"
)

func Example() {
	test := func(t *testing.T) {
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
	fmt.Println(testing.RunTests(func(_, _ string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "toy", F: test}}))
	// Output: true
}
