package report

import (
	"fmt"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/compare/stage"
)

// TransitionSentence says what a row of the transition table says, with
// nothing but its numbers: what is claimed is the row's effect, and what is not
// significant names the smallest difference that could have been seen.
func TransitionSentence(t stage.Transition, measure string) string {
	counts := fmt.Sprintf("%d better, %d worse, %d equal of %d (net %+d), mean %s %+.4f [%+.4f, %+.4f], sign test p %s, Holm %s",
		t.Wins, t.Losses, t.Ties, t.N, t.Net(), measure, t.Mean, t.Lo, t.Hi, pValue(t.P), pValue(t.Adj))
	step := fmt.Sprintf("%s to %s ", t.From, t.To)
	switch t.Effect {
	case stage.Helps, stage.Hurts:
		s := step + string(t.Effect) + ": " + counts
		if float64(t.Net())*t.Mean < 0 {
			s += "; the mean moves the other way: few cases move far"
		}
		return s
	case stage.Truncation:
		s := step + "only cuts the list: " + counts + note(t)
		if t.Wins+t.Losses > 0 {
			s += "; " + notSeen(t)
		}
		return s
	case stage.NoEffect:
		if t.Wins+t.Losses == 0 {
			return step + "has no effect: no case moved, " + counts + note(t)
		}
		return step + "has no effect beyond the margin: " + counts + "; " + notSeen(t)
	}
	return step + "is not significant: " + counts + "; " + notSeen(t)
}

func note(t stage.Transition) string {
	if t.Note == "" {
		return ""
	}
	return " (" + t.Note + ")"
}

// notSeen is the power of a row.
func notSeen(t stage.Transition) string {
	d := t.Detectable
	if d.Net == 0 {
		return "no case moved, so nothing can be said of what could have been seen"
	}
	var parts []string
	if d.Exact > 0 {
		parts = append(parts, fmt.Sprintf("a mean of %.4f (exact, noncentral t; %.4f by the normal form)", d.Exact, d.Normal))
	}
	if d.Attainable {
		parts = append(parts, fmt.Sprintf("a net of %d cases (exact sign test)", d.Net))
	} else {
		parts = append(parts, "no net of cases at all: too few moved (exact sign test)")
	}
	return "detectable with 80 % power: " + strings.Join(parts, ", ")
}

// PoolSentence keeps what entered the reranker apart from what it made of it.
func PoolSentence(r *stage.Report) string {
	p := r.Pool
	s := fmt.Sprintf("recall@pool %.4f: of the relevant documents that share is among the %.1f entries of %s (any in %d of %d cases); %s there %.4f, a perfect order of the same entries %.4f",
		p.Recall, p.Size, p.Stage, p.Any, p.N, r.Measure, p.Before, p.Ceiling)
	if p.After == nil {
		return s + "; no reranker ran"
	}
	return s + fmt.Sprintf("; the reranker's order %.4f", *p.After)
}
