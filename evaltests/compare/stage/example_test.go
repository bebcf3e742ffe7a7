package stage_test

import (
	"fmt"

	"github.com/touchstone-eval/touchstone/evaltests/compare/stage"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Ten cases whose answer a step moves from the first rank to the second.
func Example() {
	good := []record.Entry{{Doc: "answer"}, {Doc: "other"}}
	worse := []record.Entry{{Doc: "other"}, {Doc: "answer"}}
	f := &record.File{State: record.Complete, Run: record.Run{Suite: "toy", Headline: []string{"RR@10"}}}
	for i := range 10 {
		f.Run.Plan = append(f.Run.Plan, fmt.Sprint(i))
		f.Rows = append(f.Rows, record.Row{
			Case: fmt.Sprint(i), Answer: true, Gold: map[string]int{"answer": 1}, Outcome: record.Outcome{State: record.Scored}, Ranking: worse,
			Stages: []record.Stage{
				{Name: "lexical", State: record.Executed, Entries: good},
				{Name: "recency", State: record.Executed, Entries: worse},
				{Name: "final", State: record.Executed, Entries: worse},
			},
		})
	}
	r, err := stage.Analyse(f, stage.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range r.Transitions {
		fmt.Printf("%s to %s: %d won, %d lost, Holm %.4f: %s\n", t.From, t.To, t.Wins, t.Losses, t.Adj, t.Effect)
	}
	// Output:
	// lexical to recency: 0 won, 10 lost, Holm 0.0059: hurts
	// recency to final: 0 won, 0 lost, Holm 1.0000: no effect
	// lexical to final: 0 won, 10 lost, Holm 0.0059: hurts
}
