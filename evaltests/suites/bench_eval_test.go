//go:build eval

package suites_test

import (
	"os"
	"testing"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/adapt/builtin"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// smoke are the suites of the default inventory.
var smoke = []string{"../../fixtures/godoc/suite.toml", "../../fixtures/handbook/suite.toml"}

// BenchmarkSmokeTier is the main job after the build: every default suite,
// loaded, ingested, searched, judged and recorded. Seeds are made anew.
func BenchmarkSmokeTier(b *testing.B) {
	env, err := evaltests.ParseEnv(os.Environ())
	if err != nil {
		b.Fatal(err)
	}
	env.Tier, env.Limit, env.Limits = "smoke", 0, nil
	cases := 0
	for b.Loop() {
		env.Cache = b.TempDir()
		for _, path := range smoke {
			cases += once(b, path, env)
		}
	}
	b.ReportMetric(float64(cases)/float64(b.N), "cases/op")
}

func once(b *testing.B, path string, env evaltests.Env) int {
	b.Helper()
	suite, err := evaltests.LoadSuite(path, env)
	if err != nil {
		b.Fatal(err)
	}
	folder, err := record.NewFolder(b.TempDir(), ".", "benchmark", nil)
	if err != nil {
		b.Fatal(err)
	}
	s, err := builtin.NewRunner(engine.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	run, err := evaltests.Evaluate(b.Context(), suite.In(folder), s)
	if err != nil {
		b.Fatal(err)
	}
	n := run.Verdict.Outcomes[record.Scored]
	if n == 0 || n != run.Verdict.Planned {
		b.Fatalf("%s: %d of %d cases scored: %v", run.Suite.Name, n, run.Verdict.Planned, run.Verdict.Reasons)
	}
	return n
}
