package builtin

import (
	"path/filepath"
	"sync"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/embed"
	"github.com/touchstone-eval/touchstone/engine/models"
	"github.com/touchstone-eval/touchstone/engine/rerank"
)

// loaded are the models that Configure opened, by kind and folder. They stay
// open for the life of the process: a configuration is a value that several
// engines may be opened with, so none of them can be the one to close them.
var loaded struct {
	sync.Mutex
	embedders map[string]embed.Embedder
	judges    map[string]rerank.Judge
}

// ModelError says that a model which a setting names cannot be used: it is
// not there, not whole, or its backend is missing. The setting itself may be
// right, so nothing could be measured, rather than bad usage.
type ModelError struct {
	Model string // as the setting names it
	Err   error
}

func (e *ModelError) Error() string { return e.Model + ": " + e.Err.Error() }
func (e *ModelError) Unwrap() error { return e.Err }

// setEmbedder takes the name of a model below EVAL_MODELS, a path, or
// "default" for the model that is part of the binary.
func setEmbedder(c *engine.Config, value string) error {
	if value == "default" {
		c.Embedder = nil
		return nil
	}
	dir, err := folder(value)
	if err != nil {
		return &ModelError{value, err}
	}
	loaded.Lock()
	defer loaded.Unlock()
	e, ok := loaded.embedders[dir]
	if !ok {
		if e, err = embed.OpenModel(dir, embed.ModelOptions{}); err != nil {
			return &ModelError{value, err}
		}
		if loaded.embedders == nil {
			loaded.embedders = map[string]embed.Embedder{}
		}
		loaded.embedders[dir] = e
	}
	c.Embedder = e
	return nil
}

// setReranker takes the name of a model below EVAL_MODELS, a path, or "none".
func setReranker(c *engine.Config, value string) error {
	if value == "none" {
		c.Judge = nil
		return nil
	}
	dir, err := folder(value)
	if err != nil {
		return &ModelError{value, err}
	}
	loaded.Lock()
	defer loaded.Unlock()
	j, ok := loaded.judges[dir]
	if !ok {
		if j, err = rerank.OpenModel(dir, rerank.ModelOptions{}); err != nil {
			return &ModelError{value, err}
		}
		if loaded.judges == nil {
			loaded.judges = map[string]rerank.Judge{}
		}
		loaded.judges[dir] = j
	}
	c.Judge = j
	return nil
}

func folder(value string) (string, error) {
	dir, err := models.Find(value)
	if err != nil {
		return "", err
	}
	return filepath.Abs(dir)
}
