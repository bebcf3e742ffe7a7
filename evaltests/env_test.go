package evaltests_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
			evaltests.Env{Tier: "deep", Limit: 3, Out: "o", Packs: "p", Nonce: "n", CaseTimeout: 2 * time.Second}, ""},
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
		{"not supported yet", []string{"EVAL_SHARD=1/2"}, evaltests.Env{}, "not supported by this version"},
		{"not supported yet, off", []string{"EVAL_REPEAT=0"}, evaltests.Env{Tier: "smoke"}, ""},
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
			assert.Equal(t, tc.want, got)
		})
	}
}
