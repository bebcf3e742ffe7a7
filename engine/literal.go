package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/engine/store"
)

// literal answers a question of which analysis leaves no term ("what is
// this?", an emoji, two quotes): the passages that contain it as it stands,
// whatever its case, those with most occurrences first. It reads the whole
// store, which is why it is not the rule.
func (s *search) literal(stage *Stage) error {
	wanted := strings.ToLower(strings.TrimSpace(s.query.Text))
	if wanted == "" {
		stage.Reason = "the question has no text"
		return nil
	}
	type match struct {
		id string
		n  int
	}
	var matches []match
	err := s.engine.store.EachPassage(s.ctx, func(p store.Passage) error {
		if s.allow != nil && !s.allow(p.ID) {
			return nil
		}
		if n := strings.Count(strings.ToLower(p.Title+"\n"+p.Text), wanted); n > 0 {
			matches = append(matches, match{p.ID, n})
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(matches, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.n, a.n), strings.Compare(a.id, b.id))
	})
	stage.Reason = "the question has no term to look up: passages that contain it literally"
	stage.Total = len(matches)
	for _, m := range matches[:min(len(matches), stage.CutAt)] {
		if err := s.add(stage, m.id, float64(m.n)); err != nil {
			return err
		}
	}
	return nil
}
