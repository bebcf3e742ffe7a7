package evaltests_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/evaltests"
)

func TestParseEnv(t *testing.T) {
	for _, tc := range []struct {
		name    string
		environ []string
		want    evaltests.Env
		err     string
	}{
		{"nothing set", []string{"HOME=/x", "EVALUATE=1"}, evaltests.Env{Tier: "smoke"}, ""},
		{"all set", []string{"EVAL_TIER=deep", "EVAL_LIMIT=3", "EVAL_OUT=o", "EVAL_PACKS=p", "EVAL_NONCE=n", "EVAL_CASE_TIMEOUT=2s", "EVAL_MODELS=m", "EVAL_CACHE=c"},
			evaltests.Env{Tier: "deep", Limit: 3, Out: "o", Packs: "p", Nonce: "n", CaseTimeout: 2 * time.Second, Cache: "c"}, ""},
		{"limits by suite", []string{"EVAL_LIMIT=a=1,b=20"}, evaltests.Env{Tier: "smoke", Limits: map[string]int{"a": 1, "b": 20}}, ""},
		{"unknown name", []string{"EVAL_TEIR=full"}, evaltests.Env{}, "EVAL_TEIR is not a name"},
		{"two mistakes", []string{"EVAL_X=1", "EVAL_TIER=quick"}, evaltests.Env{}, `EVAL_TIER="quick"; want smoke, full or deep; EVAL_X`},
		{"tier", []string{"EVAL_TIER="}, evaltests.Env{}, "want smoke"},
		{"limit zero", []string{"EVAL_LIMIT=0"}, evaltests.Env{}, "at least 1"},
		{"limit text", []string{"EVAL_LIMIT=few"}, evaltests.Env{}, "EVAL_LIMIT"},
		{"limit twice", []string{"EVAL_LIMIT=a=1,a=2"}, evaltests.Env{}, "EVAL_LIMIT"},
		{"limit negative", []string{"EVAL_LIMIT=a=-1"}, evaltests.Env{}, "EVAL_LIMIT"},
		{"timeout", []string{"EVAL_CASE_TIMEOUT=5"}, evaltests.Env{}, "duration such as 5s"},
		{"timeout negative", []string{"EVAL_CASE_TIMEOUT=-5s"}, evaltests.Env{}, "duration"},
		{"a baseline", []string{"EVAL_BASELINE=golden"}, evaltests.Env{Tier: "smoke", Baseline: "golden"}, ""},
		{"switches, off by value", []string{"EVAL_ALLOW_WIPE=0", "EVAL_PARALLEL_OK=false", "EVAL_MIGRATE_STALE="}, evaltests.Env{Tier: "smoke"}, ""},
		{"switch, no boolean", []string{"EVAL_ALLOW_WIPE=yes"}, evaltests.Env{}, `EVAL_ALLOW_WIPE="yes"; want 1 or 0`},
		{"shard, the whole", []string{"EVAL_SHARD=1/1"}, evaltests.Env{Tier: "smoke"}, ""},
		{"shard of nothing", []string{"EVAL_SHARD=0/2"}, evaltests.Env{}, `EVAL_SHARD="0/2"; want i/n`},
		{"shard past the end", []string{"EVAL_SHARD=3/2"}, evaltests.Env{}, "want i/n"},
		{"shard, one number", []string{"EVAL_SHARD=3"}, evaltests.Env{}, "want i/n"},
		{"repeat once", []string{"EVAL_REPEAT=1"}, evaltests.Env{Tier: "smoke", Repeat: 1}, ""},
		{"repeat text", []string{"EVAL_REPEAT=twice"}, evaltests.Env{}, `EVAL_REPEAT="twice"; want a number`},
		{"concurrency negative", []string{"EVAL_CONCURRENCY=-1"}, evaltests.Env{}, "want a number of at least 1"},
		{"bless", []string{"EVAL_BLESS=godoc", "EVAL_BLESS_REASON=title boost"}, evaltests.Env{Tier: "smoke", Bless: "godoc", BlessReason: "title boost"}, ""},
		{"bless nothing", []string{"EVAL_BLESS=0"}, evaltests.Env{Tier: "smoke"}, ""},
		{"bless nothing, said otherwise", []string{"EVAL_BLESS=false"}, evaltests.Env{Tier: "smoke"}, ""},
		{"bless yes", []string{"EVAL_BLESS=1", "EVAL_BLESS_REASON=x"}, evaltests.Env{}, `EVAL_BLESS="1"; want the name of one suite`},
		{"bless two", []string{"EVAL_BLESS=a,b", "EVAL_BLESS_REASON=x"}, evaltests.Env{}, `EVAL_BLESS="a,b"; want the name of one suite`},
		{"bless without a reason", []string{"EVAL_BLESS=godoc", "EVAL_BLESS_REASON= "}, evaltests.Env{}, "EVAL_BLESS_REASON is not"},
		{"a reason without a suite", []string{"EVAL_BLESS=0", "EVAL_BLESS_REASON=x"}, evaltests.Env{}, "names no suite"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := evaltests.ParseEnv(tc.environ)
			if tc.err != "" {
				require.Error(t, err)
				assert.Contains(t, err.Error(), tc.err)
				return
			}
			require.NoError(t, err)
			if tc.want.Cache == "" {
				assert.Equal(t, filepath.Join(".touchstone", "cache"), got.Cache[len(got.Cache)-len(".touchstone/cache"):], "beside the nearest go.mod")
				got.Cache = ""
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

// TestBanner: what is in force is said, and what makes latencies worthless.
func TestBanner(t *testing.T) {
	assert.Equal(t, "tier smoke, performance levers: none, EVAL_PACKS not set", evaltests.Env{Tier: "smoke"}.Banner())
	got := evaltests.Env{Tier: "full", Shard: evaltests.Shard{I: 2, N: 3}, Repeat: 2, Concurrency: 4, AllowWipe: true, Baseline: "golden", Packs: "p"}.Banner()
	assert.Equal(t, "tier full, baseline golden, shard 2/3, each case 2 times, seeds may be wiped, "+
		"performance levers: concurrency 4 (takes up to 4 times the memory of one, and latencies do not count), packs p", got)
}

func TestShardsShareThePlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(t, "n")
		id := rapid.String().Draw(t, "id")
		in := 0
		for i := 1; i <= n; i++ {
			s, err := evaltests.ParseShard(fmt.Sprintf("%d/%d", i, n))
			require.NoError(t, err)
			if s.Has(id) {
				in++
			}
		}
		assert.Equal(t, 1, in, "every case is in exactly one shard")
	})
	sizes := make([]int, 4)
	for c := range 1000 {
		for i := range sizes {
			if (evaltests.Shard{I: i + 1, N: 4}).Has(fmt.Sprintf("q%d", c)) {
				sizes[i]++
			}
		}
	}
	for _, size := range sizes {
		assert.InDelta(t, 250, size, 60)
	}
}

// TestRunningPage: docs/running.md names every variable that is read, and none
// that is not.
func TestRunningPage(t *testing.T) {
	text, err := os.ReadFile("../docs/running.md")
	require.NoError(t, err)
	for _, name := range regexp.MustCompile(`EVAL_[A-Z_]+`).FindAllString(string(text), -1) {
		if name == "EVAL_" {
			continue
		}
		_, err := evaltests.ParseEnv([]string{name + "=?"})
		if err != nil {
			assert.NotContains(t, err.Error(), "is not a name", name)
		}
	}
	source, err := os.ReadFile("env.go")
	require.NoError(t, err)
	for _, name := range regexp.MustCompile(`"(EVAL_[A-Z_]+)"`).FindAllStringSubmatch(string(source), -1) {
		if name[1] != "EVAL_" {
			assert.Contains(t, string(text), name[1])
		}
	}
}
