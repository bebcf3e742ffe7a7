package golden

import (
	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/rank"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Losses lists the cases whose measure is lower than that of the golden's
// ranking, the broken ones first: those that had something relevant within the
// golden's depth.
func (res SuiteResult) Losses(measure string) ([]record.Moved, error) {
	m, err := metric.Parse(measure)
	if err != nil || res.golden == nil {
		return nil, err
	}
	blessed := index(res.golden, "")
	var out []record.Moved
	for _, r := range res.rows {
		g, ok := blessed[r.Case]
		if !ok || g.Digest != r.Digest || !r.Ranked() || !r.Outcome.State.Counts() {
			continue
		}
		live, _, _ := record.Documents(r.Ranking)
		if r.Outcome.State != record.Scored {
			live = nil
		}
		x := record.Moved{Case: r.Case, Wrong: shows(g.IDs, r.Gold, res.k) && !shows(live, r.Gold, res.k)}
		for _, side := range []struct {
			ids   []string
			value *float64
		}{{g.IDs, &x.Before}, {live, &x.Now}} {
			ranking, err := rank.New(side.ids[:min(res.k, len(side.ids))], nil)
			if err != nil {
				return nil, err
			}
			if *side.value, err = m.Eval(metric.Grades(r.Gold), ranking); err != nil {
				return nil, err
			}
		}
		if x.Now < x.Before {
			out = append(out, x)
		}
	}
	return record.WorstMoved(out), nil
}

// shows reports whether something relevant is within the depth.
func shows(ids []string, gold map[string]int, depth int) bool {
	for _, id := range ids[:min(depth, len(ids))] {
		if gold[id] > 0 {
			return true
		}
	}
	return false
}
