package models_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/touchstone-eval/touchstone/engine/models"
)

func Example() {
	dir, err := os.MkdirTemp("", "models-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	lock, err := models.ParseLock([]byte(`{"version": 1, "models": [{
		"name": "toy", "kind": "reranker", "license": "MIT", "max_tokens": 128,
		"files": [{"name": "model.onnx", "size": 5, "sha256": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"}],
		"sources": [{"kind": "local"}]
	}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	toy := lock.Models[0]
	fmt.Println(models.Verify(dir, toy) != nil)

	mine := filepath.Join(dir, "mine")
	if err := errors.Join(os.Mkdir(mine, 0o755), os.WriteFile(filepath.Join(mine, "model.onnx"), []byte("hello"), 0o644)); err != nil {
		fmt.Println(err)
		return
	}
	got, err := models.Getter{Dir: dir, From: []string{mine}}.Get(context.Background(), toy)
	fmt.Println(got.Source, err, models.Verify(dir, toy))
	// Output:
	// true
	// local <nil> <nil>
}
