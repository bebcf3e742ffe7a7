package trec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/touchstone-eval/touchstone/evaltests/rank"
)

// LoadQrelsJSON reads judgements from a JSON file, plain or gzip:
// {"question": {"document": grade}}.
func LoadQrelsJSON(path string) (Qrels, error) { return load(path, ReadQrelsJSON) }

// ReadQrelsJSON reads judgements from JSON. Unlike encoding/json it refuses a
// key that comes twice.
func ReadQrelsJSON(name string, r io.Reader) (Qrels, error) {
	q := make(Qrels)
	err := eachEntry(name, r, func(question, document string, value json.Number) error {
		grade, err := parseGrade([]byte(value))
		if err != nil {
			return err
		}
		return q.add(question, document, grade)
	})
	if err != nil {
		return nil, err
	}
	if len(q) == 0 {
		return nil, fmt.Errorf("%s: no judgements: the file is empty", name)
	}
	return q, nil
}

// WriteJSON writes the judgements as JSON, keys in byte order.
func (q Qrels) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(q) }

// LoadRunJSON reads a run from a JSON file, plain or gzip:
// {"question": {"document": score}}.
func LoadRunJSON(path, tag string) (*Run, error) {
	return load(path, func(name string, r io.Reader) (*Run, error) { return ReadRunJSON(name, r, tag) })
}

// ReadRunJSON reads a run from JSON; the order Input is that of the text. A
// key that comes twice is refused, and so is a question without documents: its
// absence would be read as a question that was not asked.
func ReadRunJSON(name string, r io.Reader, tag string) (*Run, error) {
	run := NewRun(tag)
	err := eachEntry(name, r, func(question, document string, value json.Number) error {
		score, err := parseScore([]byte(value))
		if err != nil {
			return err
		}
		return run.Add(question, Hit{document, score})
	})
	if err != nil {
		return nil, err
	}
	if len(run.hits) == 0 {
		return nil, fmt.Errorf("%s: no results: the file is empty", name)
	}
	return run, nil
}

// WriteJSON writes the run as JSON in an order, with scores that count down as
// WriteRanking does.
func (r *Run) WriteJSON(w io.Writer, o Order) error {
	rankings := make(map[string]orderedScores)
	for _, question := range r.Questions() {
		ranking, err := r.Ranking(question, o)
		if err != nil {
			return err
		}
		rankings[question] = orderedScores{ranking}
	}
	return json.NewEncoder(w).Encode(rankings)
}

// orderedScores marshals a ranking as an object whose keys keep its order.
type orderedScores struct{ rank.Ranking }

func (s orderedScores) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i := range s.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		key, err := json.Marshal(s.ID(i))
		if err != nil {
			return nil, err
		}
		b = append(append(b, key...), ':')
		b = strconv.AppendInt(b, int64(s.Len()-i-1), 10)
	}
	return append(b, '}'), nil
}

// eachEntry calls f for each number of {"question": {"document": number}}, in
// the order of the text. Errors get the file's name and the line in front.
func eachEntry(name string, r io.Reader, f func(question, document string, value json.Number) error) error {
	lines := &lineCounter{r: r}
	d := json.NewDecoder(lines)
	d.UseNumber()
	at := func(err error) error {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("%s:%d: %w", name, lines.lineAt(d.InputOffset()), err)
	}
	if err := expect(d, '{'); err != nil {
		return at(err)
	}
	questions := make(map[string]bool)
	for d.More() {
		question, err := key(d)
		if err != nil {
			return at(err)
		}
		if questions[question] {
			return at(fmt.Errorf("question %q twice, want each once", question))
		}
		questions[question] = true
		if err := expect(d, '{'); err != nil {
			return at(fmt.Errorf("question %q: %w", question, err))
		}
		if !d.More() {
			return at(fmt.Errorf("question %q has no documents: leave it out", question))
		}
		for d.More() {
			document, err := key(d)
			if err != nil {
				return at(err)
			}
			token, err := d.Token()
			if err != nil {
				return at(err)
			}
			value, ok := token.(json.Number)
			if !ok {
				return at(fmt.Errorf("question %q, document %q: %v, want a number", question, document, token))
			}
			if err := f(question, document, value); err != nil {
				return at(err)
			}
		}
		if err := expect(d, '}'); err != nil {
			return at(err)
		}
	}
	if err := expect(d, '}'); err != nil {
		return at(err)
	}
	if token, err := d.Token(); err == nil {
		return at(fmt.Errorf("%v after the end, want one object", token))
	} else if err != io.EOF {
		return at(err)
	}
	return nil
}

func expect(d *json.Decoder, delim json.Delim) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	if token != delim {
		return fmt.Errorf("found %v, want %v: the form is {\"question\": {\"document\": number}}", token, delim)
	}
	return nil
}

// key reads an object's key, which in the formats here is never empty.
func key(d *json.Decoder) (string, error) {
	token, err := d.Token()
	if err != nil {
		return "", err
	}
	k, ok := token.(string)
	if !ok || k == "" {
		return "", fmt.Errorf("found %v, want an id that is not empty", token)
	}
	return k, nil
}

// lineCounter remembers where lines end in what it has passed on.
type lineCounter struct {
	r    io.Reader
	read int64
	ends []int64
}

func (l *lineCounter) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for i, c := range p[:n] {
		if c == '\n' {
			l.ends = append(l.ends, l.read+int64(i))
		}
	}
	l.read += int64(n)
	return n, err
}

func (l *lineCounter) lineAt(offset int64) int {
	line := 1
	for _, end := range l.ends {
		if end >= offset {
			break
		}
		line++
	}
	return line
}
