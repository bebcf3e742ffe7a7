package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/engine/fuse"
	"github.com/touchstone-eval/touchstone/engine/rerank"
)

func (s *search) fuse(stage *Stage) (err error) {
	c := s.engine.cfg
	vector, lexical := ids(s.stages[0].Hits), ids(s.stages[1].Hits)
	if s.fused, err = fuse.RRF(vector, lexical, c.Weights, c.RRFK); err != nil {
		return err
	}
	if err := s.join(); err != nil {
		return err
	}
	stage.Total = len(s.fused)
	s.hits = make([]Hit, len(s.fused))
	for i, h := range s.fused {
		s.hits[i] = Hit{ChunkID: h.ID, DocumentID: s.documents[h.ID], Score: h.Score}
	}
	return nil
}

func ids(hits []Hit) []string {
	out := make([]string, len(hits))
	for i, h := range hits {
		out[i] = h.ChunkID
	}
	return out
}

func (s *search) pool(stage *Stage) error {
	stage.CutAt = s.engine.cfg.PoolSize
	s.hits = s.hits[:min(len(s.hits), stage.CutAt)]
	return nil
}

func (s *search) rerank(stage *Stage) error {
	e := s.engine
	if e.cfg.Judge == nil {
		stage.State, stage.Reason = Skipped, "no model"
		return nil
	}
	if len(s.hits) == 0 {
		stage.State, stage.Reason = Skipped, "no candidates"
		return nil
	}
	stored, err := e.store.Passages(s.ctx, ids(s.hits)...)
	if err != nil {
		return err
	}
	passages := make([]rerank.Passage, len(stored))
	for i, p := range stored {
		passages[i] = rerank.Passage{ID: p.ID, Title: p.Title, Text: p.Text}
	}
	judged, err := rerank.Order(s.ctx, e.cfg.Judge, s.query.Text, passages)
	if errors.Is(err, rerank.ErrDeadline) { // the order handed in is still an answer
		stage.State, stage.Reason = Skipped, err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	s.hits = make([]Hit, len(judged))
	for i, h := range judged {
		s.hits[i] = Hit{ChunkID: h.ID, DocumentID: s.documents[h.ID], Score: h.Score}
	}
	return nil
}

// final continues the reranked pool with the rest of the fused list, so that a
// k above the pool size is served, then cuts.
func (s *search) final(stage *Stage) error {
	var rest []Hit
	for _, st := range s.stages {
		if st.Name == StageBoosted && len(st.Hits) > len(s.hits) {
			rest = st.Hits[len(s.hits):]
		}
	}
	stage.CutAt = s.query.K
	stage.Total = len(s.hits) + len(rest)
	seen := map[string]bool{}
	var out []Hit
	for _, hits := range [][]Hit{s.hits, rest} {
		for _, h := range hits {
			if len(out) == s.query.K {
				break
			}
			if s.query.Unit == UnitDocument && seen[h.DocumentID] {
				continue
			}
			seen[h.DocumentID] = true
			out = append(out, h)
		}
	}
	s.hits = out
	if s.query.Explain {
		s.explainHits()
	}
	return nil
}

func (s *search) explainHits() {
	at := make(map[string]fuse.Hit, len(s.fused))
	for _, h := range s.fused {
		at[h.ID] = h
	}
	for i := range s.hits {
		h := at[s.hits[i].ChunkID]
		var b strings.Builder
		fmt.Fprintf(&b, "fusion %s, vector rank %s, lexical rank %s", number(h.Score), rank(h.VectorRank), rank(h.LexicalRank))
		b.WriteString(s.explainChannels(h.ID))
		if text := s.explain[h.ID]; text != "" {
			b.WriteString("\n" + text)
		}
		s.hits[i].Explain = b.String()
	}
}

func rank(r int) string {
	if r == 0 {
		return "none"
	}
	return fmt.Sprint(r)
}

func (s *search) channels() []Channel {
	in := make(map[string]fuse.Hit, len(s.fused))
	for _, h := range s.fused {
		in[h.ID] = h
	}
	vector := channel(s.stages[0])
	lexical := channel(s.stages[1])
	for _, h := range s.hits {
		vector.Contributed = vector.Contributed || in[h.ChunkID].VectorRank > 0
		lexical.Contributed = lexical.Contributed || in[h.ChunkID].LexicalRank > 0
	}
	out := []Channel{vector, lexical}
	for _, c := range s.joinedChannels {
		c.Contributed = slices.ContainsFunc(s.hits, func(final Hit) bool {
			return slices.ContainsFunc(c.Hits, func(h Hit) bool { return h.ChunkID == final.ChunkID })
		})
		out = append(out, c)
	}
	return out
}

func channel(arm Stage) Channel {
	c := Channel{Name: arm.Name, Fired: len(arm.Hits) > 0}
	if arm.State != Executed {
		c.Skipped = arm.Reason
	}
	return c
}
