package seed_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/seed"
)

// TestFeatures: each channel has all that it needs in order to be measured.
// That the step produces, and that the mutant kills, is tested where they are:
// adapt/builtin and selftest.
func TestFeatures(t *testing.T) {
	keys := seed.ContractKeys()
	var channels []string
	for _, f := range seed.Features() {
		channels = append(channels, f.Channel)
		assert.NotEmpty(t, f.Step, "%s: producer step", f.Channel)
		assert.NotEmpty(t, f.Probe, "%s: touch probe", f.Channel)
		assert.NotEmpty(t, f.Mutant, "%s: mutant", f.Channel)
		require.NotEmpty(t, f.Needs, "%s: substrates", f.Channel)
		require.NoError(t, seed.AssertLive(f.Channel, sound(1)))
		for _, s := range f.Needs {
			assert.Contains(t, keys, "floor."+s.String(), "%s: floor in the contract", f.Channel)
			v := sound(1)
			rows(s, 0)(&v)
			assert.EqualError(t, seed.AssertLive(f.Channel, v),
				"EVAL REFUSED ["+f.Channel+"]: substrate "+s.String()+": 0 rows (needs > 0); reseed with `EVAL_ALLOW_WIPE=1 touchstone seed build PACK`")
		}
	}
	assert.Equal(t, record.Channels(), channels, "the table is the list")
}

// TestChannelsDocumented: docs/seeds.md has the table as it is.
func TestChannelsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/seeds.md")
	require.NoError(t, err)
	for _, f := range seed.Features() {
		var needs []string
		for _, s := range f.Needs {
			needs = append(needs, s.String())
		}
		assert.Contains(t, string(doc), "| "+f.Channel+" | "+strings.Join(needs, ", ")+" | "+f.Mutant+" |")
	}
}

// TestUnknownIsDead: what was not counted, or counted in two ways that
// disagree, is not alive.
func TestUnknownIsDead(t *testing.T) {
	for name, change := range map[string]func(*seed.Survey){
		"count fails":    set(seed.EventDates, seed.Unknown(errors.New("no such table")), seed.Known(3)),
		"they disagree":  set(seed.EventDates, seed.Known(3), seed.Known(2)),
		"not reported":   without(seed.EventDates),
		"nobody counted": set(seed.EventDates, seed.Tally{}, seed.Tally{}),
		"below zero":     set(seed.EventDates, seed.Known(-1), seed.Known(-1)),
	} {
		t.Run(name, func(t *testing.T) {
			v := sound(5)
			change(&v)
			var dead *seed.DeadError
			require.ErrorAs(t, seed.AssertLive(record.ChannelTemporal, v), &dead)
			assert.Contains(t, dead.Reason, "event_dates")
			assert.NoError(t, seed.AssertLive(record.ChannelGraph, v), "another channel is not")
		})
	}
	assert.ErrorContains(t, seed.AssertLive("vectors", sound(5)), "no such channel")
	assert.ErrorContains(t, seed.AssertLive("vector", seed.Survey{}), "the subject does not report it")
}

// TestVectorsOfAnotherModel: vectors that the live model did not make do not
// keep its channel alive.
func TestVectorsOfAnotherModel(t *testing.T) {
	v := sound(5)
	v.Model = "live"
	assert.ErrorContains(t, seed.AssertLive(record.ChannelVector, v), "substrate vectors: count unknown")
}

func TestSubstrates(t *testing.T) {
	assert.Len(t, seed.Substrates(), 11)
	for _, s := range seed.Substrates() {
		got, err := seed.ParseSubstrate(s.String())
		require.NoError(t, err)
		assert.Equal(t, s, got)
	}
	_, err := seed.ParseSubstrate("event")
	assert.ErrorContains(t, err, "want one of", "a part of a name is none")
	assert.Equal(t, "substrate(99)", seed.Substrate(99).String())
	assert.Equal(t, "unknown: nobody counted", seed.Tally{}.String())
	assert.Equal(t, "7", seed.Known(7).String())
}
