package gate_test

import (
	"fmt"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// A failed case counts as the worst value; with a timeout in its place nobody
// knows what the engine would have answered.
func Example() {
	row := func(id string, state record.State, rr float64) record.Row {
		return record.Row{
			Case: id, Answer: true, Gold: map[string]int{"d": 1}, Measures: map[string]float64{"RR": rr},
			Ranking: []record.Entry{{Doc: "d"}},
			Outcome: record.Outcome{State: state, Reason: "see the log"},
		}
	}
	floor := 0.6
	spec := gate.Spec{Measure: "RR", Floor: &floor}
	for _, state := range []record.State{record.Scored, record.Failed, record.TimedOut} {
		rows := []record.Row{row("q1", record.Scored, 1), row("q2", state, 0.5)}
		g := gate.Evaluate(spec, rows)
		v := gate.Decide(gate.Facts{
			Plan: []string{"q1", "q2"}, Rows: rows, Gates: []record.Gate{g}, Today: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		})
		fmt.Println(state, gate.ExitCode(v.Verdict), v.Verdict, v.Reasons)
	}
	// Output:
	// scored 0 PASS []
	// failed 1 REGRESSED [gate RR: 0.5000 is below the floor 0.6000]
	// timed_out 2 COULD-NOT-MEASURE [gate RR: 0.5000 with 1 timeouts as the worst value, 1.0000 without them]
}
