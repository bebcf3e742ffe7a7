package rank_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/evaltests/rank"
)

var rules = []rank.TieRule{rank.TiesA, rank.TiesB, rank.TiesW}

// list draws distinct ids out of few, so that two lists overlap.
func list(least int) *rapid.Generator[[]string] {
	return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprint("d", rapid.IntRange(0, 25).Draw(t, "id"))
	}), least, 20, func(s string) string { return s })
}

// tied draws a ranking with ties.
func tied(least int) *rapid.Generator[rank.Tied] {
	return rapid.Custom(func(t *rapid.T) rank.Tied {
		ids := list(least).Draw(t, "ids")
		var r rank.Tied
		for len(ids) > 0 {
			n := rapid.IntRange(1, min(4, len(ids))).Draw(t, "group")
			r = append(r, ids[:n])
			ids = ids[n:]
		}
		return r
	})
}

var persistence = rapid.Float64Range(0.01, 0.995)

func mustRBO(t *rapid.T, x, y rank.Tied, p float64, rule rank.TieRule) rank.RBO {
	r, err := rank.NewRBO(x, y, p, rule)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRBOProperties(t *testing.T) {
	const slack = 1e-9
	rapid.Check(t, func(t *rapid.T) {
		x, y := tied(0).Draw(t, "x"), tied(0).Draw(t, "y")
		p := persistence.Draw(t, "p")
		for _, rule := range rules {
			r := mustRBO(t, x, y, p, rule)
			if !(r.Min >= 0 && r.Min <= r.Ext+slack && r.Ext <= r.Max+slack && r.Max <= 1+slack) {
				t.Fatalf("rule %s: want 0 <= min <= ext <= max <= 1, got %+v", rule, r)
			}
			if back := mustRBO(t, y, x, p, rule); math.Abs(back.Ext-r.Ext) > slack || math.Abs(back.Min-r.Min) > slack || math.Abs(back.Max-r.Max) > slack {
				t.Fatalf("rule %s is not symmetric: %+v and %+v", rule, r, back)
			}
			norm, err := rank.RBONormTied(x, y, p, 10, rule)
			if err != nil || norm < 0 || norm > 1+slack {
				t.Fatalf("rule %s: norm = %v, %v", rule, norm, err)
			}
		}
	})
}

// Identical rankings are worth 1: without ties in every form that fills in
// what is below, with ties under rule b.
func TestRBOOfIdenticalRankings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids, p := list(0).Draw(t, "ids"), persistence.Draw(t, "p")
		for _, rule := range rules {
			if r := mustRBO(t, rank.Untied(ids), rank.Untied(ids), p, rule); math.Abs(r.Ext-1) > 1e-9 || math.Abs(r.Max-1) > 1e-9 {
				t.Fatalf("rule %s: %+v, want ext and max 1", rule, r)
			}
		}
		if norm, err := rank.RBONorm(ids, ids, p, 10); err != nil || norm != 1 {
			t.Fatalf("norm = %v, %v, want exactly 1", norm, err)
		}
		x := tied(0).Draw(t, "tied")
		if r := mustRBO(t, x, x, p, rank.TiesB); math.Abs(r.Ext-1) > 1e-9 {
			t.Fatalf("rule b: ext = %v, want 1", r.Ext)
		}
		if norm, err := rank.RBONormTied(x, x, p, 10, rank.TiesB); err != nil || math.Abs(norm-1) > 1e-9 {
			t.Fatalf("rule b: norm = %v, %v, want 1", norm, err)
		}
	})
}

func TestRBOOfDisjointRankings(t *testing.T) {
	x, y := rank.Untied([]string{"a", "b"}), rank.Untied([]string{"c", "d", "e"})
	for _, rule := range rules {
		r, err := rank.NewRBO(x, y, 0.9, rule)
		if err != nil || r.Ext != 0 || r.Min != 0 || r.Max <= 0 {
			t.Errorf("rule %s: %+v, %v, want ext and min 0, max above", rule, r, err)
		}
	}
}

func TestRBOOfEmptyRankings(t *testing.T) {
	for name, tt := range map[string]struct {
		x, y     rank.Tied
		ext, min float64
	}{
		"both":   {nil, nil, 1, 0},
		"first":  {nil, rank.Untied([]string{"a"}), 0, 0},
		"second": {rank.Untied([]string{"a", "b"}), nil, 0, 0},
	} {
		for _, rule := range rules {
			r, err := rank.NewRBO(tt.x, tt.y, 0.9, rule)
			if err != nil || r.Ext != tt.ext || r.Min != tt.min || math.Abs(r.Max-1) > 1e-12 {
				t.Errorf("%s, rule %s: %+v, %v, want ext %v, min %v, max 1", name, rule, r, err, tt.ext, tt.min)
			}
		}
	}
}

// The two ways to the normalised form must agree where there are no ties.
func TestRBONormForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := list(0).Draw(t, "x"), list(0).Draw(t, "y")
		p, k := persistence.Draw(t, "p"), rapid.IntRange(1, 25).Draw(t, "k")
		want, err := rank.RBONorm(x, y, p, k)
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range []rank.TieRule{rank.TiesA, rank.TiesB} {
			got, err := rank.RBONormTied(rank.Untied(x), rank.Untied(y), p, k, rule)
			if err != nil || math.Abs(got-want) > 1e-12 {
				t.Fatalf("rule %s: %v, %v, want %v", rule, got, err, want)
			}
		}
	})
}

func TestRBORefuses(t *testing.T) {
	ok := rank.Untied([]string{"a"})
	for name, tt := range map[string]struct {
		x, y rank.Tied
		p    float64
		rule rank.TieRule
		want string
	}{
		"duplicate in a group":      {rank.Tied{{"a", "a"}}, ok, .9, rank.TiesA, "first list has duplicate"},
		"duplicate across groups":   {ok, rank.Tied{{"a", "b"}, {"a"}}, .9, rank.TiesA, "second list has duplicate"},
		"empty id":                  {ok, rank.Tied{{""}}, .9, rank.TiesA, "empty id"},
		"p of 1":                    {ok, ok, 1, rank.TiesA, "p = 1"},
		"unknown rule":              {ok, ok, .9, "c", `tie rule "c"`},
		"p is infinite":             {ok, ok, math.Inf(1), rank.TiesA, "p = +Inf"},
		"a group without any id is": {rank.Tied{{}, {""}}, ok, .9, rank.TiesA, "empty id"},
	} {
		if _, err := rank.NewRBO(tt.x, tt.y, tt.p, tt.rule); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error = %v, want one that says %q", name, err, tt.want)
		}
	}
	for name, f := range map[string]func() error{
		"norm at depth 0":              func() error { _, err := rank.RBONormTied(ok, ok, .9, 0, rank.TiesA); return err },
		"truncated at depth 0":         func() error { _, err := rank.RBOTruncated(nil, nil, .9, 0); return err },
		"average overlap to depth 0":   func() error { _, err := rank.AverageOverlap(nil, nil, 0); return err },
		"average overlap, duplicates":  func() error { _, err := rank.AverageOverlap([]string{"a", "a"}, nil, 1); return err },
		"tau of one pair":              func() error { _, err := rank.Kendall([]float64{1}, []float64{1}); return err },
		"tau of unequal lengths":       func() error { _, err := rank.Kendall([]float64{1, 2}, []float64{1}); return err },
		"tau of NaN":                   func() error { _, err := rank.Kendall([]float64{1, math.NaN()}, []float64{1, 2}); return err },
		"tau-ap of one id":             func() error { _, err := rank.TauAP([]string{"a"}, []string{"a"}); return err },
		"tau-ap of other ids":          func() error { _, err := rank.TauAP([]string{"a", "b"}, []string{"a", "c"}); return err },
		"tau-ap of fewer ids":          func() error { _, err := rank.TauAPSymmetric([]string{"a", "b"}, []string{"a", "b", "c"}); return err },
		"tau of rankings, duplicates":  func() error { _, err := rank.KendallRankings(rank.Tied{{"a", "a"}}, ok); return err },
		"tau of rankings, another one": func() error { _, err := rank.KendallRankings(ok, rank.Tied{{"b"}}); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestTruncatedRBO(t *testing.T) {
	ids := letters(10)
	got, err := rank.RBOTruncated(ids, ids, .9, 10)
	if want := 1 - math.Pow(.9, 10); err != nil || math.Abs(got-want) > 1e-12 {
		t.Errorf("identical lists = %v, %v, want 1-p^10 = %v", got, err, want)
	}
	if got, err := rank.RBOTruncated(nil, nil, .9, 10); err != nil || got != 0 {
		t.Errorf("empty lists = %v, %v, want 0: nothing is known", got, err)
	}
}

func TestKendallProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 30).Draw(t, "n")
		values := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(0, 15).Draw(t, "v")) }), n, n)
		x, y := values.Draw(t, "x"), values.Draw(t, "y")
		a, err := rank.Kendall(x, y)
		if err != nil {
			t.Fatal(err)
		}
		b, err := rank.Kendall(y, x)
		if err != nil {
			t.Fatal(err)
		}
		if a.A != b.A || a.B != b.B || a.P != b.P {
			t.Fatalf("not symmetric: %+v and %+v", a, b)
		}
		if math.Abs(a.A) > 1 || math.Abs(a.B) > 1+1e-12 || a.P < 0 || a.P > 1 {
			t.Fatalf("out of range: %+v", a)
		}
		self, err := rank.Kendall(x, x)
		if err != nil || self.BDefined && math.Abs(self.B-1) > 1e-12 {
			t.Fatalf("tau-b of x with itself: %+v, %v, want 1", self, err)
		}
	})
}

func TestKendallRankings(t *testing.T) {
	x := rank.Tied{{"a"}, {"b", "c"}, {"d"}}
	y := rank.Tied{{"d"}, {"c"}, {"b"}, {"a"}}
	got, err := rank.KendallRankings(x, y)
	if err != nil || got.TiesX != 1 || got.Discordant != 5 || got.PDefined {
		t.Errorf("got %+v, %v, want 5 discordant pairs, 1 tie, no exact p", got, err)
	}
	// 2/6!: only one order of six ids and its reverse agree so well.
	ids := letters(6)
	same, err := rank.KendallRankings(rank.Untied(ids), rank.Untied(ids))
	if err != nil || same.A != 1 || math.Abs(same.P-2./720) > 1e-15 {
		t.Errorf("identical rankings: %+v, %v, want tau 1 and p 2/720", same, err)
	}
}

func TestTauAPProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := list(2).Draw(t, "x")
		y := rapid.Permutation(x).Draw(t, "y")
		v, err := rank.TauAP(x, y)
		if err != nil || v < -1-1e-12 || v > 1+1e-12 {
			t.Fatalf("tau-ap = %v, %v", v, err)
		}
		if same, err := rank.TauAP(x, x); err != nil || math.Abs(same-1) > 1e-12 {
			t.Fatalf("tau-ap of x with itself = %v, %v, want 1", same, err)
		}
		back := slices.Clone(x)
		slices.Reverse(back)
		if reversed, err := rank.TauAP(x, back); err != nil || math.Abs(reversed+1) > 1e-12 {
			t.Fatalf("tau-ap of x reversed = %v, %v, want -1", reversed, err)
		}
	})
}

func TestParseTied(t *testing.T) {
	for in, want := range map[string]rank.Tied{
		"":                   nil,
		"a (b c) d":          {{"a"}, {"b", "c"}, {"d"}},
		"(a b)(c d)":         {{"a", "b"}, {"c", "d"}},
		" (  a\tb ) c\n":     {{"a", "b"}, {"c"}},
		"(a)":                {{"a"}},
		"שלום (a.b 'c;d--')": {{"שלום"}, {"a.b", "'c;d--'"}},
	} {
		got, err := rank.ParseTied(in)
		if err != nil {
			t.Errorf("%q: %v", in, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", in, diff)
		}
	}
	for in, want := range map[string]string{
		"(a (b))": "opens inside", "a)": "not open", "(a": "not closed", "()": "empty", "a (b a)": `"a" at ranks 1 and 3`,
	} {
		if got, err := rank.ParseTied(in); err == nil || got != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want an error that says %q", in, got, err, want)
		}
	}
}

func TestReadTied(t *testing.T) {
	got, err := rank.ReadTied("a.txt", strings.NewReader("\ufeffa\r\n\n b\tc \n(d)\u00a0e"))
	want := rank.Tied{{"a"}, {"b", "c"}, {"(d)\u00a0e"}}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, err := rank.ReadTied("a.txt", strings.NewReader("a\nb\n\nc a\n")); err == nil || got != nil || err.Error() != `a.txt:4: id "a" is on line 1 already: each id may occur once` {
		t.Errorf("duplicate: %v, %v", got, err)
	}
}

func TestTopKeepsTieGroupsWhole(t *testing.T) {
	r := rank.Tied{{"a"}, {"b", "c"}, {"d"}}
	for k, want := range map[int]string{0: "", 1: "a", 2: "a (b c)", 3: "a (b c)", 4: "a (b c) d", 9: "a (b c) d"} {
		if got := r.Top(k).String(); got != want {
			t.Errorf("Top(%d) = %q, want %q", k, got, want)
		}
	}
}

func TestTiesOfScores(t *testing.T) {
	r, err := rank.New(letters(5), []float64{3, 2, 2, 2, 1})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.Ties().String(), "a (b c d) e"; got != want {
		t.Errorf("Ties = %q, want %q", got, want)
	}
	plain, err := rank.New(letters(3), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := plain.Ties().String(), "a b c"; got != want {
		t.Errorf("Ties without scores = %q, want %q", got, want)
	}
}

func FuzzParseTied(f *testing.F) {
	for _, s := range []string{"a (b c) d", "((", "(a", ")", "(a)(b)", "a\u2028b", "()"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := rank.ParseTied(s)
		if err != nil {
			if r != nil {
				t.Error("a ranking beside an error")
			}
			return
		}
		again, err := rank.ParseTied(r.String())
		if err != nil || again.String() != r.String() {
			t.Errorf("%q prints as %q, which reads back as %v, %v", s, r, again, err)
		}
	})
}

func FuzzReadTied(f *testing.F) {
	for _, s := range []string{"a\nb c\n", "a\r\na", "\ufeff\n", "\x00\n\xff b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := rank.ReadTied("f", strings.NewReader(s))
		if err != nil {
			if r != nil || !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("%v beside the error %q", r, err)
			}
			return
		}
		if _, err := rank.NewRBO(r, r, .9, rank.TiesA); err != nil {
			t.Errorf("what was read is no ranking: %v", err)
		}
	})
}
