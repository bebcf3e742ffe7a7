package record_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

func TestDecision(t *testing.T) {
	d, err := record.Decision{Primary: "nDCG@10"}.Filled()
	require.NoError(t, err)
	assert.Equal(t, record.Decision{Primary: "nDCG@10", Correction: "bh", Q: .1, Alpha: .05}, d)
	again, err := d.Filled()
	require.NoError(t, err)
	assert.Equal(t, d, again)
	hash, err := d.Hash()
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		edit func(*record.Decision)
		says string
	}{
		"another measure":         {func(d *record.Decision) { d.Primary = "RR@10" }, ""},
		"strata":                  {func(d *record.Decision) { d.Strata = []string{"a"} }, ""},
		"a margin":                {func(d *record.Decision) { d.Margin = .01 }, ""},
		"a number of pairs":       {func(d *record.Decision) { d.N = 100 }, ""},
		"another correction":      {func(d *record.Decision) { d.Correction = "holm" }, ""},
		"another level":           {func(d *record.Decision) { d.Q = .05 }, ""},
		"another level of loss":   {func(d *record.Decision) { d.Alpha = .01 }, ""},
		"another ship rule":       {func(d *record.Decision) { d.Ship = "signal" }, ""},
		"no measure":              {func(d *record.Decision) { d.Primary = "" }, "primary"},
		"a count as measure":      {func(d *record.Decision) { d.Primary = "NumRet" }, "of which more is better"},
		"no such correction":      {func(d *record.Decision) { d.Correction = "luck" }, `correction = "luck"; want one of`},
		"a level of 1":            {func(d *record.Decision) { d.Q = 1 }, "q = 1"},
		"alpha one-sided":         {func(d *record.Decision) { d.Alpha = .5 }, "alpha = 0.5"},
		"a negative margin":       {func(d *record.Decision) { d.Margin = -1 }, "margin = -1"},
		"a margin that is none":   {func(d *record.Decision) { d.Margin = math.NaN() }, "margin = NaN"},
		"a negative n":            {func(d *record.Decision) { d.N = -1 }, "n = -1"},
		"no such ship rule":       {func(d *record.Decision) { d.Ship = "friday" }, `ship = "friday"`},
		"equivalent to no margin": {func(d *record.Decision) { d.Ship = "equivalent" }, "without a margin"},
	} {
		t.Run(name, func(t *testing.T) {
			x := d
			tc.edit(&x)
			_, err := x.Filled()
			if tc.says != "" {
				require.ErrorContains(t, err, tc.says)
				return
			}
			require.NoError(t, err)
			other, err := x.Hash()
			require.NoError(t, err)
			assert.NotEqual(t, hash, other, "another rule has another hash")
		})
	}
}
