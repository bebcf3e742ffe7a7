package trec_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/metric/trec"
)

func TestMissingQuestions(t *testing.T) {
	const qrels = "q1 0 a 1\nq2 0 a 1\nq0 0 a 1\n"
	const run = "q1 Q0 a 1 1 t\nq9 Q0 a 1 1 t\nq8 Q0 a 1 1 t\n"
	for missing, want := range map[trec.Missing]float64{"": 1. / 3, trec.Zero: 1. / 3, trec.Drop: 1} {
		r, err := evaluate(t, qrels, run, trec.Options{Missing: missing, Measures: measures(t, "AP", "NumQ", "NumRel")})
		if err != nil {
			t.Fatal(err)
		}
		if got := value(t, r, "AP"); math.Abs(got-want) > 1e-15 {
			t.Errorf("missing %q: AP = %v, want %v", missing, got, want)
		}
		if diff := cmp.Diff([]string{"q0", "q2"}, r.Missing); diff != "" {
			t.Errorf("missing questions (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"q8", "q9"}, r.NoGold); diff != "" {
			t.Errorf("questions without gold (-want +got):\n%s", diff)
		}
	}
}

// 9.0.8 leaves their lines out with -q -c; a reader of lines should not have to
// know which questions are lacking.
func TestMissingQuestionsAreListed(t *testing.T) {
	for _, order := range trec.Orders() {
		r, err := evaluate(t, "q1 0 a 1\nq2 0 a 1\n", "q1 Q0 a 1 1 t\n", trec.Options{Order: order, Measures: measures(t, "AP")})
		if err != nil {
			t.Fatal(err)
		}
		want := []trec.Line{{Measure: "AP", Question: "q1", Value: "1"}, {Measure: "AP", Question: "q2", Value: "0"}, {Measure: "AP", Question: "all", Value: "0.5"}}
		if diff := cmp.Diff(want, slices.Collect(r.Lines(true))); diff != "" {
			t.Errorf("order %s (-want +got):\n%s", order, diff)
		}
	}
}

func TestOptionsThatContradict(t *testing.T) {
	for name, tt := range map[string]struct {
		o    trec.Options
		want string
	}{
		"no measures":           {trec.Options{}, "no measures"},
		"unknown order":         {trec.Options{All: true, Order: "best"}, `order "best": want one of`},
		"unknown missing":       {trec.Options{All: true, Missing: "ignore"}, `"ignore": want zero or drop`},
		"level and rel":         {trec.Options{Level: 2, Measures: measures(t, "P(rel=2)@5")}, "names its own relevance level"},
		"level and rel of 3":    {trec.Options{Level: 2, Measures: measures(t, "AP", "R(rel=3)@5")}, "names its own relevance level"},
		"negative level":        {trec.Options{Level: -1, All: true}, "level -1"},
		"negative depth":        {trec.Options{Depth: -1, All: true}, "depth -1"},
		"gains that none uses":  {trec.Options{Gains: "1=2", Measures: measures(t, "AP")}, "no measure uses them"},
		"malformed gains":       {trec.Options{Gains: "1:2", All: true}, "want grade=gain"},
		"the same name twice":   {trec.Options{Gains: "1=2", Measures: measures(t, "nDCG", "nDCG(gains={1:2})")}, "given twice"},
		"grade above the scale": {trec.Options{Measures: measures(t, "ERR(max=1)@5")}, `question "q2": ERR(max=1)@5: grade 2`},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := evaluate(t, goodQrels, goodRun, tt.o)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want one that says %q", err, tt.want)
			}
			// Only the scale of ERR depends on the files.
			if checked := tt.o.Validate(); (checked == nil) != strings.Contains(tt.want, "grade 2") {
				t.Errorf("Validate() = %v", checked)
			}
			if r != nil {
				t.Error("a result beside the error")
			}
		})
	}
}

func TestLevelDepthJudgedOnly(t *testing.T) {
	const qrels = "q 0 a 1\nq 0 b 2\nq 0 c 0\n"
	const run = "q Q0 x 1 9 t\nq Q0 a 2 8 t\nq Q0 y 3 7 t\nq Q0 b 4 6 t\n"
	for name, tt := range map[string]struct {
		o    trec.Options
		want float64
	}{
		"plain":                      {trec.Options{}, 1. / 2},
		"level 2":                    {trec.Options{Level: 2}, 1. / 4},
		"judged only":                {trec.Options{JudgedOnly: true}, 1},
		"depth before judged only":   {trec.Options{JudgedOnly: true, Depth: 1}, 0},
		"depth 3, level 2":           {trec.Options{Level: 2, Depth: 3}, 0},
		"judged only, level 2":       {trec.Options{Level: 2, JudgedOnly: true}, 1. / 2},
		"level 1 is the default":     {trec.Options{Level: 1}, 1. / 2},
		"level leaves nothing to be": {trec.Options{Level: 3}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			tt.o.Measures = measures(t, "RR")
			r, err := evaluate(t, qrels, run, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			name := r.Columns[0].Name
			if name != "RR" {
				t.Errorf("column %q, want RR as it was asked for", name)
			}
			if got := value(t, r, name); got != tt.want {
				t.Errorf("RR = %v, want %v", got, tt.want)
			}
		})
	}
}

// trec_eval sorts gains as if they were whole numbers and prints 0 here.
func TestFractionalGains(t *testing.T) {
	dir := "../../../testdata/trec/fractional_custom_gains"
	r, err := trec.Evaluate(filepath.Join(dir, "qrels.txt"), filepath.Join(dir, "run.txt"), trec.Options{All: true, Gains: "1=0.2,2=0.9,3=0.5,4=0.1"})
	if err != nil {
		t.Fatal(err)
	}
	got := value(t, r, "ndcg_1=0.2,2=0.9,3=0.5,4=0.1")
	if math.Abs(got-0.78091941750) > 1e-10 {
		t.Errorf("ndcg = %.12f, want 0.78091941750", got)
	}
}

// trec_eval divides 0 by 0 for interpolated precision if no hit is judged.
func TestJudgedOnlyWithoutJudgedHits(t *testing.T) {
	for _, order := range trec.Orders() {
		r, err := evaluate(t, "q1 0 a 1\nq2 0 a 1\n", "q1 Q0 x 1 2 t\nq2 Q0 a 1 2 t\n", trec.Options{All: true, JudgedOnly: true, Order: order})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"iprec_at_recall_0.00", "11pt_avg", "map"} {
			if got := value(t, r, name); got != .5 {
				t.Errorf("order %s: %s = %v, want .5: 0 for q1 and 1 for q2", order, name, got)
			}
		}
	}
}

// 9.0.8 with -c counts the relevant documents over all questions by grade, not
// by level; each question's, everything else, and 10.0, go by level.
func TestRelevantOverAllQuestions(t *testing.T) {
	for order, want := range map[trec.Order]float64{trec.Trec9: 4, trec.Trec: 2} {
		r, err := evaluate(t, "q1 0 a 2\nq1 0 b 1\nq2 0 a 1\nq2 0 b 2\n", "q1 Q0 a 1 1 t\n", trec.Options{All: true, Level: 2, Order: order, Measures: measures(t, "NumRel")})
		if err != nil {
			t.Fatal(err)
		}
		if got := value(t, r, "num_rel"); got != want {
			t.Errorf("order %s: num_rel = %v, want %v", order, got, want)
		}
		if got := value(t, r, "NumRel"); got != 2 {
			t.Errorf("order %s: NumRel = %v, want 2", order, got)
		}
	}
}

// The byte order mark of this case is part of the first question's id in
// trec_eval, so that its judgement is lost.
func TestByteOrderMarkIsStripped(t *testing.T) {
	dir := "../../../testdata/trec/bom_qrels"
	r, err := trec.Evaluate(filepath.Join(dir, "qrels.txt"), filepath.Join(dir, "run.txt"), trec.Options{All: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Missing) > 0 || value(t, r, "num_q") != 2 {
		t.Errorf("missing %q, num_q %v, want none and 2", r.Missing, value(t, r, "num_q"))
	}
}

// What trec_eval reads without a word.
func TestCasesThatMustBeRefused(t *testing.T) {
	for name, want := range map[string]string{
		"float_grades":       `qrels.txt:1: grade "1.9"`,
		"nan_scores":         `score "nan"`,
		"inf_scores":         `run.txt:1: score "inf"`,
		"no_query_overlap":   `share no question`,
		"five_columns_run":   `run.txt:1: 5 columns`,
		"empty_run":          `run.txt: no results`,
		"empty_qrels":        `qrels.txt: no judgements`,
		"duplicate_docs_run": `run.txt:4: document "a" twice`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("../../../testdata/trec", name)
			r, err := trec.Evaluate(filepath.Join(dir, "qrels.txt"), filepath.Join(dir, "run.txt"), trec.Options{All: true})
			if err == nil || r != nil || !strings.Contains(err.Error(), want) {
				t.Errorf("result %v, error %v, want an error that says %s", r, err, want)
			}
		})
	}
}

// Comments and blank lines, where trec_eval stops at one or the other.
func TestCasesThatAreAccepted(t *testing.T) {
	for _, name := range []string{"comment_lines", "blank_lines_qrels", "blank_lines_run"} {
		dir := filepath.Join("../../../testdata/trec", name)
		for _, order := range trec.Orders() {
			r, err := trec.Evaluate(filepath.Join(dir, "qrels.txt"), filepath.Join(dir, "run.txt"), trec.Options{All: true, Order: order})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if got := value(t, r, "num_rel_ret"); got != 2 {
				t.Errorf("%s: num_rel_ret = %v, want 2", name, got)
			}
		}
	}
}

func TestTiesAcrossCuts(t *testing.T) {
	const qrels = "q1 0 a 1\nq2 0 a 1\n"
	const run = "q1 Q0 a 1 5 t\nq1 Q0 b 2 5 t\nq1 Q0 c 3 4 t\nq2 Q0 a 1 3 t\nq2 Q0 b 2 2 t\nq2 Q0 c 3 2 t\nq9 Q0 a 1 1 t\nq9 Q0 b 1 1 t\n"
	r, err := evaluate(t, qrels, run, trec.Options{Measures: measures(t, "P@1", "R@1", "P@2", "P@5")})
	if err != nil {
		t.Fatal(err)
	}
	want := []trec.CutTies{{Cut: 1, Questions: 1}, {Cut: 2, Questions: 1}, {Cut: 5, Questions: 0}}
	if diff := cmp.Diff(want, r.Ties); diff != "" {
		t.Errorf("ties (-want +got):\n%s", diff)
	}
}

func TestTieRanges(t *testing.T) {
	const qrels = "q1 0 a 1\nq2 0 a 1\nq3 0 a 1\n"
	const run = "q1 Q0 a 1 5 t\nq1 Q0 b 2 5 t\nq1 Q0 c 3 4 t\nq2 Q0 x 1 3 t\nq2 Q0 a 2 2 t\nq2 Q0 b 3 2 t\nq2 Q0 c 4 2 t\n"
	o := trec.Options{Measures: measures(t, "RR", "P@1"), TieRanges: true}
	r, err := evaluate(t, qrels, run, o)
	if err != nil {
		t.Fatal(err)
	}
	want := []metric.TieRange{
		{Min: (1./2 + 1./4 + 0) / 3, Max: (1. + 1./2 + 0) / 3, Mean: ((1+1./2)/2 + (1./2+1./3+1./4)/3 + 0) / 3, Exact: true},
		{Min: 0, Max: 1. / 3, Mean: 1. / 6, Exact: true},
	}
	if diff := cmp.Diff(want, r.TieRanges, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(metric.TieRange{Min: .5, Max: 1, Mean: .75, Exact: true}, r.Questions[0].TieRanges[0]); diff != "" {
		t.Errorf("q1 (-want +got):\n%s", diff)
	}
	// Judged documents alone: q2 has a first, whatever the order.
	o.JudgedOnly = true
	if r, err = evaluate(t, qrels, run, o); err != nil {
		t.Fatal(err)
	}
	if got := r.TieRanges[0]; math.Abs(got.Min-2./3) > 1e-12 || math.Abs(got.Max-2./3) > 1e-12 {
		t.Errorf("judged only: RR from %v to %v, want 2/3", got.Min, got.Max)
	}
	for name, o := range map[string]trec.Options{"input": {All: true, TieRanges: true, Order: trec.Input}, "depth": {All: true, TieRanges: true, Depth: 5}} {
		if _, err := evaluate(t, qrels, run, o); err == nil || !strings.Contains(err.Error(), "tie ranges") {
			t.Errorf("%s: error = %v", name, err)
		}
	}
	// All of trec_eval's measures lie within their own range, in both versions.
	for _, order := range []trec.Order{trec.Trec, trec.Trec9} {
		dir := "../../../testdata/trec/random_graded_ties_1"
		r, err := trec.Evaluate(filepath.Join(dir, "qrels.txt"), filepath.Join(dir, "run.txt"), trec.Options{All: true, Order: order, TieRanges: true})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range r.Columns {
			// infAP and Bpref have drawn orders, which need not hold the worst.
			if v, x := r.Summary[i], r.TieRanges[i]; x.Exact && (v < x.Min-1e-12 || v > x.Max+1e-12 || x.Mean < x.Min || x.Mean > x.Max) {
				t.Errorf("%s: %s = %v outside %+v", order, c.Name, v, x)
			}
		}
	}
}

// The bytes of a line are the contract of the command line.
func TestLines(t *testing.T) {
	r, err := evaluate(t, "q10 0 a 1\nq9 0 b 1\nq9 0 c -1\n", "q9 Q0 z 1 3 T\nq9 Q0 c 2 2 T\nq9 Q0 b 3 1 T\nq10 Q0 a 1 1 U\n", trec.Options{Measures: measures(t, "RR", "NumRet")})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Value("AP"); ok {
		t.Error("Value of a measure that was not asked for")
	}
	print := func(questions bool) string {
		var b strings.Builder
		for l := range r.Lines(questions) {
			fmt.Fprintf(&b, "%s %s %s;", l.Measure, l.Question, l.Value)
		}
		return b.String()
	}
	if got, want := print(true), "RR q10 1;NumRet q10 1;RR q9 0.3333333333333333;NumRet q9 3;RR all 0.6666666666666666;NumRet all 4;"; got != want {
		t.Errorf("lines:\n%s\nwant:\n%s", got, want)
	}
	if got, want := print(false), "RR all 0.6666666666666666;NumRet all 4;"; got != want {
		t.Errorf("summary:\n%s\nwant:\n%s", got, want)
	}
	for range r.Lines(true) {
		break // stopping early must be possible
	}
}

// Under the order trec nothing depends on the order of the lines, of either
// file.
func TestLineOrderDoesNotMatter(t *testing.T) {
	dir := "../../../testdata/trec/random_graded_ties_1"
	read := func(name string) []string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.SplitAfter(strings.TrimSuffix(string(data), "\n"), "\n")
	}
	qrels, run := read("qrels.txt"), read("run.txt")
	qrels[len(qrels)-1] += "\n"
	run[len(run)-1] += "\n"
	score := func(t interface {
		Fatal(...any)
	}, qrels, run []string) *trec.Result {
		q, err := trec.ReadQrels("q", strings.NewReader(strings.Join(qrels, "")))
		if err != nil {
			t.Fatal(err)
		}
		r, err := trec.ReadRun("r", strings.NewReader(strings.Join(run, "")))
		if err != nil {
			t.Fatal(err)
		}
		result, err := trec.Score(q, r, trec.Options{All: true})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	want := score(t, qrels, run)
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		shuffled := func(lines []string) []string {
			lines = append([]string(nil), lines...)
			random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
			return lines
		}
		got := score(t, shuffled(qrels), shuffled(run))
		if diff := cmp.Diff(want, got, cmp.Comparer(sameMeasure)); diff != "" {
			t.Fatalf("in order (-) and shuffled (+):\n%.2000s", diff)
		}
	})
}
