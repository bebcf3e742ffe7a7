package record

import "slices"

// Names of the channels: the sources of candidates that a subject may have,
// and the reranker, which orders what they found.
const (
	ChannelVector   = "vector"
	ChannelLexical  = "lexical"
	ChannelGraph    = "graph"
	ChannelTemporal = "temporal"
	ChannelPages    = "pages"
	ChannelEpisodes = "episodes"
	ChannelRerank   = "rerank"
)

// channels in the order in which they work, each with the name of its touch
// probe: how a comparison tells that a channel had a hand in a case. A row
// says so for every channel but the reranker, whose hand shows in the order.
var channels = []struct{ name, probe string }{
	{ChannelVector, TouchContributed},
	{ChannelLexical, TouchContributed},
	{ChannelGraph, TouchContributed},
	{ChannelTemporal, TouchContributed},
	{ChannelPages, TouchContributed},
	{ChannelEpisodes, TouchContributed},
	{ChannelRerank, TouchReordered},
}

// Names of touch probes.
const (
	TouchContributed = "contributed" // the row's channel is marked as contributed
	TouchReordered   = "reordered"   // the top 10 of stage rerank differs from that of its input
)

// Channels lists the names of the channels. Whatever works by channel (seed
// contracts, liveness, touch probes, mutants) has an entry for each: a test
// walks this list.
func Channels() []string {
	names := make([]string, len(channels))
	for i, c := range channels {
		names[i] = c.name
	}
	return names
}

// TouchProbe is the name of a channel's touch probe, or false for a name that
// is no channel.
func TouchProbe(channel string) (probe string, ok bool) {
	for _, c := range channels {
		if c.name == channel {
			return c.probe, true
		}
	}
	return "", false
}

// ValidChannel reports whether name is one of [Channels].
func ValidChannel(name string) bool { return slices.Contains(Channels(), name) }
