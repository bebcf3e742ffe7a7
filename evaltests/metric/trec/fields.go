package trec

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// blank reports ASCII white space, which alone separates fields: an id may
// hold U+00A0, U+0085 or any other byte.
func blank(c byte) bool { return c == ' ' || c-'\t' < 5 }

// fields splits a line into at most limit fields and counts all of them.
func fields(line []byte, into [][]byte) (found [][]byte, total int) {
	found = into[:0]
	for i := 0; i < len(line); {
		if blank(line[i]) {
			i++
			continue
		}
		start := i
		for i < len(line) && !blank(line[i]) {
			i++
		}
		if total < cap(into) {
			found = append(found, line[start:i])
		}
		total++
	}
	return found, total
}

// skipped reports lines without content: blank ones and comments.
func skipped(line []byte) bool {
	line = bytes.TrimLeft(line, " \t\v\f\r\n")
	return len(line) == 0 || line[0] == '#'
}

var errGrade = errors.New("want a whole number such as 0, 1 or -1")

// parseGrade reads a grade: an optional sign and digits.
func parseGrade(field []byte) (int, error) {
	g, err := strconv.ParseInt(string(field), 10, 32)
	if err != nil {
		return 0, fmt.Errorf("grade %s: %w", quote(field), errGrade)
	}
	return int(g), nil
}

var (
	errScore    = errors.New("want a finite decimal number such as 1.5 or 2e-3")
	errOverflow = errors.New("too large for a 64-bit floating-point number")
)

// parseScore reads a decimal number. Hexadecimal, NaN, infinity, a decimal
// comma and trailing text, which strtod reads or cuts, are refused.
func parseScore(field []byte) (float64, error) {
	if !decimal(field) {
		return 0, fmt.Errorf("score %s: %w", quote(field), errScore)
	}
	x, err := strconv.ParseFloat(string(field), 64)
	if math.IsInf(x, 0) {
		return 0, fmt.Errorf("score %s: %w", quote(field), errOverflow)
	}
	if err != nil {
		return 0, fmt.Errorf("score %s: %w", quote(field), errScore)
	}
	return x, nil
}

// decimal reports whether s is a sign, digits with an optional point, and an
// optional exponent.
func decimal(s []byte) bool {
	i := 0
	sign := func() {
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
	}
	digits := func() int {
		start := i
		for i < len(s) && s[i]-'0' < 10 {
			i++
		}
		return i - start
	}
	sign()
	n := digits()
	if i < len(s) && s[i] == '.' {
		i++
		n += digits()
	}
	if n == 0 {
		return false
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		sign()
		if digits() == 0 {
			return false
		}
	}
	return i == len(s)
}

// quote shows offending text: escaped, and cut where it is long.
func quote(text []byte) string {
	const most = 60
	if len(text) > most {
		return strconv.Quote(string(text[:most])) + "..."
	}
	return strconv.Quote(string(text))
}
