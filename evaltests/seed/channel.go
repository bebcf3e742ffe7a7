package seed

import (
	"fmt"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Feature is what a channel needs in order to be measured. A channel is added
// with all of it together.
type Feature struct {
	Channel string
	Needs   []Substrate // each must have a row
	Step    string      // of the ingest that produces them
	Probe   string      // see [record.TouchProbe]
	Mutant  string      // of package selftest, that takes the substrate away
}

var features = []Feature{
	{Channel: record.ChannelVector, Needs: []Substrate{Chunks, Vectors}, Step: "embed", Mutant: "zero vectors"},
	{Channel: record.ChannelLexical, Needs: []Substrate{Chunks, Lexical}, Step: "lexical", Mutant: "lexical index empty"},
	{Channel: record.ChannelGraph, Needs: []Substrate{Links}, Step: "enrich", Mutant: "zero links"},
	{Channel: record.ChannelTemporal, Needs: []Substrate{EventDates}, Step: "enrich", Mutant: "zero dates"},
	{Channel: record.ChannelPages, Needs: []Substrate{Pages, PageSources}, Step: "enrich", Mutant: "pages empty"},
	{Channel: record.ChannelEpisodes, Needs: []Substrate{Episodes}, Step: "enrich", Mutant: "zero episodes"},
	{Channel: record.ChannelRerank, Needs: []Substrate{Chunks}, Step: "chunk", Mutant: "zero chunks"},
}

// Features lists the features of all channels, in the order of
// [record.Channels].
func Features() []Feature {
	out := make([]Feature, len(features))
	for i, f := range features {
		f.Probe, _ = record.TouchProbe(f.Channel)
		out[i] = f
	}
	return out
}

// feature finds a channel's entry in the table, by its whole name.
func feature(channel string) (Feature, bool) {
	for _, f := range features {
		if f.Channel == channel {
			return f, true
		}
	}
	return Feature{}, false
}

// DeadError says that a channel has nothing to work on, or that nobody can
// tell.
type DeadError struct {
	Channel string
	Reason  string // the substrate, and what was found of it
}

// Reseed is what to do about a dead channel.
const Reseed = "reseed with `EVAL_ALLOW_WIPE=1 touchstone seed build PACK`"

func (e *DeadError) Error() string {
	return fmt.Sprintf("EVAL REFUSED [%s]: %s; %s", e.Channel, e.Reason, Reseed)
}

// AssertLive returns a [*DeadError] unless each substrate that the channel
// needs has at least one row by both counts. Whoever opens a store to measure
// a channel calls it first.
func AssertLive(channel string, v Survey) error {
	f, ok := feature(channel)
	if !ok {
		return &DeadError{channel, fmt.Sprintf("no such channel; want one of %v", record.Channels())}
	}
	for _, s := range f.Needs {
		switch n, err := v.Of(s); {
		case err != nil:
			return &DeadError{channel, err.Error()}
		case n == 0:
			return &DeadError{channel, fmt.Sprintf("substrate %s: 0 rows (needs > 0)", s)}
		}
	}
	return nil
}
