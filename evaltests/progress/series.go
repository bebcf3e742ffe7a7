package progress

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Point is a line in a series.
type Point struct {
	Line
	// Broken says why no line may be drawn from the points before to this one;
	// empty when it may.
	Broken string `json:"broken,omitempty"`
	// Unsound says which measurement break the figures are from before; such
	// figures, those of a withdrawn line and those of an interrupted run are
	// not to be quoted.
	Unsound string `json:"unsound,omitempty"`
}

// Quotable is the first headline of the point, and false when it has none that
// may be quoted.
func (p Point) Quotable() (Figure, bool) {
	if p.Status == Withdrawn || p.Unsound != "" || len(p.Headline) == 0 {
		return Figure{}, false
	}
	return p.Headline[0], true
}

// Series are the lines of one arm, by the time of their runs.
type Series struct {
	Suite  string  `json:"suite"`
	Arm    string  `json:"arm"`
	Points []Point `json:"points"`
}

// Draw sorts the lines of a suite into series and says where each is broken.
// Withdrawn lines and interrupted runs stand in their place and break nothing:
// no line is drawn through them.
func Draw(suite string, lines []Line, breaks []compare.Break, after compare.Ancestry) []Series {
	lines = slices.Clone(lines)
	slices.SortStableFunc(lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.Arm, b.Arm), a.Date.Compare(b.Date), cmp.Compare(a.ID, b.ID))
	})
	var out []Series
	var last *Point // that the line was drawn to
	for _, l := range lines {
		if len(out) == 0 || out[len(out)-1].Arm != l.Arm {
			out = append(out, Series{Suite: suite, Arm: l.Arm})
			last = nil
		}
		p := Point{Line: l, Unsound: unsound(l, breaks, after)}
		if l.Status != Withdrawn && len(l.Headline) > 0 {
			if last != nil {
				p.Broken = broken(*last, p)
			}
			last = &p
		}
		s := &out[len(out)-1]
		s.Points = append(s.Points, p)
	}
	return out
}

// unsound says which break the figures of a line are from before. Whether they
// are that nobody can tell is not sound.
func unsound(l Line, breaks []compare.Break, after compare.Ancestry) string {
	var measures []string
	for _, f := range l.Headline {
		measures = append(measures, f.Measure)
	}
	run := record.Run{Arm: l.Arm, Context: record.Context{Commit: l.Commit}}
	for _, b := range breaks {
		if !b.Affects(l.Arm, measures...) {
			continue
		}
		switch sound, err := b.Sound(run, after); {
		case err != nil:
			return fmt.Sprintf("%s; whether it was measured before first sound commit %.12s cannot be told: %v", b.Defect, b.FirstSound, err)
		case !sound:
			return fmt.Sprintf("%s (first sound commit %.12s)", b.Defect, b.FirstSound)
		}
	}
	return ""
}

func broken(from, to Point) string {
	switch a, b := from.Hashes.Question, to.Hashes.Question; {
	case a != b:
		return fmt.Sprintf("another question, %.12s after %.12s: pack, gold, plan or runner changed, and the figures do not compare", b, a)
	case from.Headline[0].Measure != to.Headline[0].Measure:
		return fmt.Sprintf("another first measure, %s after %s", to.Headline[0].Measure, from.Headline[0].Measure)
	case from.Unsound != to.Unsound:
		return "a measurement break lies between: " + cmp.Or(from.Unsound, to.Unsound)
	}
	return ""
}
