package metric

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// gainTable replaces the gain of some grades; sorted by grade.
type gainTable []gradeGain

type gradeGain struct {
	grade int
	gain  float64
}

// parseGains reads "1:3, 2:7" (with the separator ":" or "=").
func parseGains(s, separator string) (gainTable, error) {
	var t gainTable
	for _, pair := range strings.Split(s, ",") {
		left, right, ok := strings.Cut(pair, separator)
		grade, err := strconv.Atoi(strings.TrimSpace(left))
		if !ok || err != nil || grade < 0 {
			return nil, fmt.Errorf("%q: want grade%sgain, with a grade from 0", strings.TrimSpace(pair), separator)
		}
		gain, err := strconv.ParseFloat(strings.TrimSpace(right), 64)
		if err != nil || math.Abs(gain) > maxGain || math.IsNaN(gain) {
			return nil, fmt.Errorf("%q: want a gain that is a number within ±%g", strings.TrimSpace(pair), maxGain)
		}
		if slices.ContainsFunc(t, func(g gradeGain) bool { return g.grade == grade }) {
			return nil, fmt.Errorf("grade %d has two gains", grade)
		}
		t = append(t, gradeGain{grade, gain + 0}) // + 0 makes -0 print as 0
	}
	slices.SortFunc(t, func(a, b gradeGain) int { return cmp.Compare(a.grade, b.grade) })
	return t, nil
}

// maxGain keeps sums of gains finite whatever the length of a list.
const maxGain = 1e300

func (t gainTable) String() string {
	parts := make([]string, len(t))
	for i, g := range t {
		parts[i] = strconv.Itoa(g.grade) + ":" + float(g.gain)
	}
	return strings.Join(parts, ",")
}

// WithGains is nDCG, DCG or iDCG with the gain of some grades replaced, given
// as trec_eval writes it: "1=3,2=7". Grades that are not named keep their gain.
// Any other measure is an error.
func (m Measure) WithGains(pairs string) (Measure, error) {
	if m.kind == nil {
		return Measure{}, errNoMeasure
	}
	if !m.kind.takes("gains") {
		return Measure{}, fmt.Errorf("%v has no gains: only nDCG, DCG and iDCG do", m)
	}
	t, err := parseGains(pairs, "=")
	if err != nil {
		return Measure{}, fmt.Errorf("gains %w", err)
	}
	m.gains = t.String()
	return m, nil
}

// gain is the gain of a grade; what is not judged gains nothing.
func (c *compiled) gain(grade int) float64 {
	if grade < 0 {
		return 0
	}
	for _, g := range c.gains {
		if g.grade == grade {
			return g.gain
		}
	}
	if c.exp {
		return math.Exp2(float64(grade)) - 1
	}
	return float64(grade)
}
