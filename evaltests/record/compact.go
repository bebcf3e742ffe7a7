package record

import (
	"fmt"
	"reflect"
	"slices"
)

// compact is the row as it is written: lists that repeat an earlier one become
// references to it.
func (r Row) compact() Row {
	stages := slices.Clone(r.Stages)
	for i, s := range r.Stages {
		if same := among(r.Stages[:i], s.Entries); same != nil {
			stages[i].Entries, stages[i].Same = nil, same
		}
	}
	if same := among(r.Stages, r.Ranking); same != nil {
		r.Ranking, r.RankSame = nil, same
	}
	r.Stages = stages
	return r
}

// among finds a stage whose first entries are these; nil for lists too short
// to be worth a reference.
func among(stages []Stage, entries []Entry) *Same {
	if len(entries) < 2 {
		return nil
	}
	for _, s := range stages {
		if len(s.Entries) >= len(entries) && slices.EqualFunc(s.Entries[:len(entries)], entries, Entry.equal) {
			return &Same{s.Name, len(entries)}
		}
	}
	return nil
}

// equal compares all fields: a reference must give back what was written.
func (e Entry) equal(o Entry) bool { return reflect.DeepEqual(e, o) }

// expand undoes compact.
func (r *Row) expand() error {
	for i := range r.Stages {
		s := &r.Stages[i]
		if s.Same == nil {
			continue
		}
		if s.Entries != nil {
			return fmt.Errorf("stage %s: found entries beside same_as; want one of them", s.Name)
		}
		entries, err := s.Same.of(r.Stages[:i])
		if err != nil {
			return fmt.Errorf("stage %s: %w", s.Name, err)
		}
		s.Entries, s.Same = entries, nil
	}
	if r.RankSame == nil {
		return nil
	}
	if r.Ranking != nil {
		return fmt.Errorf("ranking: found entries beside ranking_same_as; want one of them")
	}
	entries, err := r.RankSame.of(r.Stages)
	if err != nil {
		return fmt.Errorf("ranking: %w", err)
	}
	r.Ranking, r.RankSame = entries, nil
	return nil
}

func (x Same) of(stages []Stage) ([]Entry, error) {
	for _, s := range stages {
		if s.Name == x.Stage {
			if x.N < 1 || x.N > len(s.Entries) {
				return nil, fmt.Errorf("same as the first %d of stage %s, which has %d", x.N, x.Stage, len(s.Entries))
			}
			return slices.Clone(s.Entries[:x.N]), nil
		}
	}
	return nil, fmt.Errorf("same as stage %q, which is not among the stages before it", x.Stage)
}
