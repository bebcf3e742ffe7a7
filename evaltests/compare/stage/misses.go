package stage

import (
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// misses classifies the planned cases that have gold and did not show any of
// it within the depth. A case of several repeats is wrong if one of them is,
// and is classified by the first that is.
func misses(plan []string, cases []*sample, names []string, depth int) Misses {
	m := Misses{Depth: depth}
	at := map[string]*Class{}
	var order []*Class
	add := func(class, id string) {
		c, ok := at[class]
		if !ok {
			c = &Class{Name: class}
			at[class] = c
			order = append(order, c)
		}
		c.N++
		c.Cases = append(c.Cases, id)
		m.Wrong++
	}
	reached := map[string]bool{}
	for _, c := range cases {
		reached[c.id] = true
		if !c.rows[0].Ranked() {
			m.NoRanking++
			continue
		}
		m.Of++
		for _, r := range c.rows {
			if class := miss(r, names, depth); class != "" {
				add(class, c.id)
				break
			}
		}
	}
	for _, id := range plan {
		if !reached[id] {
			m.Of++
			add(string(record.NotReached), id)
		}
	}
	slices.SortStableFunc(order, func(a, b *Class) int { return b.N - a.N })
	for _, c := range order {
		m.Classes = append(m.Classes, *c)
	}
	return m
}

// miss says how a row went wrong; empty if it did not.
func miss(r record.Row, names []string, depth int) string {
	switch r.Outcome.State {
	case record.Scored:
	case record.Refused, record.Skipped:
		return "declined: " + string(r.Outcome.State)
	default:
		return string(r.Outcome.State)
	}
	if rank := goldRank(r.Ranking, r.Gold); rank > 0 && rank <= depth {
		return ""
	}
	arms, _ := split(names)
	type seen struct {
		stage string
		rank  int // of the first relevant document, 0: none
	}
	var path []seen // the stages that ran
	for _, name := range names {
		if s, ok := r.Stage(name); ok && s.State == record.Executed {
			path = append(path, seen{name, goldRank(s.Entries, r.Gold)})
		}
	}
	shown, held := -1, -1 // the last stage with it within the depth, and at all
	for i, s := range path {
		if s.rank > 0 {
			held = i
			if s.rank <= depth {
				shown = i
			}
		}
	}
	// The step that follows an arm is the first that is none.
	next := func(i int) string {
		for _, s := range path[i+1:] {
			if !slices.Contains(arms, s.stage) {
				return s.stage
			}
		}
		return record.Final
	}
	switch {
	case held < 0:
		return "never retrieved"
	case shown >= 0:
		return "pushed " + below(depth) + " at " + next(shown)
	case path[held].stage != record.Final:
		return "cut off at " + next(held)
	}
	return "retrieved, " + below(depth) + " at every stage"
}

// goldRank is the rank of the first relevant document, 0 if there is none.
func goldRank(entries []record.Entry, gold map[string]int) int {
	ids, _, _ := record.Documents(entries)
	return 1 + slices.IndexFunc(ids, func(id string) bool { return gold[id] > 0 })
}

// channels counts what each channel did in the cases that were scored.
func channels(cases []*sample, depth int) []Channel {
	var out []Channel
	at := map[string]int{}
	dormant := map[string]map[DormantCount]int{}
	for _, c := range cases {
		if slices.ContainsFunc(c.rows, func(r record.Row) bool { return r.Outcome.State != record.Scored }) {
			continue
		}
		did := map[string]*use{}
		var order []string
		for _, r := range c.rows {
			for _, ch := range r.Channels {
				u, ok := did[ch.Name]
				if !ok {
					u = &use{known: true}
					did[ch.Name] = u
					order = append(order, ch.Name)
				}
				u.take(r, ch, depth)
			}
		}
		for _, name := range order {
			i, ok := at[name]
			if !ok {
				i = len(out)
				at[name] = i
				out = append(out, Channel{Name: name, Reached: new(int)})
				dormant[name] = map[DormantCount]int{}
			}
			u, ch := did[name], &out[i]
			ch.Of++
			ch.Fired += count(u.fired)
			ch.Final += count(u.final)
			switch {
			case !u.known:
				ch.Reached = nil
			case ch.Reached != nil:
				*ch.Reached += count(u.reached)
			}
			if !u.fired {
				dormant[name][u.dormant]++
			}
		}
	}
	for i := range out {
		for d, n := range dormant[out[i].Name] {
			d.N = n
			out[i].Dormant = append(out[i].Dormant, d)
		}
		slices.SortFunc(out[i].Dormant, func(a, b DormantCount) int {
			if a.N != b.N {
				return b.N - a.N
			}
			return strings.Compare(string(a.Why)+a.Reason, string(b.Why)+b.Reason)
		})
	}
	return out
}

// use is what a channel did in one case.
type use struct {
	fired, final, reached, known bool
	dormant                      DormantCount
}

func (u *use) take(r record.Row, ch record.Channel, depth int) {
	if !ch.Fired {
		u.dormant = dormancy(ch)
		return
	}
	u.fired = true
	u.final = u.final || ch.Contributed
	hits := ch.Hits
	if s, ok := r.Stage(ch.Name); ok && len(hits) == 0 {
		hits = s.Entries
	}
	if len(hits) == 0 {
		u.known = false
		return
	}
	shown, _, _ := record.Documents(r.Ranking)
	shown = shown[:min(depth, len(shown))]
	u.reached = u.reached || slices.ContainsFunc(hits, func(h record.Entry) bool { return slices.Contains(shown, h.Doc) })
}

func dormancy(ch record.Channel) DormantCount {
	d := DormantCount{Why: ByStructure, Reason: ch.Skipped}
	switch {
	case ch.Skipped == "":
		d.Why = Untriggered
	case ch.Skipped == "off", strings.HasPrefix(ch.Skipped, "its weight is 0"):
		d.Why = ByFlag
	case strings.HasPrefix(ch.Skipped, string(BySubstrate)):
		d.Why = BySubstrate
	}
	return d
}
