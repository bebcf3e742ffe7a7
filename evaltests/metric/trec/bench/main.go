package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests/metric/trec"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	questions := flag.Int("questions", 10_000, "number of questions")
	hits := flag.Int("hits", 1_000, "hits of each question")
	seed := flag.Uint64("seed", 1, "seed of the generated files")
	rounds := flag.Int("rounds", 3, "runs of each side, in turn; the fastest counts")
	dir := flag.String("dir", "", "where to keep the generated files (default: a folder that is removed)")
	shuffle := flag.Bool("shuffle", false, "scatter the lines of the run")
	evaluate := flag.Bool("evaluate", false, "only evaluate QRELS RUN (what the bench measures)")
	flag.Parse()
	if *evaluate {
		return evaluateFiles(flag.Args())
	}
	if *questions < 1 || *hits < 1 || *rounds < 1 || flag.NArg() > 0 {
		return errors.New("want positive numbers and no arguments")
	}
	if *dir == "" {
		temp, err := os.MkdirTemp("", "bench-metrics")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		*dir = temp
	}
	g := generator{questions: *questions, hits: *hits, seed: *seed, shuffle: *shuffle}
	qrels, runFile, err := g.files(*dir)
	if err != nil {
		return err
	}
	return compare(qrels, runFile, g.questions*g.hits, *rounds)
}

// evaluateFiles is what a run of the benchmark does, in a process of its own.
func evaluateFiles(args []string) error {
	if len(args) != 2 {
		return errors.New("want QRELS RUN")
	}
	result, err := trec.Evaluate(args[0], args[1], trec.Options{Official: true})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	for l := range result.Lines(false) {
		fmt.Fprintf(out, "%s\t%s\t%s\n", l.Measure, l.Question, l.Value)
	}
	return out.Flush()
}

// cost is what a process took.
type cost struct {
	wall time.Duration
	peak int64 // bytes
}

// compare runs both sides in turn and prints the fastest of each.
func compare(qrels, runFile string, lines, rounds int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	reading, size, err := readAll(runFile)
	if err != nil {
		return err
	}
	trecEval := os.Getenv("TREC_EVAL")
	var ours, theirs cost
	for range rounds {
		if ours, err = faster(ours, self, "-evaluate", qrels, runFile); err != nil {
			return err
		}
		if trecEval == "" {
			continue
		}
		if theirs, err = faster(theirs, trecEval, qrels, runFile); err != nil {
			return err
		}
	}
	fmt.Printf("file        %d lines, %.0f MB, %d cores\n", lines, mb(size), runtime.NumCPU())
	fmt.Printf("touchstone  %.3f s, %.1f million lines/s, peak %.0f MB, reading alone %.3f s (%.0f %%)\n",
		ours.wall.Seconds(), float64(lines)/ours.wall.Seconds()/1e6, mb(ours.peak), reading.Seconds(), 100*reading.Seconds()/ours.wall.Seconds())
	if trecEval == "" {
		fmt.Println("trec_eval   not measured: TREC_EVAL names no binary")
		return nil
	}
	fmt.Printf("trec_eval   %.3f s, peak %.0f MB\n", theirs.wall.Seconds(), mb(theirs.peak))
	fmt.Printf("ratio       %.1f times faster, %.1f times less memory\n", theirs.wall.Seconds()/ours.wall.Seconds(), float64(theirs.peak)/float64(ours.peak))
	return nil
}

func mb(bytes int64) float64 { return float64(bytes) / 1e6 }

// faster runs a command and gives its cost, or the earlier one if that was
// less time.
func faster(earlier cost, name string, args ...string) (cost, error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return cost{}, fmt.Errorf("%s: %w", name, err)
	}
	c := cost{time.Since(start), peakMemory(cmd.ProcessState)}
	if earlier.wall > 0 && earlier.wall < c.wall {
		return earlier, nil
	}
	return c, nil
}

func readAll(path string) (time.Duration, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	buf := make([]byte, 1<<20)
	start := time.Now()
	var size int64
	for {
		n, err := f.Read(buf)
		size += int64(n)
		if err == io.EOF {
			return time.Since(start), size, nil
		}
		if err != nil {
			return 0, 0, err
		}
	}
}

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
	run = filepath.Join(dir, base+".run")
	if g.shuffle {
		run = filepath.Join(dir, base+".shuffled.run")
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

func (g generator) run(w *bufio.Writer) {
	random := rand.New(rand.NewPCG(g.seed, 2))
	var line []byte
	put := func(q, i int, score float64) {
		line = strconv.AppendInt(line[:0], int64(100_000+q), 10)
		line = fmt.Appendf(line, " Q0 D%07d %d ", document(q, i), i+1)
		line = strconv.AppendFloat(line, score, 'f', 6, 64)
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
