package gate_test

import (
	"fmt"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

func p(v float64) *float64 { return &v }

// scored is an answerable case with its AP; failed, timedOut and the like end
// otherwise; unanswerable has no gold.
func scored(id string, ap float64) record.Row {
	return record.Row{
		Suite: "s", Arm: "base", Case: id, Stratum: "all", Gold: map[string]int{"d": 1}, Answer: true,
		Outcome: record.Outcome{State: record.Scored}, Measures: map[string]float64{"AP": ap},
		Ranking: []record.Entry{{Doc: "d"}}, Micros: 100,
		Stages: []record.Stage{{Name: "lexical", State: record.Executed, Entries: []record.Entry{{Doc: "d"}}, Measures: map[string]float64{"AP": ap / 2}}},
	}
}

func ended(id string, s record.State, reason string) record.Row {
	r := scored(id, 0)
	r.Measures, r.Stages, r.Ranking = nil, nil, nil
	r.Outcome = record.Outcome{State: s, Reason: reason, Action: "do something"}
	return r
}

func failed(id string) record.Row   { return ended(id, record.Failed, "boom") }
func timedOut(id string) record.Row { return ended(id, record.TimedOut, "slow") }

func unanswerable(id string) record.Row {
	r := scored(id, 0)
	r.Answer, r.Gold, r.Measures = false, map[string]int{}, nil
	return r
}

func in(stratum string, r record.Row) record.Row { r.Stratum = stratum; return r }

// several makes n scored cases of one value.
func several(n int, ap float64) []record.Row {
	var rows []record.Row
	for i := range n {
		rows = append(rows, scored(fmt.Sprintf("q%d", i), ap))
	}
	return rows
}

func ids(rows []record.Row) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r.Case)
	}
	return out
}

var today = time.Date(2026, 3, 31, 15, 0, 0, 0, time.UTC)
