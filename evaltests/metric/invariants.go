package metric

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// CheckInvariants looks for values that cannot all be right: a bounded measure
// outside [0, 1]; RR@1, P@1 and Success@1 that differ; R, Success, RR or AP
// that falls as its cut-off grows. Keys are measure names, values those of one
// question or the means of the same questions. An error is a fault of the
// instrument, not of the subject; it lists every contradiction.
//
// A key that Parse does not read is an error too. P@1 on a list of chunks is
// P@1 on documents, so the rules hold there as well.
func CheckInvariants(values map[string]float64) error {
	byMeasure := make(map[Measure]float64, len(values))
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(values)) {
		m, err := Parse(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		v := values[name]
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			errs = append(errs, fmt.Errorf("%v = %v: not a finite number", m, v))
		case m.Bounded() && (v < -tolerance || v > 1+tolerance):
			errs = append(errs, fmt.Errorf("%v = %v: outside [0, 1]", m, v))
		}
		byMeasure[m] = v
	}
	ms := slices.SortedFunc(maps.Keys(byMeasure), compareMeasures)
	errs = append(errs, checkFirst(ms, byMeasure)...)
	errs = append(errs, checkMonotone(ms, byMeasure)...)
	return errors.Join(errs...)
}

// tolerance allows for the rounding of sums over questions.
const tolerance = 1e-9

func checkFirst(ms []Measure, values map[Measure]float64) (errs []error) {
	type first struct {
		rel        int
		judgedOnly bool
	}
	seen := make(map[first]Measure)
	for _, m := range ms {
		if m.cut != 1 || !slices.Contains([]string{"P", "RR", "Success"}, m.kind.name) {
			continue
		}
		key := first{m.rel, m.judgedOnly}
		other, ok := seen[key]
		if !ok {
			seen[key] = m
			continue
		}
		if d := values[m] - values[other]; d > tolerance || d < -tolerance {
			errs = append(errs, fmt.Errorf("%v = %v and %v = %v: must be equal", other, values[other], m, values[m]))
		}
	}
	return errs
}

func checkMonotone(ms []Measure, values map[Measure]float64) (errs []error) {
	last := make(map[Measure]Measure) // by the measure with its cut-off removed
	for _, m := range ms {
		if m.cut == 0 || !slices.Contains([]string{"R", "Success", "RR", "AP"}, m.kind.name) {
			continue
		}
		family := m
		family.cut = 0
		if shallow, ok := last[family]; ok && values[m] < values[shallow]-tolerance {
			errs = append(errs, fmt.Errorf("%v = %v and %v = %v: must not fall with depth", shallow, values[shallow], m, values[m]))
		}
		last[family] = m
	}
	return errs
}

func compareMeasures(a, b Measure) int {
	if a.cut != b.cut {
		return a.cut - b.cut
	}
	if a.String() < b.String() {
		return -1
	}
	return 1
}
