package report_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/touchstone-eval/touchstone/evaltests/compare/stage"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

func TestTransitionSentence(t *testing.T) {
	some := stage.Detectable{Level: .01, Normal: .0424, Exact: .0429, Net: 17, Attainable: true}
	for _, tc := range []struct {
		name string
		row  stage.Transition
		want string
	}{
		{"a loss", stage.Transition{From: "lexical", To: "fusion", N: 72, Wins: 6, Losses: 26, Ties: 40, Mean: -.14, Lo: -.2, Hi: -.08, P: .000535, Adj: .0032, Detectable: some, Effect: stage.Hurts},
			"lexical to fusion hurts: 6 better, 26 worse, 40 equal of 72 (net -20), mean RR@10 -0.1400 [-0.2000, -0.0800], sign test p 0.0005, Holm 0.0032"},
		{"not after Holm", stage.Transition{From: "candidates", To: "rerank", N: 72, Wins: 29, Losses: 15, Ties: 28, Mean: .1, Lo: .02, Hi: .18, P: .048767, Adj: .2438, Detectable: some, Effect: stage.Unresolved},
			"candidates to rerank is not significant: 29 better, 15 worse, 28 equal of 72 (net +14), mean RR@10 +0.1000 [+0.0200, +0.1800], sign test p 0.0488, Holm 0.2438; detectable with 80 % power: a mean of 0.0429 (exact, noncentral t; 0.0424 by the normal form), a net of 17 cases (exact sign test)"},
		{"more cases and a lower mean", stage.Transition{From: "a", To: "b", N: 40, Wins: 30, Losses: 2, Ties: 8, Mean: -.01, Lo: -.05, Hi: .03, P: .00001, Adj: .00004, Detectable: some, Effect: stage.Helps},
			"a to b helps: 30 better, 2 worse, 8 equal of 40 (net +28), mean RR@10 -0.0100 [-0.0500, +0.0300], sign test p < .0001, Holm < .0001; the mean moves the other way: few cases move far"},
		{"a cut", stage.Transition{From: "boosted", To: "candidates", N: 72, Ties: 72, P: 1, Adj: 1, Effect: stage.Truncation},
			"boosted to candidates only cuts the list: 0 better, 0 worse, 72 equal of 72 (net +0), mean RR@10 +0.0000 [+0.0000, +0.0000], sign test p 1.0000, Holm 1.0000"},
		{"nothing", stage.Transition{From: "fusion", To: "boosted", N: 72, Ties: 72, P: 1, Adj: 1, Note: "identity: no boost is declared", Effect: stage.NoEffect},
			"fusion to boosted has no effect: no case moved, 0 better, 0 worse, 72 equal of 72 (net +0), mean RR@10 +0.0000 [+0.0000, +0.0000], sign test p 1.0000, Holm 1.0000 (identity: no boost is declared)"},
		{"too few moved", stage.Transition{From: "a", To: "b", N: 9, Wins: 2, Losses: 1, Ties: 6, P: 1, Adj: 1, Detectable: stage.Detectable{Net: 3}, Effect: stage.Unresolved},
			"a to b is not significant: 2 better, 1 worse, 6 equal of 9 (net +1), mean RR@10 +0.0000 [+0.0000, +0.0000], sign test p 1.0000, Holm 1.0000; detectable with 80 % power: no net of cases at all: too few moved (exact sign test)"},
	} {
		t.Run(tc.name, func(t *testing.T) { assert.Equal(t, tc.want, report.TransitionSentence(tc.row, "RR@10")) })
	}
}
