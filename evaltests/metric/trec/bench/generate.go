package main

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// generator makes a run and its qrels; the seed decides every byte.
type generator struct {
	questions, hits int
	seed            uint64
	shuffle         bool
}

const judgedPerQuestion = 40

func (g generator) files(dir string) (qrels, run string, err error) {
	base := fmt.Sprintf("%dx%d-seed%d", g.questions, g.hits, g.seed)
	qrels = filepath.Join(dir, base+".qrels")
	run = filepath.Join(dir, base+".grouped.run")
	if g.shuffle {
		run = filepath.Join(dir, base+".scattered.run")
	}
	for path, write := range map[string]func(*bufio.Writer){qrels: g.qrels, run: g.run} {
		if _, err := os.Stat(path); err == nil {
			continue
		}
		if err := create(path, write); err != nil {
			return "", "", err
		}
	}
	return qrels, run, nil
}

func create(path string, write func(*bufio.Writer)) error {
	f, err := os.Create(path + ".part")
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	write(w)
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}

// document is the id of the i-th hit of a question: distinct within it.
func document(question, i int) int { return (question*7_919 + i*611_953) % 8_841_823 }

func (g generator) qrels(w *bufio.Writer) {
	random := rand.New(rand.NewPCG(g.seed, 1))
	for q := range g.questions {
		step := max(1, g.hits/judgedPerQuestion)
		for j := range judgedPerQuestion {
			grade := max(0, random.IntN(6)-2)
			fmt.Fprintf(w, "%d 0 D%07d %d\n", 100_000+q, document(q, j*step+random.IntN(step)), grade)
		}
	}
}

// run writes lines such as "100000 Q0 D0611953 2 27.123400 bench". Scores have
// four digits after the point, so that two that differ also differ as 32-bit
// floats and every version of every tool sees the same order.
func (g generator) run(w *bufio.Writer) {
	random := rand.New(rand.NewPCG(g.seed, 2))
	var line []byte
	put := func(q, i int, score float64) {
		line = strconv.AppendInt(line[:0], int64(100_000+q), 10)
		line = fmt.Appendf(line, " Q0 D%07d %d ", document(q, i), i+1)
		line = strconv.AppendFloat(line, math.Round(score*1e4)/1e4, 'f', 6, 64)
		line = append(line, " bench\n"...)
		w.Write(line)
	}
	if g.shuffle { // rank by rank, so that no two lines of a question touch
		for i := range g.hits {
			for q := range g.questions {
				put(q, i, 30-float64(i)*0.02+float64(random.IntN(10_000))*1e-6)
			}
		}
		return
	}
	for q := range g.questions {
		score := 20 + 10*random.Float64()
		for i := range g.hits {
			put(q, i, score)
			if random.IntN(50) > 0 { // else a tie
				score -= random.Float64() * 0.03
			}
		}
	}
}

// differences are paired differences with a mean of 1.5 standard errors, so
// that neither p-value nor interval is at an edge.
func (c config) differences() []float64 {
	random := rand.New(rand.NewPCG(c.seed, 3))
	d := make([]float64, c.pairs)
	for i := range d {
		d[i] = 0.2 * (random.NormFloat64() + 1.5/math.Sqrt(float64(c.pairs)))
	}
	return d
}
