package stage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Control is a stage that a change must not have touched, in two runs.
type Control struct {
	Stage  string   `json:"stage"`
	N      int      `json:"n"`                // cases that both runs have
	Moved  []string `json:"moved,omitempty"`  // cases in which it is not the same
	Absent []string `json:"absent,omitempty"` // cases in which one run has no such stage
}

// Check compares a control stage of two runs case by case: the same entries in
// the same order. An error says that the runs cannot be compared: other
// questions, no case in common, or a control that moved; the Control is
// returned with it.
func Check(base, treatment *record.File, name string) (Control, error) {
	c := Control{Stage: name}
	for _, f := range []*record.File{base, treatment} {
		if err := readable(f); err != nil {
			return c, err
		}
	}
	if a, b := base.Run.Hashes.Question, treatment.Run.Hashes.Question; a != b {
		return c, fmt.Errorf("%s: question hash %.12s, the base has %.12s; control %s cannot be checked over other questions", treatment.Run.Suite, b, a, name)
	}
	type identity struct {
		id     string
		repeat int
	}
	rows := map[identity]record.Row{}
	for _, r := range base.Rows {
		rows[identity{r.Case, r.Repeat}] = r
	}
	for _, r := range treatment.Rows {
		was, ok := rows[identity{r.Case, r.Repeat}]
		if !ok || was.Outcome.State != record.Scored || r.Outcome.State != record.Scored {
			continue
		}
		a, inBase := was.Stage(name)
		b, inTreatment := r.Stage(name)
		if !inBase || !inTreatment {
			c.Absent = append(c.Absent, r.Case)
			continue
		}
		c.N++
		equal := a.State == b.State && slices.EqualFunc(a.Entries, b.Entries, func(x, y record.Entry) bool { return keyOf(x) == keyOf(y) })
		if !equal && !slices.Contains(c.Moved, r.Case) {
			c.Moved = append(c.Moved, r.Case)
		}
	}
	switch {
	case len(c.Moved) > 0:
		return c, fmt.Errorf("%s: control %s is not the same in %d of %d cases (%s); the runs are incomparable: more than the declared stage changed",
			base.Run.Suite, name, len(c.Moved), c.N, some(c.Moved))
	case len(c.Absent) > 0:
		return c, fmt.Errorf("%s: control %s is not reported in %d cases (%s); name a stage that both runs report", base.Run.Suite, name, len(c.Absent), some(c.Absent))
	case c.N == 0:
		return c, fmt.Errorf("%s: no case was scored in both runs; control %s says nothing", base.Run.Suite, name)
	}
	return c, nil
}

// some names a few of many.
func some(ids []string) string {
	const most = 3
	if len(ids) <= most {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
}
