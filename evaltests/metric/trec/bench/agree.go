package main

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
)

// figure names a value: a measure, and a question or "all".
type figure struct{ measure, question string }

// parseLines reads lines of measure, question and value.
func parseLines(out []byte) (map[figure]string, error) {
	values := make(map[figure]string)
	for line := range bytes.Lines(out) {
		f := strings.SplitN(strings.TrimRight(string(line), "\n"), "\t", 3)
		if len(f) != 3 {
			return nil, fmt.Errorf("line %q: want measure, question and value", line)
		}
		values[figure{strings.TrimSpace(f[0]), f[1]}] = f[2]
	}
	return values, nil
}

// fourDigits accepts what trec_eval may print for a value.
func fourDigits(ours, theirs float64) bool { return math.Abs(ours-theirs) <= 0.5e-4+1e-9 }

// agree wants the same figures on both sides, and equal ones.
func agree(ours, theirs map[figure]string, equal func(ours, theirs float64) bool) error {
	if len(ours) == 0 || len(ours) != len(theirs) {
		return fmt.Errorf("%d values here and %d there", len(ours), len(theirs))
	}
	for _, f := range slices.SortedFunc(maps.Keys(theirs), func(a, b figure) int {
		return strings.Compare(a.question+"\t"+a.measure, b.question+"\t"+b.measure)
	}) {
		x, ok := ours[f]
		if !ok {
			return fmt.Errorf("%s of %s is %s there and missing here", f.measure, f.question, theirs[f])
		}
		a, err1 := strconv.ParseFloat(x, 64)
		b, err2 := strconv.ParseFloat(theirs[f], 64)
		if x != theirs[f] && (err1 != nil || err2 != nil || !equal(a, b)) {
			return fmt.Errorf("%s of %s is %s here and %s there", f.measure, f.question, x, theirs[f])
		}
	}
	return nil
}

// readPeer reads lines of question and a value for each of peerMeasures.
func readPeer(path string) (map[string][]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	values := make(map[string][]float64)
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 1+len(peerMeasures) {
			return nil, fmt.Errorf("%s:%d: %q: want a question and %d values", path, n, lines.Text(), len(peerMeasures))
		}
		for _, field := range fields[1:] {
			x, err := strconv.ParseFloat(field, 64)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, n, err)
			}
			values[fields[0]] = append(values[fields[0]], x)
		}
	}
	return values, lines.Err()
}

// agreeWithPeer wants each question's values to equal ours, which stand in
// Mean, to 1e-9; or, for a tool that does not order ties, to lie within the
// bounds where these leave a choice. It counts both.
func agreeWithPeer(limits map[string][]metric.TieRange, theirs map[string][]float64, ordersTies bool) (exact, free int, err error) {
	const near = 1e-9
	if len(theirs) != len(limits) {
		return 0, 0, fmt.Errorf("%d questions here and %d there", len(limits), len(theirs))
	}
	for _, question := range slices.Sorted(maps.Keys(limits)) {
		values, ok := theirs[question]
		if !ok {
			return 0, 0, fmt.Errorf("question %s is missing there", question)
		}
		for i, r := range limits[question] {
			x := values[i]
			switch choice := r.Max-r.Min > near; {
			case math.Abs(x-r.Mean) <= near:
				if choice && !ordersTies {
					free++
				} else {
					exact++
				}
			case choice && !ordersTies && x >= r.Min-near && x <= r.Max+near:
				free++
			default:
				return 0, 0, fmt.Errorf("%s of %s is %v here (%v to %v over tie orders) and %v there", peerMeasures[i], question, r.Mean, r.Min, r.Max, x)
			}
		}
	}
	return exact, free, nil
}
