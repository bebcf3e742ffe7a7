package metric

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/rank"
)

// Measure is a parsed measure. Measures are comparable: equal ones have the
// same canonical name. Make them with Parse; the zero value measures nothing
// and every use of it is an error.
type Measure struct {
	kind       *kind
	cut        int     // 0: the whole list
	recall     float64 // the x of IPrec@x
	rel        int     // lowest grade that counts as relevant
	judgedOnly bool    // leave out documents without a grade before measuring
	exp        bool    // gain 2^g-1 instead of g
	gains      string  // canonical "1:3,2:7": gains that replace the usual ones
	p          float64 // RBP persistence
	beta       float64 // SetF weight of recall against precision
	maxGrade   int     // ERR: the highest grade of the scale
}

// String is the canonical name, which Parse reads back to an equal Measure.
// Parameters at their default are left out.
func (m Measure) String() string {
	if m.kind == nil {
		return "(no measure)"
	}
	def := m.kind.defaults()
	var params []string
	if m.beta != def.beta {
		params = append(params, "beta="+float(m.beta))
	}
	if m.exp {
		params = append(params, "dcg='exp-log2'")
	}
	if m.gains != "" {
		params = append(params, "gains={"+m.gains+"}")
	}
	if m.judgedOnly {
		params = append(params, "judged_only=True")
	}
	if m.maxGrade != def.maxGrade {
		params = append(params, "max="+strconv.Itoa(m.maxGrade))
	}
	if m.p != def.p {
		params = append(params, "p="+float(m.p))
	}
	if m.rel != def.rel {
		params = append(params, "rel="+strconv.Itoa(m.rel))
	}
	s := m.kind.name
	if len(params) > 0 {
		s += "(" + strings.Join(params, ", ") + ")"
	}
	switch {
	case m.kind.cut == recallCut:
		s += "@" + float(m.recall)
	case m.cut > 0:
		s += "@" + strconv.Itoa(m.cut)
	}
	return s
}

func float(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Bounded reports whether every value of the measure lies in [0, 1]. Counts,
// DCG and utility do not, nor does nDCG with a gain below 0.
func (m Measure) Bounded() bool {
	return m.kind != nil && m.kind.bounded && !strings.Contains(m.gains, ":-")
}

// HigherIsBetter reports whether a greater value means a better ranking. It is
// false for what describes the question or the list rather than its quality:
// NumQ, NumRet, NumRel, NumNonrelJudgedRet, iDCG, Unj and RBPRes.
func (m Measure) HigherIsBetter() bool { return m.kind != nil && m.kind.better }

// Cutoff is the depth k of a measure at k, 0 for one over the whole list.
func (m Measure) Cutoff() int { return m.cut }

// Rel is the lowest grade that the measure counts as relevant; measures of
// graded gain have none and give 0.
func (m Measure) Rel() int { return m.rel }

// Eval measures one ranking against the grades of its question. The value is
// always finite. It is 0 where nothing is relevant and where nothing was
// retrieved. An error says which grade the measure cannot take.
func (m Measure) Eval(g Grades, r rank.Ranking) (float64, error) {
	values, err := EvalAll([]Measure{m}, g, r)
	if err != nil {
		return 0, err
	}
	return values[0], nil
}

// EvalAll measures one ranking by all measures, in their order, looking each
// document up once.
func EvalAll(ms []Measure, g Grades, r rank.Ranking) ([]float64, error) {
	return EvalJudged(ms, Judge(g, r))
}

// EvalJudged is EvalAll for a question that is looked up already, as by
// JudgeChunks.
func EvalJudged(ms []Measure, j Judged) ([]float64, error) {
	e, err := NewEvaluator(ms)
	if err != nil {
		return nil, err
	}
	values := make([]float64, len(ms))
	if err := e.Eval(j, values); err != nil {
		return nil, err
	}
	return values, nil
}

// Aggregate combines the values of several questions: the sum for counts, the
// geometric mean (each value floored at 1e-5, as trec_eval does) for GMAP and
// GMBpref, the arithmetic mean for all others. No values at all is an error,
// since nothing measured is not zero.
func (m Measure) Aggregate(values []float64) (float64, error) {
	if m.kind == nil {
		return 0, errNoMeasure
	}
	if len(values) == 0 {
		return 0, fmt.Errorf("%v: no values to combine: at least one question must be measured", m)
	}
	return m.kind.aggregate(values), nil
}

// Residual is the companion measure that says how much of RBP is not known:
// the weight of the ranks that hold no judged document, and of all ranks below
// the list. RBP + residual is the value if all of them were relevant. False for
// other measures.
func (m Measure) Residual() (Measure, bool) {
	if m.kind == nil || m.kind.name != "RBP" {
		return Measure{}, false
	}
	m.kind = kinds["RBPRes"]
	return m, true
}

// WithLevel is the measure with relevance starting at a grade of rel, as
// trec_eval's -l sets it for all measures. Measures of graded gain have no
// level and stay as they are. One that already names a level is an error: two
// answers to one question are bad usage.
func (m Measure) WithLevel(rel int) (Measure, error) {
	if m.kind == nil {
		return Measure{}, errNoMeasure
	}
	if rel < 0 {
		return Measure{}, fmt.Errorf("relevance level %d: want a grade from 0", rel)
	}
	if !m.kind.takes("rel") {
		return m, nil
	}
	if m.rel != 1 {
		return Measure{}, fmt.Errorf("%v names its own relevance level: leave out the general level %d or the rel", m, rel)
	}
	m.rel = rel
	return m, nil
}
