package trec_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/metric/trec"
)

// caseFolders lists the cases of testdata/trec and of the folder that
// TOUCHSTONE_TREC_CASES names, if it is set.
func caseFolders(t *testing.T) []string {
	t.Helper()
	roots := []string{"../../../testdata/trec"}
	if dir, ok := os.LookupEnv("TOUCHSTONE_TREC_CASES"); ok {
		roots = append(roots, dir)
	}
	var cases []string
	for _, root := range roots {
		found, err := filepath.Glob(filepath.Join(root, "*", "meta.json"))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			t.Fatalf("%q holds no case folders", root)
		}
		for _, f := range found {
			cases = append(cases, filepath.Dir(f))
		}
	}
	return cases
}

type meta struct {
	Variants []struct {
		Flags, Suffix string
		V9            struct{ Exit int } `json:"v9.0.8"`
		V10           struct{ Exit int } `json:"v10.0"`
	}
}

// TestConformance holds every value that trec_eval prints for every case, but
// for its experimental measures, to 1e-12, in the order of each version.
func TestConformance(t *testing.T) {
	for _, dir := range caseFolders(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(dir, "meta.json"))
			if err != nil {
				t.Fatal(err)
			}
			var m meta
			if err := json.Unmarshal(data, &m); err != nil {
				t.Fatal(err)
			}
			if len(m.Variants) == 0 {
				t.Fatal("meta.json names no variants")
			}
			for _, v := range m.Variants {
				for _, version := range []struct {
					order  trec.Order
					prefix string
					exit   int
				}{
					{trec.Trec9, "expected", v.V9.Exit},
					{trec.Trec, "expected-v10", v.V10.Exit},
				} {
					t.Run(fmt.Sprintf("order=%s%s", version.order, v.Suffix), func(t *testing.T) {
						o := options(t, v.Flags)
						o.Order, o.All = version.order, true
						expected := filepath.Join(dir, version.prefix+v.Suffix+".full.txt")
						checkCase(t, dir, o, version.exit, expected)
					})
				}
			}
			t.Run("cuts", func(t *testing.T) { checkCuts(t, dir) })
		})
	}
}

// options reads the flags of a variant.
func options(t *testing.T, flags string) trec.Options {
	t.Helper()
	o := trec.Options{Missing: trec.Drop}
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("flags %q: %v", flags, err)
		}
		return n
	}
	words := strings.Fields(flags)
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "-c":
			o.Missing = trec.Zero
		case w == "-J":
			o.JudgedOnly = true
		case strings.HasPrefix(w, "-l"):
			o.Level = number(w[2:])
		case strings.HasPrefix(w, "-M"):
			o.Depth = number(w[2:])
		case w == "-m" && i+1 < len(words) && strings.HasPrefix(words[i+1], "ndcg."):
			i++
			o.Gains = strings.TrimPrefix(words[i], "ndcg.")
		default:
			t.Fatalf("flags %q: this test does not know %q", flags, w)
		}
	}
	return o
}

func checkCase(t *testing.T, dir string, o trec.Options, exit int, expected string) {
	qrels, run := filepath.Join(dir, "qrels.txt"), filepath.Join(dir, "run.txt")
	result, err := trec.Evaluate(qrels, run, o)
	if reason := refusal(t, qrels, run); reason != "" {
		if err == nil {
			t.Errorf("accepted, though %s", reason)
		}
		if result != nil {
			t.Error("a result beside the error")
		}
		return
	}
	if err != nil {
		t.Fatalf("refused for no reason that this test can see: %v", err)
	}
	checkReaders(t, qrels, run, o, result)
	if exit != 0 || filepath.Base(dir) == "bom_qrels" || strings.HasSuffix(expected, ".gains_frac.full.txt") {
		return // departures, each with a test of its own
	}
	got := make(map[[2]string]string)
	for l := range result.Lines(true) {
		got[[2]string{l.Measure, l.Question}] = l.Value
	}
	want := readExpected(t, expected)
	for _, key := range slices.SortedFunc(maps.Keys(want), compareKeys) {
		text, ok := got[key]
		if !ok {
			t.Errorf("%s of %s is missing", key[0], key[1])
			continue
		}
		if !equal(text, want[key]) {
			t.Errorf("%s of %s = %s, want %s", key[0], key[1], text, want[key])
		}
	}
	for key := range got {
		if _, ok := want[key]; !ok && !(slices.Contains(result.Missing, key[1]) && o.Missing == trec.Zero && o.Order == trec.Trec9) {
			t.Errorf("%s of %s is not printed by trec_eval", key[0], key[1])
		}
	}
}

func compareKeys(a, b [2]string) int {
	return slices.Compare(a[:], b[:])
}

// equal compares text, or numbers within 1e-12.
func equal(got, want string) bool {
	if got == want {
		return true
	}
	x, err1 := strconv.ParseFloat(got, 64)
	y, err2 := strconv.ParseFloat(want, 64)
	return err1 == nil && err2 == nil && math.Abs(x-y) <= 1e-12*max(1, math.Abs(y))
}

// leftOut are the measures that doc.go names as left out.
var leftOut = regexp.MustCompile(`^(G|Rndcg|ndcg_rel|Rprec_mult_.*|relative_P_.*|set_relative_P|rbp|rbp_resid)$`)

func readExpected(t *testing.T, path string) map[[2]string]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[[2]string]string)
	for line := range strings.Lines(string(data)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(f) != 3 {
			t.Fatalf("%s: %q", path, line)
		}
		if name := strings.TrimSpace(f[0]); !leftOut.MatchString(name) {
			want[[2]string{name, f[1]}] = f[2]
		}
	}
	if len(want) == 0 {
		t.Fatalf("%s expects nothing", path)
	}
	return want
}

// checkReaders wants the same result from a run in memory, and from one whose
// lines are scattered so that no two of a question stand together.
func checkReaders(t *testing.T, qrelsPath, runPath string, o trec.Options, want *trec.Result) {
	t.Helper()
	qrels, err := trec.LoadQrels(qrelsPath)
	if err != nil {
		t.Fatal(err)
	}
	run, err := trec.LoadRun(runPath)
	if err != nil {
		t.Fatal(err)
	}
	inMemory, err := trec.Score(qrels, run, o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, inMemory, cmp.Comparer(sameMeasure)); diff != "" {
		t.Errorf("from the file (-) and from memory (+):\n%s", diff)
	}
	data, err := os.ReadFile(runPath)
	if err != nil {
		t.Fatal(err)
	}
	scattered := filepath.Join(t.TempDir(), "scattered.txt")
	if err := os.WriteFile(scattered, scatter(data), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := trec.Evaluate(qrelsPath, scattered, o)
	if err != nil {
		t.Fatal(err)
	}
	again.RunID = want.RunID // of another last line, perhaps
	if diff := cmp.Diff(want, again, cmp.Comparer(sameMeasure)); diff != "" {
		t.Errorf("grouped (-) and scattered (+):\n%s", diff)
	}
}

func sameMeasure(a, b metric.Measure) bool { return a == b }

// scatter deals the lines out into a few heaps.
func scatter(data []byte) []byte {
	if len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(data, '\n')
	}
	heaps := make([][]byte, 7)
	i := 0
	for line := range bytes.Lines(data) {
		heaps[i%len(heaps)] = append(heaps[i%len(heaps)], line...)
		i++
	}
	return bytes.Join(heaps, nil)
}

// checkCuts compares the dense cut-offs, under the names of package metric.
func checkCuts(t *testing.T, dir string) {
	path := filepath.Join(dir, "expected.cuts.full.txt")
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || len(data) == 0 {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	qrels, run := filepath.Join(dir, "qrels.txt"), filepath.Join(dir, "run.txt")
	if refusal(t, qrels, run) != "" || filepath.Base(dir) == "bom_qrels" {
		return
	}
	families := map[string]string{"P": "P", "recall": "R", "ndcg_cut": "nDCG", "map_cut": "AP", "success": "Success"}
	var measures []metric.Measure
	names := make(map[string]string)
	want := readExpected(t, path)
	for key := range want {
		i := strings.LastIndexByte(key[0], '_')
		if i < 0 || families[key[0][:i]] == "" || names[key[0]] != "" {
			continue
		}
		m, err := metric.Parse(families[key[0][:i]] + "@" + key[0][i+1:])
		if err != nil {
			t.Fatal(err)
		}
		names[key[0]] = m.String()
		measures = append(measures, m)
	}
	result, err := trec.Evaluate(qrels, run, trec.Options{Order: trec.Trec9, Missing: trec.Drop, Measures: measures})
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[[2]string]string)
	for l := range result.Lines(true) {
		got[[2]string{l.Measure, l.Question}] = l.Value
	}
	compared := 0
	for key, value := range want {
		name, ok := names[key[0]]
		if !ok {
			continue
		}
		compared++
		if text := got[[2]string{name, key[1]}]; !equal(text, value) {
			t.Errorf("%s of %s = %s, want %s", name, key[1], text, value)
		}
	}
	if compared == 0 {
		t.Error("nothing to compare")
	}
}

var (
	wholeNumber   = regexp.MustCompile(`^[+-]?[0-9]+$`)
	decimalNumber = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
)

// refusal says why a strict reader must refuse the files, judged from their
// text alone and without the code under test; empty if it must not.
func refusal(t *testing.T, qrels, run string) string {
	t.Helper()
	judged, reason := column(t, qrels, func(f []string) string {
		if len(f) != 4 {
			return "a line has not 4 columns"
		}
		if n, err := strconv.ParseInt(f[3], 10, 32); !wholeNumber.MatchString(f[3]) || err != nil {
			return fmt.Sprintf("%q (%d) is no grade", f[3], n)
		}
		return ""
	})
	if reason != "" {
		return reason
	}
	retrieved, reason := column(t, run, func(f []string) string {
		if len(f) < 6 {
			return "a line has not 6 columns"
		}
		if x, err := strconv.ParseFloat(f[4], 64); !decimalNumber.MatchString(f[4]) || err != nil && math.IsInf(x, 0) {
			return fmt.Sprintf("%q is no score", f[4])
		}
		return ""
	})
	if reason != "" {
		return reason
	}
	for q := range judged {
		if retrieved[q] {
			return ""
		}
	}
	return "the files share no question"
}

// column reads the questions of a file, and the reason to refuse it.
func column(t *testing.T, path string, check func([]string) string) (map[string]bool, string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	questions, seen := make(map[string]bool), make(map[[2]string]bool)
	for _, line := range strings.Split(strings.TrimPrefix(string(data), "\ufeff"), "\n") {
		f := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\v\f\r", r) })
		if len(f) == 0 || f[0][0] == '#' {
			continue
		}
		if reason := check(f); reason != "" {
			return nil, reason
		}
		if key := [2]string{f[0], f[2]}; seen[key] {
			return nil, fmt.Sprintf("%q comes twice", key)
		} else {
			seen[key] = true
		}
		questions[f[0]] = true
	}
	if len(questions) == 0 {
		return nil, "a file is empty"
	}
	return questions, ""
}
