package trec

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
)

// Qrels are judgements: question, document, grade.
type Qrels map[string]metric.Grades

// LoadQrels reads a qrels file, plain or gzip: lines of question, iteration
// (ignored), document and grade.
func LoadQrels(path string) (Qrels, error) { return load(path, ReadQrels) }

// ReadQrels reads qrels; name stands for the file in errors.
func ReadQrels(name string, r io.Reader) (Qrels, error) {
	q := make(Qrels)
	var room [4][]byte
	err := eachLine(name, r, func(line []byte) error {
		f, n := fields(line, room[:])
		if n != 4 {
			return fmt.Errorf("%d columns, want 4 (question, iteration, document, grade): %s", n, quoteLine(line))
		}
		grade, err := parseGrade(f[3])
		if err != nil {
			return err
		}
		return q.add(string(f[0]), string(f[2]), grade)
	})
	if err != nil {
		return nil, err
	}
	if len(q) == 0 {
		return nil, fmt.Errorf("%s: no judgements: the file is empty", name)
	}
	return q, nil
}

func (q Qrels) add(question, document string, grade int) error {
	g := q[question]
	if g == nil {
		g = make(metric.Grades)
		q[question] = g
	}
	if _, ok := g[document]; ok {
		return fmt.Errorf("document %s twice for question %s, want one judgement", strconv.Quote(document), strconv.Quote(question))
	}
	g[document] = grade
	return nil
}

// Questions lists the questions in byte order.
func (q Qrels) Questions() []string { return slices.Sorted(maps.Keys(q)) }

// Write writes the qrels, questions and documents in byte order. An id that
// the format cannot hold is refused before anything is written.
func (q Qrels) Write(w io.Writer) error {
	for _, question := range q.Questions() {
		for _, document := range slices.Sorted(maps.Keys(q[question])) {
			if err := checkID(question, document); err != nil {
				return err
			}
		}
	}
	out := bufio.NewWriter(w)
	for _, question := range q.Questions() {
		for _, document := range slices.Sorted(maps.Keys(q[question])) {
			fmt.Fprintf(out, "%s 0 %s %d\n", question, document, q[question][document])
		}
	}
	return out.Flush()
}

// checkID refuses ids that would be read back as something else.
func checkID(question, document string) error {
	for _, id := range []string{question, document} {
		if id == "" {
			return fmt.Errorf("question %q, document %q: an empty id cannot be written", question, document)
		}
		for i := range len(id) {
			if blank(id[i]) {
				return fmt.Errorf("question %q, document %q: an id with white space cannot be written", question, document)
			}
		}
	}
	if question[0] == '#' {
		return fmt.Errorf("question %q: an id that starts with # would be read as a comment", question)
	}
	if len(question) >= 3 && question[:3] == string(byteOrderMark) {
		return fmt.Errorf("question %q: an id that starts with a byte order mark would lose it", question)
	}
	return nil
}

func quoteLine(line []byte) string {
	for len(line) > 0 && blank(line[len(line)-1]) {
		line = line[:len(line)-1]
	}
	return quote(line)
}
