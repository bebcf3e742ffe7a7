package compare

import (
	"fmt"
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Miss is one way of being wrong, with the wrong cases of each side.
type Miss struct {
	Where     string `json:"where"`
	Base      int    `json:"base"`
	Treatment int    `json:"treatment"`
}

// MissNever is a case of which no stage had anything relevant.
const MissNever = "never retrieved"

// fusion is the stage in which the arms meet; the stages before it run side by
// side.
const fusion = "fusion"

// Missed says where a row lost its relevant documents, empty when it shows one
// within the depth: it failed or declined, no stage ever had them, they were
// pushed below the depth or cut off at a step, or they were below it all along.
// It is the one classification of wrong answers, of comparisons and of package
// stage.
func Missed(r record.Row, depth int) string {
	switch r.Outcome.State {
	case record.Scored:
	case record.Refused, record.Skipped:
		return "declined: " + string(r.Outcome.State)
	default:
		return string(r.Outcome.State)
	}
	type seen struct {
		stage string
		rank  int
	}
	var path []seen
	for _, s := range r.Stages {
		if s.State == record.Executed && s.Name != record.Final {
			path = append(path, seen{s.Name, goldRank(s.Entries, r.Gold)})
		}
	}
	path = append(path, seen{record.Final, goldRank(r.Ranking, r.Gold)})
	last := len(path) - 1
	if at := path[last].rank; at > 0 && at <= depth {
		return ""
	}
	var names []string
	for _, s := range path[:last] {
		names = append(names, s.stage)
	}
	arms, _ := Split(names)
	shown, held := -1, -1 // the last stage that has them within the depth, and at all
	for i, s := range path {
		if s.rank > 0 {
			held = i
			if s.rank <= depth {
				shown = i
			}
		}
	}
	// The step that follows an arm is the first that is none.
	next := func(i int) string { return path[min(max(i+1, len(arms)), last)].stage }
	switch {
	case held < 0:
		return MissNever
	case shown >= 0:
		return fmt.Sprintf("pushed below %d at %s", depth, next(shown))
	case path[held].stage != record.Final:
		return "cut off at " + next(held)
	}
	return fmt.Sprintf("retrieved, below %d at every stage", depth)
}

// Split tells the arms, which each feed the first step, from the steps that
// follow each other. Without a fusion the first stage stands alone, with vector
// and lexical where they follow it.
func Split(names []string) (arms, steps []string) {
	at := slices.Index(names, fusion)
	if at < 0 {
		at = min(1, len(names))
		for at < len(names) && (names[at] == record.ChannelVector || names[at] == record.ChannelLexical) {
			at++
		}
	}
	return names[:at], names[at:]
}

// misses counts the wrong cases of both sides by where they were lost.
func (t *Treatment) misses() {
	var order []string
	counts := map[string]*Miss{}
	for _, c := range t.Cases {
		for i, where := range c.Missed {
			if where == "" {
				continue
			}
			t.Wrong[i]++
			m, ok := counts[where]
			if !ok {
				m = &Miss{Where: where}
				counts[where] = m
				order = append(order, where)
			}
			if i == 0 {
				m.Base++
			} else {
				m.Treatment++
			}
		}
	}
	slices.Sort(order)
	for _, where := range order {
		t.Misses = append(t.Misses, *counts[where])
	}
}
