package metric_test

import (
	"strings"
	"testing"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
)

func TestParseRoundTrip(t *testing.T) {
	for given, want := range map[string]string{
		"nDCG@10":                               "nDCG@10",
		"NDCG@10":                               "nDCG@10",
		"nDCG(dcg='exp-log2')@10":               "nDCG(dcg='exp-log2')@10",
		`nDCG(dcg="exp-log2",gains={2:7, 1:3})`: "nDCG(dcg='exp-log2', gains={1:3,2:7})",
		"nDCG(dcg='log2')":                      "nDCG",
		"P(rel=2)@5":                            "P(rel=2)@5",
		"P(rel=1)@5":                            "P@5",
		"P(rel=2,judged_only=True)@5":           "P(judged_only=True, rel=2)@5",
		"MRR":                                   "RR",
		"MAP@100":                               "AP@100",
		"IPrec@.1":                              "IPrec@0.1",
		"IPrec@0.0":                             "IPrec@0",
		"RBP":                                   "RBP",
		"RBP(p=0.80)":                           "RBP",
		"RBP(p=.95, rel=2)@20":                  "RBP(p=0.95, rel=2)@20",
		"ERR(max=3)@20":                         "ERR(max=3)@20",
		"SetF(beta=0.5)":                        "SetF(beta=0.5)",
		"infAP":                                 "infAP",
		"Judged@10":                             "Judged@10",
	} {
		t.Run(given, func(t *testing.T) {
			m, err := metric.Parse(given)
			if err != nil {
				t.Fatal(err)
			}
			if m.String() != want {
				t.Errorf("String() = %q, want %q", m, want)
			}
			again, err := metric.Parse(m.String())
			if err != nil || again != m {
				t.Errorf("Parse(%q) = %v, %v, want an equal measure", m, again, err)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for given, want := range map[string]string{
		"":                              `unknown name ""`,
		"nDGC@10":                       "near names: nDCG",
		"ndcg_cut_10":                   "unknown name",
		"mrr@10":                        "near names: RR",
		"P":                             "P takes a cut-off",
		"P@0":                           `cut-off "0"`,
		"P@-5":                          `cut-off "-5"`,
		"P@5.0":                         `cut-off "5.0"`,
		"P@":                            `cut-off ""`,
		"P@99999999999":                 `cut-off "99999999999"`,
		"Rprec@5":                       "Rprec takes no cut-off",
		"IPrec":                         "IPrec takes a recall level",
		"IPrec@1.1":                     "from 0 to 1",
		"IPrec@NaN":                     "from 0 to 1",
		"RBP(p=1)":                      "above 0 and below 1",
		"RBP(p=NaN)":                    "above 0 and below 1",
		"P(rel=-1)@5":                   "want a grade from 0",
		"P(rel=2,rel=3)@5":              "given twice",
		"P(dcg='log2')@5":               "P has no parameter \"dcg\" (it takes: rel, judged_only)",
		"Judged(rel=2)@5":               "it takes: none",
		"P(rel)@5":                      "want name=value",
		"P(rel=2@5":                     "not closed",
		"P(rel=2)5":                     `"5" follows`,
		"nDCG(dcg='log3')":              "want 'log2'",
		"nDCG(gains=3)":                 "want {grade:gain, ...}",
		"nDCG(gains={})":                "want grade:gain",
		"nDCG(gains={1:x})":             "want a gain",
		"nDCG(gains={1:Inf})":           "want a gain",
		"nDCG(gains={1:2,1:3})":         "two gains",
		"P(judged_only=1)@5":            "want True or False",
		"SetF(beta=0)":                  "above 0",
		"ERR(max=0)@5":                  "highest grade",
		"../../etc/passwd":              "unknown name",
		"P(rel=99999999999999999999)@5": "want a grade from 0",
	} {
		t.Run(given, func(t *testing.T) {
			m, err := metric.Parse(given)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Parse = %v, %v, want an error that says %q", m, err, want)
			}
			if m != (metric.Measure{}) {
				t.Errorf("Parse gave %v beside its error", m)
			}
		})
	}
}

func TestParseAllRefusesRepeats(t *testing.T) {
	if _, err := metric.ParseAll([]string{"AP", "MAP"}); err == nil || !strings.Contains(err.Error(), "given twice") {
		t.Errorf("error = %v, want one that says given twice", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"nDCG(dcg='exp-log2')@10", "P(rel=2)@5", "nDCG(gains={1:2,3:4.5})", "IPrec@0.1", "RBP(p=0.9)@3", "X(@", "(", "P(}{,)@1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := metric.Parse(s)
		if err != nil {
			return
		}
		again, err := metric.Parse(m.String())
		if err != nil || again != m {
			t.Errorf("%q prints as %q, which reads back as %v, %v", s, m, again, err)
		}
	})
}
