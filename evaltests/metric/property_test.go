package metric_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/rank"
)

// effectiveness are the measures that say how good a ranking is. Not among
// them: counts of the question or the list, iDCG, the residual of RBP, and the
// share that is judged.
var effectiveness = []string{
	"P@1", "P@5", "P(rel=2)@5", "R@5", "R@100", "RCap@5", "F1@5", "Success@1", "Success@5", "RR", "RR@5", "AP", "AP@5", "AP(rel=2)",
	"GMAP", "nDCG", "nDCG@5", "nDCG(dcg='exp-log2')@5", "nDCG(gains={1:0.5,2:4})", "DCG", "DCG@5", "Rprec", "Bpref", "GMBpref",
	"IPrec@0", "IPrec@0.3", "IPrec@1", "IPrecAvg", "infAP", "ERR@5", "ERR", "RBP", "RBP(p=0.95)@5", "BinG", "Utility", "SetP", "SetR",
	"SetF", "SetF(beta=2)", "SetAP", "NumRelRet", "AP(judged_only=True)", "nDCG(judged_only=True)@5", "P(judged_only=True)@5",
}

// others complete the list, for bounds.
var others = []string{"Judged@5", "Unj@5", "RBPRes", "RBPRes(p=0.95)@5", "iDCG", "NumQ", "NumRet", "NumRel", "NumNonrelJudgedRet"}

func parseAll(t interface{ Fatal(...any) }, names []string) []metric.Measure {
	ms, err := metric.ParseAll(names)
	if err != nil {
		t.Fatal(err)
	}
	return ms
}

func TestEveryKindIsInTheLists(t *testing.T) {
	all := strings.Join(slices.Concat(effectiveness, others), " ")
	for _, name := range metric.Names() {
		if !strings.Contains(all, name) {
			t.Errorf("%s is in neither list of this test", name)
		}
	}
}

// question draws gold with grades from -1 to 4 and a ranking of some of its
// documents and others.
type question struct {
	gold metric.Grades
	ids  []string
}

func drawQuestion(t *rapid.T) question {
	q := question{gold: make(metric.Grades)}
	for i, grade := range rapid.SliceOfN(rapid.IntRange(-1, 4), 0, 15).Draw(t, "grades") {
		q.gold[fmt.Sprint("d", i)] = grade
	}
	pool := make([]string, 25)
	for i := range pool {
		pool[i] = fmt.Sprint("d", i)
	}
	q.ids = rapid.Permutation(pool).Draw(t, "order")[:rapid.IntRange(0, 25).Draw(t, "retrieved")]
	return q
}

func (q question) eval(t *rapid.T, ms []metric.Measure) []float64 {
	r, err := rank.New(q.ids, nil)
	if err != nil {
		t.Fatal(err)
	}
	values, err := metric.EvalAll(ms, q.gold, r)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func TestBoundsAndInvariants(t *testing.T) {
	ms := parseAll(t, slices.Concat(effectiveness, others, []string{"RR@1", "R@1", "Success@100", "AP@100"}))
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		values := make(map[string]float64)
		for i, v := range q.eval(t, ms) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%v = %v", ms[i], v)
			}
			if ms[i].Bounded() && (v < 0 || v > 1+1e-12) {
				t.Fatalf("%v = %v, outside [0, 1]", ms[i], v)
			}
			values[ms[i].String()] = v
		}
		if err := metric.CheckInvariants(values); err != nil {
			t.Fatal(err)
		}
		if rbp := values["RBP"] + values["RBPRes"]; rbp > 1+1e-12 {
			t.Fatalf("RBP and its residual are %v together", rbp)
		}
	})
}

// A longer list of rubbish is not better.
func TestIrrelevantDocumentAtTheEndRaisesNothing(t *testing.T) {
	ms := parseAll(t, effectiveness)
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		before := q.eval(t, ms)
		if rapid.Bool().Draw(t, "judged") {
			q.gold["rubbish"] = 0
			before = q.eval(t, ms) // gold first: Bpref's bound depends on it
		}
		q.ids = append(slices.Clone(q.ids), "rubbish")
		for i, v := range q.eval(t, ms) {
			if v > before[i]+1e-12 {
				t.Fatalf("%v rose from %v to %v", ms[i], before[i], v)
			}
		}
	})
}

// Finding a gold document instead of one that is not relevant never hurts; it
// would if the ideal came from what was retrieved.
func TestFindingGoldNeverLowers(t *testing.T) {
	ms := parseAll(t, []string{
		"nDCG", "nDCG@5", "nDCG(dcg='exp-log2')@5", "DCG@5", "RR", "RR@5", "R@5", "R@100", "RCap@5", "SetR", "AP", "AP@5", "P@5", "Success@5", "RBP", "ERR@5",
	})
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		q.gold["buried"] = rapid.IntRange(1, 4).Draw(t, "grade of the buried")
		var candidates []int
		for i, id := range q.ids {
			if q.gold[id] <= 0 {
				candidates = append(candidates, i)
			}
		}
		if len(candidates) == 0 {
			return
		}
		before := q.eval(t, ms)
		q.ids = slices.Clone(q.ids)
		q.ids[rapid.SampledFrom(candidates).Draw(t, "at")] = "buried"
		for i, v := range q.eval(t, ms) {
			if v < before[i]-1e-12 {
				t.Fatalf("%v fell from %v to %v", ms[i], before[i], v)
			}
		}
	})
}

func TestPerfectRankingScoresOne(t *testing.T) {
	names := []string{"nDCG", "nDCG@3", "nDCG(dcg='exp-log2')@3", "nDCG(gains={1:7,3:0.5})", "AP", "RR", "Rprec", "Bpref", "IPrec@1", "IPrecAvg", "BinG", "SetR", "SetP", "RCap@2"}
	q := metric.Grades{"a": 3, "b": 2, "c": 2, "d": 1}
	for _, name := range names {
		order := []string{"a", "b", "c", "d"}
		if strings.Contains(name, "gains") {
			order = []string{"d", "b", "c", "a"}
		}
		got, err := mustParse(t, name).Eval(q, mustRank(t, order...))
		if err != nil || math.Abs(got-1) > 1e-12 {
			t.Errorf("%s = %v, %v, want 1", name, got, err)
		}
	}
}

func document(chunk string) (string, bool) {
	name, _, ok := strings.Cut(chunk, "#")
	return name, ok
}

// A document credits once, whatever the number of its chunks; precision is
// over the list as it is.
func TestChunksCreditOnce(t *testing.T) {
	gold := metric.Grades{"a": 2, "b": 1, "c": 0}
	r := mustRank(t, "a#1", "a#2", "c#1", "b#7", "a#3")
	j, err := metric.JudgeChunks(gold, r, document)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"P@5":       4. / 5,
		"SetP":      4. / 5,
		"R@2":       1. / 2,
		"R@5":       1,
		"RR":        1,
		"AP":        (1 + 2./4) / 2,
		"nDCG@5":    (2 + 1/math.Log2(5)) / (2 + 1/math.Log2(3)),
		"NumRelRet": 2,
		"NumRet":    5,
		"Judged@5":  1,
	} {
		got, err := metric.EvalJudged([]metric.Measure{mustParse(t, name)}, j)
		if err != nil || math.Abs(got[0]-want) > 1e-12 {
			t.Errorf("%s = %v, %v, want %v", name, got, err, want)
		}
	}
	if _, err := metric.JudgeChunks(gold, mustRank(t, "a#1", "stray"), document); err == nil || !strings.Contains(err.Error(), `chunk "stray" at rank 2`) {
		t.Errorf("error = %v, want one that names the chunk", err)
	}
}

func TestChunkMeasuresAreBounded(t *testing.T) {
	ms := parseAll(t, slices.Concat(effectiveness, others))
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		r, err := rank.New(q.ids, nil)
		if err != nil {
			t.Fatal(err)
		}
		// Three ids in a row are chunks of one document.
		j, err := metric.JudgeChunks(q.gold, r, func(chunk string) (string, bool) {
			var n int
			_, err := fmt.Sscanf(chunk, "d%d", &n)
			return fmt.Sprint("d", n/3), err == nil
		})
		if err != nil {
			t.Fatal(err)
		}
		values, err := metric.EvalJudged(ms, j)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			if ms[i].Bounded() && (v < 0 || v > 1+1e-12) {
				t.Fatalf("%v = %v, outside [0, 1]", ms[i], v)
			}
		}
	})
}

func TestCollapseChunks(t *testing.T) {
	r, err := rank.New([]string{"a#1", "b#1", "a#2", "c#1"}, []float64{4, 3, 2, 1})
	if err != nil {
		t.Fatal(err)
	}
	got, dropped, err := metric.CollapseChunks(r, document)
	if err != nil || dropped != 1 {
		t.Fatalf("dropped %d, %v, want 1", dropped, err)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, got.IDs()); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	if s, ok := got.Score(2); s != 1 || !ok {
		t.Errorf("score of c = %v, %v, want 1", s, ok)
	}
	if _, _, err := metric.CollapseChunks(mustRank(t, "stray"), document); err == nil {
		t.Error("a chunk without a document gave no error")
	}
}

// Closed forms against every single order.
func TestOverTies(t *testing.T) {
	ms := parseAll(t, slices.Concat(effectiveness, others, []string{"RR(judged_only=True)@3", "AP(judged_only=True)@4", "Success(judged_only=True)@2"}))
	rapid.Check(t, func(t *rapid.T) {
		grades := rapid.SliceOfN(rapid.IntRange(-2, 3), 1, 8).Draw(t, "ranks")
		j := metric.Judged{Ranks: grades, Gold: metric.NewGold(append([]int{0, 1, 3}, grades...))}
		groups := drawGroups(t, len(grades))
		m := rapid.SampledFrom(ms).Draw(t, "measure")
		got, err := metric.OverTies(m, j, groups)
		if err != nil {
			t.Fatal(err)
		}
		lo, hi, sum, n := math.Inf(1), math.Inf(-1), 0.0, 0
		everyOrder(slices.Clone(grades), groups, func(ranks []int) {
			v, err := metric.EvalJudged([]metric.Measure{m}, metric.Judged{Ranks: ranks, Gold: j.Gold})
			if err != nil {
				t.Fatal(err)
			}
			lo, hi, sum, n = min(lo, v[0]), max(hi, v[0]), sum+v[0], n+1
		})
		if got.Exact {
			if math.Abs(got.Mean-sum/float64(n)) > 1e-9 || math.Abs(got.Min-lo) > 1e-9 || math.Abs(got.Max-hi) > 1e-9 {
				t.Fatalf("%v over %v in groups %v = %+v, want %v, %v, mean %v", m, grades, groups, got, lo, hi, sum/float64(n))
			}
		}
	})
}

func drawGroups(t *rapid.T, total int) []int {
	var groups []int
	for total > 0 {
		g := rapid.IntRange(1, min(5, total)).Draw(t, "group")
		groups = append(groups, g)
		total -= g
	}
	return groups
}

// everyOrder visits all orders within groups, alike ones repeatedly.
func everyOrder(ranks, groups []int, visit func([]int)) {
	var walk func(group, at, fixed int)
	walk = func(group, at, fixed int) {
		switch {
		case group == len(groups):
			visit(ranks)
		case fixed == groups[group]:
			walk(group+1, at+groups[group], 0)
		default:
			for i := at + fixed; i < at+groups[group]; i++ {
				ranks[at+fixed], ranks[i] = ranks[i], ranks[at+fixed]
				walk(group, at, fixed+1)
				ranks[at+fixed], ranks[i] = ranks[i], ranks[at+fixed]
			}
		}
	}
	walk(0, 0, 0)
}

func TestOverTiesOfManyOrders(t *testing.T) {
	ranks := make([]int, 60)
	for i := range ranks {
		ranks[i] = i % 3
	}
	j := metric.Judged{Ranks: ranks, Gold: metric.NewGold(ranks)}
	for name, exact := range map[string]bool{"AP": true, "RR": true, "nDCG@10": true, "P@10": true, "Success@5": true, "Bpref": false, "IPrecAvg": false} {
		got, err := metric.OverTies(mustParse(t, name), j, []int{60})
		if err != nil || got.Exact != exact || !(got.Min <= got.Mean && got.Mean <= got.Max) {
			t.Errorf("%s = %+v, %v, want exact %v", name, got, err, exact)
		}
		again, err := metric.OverTies(mustParse(t, name), j, []int{60})
		if err != nil || again != got {
			t.Errorf("%s differs the second time: %+v, %v", name, again, err)
		}
	}
	for name, groups := range map[string][]int{"too few": {59}, "too many": {61}, "empty group": {60, 0}} {
		if _, err := metric.OverTies(mustParse(t, "AP"), j, groups); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
