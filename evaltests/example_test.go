package evaltests_test

import (
	"context"
	"fmt"
	"os"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// alphabetical is an engine that knows only one order.
type alphabetical struct{}

func (alphabetical) Search(context.Context, pack.Question) (record.Observation, error) {
	return record.Observation{Ranking: []record.Entry{{Doc: "ant"}, {Doc: "bee"}, {Doc: "cat"}}}, nil
}

func ExampleEvaluate() {
	p := &pack.Pack{
		Manifest:  pack.Manifest{Name: "animals", Version: "1", Unit: "document"},
		Documents: []pack.Document{{ID: "ant"}, {ID: "bee"}, {ID: "cat"}},
		Cases: []pack.Case{{
			Question: pack.Question{ID: "q1", Text: "what makes honey?"},
			Stratum:  "all",
			Gold:     pack.Gold{Answerable: true, Grades: map[string]int{"bee": 1}},
		}},
	}
	suite, err := evaltests.NewSuite(p, evaltests.Env{Tier: "smoke"})
	if err != nil {
		panic(err)
	}
	floor := 0.9
	suite.Gates = []gate.Spec{{Measure: "RR@10", Floor: &floor}}

	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	folder, err := record.NewFolder(dir, ".", "example", nil)
	if err != nil {
		panic(err)
	}
	run, err := evaltests.Evaluate(context.Background(), suite.In(folder), alphabetical{})
	if err != nil {
		panic(err)
	}
	fmt.Println(run.Verdict.Verdict)
	fmt.Println(run.Verdict.Reasons[0])
	// Output:
	// REGRESSED
	// gate RR@10: 0.5000 is below the floor 0.9000
}
