package trec

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
)

// Evaluate measures a run file against a qrels file, both plain or gzip. It
// reads the run in pieces on all cores, so that memory does not grow with the
// number of questions, as long as the lines of a question stand together;
// otherwise it keeps the hits in a compact form. The result is the same.
func Evaluate(qrelsPath, runPath string, o Options) (*Result, error) {
	p, err := newPlan(o)
	if err != nil {
		return nil, err
	}
	golds, err := loadGolds(qrelsPath)
	if err != nil {
		return nil, err
	}
	r, err := p.evaluateFile(golds, runPath)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (p *plan) evaluateFile(golds map[string]*gold, path string) (*Result, error) {
	e := &evaluation{plan: p, golds: golds, seen: make(map[string]bool)}
	err := e.grouped(path)
	if errors.Is(err, errScattered) {
		err = e.scattered(path)
	}
	if err == nil && len(e.questions)+len(e.noGold) == 0 {
		err = errStrict // an empty file
	}
	if err != nil {
		return nil, e.explain(path, err)
	}
	r, err := p.finish(e.questions, e.noGold, golds, e.tag, e.scorers)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// explain finds the first fault of a file, in reading order, with its line and
// text, or else the first question whose gold a measure cannot take. The fast
// reader only knows that there is a fault, and which one it meets first depends
// on the cores.
func (e *evaluation) explain(path string, err error) error {
	if _, first := LoadRun(path); first != nil {
		return first
	}
	s, serr := e.newScorer()
	if serr != nil {
		return serr
	}
	for _, question := range slices.Sorted(maps.Keys(e.golds)) {
		if _, first := s.score(question, nil, nil, e.golds[question]); first != nil {
			return first
		}
	}
	return fmt.Errorf("%s: %w", path, err)
}

// errScattered says that the lines of a question do not stand together.
var errScattered = errors.New("the lines of a question are scattered")

// evaluation collects what the workers find.
type evaluation struct {
	*plan
	golds   map[string]*gold
	scorers []*scorer

	mu        sync.Mutex
	seen      map[string]bool
	questions []Question
	noGold    []string
	tag       string
	tagFrom   int // the piece it comes from
}

// grouped measures each question as soon as its lines are read.
func (e *evaluation) grouped(path string) error {
	r, done, err := open(path)
	if err != nil {
		return err
	}
	defer done()
	source := &chunks{r: r, size: chunkSize}
	e.tagFrom = -1
	return e.onAllCores(func(s *scorer) error {
		err := e.work(source, s)
		if err != nil {
			source.stop()
		}
		return err
	})
}

// onAllCores runs work once on each core, with a scorer of its own.
func (e *evaluation) onAllCores(work func(*scorer) error) error {
	for range runtime.GOMAXPROCS(0) {
		s, err := e.newScorer()
		if err != nil {
			return err
		}
		e.scorers = append(e.scorers, s)
	}
	return inParallel(len(e.scorers), func(i int) error { return work(e.scorers[i]) })
}

// inParallel runs work n times at once. If the lines turn out to be scattered,
// that is the error, whatever else happened.
func inParallel(n int, work func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = work(i) })
	}
	wg.Wait()
	if slices.ContainsFunc(errs, func(err error) bool { return errors.Is(err, errScattered) }) {
		return errScattered
	}
	return errors.Join(errs...)
}

func (e *evaluation) work(source *chunks, s *scorer) error {
	var buf []byte
	var g group
	for {
		p, ok, err := source.next(&buf)
		if err != nil || !ok {
			return err
		}
		tag, err := eachGroup(p, &g, func(g *group) error {
			question := string(g.question)
			if e.again(question) {
				return errScattered
			}
			return e.measure(s, question, g.ids, g.scores)
		})
		if err != nil {
			return err
		}
		if tag != nil {
			e.setTag(string(tag), p.index)
		}
	}
}

// again reports whether a question was met before, and remembers it.
func (e *evaluation) again(question string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	again := e.seen[question]
	e.seen[question] = true
	return again
}

func (e *evaluation) setTag(tag string, from int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if from > e.tagFrom {
		e.tag, e.tagFrom = tag, from
	}
}

func (e *evaluation) measure(s *scorer, question string, ids [][]byte, scores []float64) error {
	g := e.golds[question]
	q, err := s.score(question, ids, scores, g)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if g == nil {
		e.noGold = append(e.noGold, question)
		return nil
	}
	e.questions = append(e.questions, q)
	return nil
}
