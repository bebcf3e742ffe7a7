package engine_test

import (
	"testing"

	"github.com/touchstone-eval/touchstone/engine"
)

// open opens an engine that the test closes.
func open(t testing.TB, dir string, cfg engine.Config) *engine.Engine {
	t.Helper()
	e, err := engine.Open(t.Context(), dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return e
}
