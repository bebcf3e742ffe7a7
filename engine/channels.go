package engine

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/engine/fuse"
	"github.com/touchstone-eval/touchstone/engine/store"
)

// Names of the channels that are off by default, in the order in which they
// join the fusion.
const (
	ChannelGraph    = "graph"
	ChannelTemporal = "temporal"
	ChannelPages    = "pages"
	ChannelEpisodes = "episodes"
)

// DefaultChannelWeight is what a zero [ChannelSetting.Weight] stands for. It
// is half of an arm's: a channel knows nothing of the question's words, and
// should lift what the arms found rather than outrank it.
const DefaultChannelWeight = .5

// Channels are further arms over what enrichment read out of the documents.
// The zero value has none on, and then no ranking depends on enrichment.
type Channels struct {
	Graph    ChannelSetting // documents linked to the best ones by a rare shared entity or a reference
	Temporal ChannelSetting // documents that tell of the days the question asks for
	Pages    ChannelSetting // documents covered by the section titles that match the question
	Episodes ChannelSetting // documents written right before or after the best ones, in the same source
}

// ChannelSetting switches a channel on.
type ChannelSetting struct {
	On     bool
	Weight float64 // in the fusion; 0 means DefaultChannelWeight
}

// namedSetting is a channel's setting with its name.
type namedSetting struct {
	name string
	ChannelSetting
}

func (c Channels) list() []namedSetting {
	return []namedSetting{{ChannelGraph, c.Graph}, {ChannelTemporal, c.Temporal}, {ChannelPages, c.Pages}, {ChannelEpisodes, c.Episodes}}
}

// Validate refuses weights that are negative or not finite.
func (c Channels) Validate() error {
	for _, s := range c.list() {
		if !(s.Weight >= 0) || math.IsInf(s.Weight, 0) {
			return fmt.Errorf("channels: %s weight %v: want a finite number above 0, or 0 for the default", s.name, s.Weight)
		}
	}
	return nil
}

func (c Channels) filled() Channels {
	for _, s := range []*ChannelSetting{&c.Graph, &c.Temporal, &c.Pages, &c.Episodes} {
		if s.Weight == 0 {
			s.Weight = DefaultChannelWeight
		}
	}
	return c
}

// channelArm is a channel as a search runs it.
type channelArm struct {
	needs string      // the substrate without which it can find nothing
	table store.Table // that it is counted by
	run   func(*search) (found []place, skipped string, err error)
}

var channelArms = map[string]channelArm{
	ChannelGraph:    {SubstrateLinks, store.Links, (*search).graph},
	ChannelTemporal: {SubstrateEventDates, store.EventDates, (*search).temporal},
	ChannelPages:    {SubstratePages, store.Pages, (*search).pages},
	ChannelEpisodes: {SubstrateEpisodes, store.Episodes, (*search).episodes},
}

// place is a document that a channel found, and where in it.
type place struct {
	document string
	start    int // byte offset in its text; -1 where no place is better than another
	score    float64
}

// joined is a channel that was run, as it enters the fusion.
type joined struct {
	weight float64
	ranks  map[string]int // of passages, from 1
}

// join runs the channels that are on over what the two arms made, and adds
// their shares to the fused list.
func (s *search) join() error {
	var on []joined
	for _, setting := range s.engine.cfg.Channels.list() {
		c := Channel{Name: setting.name, Skipped: "off"}
		if setting.On {
			hits, skipped, err := s.channel(channelArms[setting.name])
			if err != nil {
				return &ArmError{setting.name, err}
			}
			c.Hits, c.Skipped, c.Fired = hits, skipped, len(hits) > 0
			ranks := make(map[string]int, len(hits))
			for i, h := range hits {
				ranks[h.ChunkID] = i + 1
			}
			on = append(on, joined{setting.Weight, ranks})
		}
		s.joinedChannels = append(s.joinedChannels, c)
	}
	if len(on) > 0 {
		s.fused = joinShares(s.fused, s.joinedChannels, on, s.engine.cfg.RRFK)
	}
	return nil
}

// joinShares gives each passage weight/(k+rank) for each channel that found
// it, the channels in their fixed order. Ties are broken as in [fuse.RRF].
func joinShares(fused []fuse.Hit, channels []Channel, on []joined, k int) []fuse.Hit {
	hits := slices.Clone(fused)
	known := make(map[string]bool, len(hits))
	for _, h := range hits {
		known[h.ID] = true
	}
	for _, c := range channels {
		for _, h := range c.Hits {
			if !known[h.ChunkID] {
				known[h.ChunkID] = true
				hits = append(hits, fuse.Hit{ID: h.ChunkID})
			}
		}
	}
	for i := range hits {
		for _, c := range on {
			if rank := c.ranks[hits[i].ID]; rank > 0 {
				hits[i].Score += float64(c.weight / float64(k+rank))
			}
		}
	}
	slices.SortFunc(hits, func(a, b fuse.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(lexicalOrder(a), lexicalOrder(b)), strings.Compare(a.ID, b.ID))
	})
	return hits
}

// lexicalOrder puts a passage that the lexical arm does not rank last.
func lexicalOrder(h fuse.Hit) int {
	if h.LexicalRank == 0 {
		return math.MaxInt
	}
	return h.LexicalRank
}

// channel runs one channel, and turns the documents that it found into
// passages.
func (s *search) channel(arm channelArm) (hits []Hit, skipped string, err error) {
	alive, err := s.engine.store.Any(s.ctx, arm.table)
	if err != nil {
		return nil, "", err
	}
	if !alive {
		return nil, fmt.Sprintf("no substrate: %s is empty", arm.needs), nil
	}
	found, skipped, err := arm.run(s)
	if err != nil || skipped != "" {
		return nil, skipped, err
	}
	ids := make([]string, len(found))
	for i, p := range found {
		ids[i] = p.document
	}
	spans, err := s.engine.store.Spans(s.ctx, ids...)
	if err != nil {
		return nil, "", err
	}
	best := map[string]string{} // the best ranked passage of a document
	for _, h := range s.fused {
		if d := s.documents[h.ID]; best[d] == "" {
			best[d] = h.ID
		}
	}
	seen := map[string]bool{}
	for _, p := range found {
		id := passageAt(p, spans[p.document], best)
		if len(hits) == s.engine.cfg.Depth {
			break
		}
		if id == "" || seen[id] || s.allow != nil && !s.allow(id) {
			continue
		}
		seen[id] = true
		s.documents[id] = p.document
		hits = append(hits, Hit{ChunkID: id, DocumentID: p.document, Score: p.score})
	}
	return hits, "", nil
}

// passageAt returns the passage that a place lies in; without a place, the
// document's best ranked passage, or its first. It is empty for a document
// without passages.
func passageAt(p place, spans []store.Span, best map[string]string) string {
	if p.start >= 0 {
		for _, span := range spans {
			if span.Start <= p.start && p.start < span.End {
				return span.ID
			}
		}
	}
	if id := best[p.document]; id != "" {
		return id
	}
	if len(spans) > 0 {
		return spans[0].ID
	}
	return ""
}

// seedDocuments is how many of the best documents the channels that go by
// neighbourhood start from.
const seedDocuments = 3

// seeds are the best documents of the two arms that a word or the meaning of
// the question led to.
func (s *search) seeds() []string {
	var out []string
	for _, h := range s.fused {
		if d := s.documents[h.ID]; !slices.Contains(out, d) {
			if out = append(out, d); len(out) == seedDocuments {
				break
			}
		}
	}
	return out
}

const noSeed = "no seed hit"

// fusedRanks are the places of documents in the fused list, from 1.
func (s *search) fusedRanks() map[string]int {
	ranks := map[string]int{}
	for i, h := range s.fused {
		if d := s.documents[h.ID]; ranks[d] == 0 {
			ranks[d] = i + 1
		}
	}
	return ranks
}

// explainChannels says at which ranks the channels had a passage.
func (s *search) explainChannels(id string) string {
	var b strings.Builder
	for _, c := range s.joinedChannels {
		if i := slices.IndexFunc(c.Hits, func(h Hit) bool { return h.ChunkID == id }); i >= 0 {
			fmt.Fprintf(&b, ", %s rank %d", c.Name, i+1)
		}
	}
	return b.String()
}
