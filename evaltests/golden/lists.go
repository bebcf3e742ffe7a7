package golden

import (
	"maps"
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// FromLists makes a golden of rankings that no suite measured, to check others
// against. It is vouched for by nobody.
func FromLists(name string, k int, lists map[string]List) *File {
	g := &File{Header: Header{V: formatVersion, Suite: name, K: k}}
	for _, r := range rowsOf(lists) {
		g.Cases = append(g.Cases, caseOf(r, "", r.Ranking, k))
	}
	return g
}

// CheckLists holds rankings to the lists of a golden file alone: there is no
// ledger, no anchor and no suite file, so only the floors of single cases and
// the default ones of a suite apply. A question that one side lacks is
// could-not-measure.
func CheckLists(g *File, lists map[string]List) (SuiteResult, error) {
	cfg := DefaultConfig()
	cfg.K = g.Header.K
	if err := cfg.Validate(); err != nil {
		return SuiteResult{}, err
	}
	rows := rowsOf(lists)
	blessed := index(g, "")
	plan := map[string]bool{}
	for key := range lists {
		plan[key] = true
	}
	for key := range blessed {
		plan[key] = true
	}
	for i, r := range rows {
		rows[i].Digest = blessed[r.Case].Digest // rankings know nothing of their questions
	}
	res := SuiteResult{Suite: g.Header.Suite, Planned: len(plan), golden: g, anchor: &File{}, rows: rows, k: cfg.K}
	run := record.Run{Suite: g.Header.Suite, Plan: slices.Sorted(maps.Keys(plan)), Pack: record.PackID{Digest: g.Header.Pack}}
	res = res.compare(cfg, run, "take the rankings as the new golden")
	return res, nil
}

func rowsOf(lists map[string]List) []record.Row {
	var rows []record.Row
	for _, key := range slices.Sorted(maps.Keys(lists)) {
		l := lists[key]
		r := record.Row{Case: key, Outcome: record.Outcome{State: record.Scored}}
		for i, id := range l.IDs {
			r.Ranking = append(r.Ranking, record.Entry{Doc: id, Score: l.Scores[i]})
		}
		rows = append(rows, r)
	}
	return rows
}
