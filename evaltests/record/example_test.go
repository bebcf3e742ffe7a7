package record_test

import (
	"fmt"
	"os"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

func Example() {
	dir, err := os.MkdirTemp("", "run")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	w, err := record.Create(dir, "demo")
	if err != nil {
		panic(err)
	}
	must := func(err error) {
		if err != nil {
			fmt.Println("refused:", err)
		}
	}
	must(w.Run(record.Run{Suite: "demo", Arm: "base", Plan: []string{"q1", "q2"}}))
	r := record.Row{Suite: "demo", Arm: "base", Mode: "default", Case: "q1", Outcome: record.Outcome{State: record.Scored}}
	must(w.Row(r))
	must(w.Row(r))
	must(w.Close()) // as if the process had been killed here

	files, err := record.ReadAll(dir)
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		fmt.Println(f.State, f.Detail, f.Counts())
	}
	// Output:
	// refused: suite=demo/arm=base/mode=default/repeat=0/case=q1: a row of this identity was written before
	// truncated no end line; the last whole line is 2 map[not_reached:1 scored:1]
}
