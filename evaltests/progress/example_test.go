package progress_test

import (
	"fmt"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests/progress"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

func ExampleDraw() {
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	lines := []progress.Line{
		{ID: "a", Arm: "base", Date: day(1), Hashes: record.Hashes{Question: "q1"}, Headline: []progress.Figure{{Measure: "nDCG@10", Mean: .41, N: 90}}},
		{ID: "b", Arm: "base", Date: day(2), Hashes: record.Hashes{Question: "q1"}, Headline: []progress.Figure{{Measure: "nDCG@10", Mean: .43, N: 90}}},
		{ID: "c", Arm: "base", Date: day(3), Hashes: record.Hashes{Question: "q2"}, Headline: []progress.Figure{{Measure: "nDCG@10", Mean: .61, N: 60}}},
	}
	for _, s := range progress.Draw("godoc", lines, nil, nil) {
		for _, p := range s.Points {
			if p.Broken != "" {
				fmt.Println("--", p.Broken)
			}
			f, _ := p.Quotable()
			fmt.Println(p.ID, f.Measure, f.Mean)
		}
	}
	// Output:
	// a nDCG@10 0.41
	// b nDCG@10 0.43
	// -- another question, q2 after q1: pack, gold, plan or runner changed, and the figures do not compare
	// c nDCG@10 0.61
}
