package trec

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
)

// gold is a question's judgements, ready to be looked up.
type gold struct {
	ids    []string
	grades []int
	hashes []uint64
	counts metric.Gold
}

// add appends judgements; the ids are copied.
func (g *gold) add(ids [][]byte, grades []int) {
	size := 0
	for _, id := range ids {
		size += len(id)
	}
	all := make([]byte, 0, size)
	for _, id := range ids {
		all = append(all, id...)
	}
	text := string(all) // one allocation for all ids
	g.ids = slices.Grow(g.ids, len(ids))
	g.hashes = slices.Grow(g.hashes, len(ids))
	for _, id := range ids {
		g.ids = append(g.ids, text[:len(id)])
		text = text[len(id):]
		g.hashes = append(g.hashes, hash(id))
	}
	g.grades = append(g.grades, grades...)
}

// goldReader collects judgements from pieces of a file, on all cores.
type goldReader struct {
	mu    sync.Mutex
	golds map[string]*gold
	parts map[string]int // groups of lines that a question came in
}

// loadGolds reads a qrels file as LoadQrels does, faster.
func loadGolds(path string) (map[string]*gold, error) {
	r, done, err := open(path)
	if err != nil {
		return nil, err
	}
	defer done()
	reader := &goldReader{golds: make(map[string]*gold), parts: make(map[string]int)}
	source := &chunks{r: r, size: chunkSize}
	err = inParallel(runtime.GOMAXPROCS(0), func(int) error {
		err := reader.work(source)
		if err != nil {
			source.stop()
		}
		return err
	})
	if err == nil {
		err = reader.finish()
	}
	if err == nil && len(reader.golds) == 0 {
		err = errStrict // an empty file
	}
	if err != nil {
		if _, first := LoadQrels(path); first != nil {
			return nil, first
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return reader.golds, nil
}

func (r *goldReader) work(source *chunks) error {
	var buf []byte
	var t table
	for {
		p, ok, err := source.next(&buf)
		if err != nil || !ok {
			return err
		}
		var g goldGroup
		if err := eachGold(p, &g, func(g *goldGroup) error { return r.add(g, &t) }); err != nil {
			return err
		}
	}
}

func (r *goldReader) add(group *goldGroup, t *table) error {
	question := string(group.question)
	r.mu.Lock()
	g := r.golds[question]
	r.mu.Unlock()
	if g == nil {
		// Nearly always the only group: prepared outside of the lock.
		g = new(gold)
		g.add(group.ids, group.grades)
		g.counts = metric.NewGold(g.grades)
		if t.repeats(g) {
			return errStrict
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.golds[question] == nil {
			r.golds[question] = g
			return nil
		}
	} else {
		r.mu.Lock()
		defer r.mu.Unlock()
	}
	// Scattered: another group of the same question was there before.
	g = r.golds[question]
	g.add(group.ids, group.grades)
	r.parts[question]++
	return nil
}

// finish counts and checks the questions that came in several parts.
func (r *goldReader) finish() error {
	var t table
	for _, question := range slices.Sorted(maps.Keys(r.parts)) {
		g := r.golds[question]
		g.counts = metric.NewGold(g.grades)
		if t.repeats(g) {
			return errStrict
		}
	}
	return nil
}

// golds makes judgements in memory ready to be looked up.
func (q Qrels) golds() map[string]*gold {
	golds := make(map[string]*gold, len(q))
	for question, documents := range q {
		g := new(gold)
		var ids [][]byte
		var grades []int
		for id, grade := range documents {
			ids, grades = append(ids, []byte(id)), append(grades, grade)
		}
		g.add(ids, grades)
		g.counts = metric.NewGold(g.grades)
		golds[question] = g
	}
	return golds
}

// goldGroup is consecutive lines of one question. Its slices are reused.
type goldGroup struct {
	question []byte
	ids      [][]byte
	grades   []int
}

// eachGold calls f for each group of lines in a piece of qrels. The ids that f
// sees point into the piece.
func eachGold(p piece, g *goldGroup, f func(*goldGroup) error) error {
	buf := p.data[:len(p.data)+slack]
	n := len(p.data)
	for i := 0; i < n; {
		line := i
		i = fieldStart(buf, i)
		if buf[i] == '#' {
			for buf[i] != '\n' {
				i++
			}
		}
		if buf[i] == '\n' {
			if i-line > maxLine {
				return errStrict
			}
			i++
			continue
		}
		var field [4][]byte
		count := 0
		for ; buf[i] != '\n'; i = fieldStart(buf, i) {
			end := fieldEnd(buf, i)
			if count < len(field) {
				field[count] = buf[i:end:end]
			}
			count++
			i = end
		}
		grade, ok := wholeNumber(field[3])
		if count != 4 || !ok || i-line > maxLine {
			return errStrict
		}
		if string(field[0]) != string(g.question) {
			if len(g.ids) > 0 {
				if err := f(g); err != nil {
					return err
				}
			}
			g.question, g.ids, g.grades = field[0], g.ids[:0], g.grades[:0]
		}
		g.ids, g.grades = append(g.ids, field[2]), append(g.grades, grade)
		i++
	}
	if len(g.ids) > 0 {
		return f(g)
	}
	return nil
}

// wholeNumber reads a small grade; others are left to parseGrade.
func wholeNumber(field []byte) (int, bool) {
	if len(field) == 1 && field[0]-'0' < 10 {
		return int(field[0] - '0'), true
	}
	grade, err := parseGrade(field)
	return grade, err == nil
}
