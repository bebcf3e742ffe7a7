package selftest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/golden"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/seed"
	"github.com/touchstone-eval/touchstone/evaltests/selftest"
)

func ptr(v float64) *float64 { return &v }

// trial makes fresh trials whose golden was blessed from the unmutated
// subject, as a maintainer would: by a run and an accept.
func trials(t *testing.T) func() (*selftest.Trial, error) {
	t.Helper()
	return trialsOf(t, false)
}

// trialsOf makes trials that are also held, if asked for, to the blessed run by
// EVAL_BASELINE.
func trialsOf(t *testing.T, held bool) func() (*selftest.Trial, error) {
	t.Helper()
	blessed := t.TempDir()
	env := evaltests.Env{Tier: "smoke"}
	made := func(goldenDir string) (*selftest.Trial, error) {
		s, err := evaltests.NewSuite(toyPack(), env)
		if err != nil {
			return nil, err
		}
		cfg := golden.DefaultConfig()
		s.Golden, s.GoldenDir, s.Paired = &cfg, goldenDir, true
		s.CaseTimeout = 200 * time.Millisecond
		s.RequireStages = []string{"vector", "lexical"}
		s.Gates = []gate.Spec{
			{Measure: "nDCG@10", Floor: ptr(0.99), Min: 30},
			{Count: "failed", Ceiling: ptr(0)},
			{Count: "timed_out", Ceiling: ptr(0)},
		}
		s.Contract = &seed.Contract{Variant: "toy", Preset: "strict"}
		folder, err := record.NewFolder(t.TempDir(), ".", "selftest", nil)
		return &selftest.Trial{Suite: s, Subject: &toyEngine{}, Folder: folder}, err
	}

	first, err := made(blessed)
	require.NoError(t, err)
	run, err := evaltests.Evaluate(t.Context(), first.Suite.In(first.Folder), first.Subject)
	require.NoError(t, err)
	f, err := record.Read(run.Path)
	require.NoError(t, err)
	first.Folder.Tree = "0123456789ab" // the test may run outside a checkout
	_, err = golden.Blessing{
		Dir: blessed, Record: f, Folder: first.Folder, Tree: first.Folder.Tree, K: 10, Reason: "the toy as it is", When: time.Unix(0, 0),
		Classes: []string{record.Class()}, // the test proves the gates, not the platform
		Place:   &golden.Place{},          // nor where it runs
	}.Accept()
	require.NoError(t, err)

	if held {
		env.Baseline = run.Path
	}
	return func() (*selftest.Trial, error) {
		dir := filepath.Join(t.TempDir(), "golden")
		if err := os.CopyFS(dir, os.DirFS(blessed)); err != nil {
			return nil, err
		}
		return made(dir)
	}
}

// TestBaselineMatrix holds the same trials to a recorded run as well: what the
// paired gate finds against the golden's rankings, the gate of the baseline
// finds against the run, and a benign change turns neither red.
func TestBaselineMatrix(t *testing.T) {
	const paired, baseline = "gate paired nDCG@10", "gate baseline nDCG@10"
	fresh := trialsOf(t, true)
	red, green := 0, 0
	for _, m := range selftest.Catalogue(nil) {
		lost, benign := slices.Contains(m.Red, paired), strings.HasPrefix(m.Name, "benign: ")
		if !lost && !benign || strings.Contains(m.Name, "asked") { // asked again, in an environment of its own
			continue
		}
		if m.Name == "benign: over a cached seed" { // another kind of runner asks another question: rightly not compared
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			got, err := selftest.Try(t.Context(), m, fresh)
			require.NoError(t, err)
			assert.Equal(t, lost, slices.Contains(got.Red, baseline), "%s", strings.Join(got.Text, "\n"))
			if lost {
				assert.Contains(t, strings.Join(got.Text, "\n"), "significantly worse than the baseline")
				red++
			} else {
				green++
			}
		})
	}
	assert.Positive(t, red)
	assert.Positive(t, green)
}

// TestMatrix applies every mutant and holds the gates that turned red to the
// list that the mutant carries: no more, no fewer.
func TestMatrix(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	fresh := trials(t)
	var matrix strings.Builder
	reddened := map[string]bool{}
	for _, m := range selftest.Catalogue(release) {
		t.Run(m.Name, func(t *testing.T) {
			got, err := selftest.Try(t.Context(), m, fresh)
			require.NoError(t, err)
			assert.Equal(t, m.Verdict, got.Verdict, "%s", strings.Join(got.Text, "\n"))
			assert.Equal(t, slices.Sorted(slices.Values(m.Red)), append([]string(nil), got.Red...), "gates turned red")
			text := strings.Join(got.Text, "\n")
			for _, want := range m.Says {
				assert.Contains(t, text, want)
			}
			for _, key := range got.Red {
				reddened[key] = true
			}
			matrix.WriteString(m.Name + "\t" + got.Verdict + "\t" + strings.Join(got.Red, ", ") + "\n")
		})
	}
	t.Logf("mutant x gate:\n%s", matrix.String())
	for _, key := range []string{
		"gate nDCG@10", "gate drift", "gate paired nDCG@10", "gate count failed", "gate count timed_out", "stage vector",
		gate.KeyPlan, gate.KeyScored, gate.KeyRefused, gate.KeySkipped, selftest.KeyLoad, selftest.KeyRecord,
		selftest.KeyMerge, selftest.KeyResume, gate.KeyShard, gate.KeyInert, gate.KeyTooFast, "gate latency p95",
	} {
		assert.True(t, reddened[key], "no mutant turned %q red", key)
	}
}

// TestEveryChannelHasItsMutant: the mutant that package seed names for a
// channel is in the catalogue, and refuses by the channel's name.
func TestEveryChannelHasItsMutant(t *testing.T) {
	catalogue := selftest.Catalogue(nil)
	for _, f := range seed.Features() {
		i := slices.IndexFunc(catalogue, func(m selftest.Mutant) bool { return m.Name == f.Mutant })
		if !assert.GreaterOrEqual(t, i, 0, "%s: no mutant %q", f.Channel, f.Mutant) {
			continue
		}
		assert.Contains(t, strings.Join(catalogue[i].Says, "\n"), "EVAL REFUSED ["+f.Channel+"]")
	}
}
