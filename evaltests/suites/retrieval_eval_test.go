//go:build eval

package suites_test

import (
	"testing"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/adapt/builtin"
)

// subject is the built-in engine with its defaults, over seeds of the cache.
func subject(t *testing.T) *builtin.Runner {
	t.Helper()
	s, err := builtin.NewRunner(engine.Config{})
	if err != nil {
		t.Fatalf("open the engine: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the engine: %v", err)
		}
	})
	return s
}

func TestGodoc(t *testing.T) {
	suite := evaltests.Load(t, "../../fixtures/godoc/suite.toml")
	suite.Run(t, subject(t)).Require(t)
}

func TestHandbook(t *testing.T) {
	suite := evaltests.Load(t, "../../fixtures/handbook/suite.toml")
	suite.Run(t, subject(t)).Require(t)
}

func TestSciFact(t *testing.T) {
	suite := evaltests.Load(t, "../../fixtures/scifact/suite.toml")
	suite.Run(t, subject(t)).Require(t)
}

// TestLoCoMo asks each question of its own conversation.
func TestLoCoMo(t *testing.T) {
	suite := evaltests.Load(t, "../../fixtures/locomo10/suite.toml")
	suite.Run(t, subject(t)).Require(t)
}

// TestExternal measures the public packs, where they are here and the tier is
// full.
func TestExternal(t *testing.T) {
	for _, name := range []string{"clapnq-dev", "cranfield", "hotpotqa-100", "multihoprag-500-facts", "squad2-sample500"} {
		t.Run(name, func(t *testing.T) {
			suite := evaltests.Load(t, "../../fixtures/"+name+"/suite.toml")
			suite.Run(t, subject(t)).Require(t)
		})
	}
}
