package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/metric/trec"
)

func main() {
	// An interrupted benchmark removes its files, which are large.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// config is the size of the benchmark and what runs beside.
type config struct {
	generator
	rounds           int
	pairs, resamples int
	dir              string
	trecEval, python string
	stdout           io.Writer
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	c := config{trecEval: os.Getenv("TREC_EVAL"), python: os.Getenv("BENCH_PYTHON"), stdout: stdout}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.IntVar(&c.questions, "questions", 10_000, "number of questions")
	f.IntVar(&c.hits, "hits", 1_000, "hits of each question")
	f.Uint64Var(&c.seed, "seed", 1, "seed of what is generated")
	f.IntVar(&c.rounds, "rounds", 3, "runs of each side, in turn; the fastest counts")
	f.IntVar(&c.pairs, "pairs", 10_000, "pairs of the resampling tests")
	f.IntVar(&c.resamples, "resamples", 10_000, "resamples of the resampling tests")
	f.StringVar(&c.dir, "dir", "", "where to keep the generated files (default: a folder that is removed)")
	cost := f.String("cost", "", "only run a command and write its time and peak memory to this file")
	evaluate := f.String("evaluate", "", "only measure QRELS RUN in this order (what the bench times)")
	peers := f.Bool("peers", false, "with -evaluate: AP and nDCG@10 instead of trec_eval's official measures")
	questions := f.Bool("q", false, "with -evaluate: a line for each question too")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *cost != "" {
		return measureCost(ctx, *cost, f.Args())
	}
	if *evaluate != "" {
		return evaluateFiles(stdout, f.Args(), trec.Order(*evaluate), *peers, *questions)
	}
	if min(c.questions, c.hits, c.rounds, c.pairs, c.resamples) < 1 || f.NArg() > 0 {
		return errors.New("want positive numbers and no arguments")
	}
	if c.dir == "" {
		temp, err := os.MkdirTemp("", "bench-metrics")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		c.dir = temp
	}
	return c.run(ctx)
}

func (c config) run(ctx context.Context) error {
	tools, err := c.findTools()
	if err != nil {
		return err
	}
	fmt.Fprintf(c.stdout, "%s/%s, %d cores, the fastest of %d runs\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), c.rounds)
	var failures []error
	for _, shuffle := range []bool{false, true} {
		c.shuffle = shuffle
		qrels, run, err := c.files(c.dir)
		if err != nil {
			return err
		}
		failures = append(failures, c.compareFiles(ctx, tools, qrels, run))
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
	}
	failures = append(failures, c.compareResampling(ctx, tools))
	if tools.python == "" {
		fmt.Fprint(c.stdout, "\nTo run the Python tools too:\n"+
			"  python3 -m venv .touchstone/bench && .touchstone/bench/bin/pip install -r evaltests/metric/trec/bench/requirements.txt\n"+
			"  BENCH_PYTHON=.touchstone/bench/bin/python make bench-metrics\n")
	}
	return errors.Join(failures...)
}

// peerMeasures are those that the Python tools compute.
var peerMeasures = []string{"AP", "nDCG@10"}

// evaluateFiles is what a run of the benchmark does, in a process of its own.
func evaluateFiles(stdout io.Writer, args []string, order trec.Order, peers, questions bool) error {
	if len(args) != 2 {
		return errors.New("want QRELS RUN")
	}
	o := trec.Options{Order: order, Official: !peers}
	if peers {
		var err error
		if o.Measures, err = metric.ParseAll(peerMeasures); err != nil {
			return err
		}
	}
	result, err := trec.Evaluate(args[0], args[1], o)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(stdout)
	for l := range result.Lines(questions) {
		fmt.Fprintf(out, "%s\t%s\t%s\n", l.Measure, l.Question, l.Value)
	}
	return out.Flush()
}
