package trec

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
)

// plan is what the options come to, shared by all workers.
type plan struct {
	Options
	cols     []Column
	measures []metric.Measure // of the columns that are numbers
	column   []int            // of each measure
	relstr   bool
	cuts     []int // distinct cut-offs, ascending
}

func newPlan(o Options) (*plan, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &plan{Options: o}
	if p.cols, err = p.columns(); err != nil {
		return nil, err
	}
	if err := p.checkGains(p.cols); err != nil {
		return nil, err
	}
	for i, c := range p.cols {
		if isText(c) {
			p.relstr = p.relstr || c.Questions
			continue
		}
		p.measures = append(p.measures, c.Measure)
		p.column = append(p.column, i)
		if k := c.Measure.Cutoff(); k > 0 {
			p.cuts = append(p.cuts, k)
		}
	}
	slices.Sort(p.cuts)
	p.cuts = slices.Compact(p.cuts)
	return p, nil
}

func isText(c Column) bool { return c.Measure == metric.Measure{} }

// scorer measures one question after another. Each worker has its own.
type scorer struct {
	*plan
	eval     *metric.Evaluator
	table    table
	order    []int
	narrowed []float64 // scores as the order compares them
	grades   []int     // by line
	judged   metric.Judged
	values   []float64
	ties     []int // by cut: questions with a tie across it
	options  []metric.Option
}

func (p *plan) newScorer() (*scorer, error) {
	var options []metric.Option
	if p.Order == Trec9 {
		options = append(options, metric.OldInterpolation())
	}
	e, err := metric.NewEvaluator(p.measures, options...)
	if err != nil {
		return nil, err
	}
	return &scorer{plan: p, eval: e, options: options, values: make([]float64, len(p.measures)), ties: make([]int, len(p.cuts))}, nil
}

// score measures one question. Without gold it only looks for duplicates.
func (s *scorer) score(question string, ids [][]byte, scores []float64, g *gold) (Question, error) {
	err := s.lookUp(question, ids, g)
	if err != nil || g == nil {
		return Question{}, err
	}
	scores = s.narrow(scores)
	s.sort(ids, scores)
	for i, k := range s.cuts {
		if k < len(ids) && scores[s.order[k-1]] == scores[s.order[k]] {
			s.ties[i]++
		}
	}
	depth := len(ids)
	if s.Depth > 0 {
		depth = min(depth, s.Depth)
	}
	s.judged.Ranks = s.judged.Ranks[:0]
	for _, i := range s.order[:depth] {
		if grade := s.grades[i]; grade >= 0 || !s.JudgedOnly {
			s.judged.Ranks = append(s.judged.Ranks, grade)
		}
	}
	s.judged.Gold = g.counts
	if err := s.eval.Eval(s.judged, s.values); err != nil {
		return Question{}, fmt.Errorf("question %q: %w", question, err)
	}
	q := Question{ID: question, Values: make([]float64, len(s.cols))}
	for i, v := range s.values {
		q.Values[s.column[i]] = v
	}
	if s.relstr {
		q.RelString = relString(s.judged.Ranks)
	}
	if s.TieRanges {
		if q.TieRanges, err = s.overTies(scores); err != nil {
			return Question{}, fmt.Errorf("question %q: %w", question, err)
		}
	}
	return q, nil
}

// overTies measures the question that was looked up last in all tie orders;
// the scores are those that the order compares.
func (s *scorer) overTies(scores []float64) ([]metric.TieRange, error) {
	var groups []int
	last := 0.0 // score of the last group
	for _, at := range s.order {
		if s.JudgedOnly && s.grades[at] < 0 {
			continue
		}
		score := scores[at]
		if len(groups) > 0 && score == last {
			groups[len(groups)-1]++
			continue
		}
		groups, last = append(groups, 1), score
	}
	ranges := make([]metric.TieRange, len(s.cols))
	for i, m := range s.measures {
		r, err := metric.OverTies(m, s.judged, groups, s.options...)
		if err != nil {
			return nil, err
		}
		ranges[s.column[i]] = r
	}
	return ranges, nil
}

// lookUp finds each document's grade, and refuses a document that comes twice.
func (s *scorer) lookUp(question string, ids [][]byte, g *gold) error {
	s.grades = s.grades[:0]
	judged := 0
	if g != nil {
		judged = len(g.ids)
	}
	s.table.reset(len(ids) + judged)
	for i := range judged {
		s.table.insertGold(g.hashes[i], i)
	}
	for i, id := range ids {
		grade, again := s.table.visit(i, ids, g)
		if again {
			return fmt.Errorf("question %q: document %q twice, want each document once", question, id)
		}
		s.grades = append(s.grades, grade)
	}
	return nil
}

// sort puts the indices of the hits in order. Most runs are sorted already,
// but for the ids of ties.
func (s *scorer) sort(ids [][]byte, scores []float64) {
	s.order = s.order[:0]
	for i := range ids {
		s.order = append(s.order, i)
	}
	if s.Order == Input {
		return
	}
	byID := func(a, b int) int { return bytes.Compare(ids[b], ids[a]) }
	if s.Order == IDAsc {
		byID = func(a, b int) int { return bytes.Compare(ids[a], ids[b]) }
	}
	for i := 1; i < len(scores); i++ {
		if scores[i] > scores[i-1] {
			slices.SortFunc(s.order, func(a, b int) int {
				return cmp.Or(cmp.Compare(scores[b], scores[a]), byID(a, b))
			})
			return
		}
	}
	for from := 0; from < len(scores); {
		to := from + 1
		for to < len(scores) && scores[to] == scores[from] {
			to++
		}
		if to-from > 1 {
			slices.SortFunc(s.order[from:to], byID)
		}
		from = to
	}
}

// narrow is what the order compares: under Trec9, scores of 32 bits.
func (s *scorer) narrow(scores []float64) []float64 {
	if s.Order != Trec9 {
		return scores
	}
	s.narrowed = s.narrowed[:0]
	for _, x := range scores {
		s.narrowed = append(s.narrowed, s.Order.score(x))
	}
	return s.narrowed
}

// relString shows the first ten grades: a digit, > over 9, . pooled without a
// grade, - not in the gold. (trec_eval's < for other grades does not occur:
// it takes every negative grade for pooled.)
func relString(ranks []int) string {
	var b strings.Builder
	for _, g := range ranks[:min(10, len(ranks))] {
		switch {
		case g > 9:
			b.WriteByte('>')
		case g >= 0:
			b.WriteByte('0' + byte(g))
		case g == metric.Unjudged:
			b.WriteByte('.')
		default:
			b.WriteByte('-')
		}
	}
	return b.String()
}

// finish turns measured questions into a result: adds those without results,
// sorts, and sums up.
func (p *plan) finish(questions []Question, noGold []string, golds map[string]*gold, runID string, scorers []*scorer) (*Result, error) {
	slices.Sort(noGold)
	r := &Result{Columns: p.cols, RunID: runID, NoGold: noGold, Questions: questions}
	if len(questions) == 0 {
		return nil, fmt.Errorf("the files share no question: the gold has %s, the run has %s", someOf(golds), some(noGold))
	}
	answered := make(map[string]bool, len(questions))
	for _, q := range questions {
		answered[q.ID] = true
	}
	for id := range golds {
		if !answered[id] {
			r.Missing = append(r.Missing, id)
		}
	}
	slices.Sort(r.Missing)
	if p.Missing == Zero && len(r.Missing) > 0 {
		s, err := p.newScorer()
		if err != nil {
			return nil, err
		}
		for _, id := range r.Missing {
			q, err := s.score(id, nil, nil, golds[id])
			if err != nil {
				return nil, err
			}
			r.Questions = append(r.Questions, q)
		}
	}
	slices.SortFunc(r.Questions, func(a, b Question) int { return cmp.Compare(a.ID, b.ID) })
	for i, k := range p.cuts {
		n := 0
		for _, s := range scorers {
			n += s.ties[i]
		}
		r.Ties = append(r.Ties, CutTies{k, n})
	}
	if err := r.sumUp(); err != nil {
		return nil, err
	}
	if p.Order == Trec9 && p.Missing == Zero {
		r.countAllRelevant(golds)
	}
	if p.TieRanges {
		if err := r.sumUpTies(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// countAllRelevant does as 9.0.8 with -c, whose num_rel over all questions
// counts every grade above 0, whatever the relevance level.
func (r *Result) countAllRelevant(golds map[string]*gold) {
	for i, c := range r.Columns {
		if c.Name != "num_rel" {
			continue
		}
		r.Summary[i] = 0
		for _, g := range golds {
			r.Summary[i] += float64(g.counts.Relevant(1))
		}
	}
}

func (r *Result) sumUp() error {
	r.Summary = make([]float64, len(r.Columns))
	for i, c := range r.Columns {
		var err error
		if r.Summary[i], err = r.aggregate(c, func(q Question) float64 { return q.Values[i] }); err != nil {
			return err
		}
	}
	return nil
}

// sumUpTies combines the bounds of all questions: each tie is broken at its
// worst, at its best, or evenly.
func (r *Result) sumUpTies() error {
	r.TieRanges = make([]metric.TieRange, len(r.Columns))
	for i, c := range r.Columns {
		t := &r.TieRanges[i]
		var errs [3]error
		t.Min, errs[0] = r.aggregate(c, func(q Question) float64 { return q.TieRanges[i].Min })
		t.Max, errs[1] = r.aggregate(c, func(q Question) float64 { return q.TieRanges[i].Max })
		t.Mean, errs[2] = r.aggregate(c, func(q Question) float64 { return q.TieRanges[i].Mean })
		if err := errors.Join(errs[:]...); err != nil {
			return err
		}
		t.Exact = !isText(c) && !slices.ContainsFunc(r.Questions, func(q Question) bool { return !q.TieRanges[i].Exact })
	}
	return nil
}

// aggregate combines a figure of all questions; 0 where the column is text.
func (r *Result) aggregate(c Column, of func(Question) float64) (float64, error) {
	if isText(c) {
		return 0, nil
	}
	values := make([]float64, len(r.Questions))
	for i, q := range r.Questions {
		values[i] = of(q)
	}
	return c.Measure.Aggregate(values)
}

func someOf(golds map[string]*gold) string {
	ids := make([]string, 0, len(golds))
	for id := range golds {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return some(ids)
}

// some shows up to three ids.
func some(ids []string) string {
	if len(ids) == 0 {
		return "none"
	}
	var b strings.Builder
	for i, id := range ids[:min(3, len(ids))] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote([]byte(id)))
	}
	if len(ids) > 3 {
		fmt.Fprintf(&b, " and %d more", len(ids)-3)
	}
	return b.String()
}

// Score measures a run that is in memory.
func Score(q Qrels, run *Run, o Options) (*Result, error) {
	p, err := newPlan(o)
	if err != nil {
		return nil, err
	}
	s, err := p.newScorer()
	if err != nil {
		return nil, err
	}
	golds := q.golds()
	var questions []Question
	var noGold []string
	for _, question := range run.Questions() {
		hits := run.hits[question]
		ids, scores := make([][]byte, len(hits)), make([]float64, len(hits))
		for i, h := range hits {
			ids[i], scores[i] = []byte(h.ID), h.Score
		}
		g := golds[question]
		measured, err := s.score(question, ids, scores, g)
		if err != nil {
			return nil, err
		}
		if g == nil {
			noGold = append(noGold, question)
			continue
		}
		questions = append(questions, measured)
	}
	return p.finish(questions, noGold, golds, run.Tag, []*scorer{s})
}
