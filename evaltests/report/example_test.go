package report_test

import (
	"os"

	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

// One case through all stages: the document was found and then lost.
func Example() {
	found := []record.Entry{{Doc: "d7", Score: 3.5}, {Doc: "d2", Score: 1}}
	last := []record.Entry{{Doc: "d2", Score: 0.9}, {Doc: "d4", Score: 0.8}}
	row := record.Row{
		Suite: "handbook", Arm: "base", Case: "q17", Question: "who signs \x1b[2Jexpenses?", Answer: true, Gold: map[string]int{"d7": 2},
		Outcome: record.Outcome{State: record.Scored}, Ranking: last, Measures: map[string]float64{"RR@10": 0},
		Stages: []record.Stage{
			{Name: "lexical", State: record.Executed, Entries: found, Total: 31, Micros: 420},
			{Name: "final", State: record.Executed, Entries: last, Total: 31, Micros: 900},
		},
	}
	run := record.Run{Suite: "handbook", Arm: "base", Tier: "smoke", Test: "TestRetrieval", Package: "example.org/m/evals"}
	if err := report.Explain(os.Stdout, run, row, 1); err != nil {
		panic(err)
	}
	// Output:
	// handbook / base / q17   scored
	// question  who signs ?[2Jexpenses?
	// gold  grade  lexical  final
	//   d7  2      1        -
	//
	// measures  RR@10 0.0000
	//
	// lexical  2 of 31 candidates, 0.42 ms
	//   1  d7  3.5  * grade 2
	//
	// final  2 of 31 candidates, 0.90 ms
	//   1  d2  0.9
	//
	// rerun     go test -tags eval -count=1 -v -run '^TestRetrieval$/^suite=handbook$/^arm=base$/^case=q17$' example.org/m/evals
}
