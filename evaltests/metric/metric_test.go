package metric_test

import (
	"math"
	"strings"
	"testing"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/rank"
)

func mustParse(t *testing.T, name string) metric.Measure {
	t.Helper()
	m, err := metric.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func mustRank(t *testing.T, ids ...string) rank.Ranking {
	t.Helper()
	r, err := rank.New(ids, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The question of these values can be checked by hand: gold a:3 b:2 c:1 d:0
// e:3 f:-1, ranking c b d a z f.
func TestEval(t *testing.T) {
	gold := metric.Grades{"a": 3, "b": 2, "c": 1, "d": 0, "e": 3, "f": -1}
	ranking := mustRank(t, "c", "b", "d", "a", "z", "f")
	log2 := math.Log2
	ideal := 3 + 3/log2(3) + 2/log2(4) + 1/log2(5)
	tests := map[string]float64{
		"P@5":                            3. / 5,
		"P@10":                           3. / 10,
		"P(rel=2)@5":                     2. / 5,
		"P(judged_only=True)@4":          3. / 4,
		"R@2":                            2. / 4,
		"R(rel=3)@10":                    1. / 2,
		"RCap@2":                         1,
		"RCap@10":                        3. / 4,
		"F1@5":                           2 * 3. / (5 + 4),
		"Success@1":                      1,
		"Success(rel=3)@3":               0,
		"RR":                             1,
		"RR(rel=2)":                      1. / 2,
		"RR(rel=3)@3":                    0,
		"AP":                             (1 + 1 + 3./4) / 4,
		"AP@2":                           (1. + 1) / 4,
		"AP(rel=3)":                      1. / 4 / 2,
		"nDCG":                           (1 + 2/log2(3) + 3/log2(5)) / ideal,
		"nDCG@2":                         (1 + 2/log2(3)) / (3 + 3/log2(3)),
		"nDCG(dcg='exp-log2')@2":         (1 + 3/log2(3)) / (7 + 7/log2(3)),
		"nDCG(gains={1:10})@1":           1,
		"nDCG(gains={3:0})":              (1 + 2/log2(3)) / (2 + 1/log2(3)),
		"DCG@2":                          1 + 2/log2(3),
		"iDCG":                           ideal,
		"iDCG@1":                         3,
		"Rprec":                          3. / 4,
		"Rprec(rel=2)":                   1. / 3,
		"Bpref":                          (1. + 1 + 0) / 4,
		"Bpref(rel=2)":                   (1 - 1./2 + 0) / 3,
		"IPrec@0":                        1,
		"IPrec@0.75":                     3. / 4,
		"IPrec@1":                        0,
		"ERR(max=3)@2":                   1./8 + 7./8*(3./8)/2,
		"RBP(p=0.5)":                     .5 * (1 + .5 + .125),
		"RBP(p=0.5)@1":                   .5,
		"RBPRes(p=0.5)":                  1./32 + 1./64 + 1./64,
		"Judged@10":                      4. / 6,
		"Judged@4":                       1,
		"Unj@10":                         2. / 10,
		"BinG":                           (1 + 1 + 1/log2(3)) / 4,
		"Utility":                        0,
		"SetP":                           3. / 6,
		"SetR":                           3. / 4,
		"SetAP":                          3. / 6 * 3. / 4,
		"SetF":                           2 * 3. / (6 + 4),
		"SetF(beta=2)":                   5 * (3. / 6) * (3. / 4) / (4*(3./6) + 3./4),
		"NumQ":                           1,
		"NumRet":                         6,
		"NumRel":                         4,
		"NumRel(rel=3)":                  2,
		"NumRelRet":                      3,
		"NumNonrelJudgedRet":             1,
		"AP(judged_only=True)":           (1 + 1 + 3./4) / 4,
		"nDCG(judged_only=True)@100":     (1 + 2/log2(3) + 3/log2(5)) / ideal,
		"RR(judged_only=True, rel=3)@10": 1. / 4,
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := mustParse(t, name).Eval(gold, ranking)
			if err != nil || math.Abs(got-want) > 1e-12 {
				t.Errorf("%s = %v, %v, want %v", name, got, err, want)
			}
		})
	}
}

// Every measure must give a number, and the worst one, where nothing can be
// found: a NaN would be averaged away or hide a question.
func TestEvalWithoutEvidence(t *testing.T) {
	names := []string{
		"P@5", "R@5", "RCap@5", "F1@5", "Success@5", "RR", "AP", "GMAP", "nDCG", "nDCG@5", "DCG", "Rprec", "Bpref",
		"GMBpref", "IPrec@0", "IPrec@1", "IPrecAvg", "infAP", "ERR@5", "RBP", "BinG", "SetP", "SetR", "SetF",
		"SetAP", "NumRelRet", "iDCG",
	}
	tests := []struct {
		name string
		gold metric.Grades
		ids  []string
	}{
		{"no gold", nil, []string{"a"}},
		{"nothing at all", nil, nil},
		{"nothing relevant", metric.Grades{"a": 0, "b": -1}, []string{"a", "b"}},
		{"only pooled", metric.Grades{"a": -1}, []string{"a", "b"}},
		{"nothing relevant, nothing retrieved", metric.Grades{"a": 0}, nil},
	}
	for _, tt := range tests {
		for _, name := range names {
			t.Run(tt.name+"/"+name, func(t *testing.T) {
				got, err := mustParse(t, name).Eval(tt.gold, mustRank(t, tt.ids...))
				if err != nil || got != 0 {
					t.Errorf("%s = %v, %v, want 0", name, got, err)
				}
			})
		}
	}
}

func TestEvalRefusesGradesOutsideTheScale(t *testing.T) {
	for name, tt := range map[string]struct {
		measure string
		grade   int
		want    string
	}{
		"err beyond its scale":     {"ERR@10", 5, "ERR(max=5)"},
		"exponential gain too big": {"nDCG(dcg='exp-log2')", 1001, "grade 1001"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := mustParse(t, tt.measure).Eval(metric.Grades{"a": tt.grade}, mustRank(t, "a"))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want one that says %q", err, tt.want)
			}
		})
	}
}

func TestZeroMeasureIsRefused(t *testing.T) {
	var m metric.Measure
	if _, err := m.Eval(metric.Grades{"a": 1}, mustRank(t, "a")); err == nil {
		t.Error("Eval of the zero Measure gave no error")
	}
	if _, err := m.Aggregate([]float64{1}); err == nil {
		t.Error("Aggregate of the zero Measure gave no error")
	}
}

func TestAggregate(t *testing.T) {
	for name, tt := range map[string]struct {
		measure string
		values  []float64
		want    float64
	}{
		"mean":                     {"AP", []float64{0, .5, 1}, .5},
		"count":                    {"NumRel", []float64{2, 3}, 5},
		"questions":                {"NumQ", []float64{1, 1, 1}, 3},
		"geometric mean":           {"GMAP", []float64{.25, 1}, .5},
		"geometric mean has floor": {"GMAP", []float64{0, 1}, math.Sqrt(1e-5)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := mustParse(t, tt.measure).Aggregate(tt.values)
			if err != nil || math.Abs(got-tt.want) > 1e-12 {
				t.Errorf("Aggregate(%v) = %v, %v, want %v", tt.values, got, err, tt.want)
			}
		})
	}
	if _, err := mustParse(t, "AP").Aggregate(nil); err == nil {
		t.Error("the mean of no questions gave no error")
	}
}

func TestResidual(t *testing.T) {
	res, ok := mustParse(t, "RBP(p=0.9)@5").Residual()
	if want := mustParse(t, "RBPRes(p=0.9)@5"); !ok || res != want {
		t.Errorf("Residual = %v, %v, want %v", res, ok, want)
	}
	if _, ok := mustParse(t, "AP").Residual(); ok {
		t.Error("AP has a residual")
	}
}

func TestAttributes(t *testing.T) {
	for name, tt := range map[string]struct{ bounded, better bool }{
		"nDCG@10":            {true, true},
		"nDCG(gains={0:-1})": {false, true},
		"DCG@10":             {false, true},
		"NumRet":             {false, false},
		"NumRelRet":          {false, true},
		"Unj@5":              {true, false},
		"Utility":            {false, true},
	} {
		m := mustParse(t, name)
		if m.Bounded() != tt.bounded || m.HigherIsBetter() != tt.better {
			t.Errorf("%s: bounded %v, higher is better %v; want %v, %v", name, m.Bounded(), m.HigherIsBetter(), tt.bounded, tt.better)
		}
	}
}

func TestCheckInvariants(t *testing.T) {
	for name, tt := range map[string]struct {
		values map[string]float64
		want   string // empty: no error
	}{
		"sound":                       {map[string]float64{"P@1": .5, "RR@1": .5, "Success@1": .5, "R@5": .2, "R@10": .2, "NumRel": 40, "DCG": 9}, ""},
		"above one":                   {map[string]float64{"nDCG@10": 1.01}, "nDCG@10 = 1.01: outside"},
		"below zero":                  {map[string]float64{"AP": -.1}, "AP = -0.1: outside"},
		"not a number":                {map[string]float64{"DCG": math.NaN()}, "DCG = NaN"},
		"first ranks differ":          {map[string]float64{"P@1": .5, "RR@1": .4}, "must be equal"},
		"other levels are not mixed":  {map[string]float64{"P@1": .5, "RR(rel=2)@1": .4}, ""},
		"recall falls":                {map[string]float64{"R@5": .5, "R@20": .4}, "R@5 = 0.5 and R@20 = 0.4"},
		"success falls":               {map[string]float64{"Success@5": .5, "Success@10": .4}, "must not fall"},
		"precision may fall":          {map[string]float64{"P@5": .5, "P@10": .4}, ""},
		"unknown name is no measure":  {map[string]float64{"latency": 3}, "unknown name"},
		"all contradictions are told": {map[string]float64{"AP": 2, "P@1": .5, "RR@1": .4}, "AP = 2: outside [0, 1]\nP@1"},
	} {
		t.Run(name, func(t *testing.T) {
			err := metric.CheckInvariants(tt.values)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("error = %v, want none", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("error = %v, want one that says %q", err, tt.want)
			}
		})
	}
}
