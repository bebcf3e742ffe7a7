package compare

import (
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Miss is one way of being wrong, with the wrong cases of each side.
type Miss struct {
	Where     string `json:"where"`
	Base      int    `json:"base"`
	Treatment int    `json:"treatment"`
}

// Ways of being wrong that are no stage.
const (
	MissNever = "never retrieved"
	MissBelow = "never within the depth"
)

// Missed says where a wrong case lost its relevant documents: it failed, no
// stage ever had one, none ever had it within the depth, or it is the first
// stage after which it was out of it.
func Missed(r record.Row, depth int) string {
	if r.Outcome.State != record.Scored {
		return string(r.Outcome.State)
	}
	seen, inside, lost := goldRank(r.Ranking, r.Gold) > 0, false, ""
	for _, s := range r.Stages {
		if s.State != record.Executed {
			continue
		}
		at := goldRank(s.Entries, r.Gold)
		seen = seen || at > 0
		switch {
		case at > 0 && at <= depth:
			inside, lost = true, ""
		case inside && lost == "" && s.Name != "lexical" && s.Name != "vector": // arms run side by side
			lost = "lost at " + s.Name
		}
	}
	switch {
	case lost != "":
		return lost
	case inside:
		return "lost at " + record.Final
	case seen:
		return MissBelow
	}
	return MissNever
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
