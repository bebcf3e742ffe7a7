package onnx_test

import (
	"context"
	"fmt"
	"os"

	"github.com/touchstone-eval/touchstone/engine/models/onnx"
)

func Example() {
	file, err := os.ReadFile("../../embed/model/model.onnx")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := onnx.Open(file, onnx.Options{MaxTokens: 16, Backend: onnx.Go})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	err = m.Run(context.Background(), []onnx.Input{{IDs: []int{2, 77, 78, 3}}}, func(_ int, rows [][]float32) {
		fmt.Println(len(rows), "tokens,", len(rows[0]), "values each")
	})
	fmt.Println(err)
	// Output:
	// 4 tokens, 256 values each
	// <nil>
}
