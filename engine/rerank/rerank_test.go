package rerank

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fixed returns the same scores to any question.
type fixed struct {
	scores []float64
	err    error
}

func (f fixed) Name() string { return "fixed" }
func (f fixed) Judge(context.Context, string, []Passage) ([]float64, error) {
	return f.scores, f.err
}

var candidates = []Passage{{ID: "a"}, {ID: "b"}, {ID: "c"}}

func TestOrder(t *testing.T) {
	for _, tc := range []struct {
		name   string
		scores []float64
		want   []Hit
	}{
		{"by score", []float64{.1, .9, .5}, []Hit{{"b", .9, 2}, {"c", .5, 3}, {"a", .1, 1}}},
		{"equal scores keep their order", []float64{.5, .5, .5}, []Hit{{"a", .5, 1}, {"b", .5, 2}, {"c", .5, 3}}},
		{"negative scores", []float64{-2, -1, -3}, []Hit{{"b", -1, 2}, {"a", -2, 1}, {"c", -3, 3}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Order(t.Context(), fixed{scores: tc.scores}, "q", candidates)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOrderRefuses(t *testing.T) {
	broken := errors.New("broken")
	for _, tc := range []struct {
		name  string
		judge fixed
		want  string
	}{
		{"too few scores", fixed{scores: []float64{1, 2}}, "2 scores for 3 passages"},
		{"not a number", fixed{scores: []float64{1, math.NaN(), 2}}, "passage b: score NaN"},
		{"infinite", fixed{scores: []float64{1, 2, math.Inf(-1)}}, "passage c: score -Inf"},
		{"its error", fixed{err: broken}, "broken"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Order(t.Context(), tc.judge, "q", candidates)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want it to say %q", err, tc.want)
			}
			if tc.judge.err != nil && !errors.Is(err, broken) {
				t.Errorf("error %v does not wrap the judge's", err)
			}
		})
	}
}

func TestNoCandidatesNeedNoJudge(t *testing.T) {
	if got, err := Order(t.Context(), fixed{err: errors.New("asked")}, "q", nil); len(got) != 0 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}
