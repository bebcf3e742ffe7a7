package trec

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/touchstone-eval/touchstone/evaltests/rank"
)

// Hit is one retrieved document.
type Hit struct {
	ID    string
	Score float64 // finite
}

// Run is the results of a system: for each question its hits, in the order of
// the file. Make one with NewRun or a reader.
type Run struct {
	Tag  string // of the last line, as trec_eval keeps it
	hits map[string][]Hit
	seen map[string]map[string]bool
}

// NewRun makes an empty run.
func NewRun(tag string) *Run {
	return &Run{Tag: tag, hits: make(map[string][]Hit), seen: make(map[string]map[string]bool)}
}

// Add appends a hit. A document that the question already has is refused.
func (r *Run) Add(question string, h Hit) error {
	seen := r.seen[question]
	if seen == nil {
		seen = make(map[string]bool)
		r.seen[question] = seen
	}
	if seen[h.ID] {
		return fmt.Errorf("document %s twice for question %s, want each document once", strconv.Quote(h.ID), strconv.Quote(question))
	}
	if h.Score-h.Score != 0 {
		return fmt.Errorf("document %s of question %s: score %v is not finite", strconv.Quote(h.ID), strconv.Quote(question), h.Score)
	}
	seen[h.ID] = true
	r.hits[question] = append(r.hits[question], h)
	return nil
}

// Questions lists the questions in byte order.
func (r *Run) Questions() []string { return slices.Sorted(maps.Keys(r.hits)) }

// Hits copies the hits of a question in the order of the file.
func (r *Run) Hits(question string) []Hit { return slices.Clone(r.hits[question]) }

// Ranking is the hits of a question in a named order, with their scores.
func (r *Run) Ranking(question string, o Order) (rank.Ranking, error) {
	if err := o.check(); err != nil {
		return rank.Ranking{}, err
	}
	hits := r.Hits(question)
	o.sort(hits)
	ids, scores := make([]string, len(hits)), make([]float64, len(hits))
	for i, h := range hits {
		ids[i], scores[i] = h.ID, h.Score
	}
	return rank.New(ids, scores)
}

// LoadRun reads a run file, plain or gzip: lines of question, Q0 (ignored),
// document, rank (ignored), score and tag. What follows the tag is ignored.
func LoadRun(path string) (*Run, error) { return load(path, ReadRun) }

// ReadRun reads a run; name stands for the file in errors.
func ReadRun(name string, r io.Reader) (*Run, error) {
	run := NewRun("")
	var room [6][]byte
	err := eachLine(name, r, func(line []byte) error {
		f, n := fields(line, room[:])
		if n < 6 {
			return fmt.Errorf("%d columns, want 6 (question, Q0, document, rank, score, tag): %s", n, quoteLine(line))
		}
		score, err := parseScore(f[4])
		if err != nil {
			return err
		}
		run.Tag = string(f[5])
		return run.Add(string(f[0]), Hit{string(f[2]), score})
	})
	if err != nil {
		return nil, err
	}
	if len(run.hits) == 0 {
		return nil, fmt.Errorf("%s: no results: the file is empty", name)
	}
	return run, nil
}

// WriteRanking writes the lines of one question's ranking. Scores count down,
// n - rank, so that every tool that sorts by score sees exactly this order.
func WriteRanking(w io.Writer, question string, r rank.Ranking, tag string) error {
	if tag == "" {
		return fmt.Errorf("question %q: a run needs a tag", question)
	}
	for i := range r.Len() {
		if err := checkID(question, r.ID(i)); err != nil {
			return err
		}
	}
	if err := checkID(tag, tag); err != nil {
		return fmt.Errorf("tag: %w", err)
	}
	out := bufio.NewWriter(w)
	for i := range r.Len() {
		fmt.Fprintf(out, "%s Q0 %s %d %d %s\n", question, r.ID(i), i+1, r.Len()-i-1, tag)
	}
	return out.Flush()
}

// Write writes the run in an order, questions in byte order, with scores that
// count down as WriteRanking does.
func (r *Run) Write(w io.Writer, o Order) error {
	for _, question := range r.Questions() {
		ranking, err := r.Ranking(question, o)
		if err != nil {
			return err
		}
		if err := WriteRanking(w, question, ranking, r.Tag); err != nil {
			return err
		}
	}
	return nil
}
