package trec_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/metric/trec"
	"github.com/touchstone-eval/touchstone/evaltests/rank"
)

const (
	goodQrels = "q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n"
	goodRun   = "q1 Q0 b 1 2 tag\nq1 Q0 a 2 1 tag\nq2 Q0 c 1 5 tag\n"
)

// Every refusal names the file, the line and the text, and comes from all
// readers; nothing comes with it.
func TestRefusedRuns(t *testing.T) {
	for name, tt := range map[string]struct{ run, want string }{
		"five columns":           {"q1 Q0 a 1 1\n", `a.run:1: 5 columns, want 6 (question, Q0, document, rank, score, tag): "q1 Q0 a 1 1"`},
		"two columns":            {goodRun + "q1 Q0", `a.run:4: 2 columns`},
		"one column":             {goodRun + "\nq1\n", `a.run:5: 1 columns`},
		"score is text":          {"q1 Q0 a 1 high tag\n", `a.run:1: score "high": want a finite decimal number`},
		"score is NaN":           {goodRun + "q1 Q0 z 1 NaN tag\n", `a.run:4: score "NaN"`},
		"score is infinite":      {goodRun + "q1 Q0 z 1 -inf tag\n", `a.run:4: score "-inf"`},
		"decimal comma":          {"q1 Q0 a 1 1,5 tag\n", `a.run:1: score "1,5"`},
		"hexadecimal score":      {"q1 Q0 a 1 0x1p3 tag\n", `a.run:1: score "0x1p3"`},
		"underscore in score":    {"q1 Q0 a 1 1_0 tag\n", `a.run:1: score "1_0"`},
		"score with text":        {"q1 Q0 a 1 1.5abc tag\n", `a.run:1: score "1.5abc"`},
		"bare exponent":          {"q1 Q0 a 1 1e tag\n", `a.run:1: score "1e"`},
		"only a point":           {"q1 Q0 a 1 . tag\n", `a.run:1: score "."`},
		"score overflows":        {"q1 Q0 a 1 1e999 tag\n", `a.run:1: score "1e999": too large`},
		"duplicate at once":      {"q1 Q0 a 1 2 tag\nq1 Q0 a 2 1 tag\n", `a.run:2: document "a" twice for question "q1"`},
		"duplicate far apart":    {goodRun + "q1 Q0 a 9 .5 tag\n", `a.run:4: document "a" twice for question "q1"`},
		"duplicate without gold": {goodRun + "q9 Q0 x 1 2 tag\nq9 Q0 x 2 1 tag\n", `a.run:5: document "x" twice for question "q9"`},
		"empty":                  {"", `a.run: no results: the file is empty`},
		"only a line end":        {"\n", `a.run: no results`},
		"only comments":          {"# nothing\n#\n", `a.run: no results`},
		"no shared question":     {"q5 Q0 a 1 1 tag\nq6 Q0 a 1 1 tag\nq7 Q0 a 1 1 t\nq8 Q0 a 1 1 t\n", `share no question: the gold has "q1", "q2", the run has "q5", "q6", "q7" and 1 more`},
		"the first fault":        {"q1 Q0 a 1 x tag\n" + strings.Repeat(goodRun, 3) + "q1\n", `a.run:1: score "x"`},
		"endless line":           {"q1 Q0 " + strings.Repeat("a", 2<<20), `a.run:1: line longer than`},
		"long text is cut":       {"q1 Q0 a 1 " + strings.Repeat("9x", 500) + " t\n", `9x"...: want`},
	} {
		t.Run(name, func(t *testing.T) {
			o := trec.Options{Measures: measures(t, "AP")}
			result, err := evaluate(t, goodQrels, tt.run, o)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want one that says %s", err, tt.want)
			}
			if result != nil {
				t.Errorf("a result beside the error: %+v", result)
			}
		})
	}
}

func TestRefusedQrels(t *testing.T) {
	for name, tt := range map[string]struct{ qrels, want string }{
		"three columns":    {"q1 0 a\n", `gold.qrels:1: 3 columns, want 4 (question, iteration, document, grade): "q1 0 a"`},
		"five columns":     {goodQrels + "q1 0 a 1 x\n", `gold.qrels:4: 5 columns`},
		"fraction":         {"q1 0 a 1.9\n", `gold.qrels:1: grade "1.9": want a whole number`},
		"text":             {"q1 0 a yes\n", `gold.qrels:1: grade "yes"`},
		"hexadecimal":      {"q1 0 a 0x1\n", `gold.qrels:1: grade "0x1"`},
		"too large":        {"q1 0 a 99999999999\n", `gold.qrels:1: grade "99999999999"`},
		"duplicate":        {goodQrels + "q1 0 a 0\n", `gold.qrels:4: document "a" twice for question "q1"`},
		"empty":            {"", `gold.qrels: no judgements`},
		"only blank lines": {" \n\t\n", `gold.qrels: no judgements`},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := evaluate(t, tt.qrels, goodRun, trec.Options{Measures: measures(t, "AP")})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want one that says %s", err, tt.want)
			}
			if result != nil {
				t.Errorf("a result beside the error: %+v", result)
			}
		})
	}
}

// What a file may hold besides, where trec_eval stops or reads something else.
func TestAcceptedVariants(t *testing.T) {
	want, err := evaluate(t, goodQrels, goodRun, trec.Options{All: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(string) string{
		"line ends of windows":  func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"byte order mark":       func(s string) string { return "\ufeff" + s },
		"mark, then a comment":  func(s string) string { return "\ufeff# x\n" + s },
		"blank lines":           func(s string) string { return "\n \n" + strings.ReplaceAll(s, "\n", "\n\t\r\n\n") },
		"comments everywhere":   func(s string) string { return "#a\n# b c d e f g\n" + strings.ReplaceAll(s, "\n", "\n  # x\n") },
		"leading blanks":        func(s string) string { return " " + strings.ReplaceAll(s, "\nq", "\n\t q") },
		"every ascii blank":     func(s string) string { return strings.ReplaceAll(s, " ", " \t\v\f\r ") },
		"no line end at last":   func(s string) string { return strings.TrimSuffix(s, "\n") },
		"columns after the tag": func(s string) string { return strings.ReplaceAll(s, "tag", "tag and more") },
	} {
		t.Run(name, func(t *testing.T) {
			got, err := evaluate(t, change(goodQrels), change(goodRun), trec.Options{All: true})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmp.Comparer(sameMeasure)); diff != "" {
				t.Errorf("plain (-) and changed (+):\n%s", diff)
			}
		})
	}
}

// Ids are bytes: only ASCII blanks end them, and nothing is normalised.
func TestIDsAreBytes(t *testing.T) {
	for name, id := range map[string]string{
		"no-break space":    "a\u00a0b",
		"next line":         "a\u0085b",
		"ideographic space": "a\u3000b",
		"right to left":     "שלום",
		"emoji":             "🎯",
		"invalid utf-8":     "a\xff\xfe",
		"control byte":      "a\x01b",
		"nul":               "a\x00b",
		"hash inside":       "doc#1",
		"quotes":            `'";DROP/**/TABLE/**/x--`,
		"path":              "../../etc/passwd",
	} {
		t.Run(name, func(t *testing.T) {
			r, err := evaluate(t, "q 0 "+id+" 1\n", "q Q0 x 1 2 t\nq Q0 "+id+" 2 1 t\n", trec.Options{Measures: measures(t, "RR")})
			if err != nil {
				t.Fatal(err)
			}
			if got := value(t, r, "RR"); got != 0.5 {
				t.Errorf("RR = %v, want 0.5: the id was not found", got)
			}
		})
	}
	r, err := evaluate(t, "q 0 caf\u00e9 1\n", "q Q0 cafe\u0301 1 1 t\n", trec.Options{Measures: measures(t, "RR")})
	if err != nil {
		t.Fatal(err)
	}
	if got := value(t, r, "RR"); got != 0 {
		t.Errorf("RR = %v, want 0: two spellings of é are two documents", got)
	}
}

// A score that only a 32-bit number cannot hold is infinite under trec9, as in
// 9.0.8, and an ordinary number elsewhere.
func TestScoreBeyondFloat32(t *testing.T) {
	const run = "q Q0 a 1 1e39 t\nq Q0 b 2 1e40 t\n"
	for order, want := range map[trec.Order]float64{trec.Trec: 0.5, trec.Trec9: 0.5, trec.IDAsc: 0.5} {
		r, err := evaluate(t, "q 0 a 1\n", run, trec.Options{Order: order, Measures: measures(t, "RR")})
		if err != nil {
			t.Fatal(err)
		}
		if got := value(t, r, "RR"); got != want {
			t.Errorf("order %s: RR = %v, want %v", order, got, want)
		}
	}
	r, err := evaluate(t, "q 0 b 1\n", "q Q0 b 1 1e40 t\nq Q0 c 2 1e39 t\n", trec.Options{Order: trec.Trec9, Measures: measures(t, "RR")})
	if err != nil {
		t.Fatal(err)
	}
	if got := value(t, r, "RR"); got != 0.5 {
		t.Errorf("RR = %v, want 0.5: both scores are infinite, so the greater id comes first", got)
	}
}

func TestOrders(t *testing.T) {
	const run = "q Q0 b 1 1 t\nq Q0 c 2 1.00000000001 t\nq Q0 a 3 1 t\nq Q0 d 4 7 t\n"
	r, err := trec.ReadRun("x", strings.NewReader(run))
	if err != nil {
		t.Fatal(err)
	}
	for order, want := range map[trec.Order]string{trec.Trec: "dcba", trec.Trec9: "dcba", trec.Input: "bcad", trec.IDAsc: "dcab"} {
		ranking, err := r.Ranking("q", order)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(ranking.IDs(), ""); got != want {
			t.Errorf("order %s: %s, want %s", order, got, want)
		}
	}
	if _, err := r.Ranking("q", "random"); err == nil || !strings.Contains(err.Error(), "trec9") {
		t.Errorf("error = %v, want one that lists the orders", err)
	}
	ranking, err := r.Ranking("no such question", trec.Trec)
	if err != nil || ranking.Len() != 0 {
		t.Errorf("unknown question: %v, %v, want the empty ranking", ranking, err)
	}
}

// The same numbers must come from trec_eval, whatever its order, when a
// ranking is exported: so its scores are distinct and fall.
func TestWriteRankingKeepsTheOrder(t *testing.T) {
	ids := []string{"a", "b", "z", "y", "10", "9"}
	ranking, err := rank.New(ids, []float64{1, 1, 1, 5, 2, 2})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := trec.WriteRanking(&out, "q", ranking, "tag"); err != nil {
		t.Fatal(err)
	}
	run, err := trec.ReadRun("out", &out)
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range trec.Orders() {
		got, err := run.Ranking("q", order)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(ids, got.IDs()); diff != "" {
			t.Errorf("order %s (-want +got):\n%s", order, diff)
		}
	}
}

func TestRunWrite(t *testing.T) {
	r, err := trec.ReadRun("r", strings.NewReader("q2 Q0 a 1 5 T\nq1 Q0 x 1 1 T\nq2 Q0 b 2 5 T\n"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := r.Write(&out, trec.Trec); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "q1 Q0 x 1 0 T\nq2 Q0 b 1 1 T\nq2 Q0 a 2 0 T\n"; got != want {
		t.Errorf("wrote\n%swant\n%s", got, want)
	}
	if err := r.Write(&out, "best"); err == nil {
		t.Error("an unknown order gave no error")
	}
}

func TestWritersRefuseWhatCannotBeReadBack(t *testing.T) {
	for name, tt := range map[string]struct{ question, id, tag string }{
		"blank in the question":  {"q 1", "a", "t"},
		"line end in the id":     {"q", "a\nq Q0 b 1 9 t", "t"},
		"comment":                {"#q", "a", "t"},
		"byte order mark":        {"\ufeffq", "a", "t"},
		"no tag":                 {"q", "a", ""},
		"blank in the tag":       {"q", "a", "my run"},
		"no question":            {"", "a", "t"},
		"carriage return in tag": {"q", "a", "t\r"},
	} {
		ranking, err := rank.New([]string{tt.id}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := trec.WriteRanking(&out, tt.question, ranking, tt.tag); err == nil {
			t.Errorf("%s: no error", name)
		}
		if out.Len() > 0 {
			t.Errorf("%s: wrote %q beside the error", name, out.String())
		}
	}
	var out bytes.Buffer
	if err := (trec.Qrels{"q": metric.Grades{"a b": 1}}).Write(&out); err == nil || out.Len() > 0 {
		t.Errorf("qrels with a blank in an id: error %v, wrote %q", err, out.String())
	}
}

func TestRunRefuses(t *testing.T) {
	r := trec.NewRun("t")
	if err := r.Add("q", trec.Hit{ID: "a", Score: 1}); err != nil {
		t.Fatal(err)
	}
	for name, h := range map[string]trec.Hit{"again": {"a", 2}, "NaN": {"b", math.NaN()}, "infinite": {"c", math.Inf(1)}} {
		if err := r.Add("q", h); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if n := len(r.Hits("q")); n != 1 {
		t.Errorf("%d hits after refusals, want 1", n)
	}
}

func TestGzip(t *testing.T) {
	pack := func(s string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		fmt.Fprint(w, s)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	want, err := evaluate(t, goodQrels, goodRun, trec.Options{All: true})
	if err != nil {
		t.Fatal(err)
	}
	// Two members, as concatenated files have.
	got, err := trec.Evaluate(write(t, "gold.gz", pack(goodQrels)), write(t, "run.gz", pack(goodRun[:16])+pack(goodRun[16:])), trec.Options{All: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(sameMeasure)); diff != "" {
		t.Errorf("plain (-) and gzip (+):\n%s", diff)
	}
	cut := pack(strings.Repeat(goodRun, 1))
	result, err := trec.Evaluate(write(t, "gold", goodQrels), write(t, "cut.gz", cut[:len(cut)-9]), trec.Options{All: true})
	if err == nil || result != nil || !strings.Contains(err.Error(), "cut.gz") {
		t.Errorf("a cut file gave %v, %v, want an error that names it", result, err)
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	good := write(t, "q", goodQrels)
	for name, path := range map[string]string{"absent": good + ".no", "folder": t.TempDir()} {
		if r, err := trec.Evaluate(path, good, trec.Options{All: true}); err == nil || r != nil {
			t.Errorf("%s qrels: %v, %v, want an error", name, r, err)
		}
		if r, err := trec.Evaluate(good, path, trec.Options{All: true}); err == nil || r != nil {
			t.Errorf("%s run: %v, %v, want an error", name, r, err)
		}
	}
}

// bigRun has questions of every size, one of them larger than a piece of the
// file, and ties.
func bigRun(t *testing.T) (qrels, run string) {
	t.Helper()
	var q, r strings.Builder
	for i := range 400 {
		n := 1 + i*7%300
		if i == 37 {
			n = 70_000
		}
		for j := range n {
			fmt.Fprintf(&r, "q%d Q0 doc-%d 1 %d.%d tag%d\n", i, (j*7919)%100_003, (n-j)/3, j%3, i)
			if j%11 == 0 && i%5 != 0 {
				fmt.Fprintf(&q, "q%d 0 doc-%d %d\n", i, (j*7919)%100_003, j%4)
			}
		}
	}
	return q.String(), r.String()
}

// Whatever the cores and wherever pieces end, the result is that of the run in
// memory.
func TestEvaluateLargeFile(t *testing.T) {
	qrelsText, runText := bigRun(t)
	qrelsPath, runPath := write(t, "q", qrelsText), write(t, "r", runText)
	qrels, err := trec.LoadQrels(qrelsPath)
	if err != nil {
		t.Fatal(err)
	}
	run, err := trec.LoadRun(runPath)
	if err != nil {
		t.Fatal(err)
	}
	o := trec.Options{All: true, Measures: measures(t, "nDCG@3", "Judged@10", "RBP")}
	want, err := trec.Score(qrels, run, o)
	if err != nil {
		t.Fatal(err)
	}
	scattered := write(t, "s", string(scatter([]byte(runText))))
	for _, cores := range []int{1, 2, 5} {
		for _, path := range []string{runPath, scattered} {
			got := func() *trec.Result {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
				r, err := trec.Evaluate(qrelsPath, path, o)
				if err != nil {
					t.Fatal(err)
				}
				return r
			}()
			got.RunID = want.RunID
			if diff := cmp.Diff(want, got, cmp.Comparer(sameMeasure)); diff != "" {
				t.Errorf("%d cores: from memory (-) and from the file (+):\n%.2000s", cores, diff)
			}
		}
	}
}

// The fault that is reported is the first in the file, not the first that some
// core met.
func TestFirstFaultIsReported(t *testing.T) {
	_, run := bigRun(t)
	lines := strings.SplitAfter(run, "\n")
	for _, at := range []int{100, 60_000} {
		lines[at] = "q Q0 broken 1 ? t\n"
	}
	path := write(t, "r", strings.Join(lines, ""))
	gold := write(t, "q", "q1 0 a 1\n")
	for range 5 {
		if _, err := trec.Evaluate(gold, path, trec.Options{Official: true}); err == nil || !strings.Contains(err.Error(), "r:101: score") {
			t.Fatalf("error = %v, want the one in line 101", err)
		}
	}
}

func TestFileIsNotTouched(t *testing.T) {
	path := write(t, "r", goodRun)
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if _, err := trec.Evaluate(write(t, "q", goodQrels), path, trec.Options{Official: true}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || string(data) != goodRun {
		t.Errorf("the run file now holds %q, %v", data, err)
	}
}

// Both readers draw the same line, and name it.
func TestLongLines(t *testing.T) {
	const most = 1 << 20
	const hit, judgement = "q1 Q0 a 1 1 t\n", "q1 0 a 1\n"
	for _, c := range []struct {
		name, before string
		line         int // that is refused; 0 if none
	}{
		{"megabytes of blank lines", strings.Repeat("\n", 3*most), 0},
		{"megabytes of blank lines with blanks", strings.Repeat(" \t \r\n", most), 0},
		{"megabytes of comments", strings.Repeat("# note\n", most/2), 0},
		{"the longest comment", "#" + strings.Repeat("x", most-1) + "\n", 0},
		{"a longer comment", "\n#" + strings.Repeat("x", most) + "\n", 2},
		{"the longest blank line", strings.Repeat(" ", most) + "\n", 0},
		{"a longer blank line", strings.Repeat(" ", most+1) + "\n", 1},
		{"blanks before the fields", "\n\n" + strings.Repeat(" ", most), 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := func(what string, err error) {
				t.Helper()
				switch {
				case c.line == 0 && err != nil:
					t.Errorf("%s: %v", what, err)
				case c.line > 0 && (err == nil || !strings.Contains(err.Error(), fmt.Sprintf(":%d: line longer than %d bytes", c.line, most))):
					t.Errorf("%s: %v, want line %d to be too long", what, err, c.line)
				}
			}
			_, err := evaluate(t, judgement, c.before+hit, trec.Options{Official: true})
			check("evaluate the run", err)
			_, err = evaluate(t, c.before+judgement, hit, trec.Options{Official: true})
			check("evaluate the qrels", err)
			_, err = trec.ReadRun("run", strings.NewReader(c.before+hit))
			check("read the run", err)
			_, err = trec.ReadQrels("qrels", strings.NewReader(c.before+judgement))
			check("read the qrels", err)
		})
	}
}

// A packed file may be a thousand times smaller than what it unpacks to. What
// cannot be a run is refused, or passed over, without holding it all.
func TestPackedBombs(t *testing.T) {
	const size = 64 << 20
	for _, c := range []struct{ name, fill, want string }{
		{"one line of zeros", "\x00", ":1: line longer than"},
		{"one line of blanks", " ", ":1: line longer than"},
		{"blank lines", strings.Repeat(" ", 1023) + "\n", "the file is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bomb.gz")
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			z, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
			if err != nil {
				t.Fatal(err)
			}
			block := []byte(strings.Repeat(c.fill, (1<<20)/len(c.fill)))
			for range size / len(block) {
				if _, err := z.Write(block); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(z.Close(), f.Close()); err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err = trec.Evaluate(write(t, "gold.qrels", "q1 0 a 1\n"), path, trec.Options{Official: true})
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > size/4 {
				t.Errorf("allocated %d MB", took>>20)
			}
		})
	}
}

// Errors begin with the file, as compilers' do.
func TestErrorsBeginWithThePath(t *testing.T) {
	dir := t.TempDir()
	qrels := write(t, "gold.qrels", "q1 0 a 1\n")
	for name, want := range map[string]string{
		filepath.Join(dir, "nothing"): "nothing: no such file or directory",
		dir:                           "is a directory",
	} {
		_, err := trec.Evaluate(qrels, name, trec.Options{Official: true})
		if err == nil || !strings.HasPrefix(err.Error(), dir) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want it to start with the path and end with %q", err, want)
		}
	}
}
