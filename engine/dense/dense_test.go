package dense

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func vector(rng *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

func fill(t testing.TB, dim int, vectors map[string][]float32) *Index {
	t.Helper()
	x := New(dim)
	for id, v := range vectors {
		if err := x.Put(id, v); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

// generate gives every fourth vector the values of another, so that there are
// ties, and makes one zero.
func generate(n, dim int) map[string][]float32 {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	vectors := map[string][]float32{}
	for i := range n {
		v := vector(rng, dim)
		if i%4 == 3 {
			v = vectors[fmt.Sprintf("v%05d", i-2)]
		}
		vectors[fmt.Sprintf("v%05d", i)] = v
	}
	vectors["zero"] = make([]float32, dim)
	return vectors
}

func naive(vectors map[string][]float32, question []float32) []Hit {
	var hits []Hit
	for id, v := range vectors {
		var ab, aa, bb float64
		for i := range v {
			ab += float64(question[i]) * float64(v[i])
			aa += float64(question[i]) * float64(question[i])
			bb += float64(v[i]) * float64(v[i])
		}
		if bb > 0 {
			hits = append(hits, Hit{id, ab / math.Sqrt(aa) / math.Sqrt(bb)})
		}
	}
	slices.SortFunc(hits, compare)
	return hits
}

func search(t testing.TB, x *Index, question []float32, k int, allow func(string) bool) Result {
	t.Helper()
	r, err := x.Search(context.Background(), question, k, allow)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSearchIsExact(t *testing.T) {
	for _, n := range []int{0, 1, 7, 511, 512, 5000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			const dim = 19 // not a multiple of the four lanes
			vectors := generate(n, dim)
			x := fill(t, dim, vectors)
			question := vector(rand.New(rand.NewPCG(9, 9)), dim)
			want := naive(vectors, question)
			got := search(t, x, question, n+10, nil)
			if got.Total != n || len(got.Hits) != n || x.Len() != n+1 {
				t.Fatalf("%d hits of %d, %d vectors, want %d, %d, %d", len(got.Hits), got.Total, x.Len(), n, n, n+1)
			}
			for i, h := range got.Hits {
				if math.Abs(h.Score-want[i].Score) > 1e-12 {
					t.Fatalf("rank %d: %v, want %v", i+1, h, want[i])
				}
				if i > 0 && !got.Hits[i-1].Less(h) {
					t.Fatalf("rank %d: %v does not come after %v", i+1, h, got.Hits[i-1])
				}
			}
		})
	}
}

func TestRankingDoesNotDependOnHistoryOrProcessors(t *testing.T) {
	const dim, n = 16, 3000
	vectors := generate(n, dim)
	question := vectors["v00001"] // v00003 is equal to it
	want := search(t, fill(t, dim, vectors), question, 50, nil)
	if want.Hits[0].ID != "v00001" || want.Hits[1].ID != "v00003" || want.Hits[0].Score != want.Hits[1].Score {
		t.Fatalf("equal vectors: %v", want.Hits[:2])
	}
	for i := range 6 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1 + i))
		x := fill(t, dim, vectors) // in the order of a map: another each time
		for id, v := range vectors {
			if strings.HasSuffix(id, "7") && x.Remove(id) {
				if err := x.Put(id, v); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := x.Put("extra", question); err != nil {
			t.Fatal(err)
		}
		x.Remove("extra")
		if diff := cmp.Diff(want, search(t, x, question, 50, nil)); diff != "" {
			t.Errorf("with %d processors (-want +got):\n%s", 1+i, diff)
		}
	}
}

func TestSmallerKIsAPrefix(t *testing.T) {
	vectors := generate(2000, 8)
	x := fill(t, 8, vectors)
	all := search(t, x, vectors["v00000"], 2000, nil)
	for _, k := range []int{0, 1, 10, 100, 1999} {
		got := search(t, x, vectors["v00000"], k, nil)
		if diff := cmp.Diff(all.Hits[:k], append([]Hit{}, got.Hits...)); diff != "" {
			t.Errorf("k %d (-want +got):\n%s", k, diff)
		}
	}
}

// TestAllowComesBeforeTheCut is sqlite-vec issue 196: with the filter after
// the cut, a rare value finds nothing.
func TestAllowComesBeforeTheCut(t *testing.T) {
	vectors := generate(1000, 8)
	x := fill(t, 8, vectors)
	question := vectors["v00000"]
	all := search(t, x, question, 1000, nil)
	for _, every := range []int{1, 3, 100, 999, 5000} {
		allow := func(id string) bool {
			var n int
			fmt.Sscanf(id, "v%d", &n)
			return n%every == every-1
		}
		var want []Hit
		for _, h := range all.Hits {
			if allow(h.ID) {
				want = append(want, h)
			}
		}
		got := search(t, x, question, 10, allow)
		if diff := cmp.Diff(want[:min(10, len(want))], got.Hits); diff != "" || got.Total != len(want) {
			t.Errorf("one in %d: total %d, want %d (-want +got):\n%s", every, got.Total, len(want), diff)
		}
	}
}

func TestZeroVectors(t *testing.T) {
	x := fill(t, 2, map[string][]float32{"zero": {0, 0}, "up": {0, 2}})
	if got := search(t, x, []float32{0, 0}, 10, nil); len(got.Hits) != 0 {
		t.Errorf("the zero vector is near to %v", got.Hits)
	}
	if got := search(t, x, []float32{0, 5}, 10, nil); len(got.Hits) != 1 || got.Hits[0] != (Hit{"up", 1}) {
		t.Errorf("hits %v, want up at 1: length must not count", got.Hits)
	}
}

func TestRefuses(t *testing.T) {
	x := New(2)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, tc := range []struct {
		name   string
		values []float32
		want   string
	}{
		{"too short", []float32{1}, "1 numbers, want 2"},
		{"too long", []float32{1, 2, 3}, "3 numbers, want 2"},
		{"none", nil, "0 numbers"},
		{"not a number", []float32{1, nan}, "not finite"},
		{"infinite", []float32{inf, 1}, "not finite"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := x.Put("a", tc.values); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Put: %v, want it to say %q", err, tc.want)
			}
			if _, err := x.Search(t.Context(), tc.values, 1, nil); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Search: %v, want it to say %q", err, tc.want)
			}
			if x.Len() != 0 {
				t.Error("a refused vector is in the index")
			}
		})
	}
}

func TestCancelledSearchFails(t *testing.T) {
	vectors := generate(3000, 8)
	x := fill(t, 8, vectors)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := x.Search(ctx, vectors["v00000"], 10, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%d hits, %v, want %v", len(r.Hits), err, context.Canceled)
	}
}

// TestModel compares any sequence of changes with a map.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := New(3)
		model := map[string][]float32{}
		id := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})
		values := rapid.SliceOfN(rapid.Float32Range(-2, 2), 3, 3)
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				name, v := id.Draw(t, "id"), values.Draw(t, "values")
				if err := x.Put(name, v); err != nil {
					t.Fatal(err)
				}
				model[name] = slices.Clone(v)
			},
			"remove": func(t *rapid.T) {
				name := id.Draw(t, "id")
				_, want := model[name]
				if got := x.Remove(name); got != want {
					t.Fatalf("Remove(%s) = %v, want %v", name, got, want)
				}
				delete(model, name)
			},
			"": func(t *rapid.T) {
				if x.Len() != len(model) {
					t.Fatalf("%d vectors, want %d", x.Len(), len(model))
				}
				question := []float32{1, -1, 0.5}
				got, err := x.Search(context.Background(), question, 10, nil)
				if err != nil {
					t.Fatal(err)
				}
				want := naive(model, question)
				if len(got.Hits) != len(want) {
					t.Fatalf("%d hits, want %d", len(got.Hits), len(want))
				}
				for i := range want {
					if math.Abs(got.Hits[i].Score-want[i].Score) > 1e-12 {
						t.Fatalf("rank %d: %v, want %v", i+1, got.Hits[i], want[i])
					}
				}
			},
		})
	})
}

// TestDotIsFusedOrNotTheSame fails if a product could be inexact: only then
// would fusing it with the addition change the sum.
func TestDotIsFusedOrNotTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		a, b := vector(rng, 64), vector(rng, 64)
		var s [4]float64
		for i := range a {
			s[i%4] = math.FMA(float64(a[i]), float64(b[i]), s[i%4])
		}
		if got, want := dot(a, b), (s[0]+s[1])+(s[2]+s[3]); got != want {
			t.Fatalf("dot = %v, with fused operations %v", got, want)
		}
	}
}

// TestDotsAreDot: measuring two passages at once changes no bit.
func TestDotsAreDot(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for dim := 1; dim < 40; dim++ {
		for range 50 {
			a, b, c := vector(rng, dim), vector(rng, dim), vector(rng, dim)
			wide := make([]float64, dim)
			for i, v := range a {
				wide[i] = float64(v)
			}
			ab, ac := dots(wide, b, c)
			if ab != dot(a, b) || ac != dot(a, c) {
				t.Fatalf("%d numbers: %v and %v, want %v and %v", dim, ab, ac, dot(a, b), dot(a, c))
			}
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{5000, 50000} {
		b.Run(fmt.Sprintf("vectors=%d", n), func(b *testing.B) {
			const dim = 256
			rng := rand.New(rand.NewPCG(1, 2))
			x := New(dim)
			for i := range n {
				if err := x.Put(fmt.Sprintf("v%d", i), vector(rng, dim)); err != nil {
					b.Fatal(err)
				}
			}
			question := vector(rng, dim)
			for b.Loop() {
				search(b, x, question, 100, nil)
			}
		})
	}
}
