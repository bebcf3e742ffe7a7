package trec

import (
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
)

// Result is a measured run.
type Result struct {
	Columns   []Column
	Questions []Question // in byte order of their ids
	Summary   []float64  // over all Questions, by column
	RunID     string     // tag of the run's last line
	// Missing are the questions with gold and no results: 0, or dropped, as
	// the options said. NoGold are the questions of the run that no gold
	// exists for; they take no part. Both in byte order.
	Missing, NoGold []string
	// Ties says how arbitrary the cut-offs are.
	Ties []CutTies
	// TieRanges, if asked for, are the summary's bounds and expectation over
	// tie orders, by column: the questions' combined. Empty where the column
	// is text.
	TieRanges []metric.TieRange
}

// Question is one measured question.
type Question struct {
	ID        string
	Values    []float64 // by column; 0 where the column is text
	RelString string    // trec_eval's relstring, if asked for
	TieRanges []metric.TieRange
}

// CutTies counts the questions in which equal scores lie on both sides of a
// cut-off, so that the order, not the run, decides what counts.
type CutTies struct{ Cut, Questions int }

// Line is one figure of a result as trec_eval prints it.
type Line struct {
	Measure  string
	Question string // or "all"
	Value    string // the shortest decimal that reads back to the same number
}

// Lines gives the questions' lines, if asked for, then the summary's.
func (r *Result) Lines(questions bool) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		if questions {
			for _, q := range r.Questions {
				for i, c := range r.Columns {
					if c.Questions && !yield(Line{c.Name, q.ID, r.text(i, q.Values[i], "'"+q.RelString+"'")}) {
						return
					}
				}
			}
		}
		for i, c := range r.Columns {
			if c.Summary && !yield(Line{c.Name, "all", r.text(i, r.Summary[i], r.RunID)}) {
				return
			}
		}
	}
}

func (r *Result) text(column int, value float64, text string) string {
	if isText(r.Columns[column]) {
		return text
	}
	return shortest(value)
}

// shortest is the shortest decimal that reads back to the same number, written
// as encoding/json writes it: with an exponent only where it is far from 1.
func shortest(x float64) string {
	if a := math.Abs(x); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.FormatFloat(x, 'e', -1, 64)
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// Value is the summary's figure for a column name; false if there is none.
func (r *Result) Value(name string) (float64, bool) {
	i := slices.IndexFunc(r.Columns, func(c Column) bool { return c.Name == name && c.Summary && !isText(c) })
	if i < 0 {
		return 0, false
	}
	return r.Summary[i], true
}
