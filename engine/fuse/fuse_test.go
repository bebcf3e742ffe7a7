package fuse

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var equal = Weights{Vector: 1, Lexical: 1}

func ids(hits []Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}

func TestRRF(t *testing.T) {
	for _, tc := range []struct {
		name            string
		vector, lexical []string
		weights         Weights
		k               int
		want            []string
	}{
		{"both empty", nil, nil, equal, 60, []string{}},
		{"agreement beats one first rank", []string{"y", "a", "b", "x"}, []string{"c", "d", "e", "x"}, equal, 60,
			[]string{"x", "c", "y", "d", "a", "e", "b"}},
		{"with k 1 it does not", []string{"y", "a", "b", "x"}, []string{"c", "d", "e", "x"}, equal, 1,
			[]string{"c", "y", "x", "d", "a", "e", "b"}},
		{"a tie goes to the lexical rank", []string{"v"}, []string{"z"}, equal, 60, []string{"z", "v"}},
		{"swapped ranks tie too", []string{"a", "b"}, []string{"b", "a"}, equal, 60, []string{"b", "a"}},
		{"weight decides", []string{"v"}, []string{"z"}, Weights{Vector: 2, Lexical: 1}, 60, []string{"v", "z"}},
		{"weight 0 leaves an arm out", []string{"v"}, []string{"z"}, Weights{Lexical: 1}, 60, []string{"z"}},
		{"empty vector arm", nil, []string{"c", "a", "b"}, equal, 60, []string{"c", "a", "b"}},
		{"empty lexical arm", []string{"c", "a", "b"}, nil, equal, 60, []string{"c", "a", "b"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			hits, err := RRF(tc.vector, tc.lexical, tc.weights, tc.k)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, ids(hits)); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
		})
	}
}

func TestScores(t *testing.T) {
	hits, err := RRF([]string{"a", "b"}, []string{"b"}, Weights{Vector: 2, Lexical: 3}, 60)
	if err != nil {
		t.Fatal(err)
	}
	want := []Hit{{"b", 2.0/62 + 3.0/61, 2, 1}, {"a", 2.0 / 61, 1, 0}}
	if diff := cmp.Diff(want, hits); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRefuses(t *testing.T) {
	for _, tc := range []struct {
		name            string
		vector, lexical []string
		weights         Weights
		k               int
		want            string
	}{
		{"twice in the vector ranking", []string{"a", "b", "a"}, nil, equal, 60, `vector ranking holds "a" at ranks 1 and 3`},
		{"twice in the lexical ranking", nil, []string{"a", "a"}, equal, 60, `lexical ranking holds "a" at ranks 1 and 2`},
		{"negative weight", nil, nil, Weights{Vector: -1, Lexical: 1}, 60, "vector weight -1"},
		{"weight not a number", nil, nil, Weights{Vector: 1, Lexical: math.NaN()}, 60, "lexical weight NaN"},
		{"infinite weight", nil, nil, Weights{Vector: math.Inf(1)}, 60, "vector weight +Inf"},
		{"no weight", nil, nil, Weights{}, 60, "both weights are 0"},
		{"k 0", nil, nil, equal, 0, "k 0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := RRF(tc.vector, tc.lexical, tc.weights, tc.k); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want it to say %q", err, tc.want)
			}
		})
	}
}

var (
	ranking = rapid.SliceOfNDistinct(rapid.StringMatching(`[a-f]{1,2}`), 0, 20, rapid.ID)
	weights = rapid.Custom(func(t *rapid.T) Weights {
		return Weights{Vector: rapid.Float64Range(.01, 10).Draw(t, "vector"), Lexical: rapid.Float64Range(.01, 10).Draw(t, "lexical")}
	})
)

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vector, lexical := ranking.Draw(t, "vector"), ranking.Draw(t, "lexical")
		w := weights.Draw(t, "weights")
		k := rapid.IntRange(1, 100).Draw(t, "k")
		fuse := func(v, l []string) []Hit {
			hits, err := RRF(v, l, w, k)
			if err != nil {
				t.Fatal(err)
			}
			return hits
		}
		hits := fuse(vector, lexical)
		if diff := cmp.Diff(hits, fuse(vector, lexical)); diff != "" {
			t.Fatalf("a replay differs:\n%s", diff)
		}
		union := slices.Compact(slices.Sorted(slices.Values(slices.Concat(vector, lexical))))
		if diff := cmp.Diff(union, slices.Sorted(slices.Values(ids(hits)))); len(union) > 0 && diff != "" {
			t.Fatalf("not the union of both arms:\n%s", diff)
		}
		for i := 1; i < len(hits); i++ {
			a, b := hits[i-1], hits[i]
			if a.Score < b.Score {
				t.Fatalf("score rises at rank %d", i+1)
			}
			if a.VectorRank > 0 && a.LexicalRank > 0 || b.VectorRank == 0 || b.LexicalRank == 0 {
				continue
			}
			// b is in both arms: it cannot stand below one that it beats in each.
			if (a.VectorRank == 0 || b.VectorRank < a.VectorRank) && (a.LexicalRank == 0 || b.LexicalRank < a.LexicalRank) {
				t.Fatalf("%v stands above %v", a, b)
			}
		}
		if diff := cmp.Diff(append([]string{}, vector...), ids(fuse(vector, nil))); diff != "" {
			t.Fatalf("without lexical hits:\n%s", diff)
		}
		if diff := cmp.Diff(append([]string{}, lexical...), ids(fuse(nil, lexical))); diff != "" {
			t.Fatalf("without vector hits:\n%s", diff)
		}
	})
}

// TestAgreementWins: at k 60 and equal weights a passage among the first 60 of
// both arms stands above any that only one arm has.
func TestAgreementWins(t *testing.T) {
	for _, rank := range []int{2, 10, 60} {
		vector, lexical := []string{"only vector"}, []string{"only lexical"}
		for i := 2; i < rank; i++ {
			vector, lexical = append(vector, fmt.Sprint("v", i)), append(lexical, fmt.Sprint("l", i))
		}
		hits, err := RRF(append(vector, "both"), append(lexical, "both"), equal, DefaultK)
		if err != nil {
			t.Fatal(err)
		}
		if hits[0].ID != "both" {
			t.Errorf("rank %d in both arms: %s is first", rank, hits[0].ID)
		}
	}
}
