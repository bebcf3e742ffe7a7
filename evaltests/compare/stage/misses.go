package stage

import (
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// misses classifies the planned cases that have gold and did not show any of
// it within the depth. A case of several repeats is wrong if one of them is,
// and is classified by the first that is.
func misses(plan []string, cases []*sample, depth int) Misses {
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
			if class := compare.Missed(r, depth); class != "" {
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
