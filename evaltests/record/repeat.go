package record

import (
	"fmt"
	"slices"
)

// RunTwice is what asking each case several times says of a subject: with the
// same configuration (Treatment), did it rank alike every time?
type RunTwice struct {
	Treatment string   `json:"treatment"` // hash that it holds for
	Repeats   int      `json:"repeats"`
	Cases     int      `json:"cases"`            // compared
	Proven    bool     `json:"proven"`           // every planned case was asked Repeats times and ranked alike
	Differ    []string `json:"differ,omitempty"` // cases that did not, each with what differed
}

// ProofOf compares the repeats of a run: outcomes, and the order of the final
// ranking and of every stage. It is nil when each case was asked once.
func ProofOf(run Run, rows []Row) *RunTwice {
	if run.Repeats < 2 {
		return nil
	}
	p := &RunTwice{Treatment: run.Hashes.Treatment, Repeats: run.Repeats}
	for _, group := range byCase(rows) {
		if len(group) < run.Repeats {
			continue
		}
		p.Cases++
		for _, r := range group[1:] {
			if what := differs(group[0], r); what != "" {
				p.Differ = append(p.Differ, fmt.Sprintf("%s (%s, repeat %d)", r.Case, what, r.Repeat))
				break
			}
		}
	}
	p.Proven = len(p.Differ) == 0 && p.Cases == len(run.Plan) && p.Cases > 0
	return p
}

// differs names what is not alike in two repeats of a case.
func differs(a, b Row) string {
	switch {
	case a.Outcome.State != b.Outcome.State:
		return "outcome"
	case !sameOrder(a.Ranking, b.Ranking):
		return "ranking"
	case len(a.Stages) != len(b.Stages):
		return "stages"
	}
	for i, s := range a.Stages {
		if t := b.Stages[i]; s.Name != t.Name || s.State != t.State || !sameOrder(s.Entries, t.Entries) {
			return "stage " + s.Name
		}
	}
	return ""
}

func sameOrder(a, b []Entry) bool {
	return slices.EqualFunc(a, b, func(x, y Entry) bool { return x.Doc == y.Doc && x.Chunk == y.Chunk })
}

// Average makes one row of the repeats of each case, so that repeats are never
// taken for cases: measures and latencies are means over them. A case is
// scored only if all its repeats are; else its outcome is that of its worst
// repeat (refused, skipped, failed, timed out: what was not measured outweighs
// what went wrong). A case that lacks a repeat is left out: it was not reached.
// The ranking shown is that of the first repeat. With fewer than two repeats
// the rows are returned as they are.
func Average(rows []Row, repeats int) []Row {
	if repeats < 2 {
		return rows
	}
	var out []Row
	for _, group := range byCase(rows) {
		if len(group) >= repeats {
			out = append(out, average(group))
		}
	}
	return out
}

// byCase groups rows by case in the order of their first row, each group by
// repeat.
func byCase(rows []Row) [][]Row {
	at := map[string]int{}
	var groups [][]Row
	for _, r := range rows {
		i, ok := at[r.Case]
		if !ok {
			i = len(groups)
			at[r.Case] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	for _, g := range groups {
		slices.SortStableFunc(g, func(a, b Row) int { return a.Repeat - b.Repeat })
	}
	return groups
}

// worst orders states by what a case is when its repeats ended differently.
var worst = []State{Refused, Skipped, Failed, TimedOut}

func average(group []Row) Row {
	out := group[0]
	for _, state := range worst {
		if i := slices.IndexFunc(group, func(r Row) bool { return r.Outcome.State == state }); i >= 0 {
			out = group[i]
			out.Measures, out.Stages = nil, nil
			break
		}
	}
	out.Micros = int64(mean(group, func(r Row) (float64, bool) { return float64(r.Micros), true }))
	out.Repeat = 0
	if out.Outcome.State != Scored {
		return out
	}
	out.Measures = means(group, out.Measures, func(r Row) map[string]float64 { return r.Measures })
	out.Stages = slices.Clone(out.Stages)
	for i, s := range out.Stages {
		for _, r := range group {
			if t, ok := r.Stage(s.Name); ok && t.State != Executed {
				out.Stages[i] = t // it ran in some repeats only, so it has no figure
				break
			}
		}
		if out.Stages[i].State == Executed {
			out.Stages[i].Measures = means(group, s.Measures, func(r Row) map[string]float64 {
				t, _ := r.Stage(s.Name)
				return t.Measures
			})
		}
	}
	return out
}

// means averages the named measures over the rows that have them.
func means(group []Row, names map[string]float64, of func(Row) map[string]float64) map[string]float64 {
	if names == nil {
		return nil
	}
	out := make(map[string]float64, len(names))
	for name := range names {
		out[name] = mean(group, func(r Row) (float64, bool) {
			v, ok := of(r)[name]
			return v, ok
		})
	}
	return out
}

// mean is exactly the value that all rows share, if they share one: a sum
// divided again may differ in the last place, and the figures of a
// deterministic subject must not depend on how often it was asked.
func mean(group []Row, value func(Row) (float64, bool)) float64 {
	sum, n, first, alike := 0.0, 0, 0.0, true
	for _, r := range group {
		v, ok := value(r)
		if !ok {
			continue
		}
		if n == 0 {
			first = v
		}
		alike = alike && v == first
		sum += v
		n++
	}
	if alike {
		return first
	}
	return sum / float64(n)
}

// SortRows brings rows into the order of the plan, and the repeats of a case
// into theirs. Cases that run side by side end in any order; figures must not
// depend on it.
func SortRows(plan []string, rows []Row) {
	at := make(map[string]int, len(plan))
	for i, id := range plan {
		at[id] = i + 1
	}
	place := func(r Row) int {
		if i, ok := at[r.Case]; ok {
			return i
		}
		return len(plan) + 1
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		if d := a.Repeat - b.Repeat; d != 0 {
			return d
		}
		return place(a) - place(b)
	})
}

// Cases are the record's rows, one a case: see [Average].
func (f *File) Cases() []Row { return Average(f.Rows, f.Run.Repeats) }
