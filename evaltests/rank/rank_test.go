package rank_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchstone-eval/touchstone/evaltests/rank"
)

func letters(n int) []string { return strings.Split("abcdefghijklmnopqrstuvwxyz"[:n], "") }

func TestNewRefuses(t *testing.T) {
	tests := []struct {
		name   string
		ids    []string
		scores []float64
		want   string
	}{
		{"empty id", []string{"a", ""}, nil, "empty id at rank 2"},
		{"duplicate id", []string{"a", "b", "a"}, nil, `"a" at ranks 1 and 3`},
		{"many duplicates are counted", []string{"a", "a", "b", "b", "c", "c", "d", "d"}, nil, "and 1 more"},
		{"fewer scores than ids", []string{"a", "b"}, []float64{1}, "2 ids and 1 scores"},
		{"NaN score", []string{"a", "b"}, []float64{1, math.NaN()}, `NaN at rank 2 ("b")`},
		{"infinite score", []string{"a"}, []float64{math.Inf(1)}, "+Inf at rank 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := rank.New(tt.ids, tt.scores)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New(%q, %v) error = %v, want one that says %q", tt.ids, tt.scores, err, tt.want)
			}
		})
	}
}

func TestRankingIsImmutable(t *testing.T) {
	ids, scores := []string{"a", "b"}, []float64{2, 1}
	r, err := rank.New(ids, scores)
	if err != nil {
		t.Fatal(err)
	}
	ids[0], scores[0] = "x", 9
	r.IDs()[0] = "y"
	if got := r.ID(0); got != "a" {
		t.Errorf("ID(0) = %q after the caller changed its slices, want %q", got, "a")
	}
	if got, ok := r.Score(0); got != 2 || !ok {
		t.Errorf("Score(0) = %v, %v, want 2, true", got, ok)
	}
}

func TestTop(t *testing.T) {
	r, err := rank.New(letters(3), nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range map[int][]string{-1: {}, 0: {}, 2: {"a", "b"}, 9: {"a", "b", "c"}} {
		got := r.Top(k)
		if diff := cmp.Diff(want, append([]string{}, got.IDs()...)); diff != "" {
			t.Errorf("Top(%d) (-want +got):\n%s", k, diff)
		}
	}
	if _, ok := r.Score(0); ok {
		t.Error("Score(0) is known for a ranking without scores")
	}
}

func TestRises(t *testing.T) {
	for name, tt := range map[string]struct {
		scores []float64
		want   int
	}{
		"falling":   {[]float64{3, 2, 1}, 0},
		"tied":      {[]float64{1, 1, 1}, 0},
		"rising":    {[]float64{3, 1, 2}, 3},
		"no scores": {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := rank.New(letters(3), tt.scores)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Rises(); got != tt.want {
				t.Errorf("Rises() = %d, want %d", got, tt.want)
			}
		})
	}
}

func TestRBONorm(t *testing.T) {
	swapped := func(i int) []string {
		s := letters(10)
		s[i-1], s[i] = s[i], s[i-1]
		return s
	}
	tests := []struct {
		name string
		x, y []string
		k    int
		want float64
	}{
		{"identical", letters(10), letters(10), 10, 1},
		{"both empty", nil, nil, 10, 1},
		{"empty against ten", nil, letters(10), 10, 0},
		{"nine of ten", letters(9), letters(10), 10, .9941},
		{"seven of ten", letters(7), letters(10), 10, .9583},
		{"five of ten", letters(5), letters(10), 10, .8749},
		{"three of ten", letters(3), letters(10), 10, .7082},
		{"swap of 1 and 2", swapped(1), letters(10), 10, .846466},
		{"swap of 2 and 3", swapped(2), letters(10), 10, .930910},
		{"swap of 3 and 4", swapped(3), letters(10), 10, .958546},
		{"swap of 8 and 9", swapped(8), letters(10), 10, .990821},
		{"beyond the depth nothing counts", swapped(8), letters(10), 7, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := rank.RBONorm(tt.x, tt.y, .9, tt.k)
			if err != nil || math.Abs(got-tt.want) > 5e-5 {
				t.Errorf("RBONorm = %v, %v, want %v", got, err, tt.want)
			}
		})
	}
}

func TestRBONormRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		x, y []string
		p    float64
		k    int
		want string
	}{
		"p of 0":                     {nil, nil, 0, 1, "p = 0"},
		"p of 1":                     {nil, nil, 1, 1, "p = 1"},
		"p not a number":             {nil, nil, math.NaN(), 1, "p = NaN"},
		"depth of 0":                 {nil, nil, .9, 0, "depth 0"},
		"duplicate in the first":     {[]string{"a", "a"}, nil, .9, 1, "first list has duplicate"},
		"duplicate below the depth":  {nil, []string{"a", "b", "b"}, .9, 1, "second list has duplicate"},
		"empty id in the first list": {[]string{""}, nil, .9, 1, "first list has an empty id"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := rank.RBONorm(tt.x, tt.y, tt.p, tt.k)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want one that says %q", err, tt.want)
			}
		})
	}
}

func TestOverlap(t *testing.T) {
	x, y := []string{"a", "b", "c"}, []string{"c", "a", "d"}
	for k, want := range map[int]int{0: 0, 1: 0, 2: 1, 3: 2, 9: 2} {
		if got := rank.Overlap(x, y, k); got != want {
			t.Errorf("Overlap at %d = %d, want %d", k, got, want)
		}
	}
}

func TestFirstDivergence(t *testing.T) {
	for name, tt := range map[string]struct {
		x, y []string
		want int
	}{
		"identical":    {letters(3), letters(3), 0},
		"both empty":   {nil, nil, 0},
		"first":        {[]string{"x", "b"}, letters(2), 1},
		"second":       {[]string{"a", "x"}, letters(2), 2},
		"shorter":      {letters(2), letters(3), 3},
		"longer":       {letters(3), letters(2), 3},
		"empty to one": {nil, letters(1), 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := rank.FirstDivergence(tt.x, tt.y); got != tt.want {
				t.Errorf("FirstDivergence = %d, want %d", got, tt.want)
			}
		})
	}
}

func TestMoves(t *testing.T) {
	got := rank.Moves([]string{"a", "b", "c", "d"}, []string{"b", "a", "c", "e"})
	want := []rank.Move{{"a", 1, 2}, {"b", 2, 1}, {"d", 4, 0}, {"e", 0, 4}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Moves (-want +got):\n%s", diff)
	}
}
