package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/touchstone-eval/touchstone/engine/embed"
	"github.com/touchstone-eval/touchstone/engine/models"
	"github.com/touchstone-eval/touchstone/engine/models/onnx"
	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

// fullModel is the one that both sides can run.
const fullModel = "all-MiniLM-L6-v2"

func main() {
	// An interrupted benchmark removes its stores.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchengine:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	f := flag.NewFlagSet("benchengine", flag.ContinueOnError)
	f.SetOutput(progress)
	fixtures := f.String("fixtures", "fixtures", "folder of the packs")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("argument %q: want none", f.Arg(0))
	}
	env, err := evaltests.ParseEnv(os.Environ())
	if err != nil {
		return err
	}
	if env.Limit > 0 || len(env.Limits) > 0 {
		return errors.New("EVAL_LIMIT is set: the figures are those of SciFact in full; unset it")
	}
	const name = "scifact"
	if _, err := os.Stat(filepath.Join(env.Packs, name)); env.Packs == "" || err != nil {
		fmt.Fprintf(out, "not run: %s (set EVAL_PACKS to a folder that holds it)\n", name)
		return nil
	}
	base, err := os.MkdirTemp("", "benchengine-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	b := bench{base: base, timeout: env.CaseTimeout, python: os.Getenv("BENCH_PYTHON"), progress: progress}
	b.model, b.modelAbsent = findModel()
	start := time.Now()
	if b.pack, err = pack.Load(filepath.Join(*fixtures, name), pack.Options{Packs: env.Packs}); err != nil {
		return err
	}
	if err := b.pack.Check(); err != nil {
		return err
	}
	b.read = time.Since(start)
	figures, err := b.run(ctx)
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	if err != nil {
		return err
	}
	return figures.print(out)
}

// findModel returns the folder of the full model, or why there is none.
func findModel() (dir, absent string) {
	dir, err := models.Find(fullModel)
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, "model.onnx"))
	}
	if err != nil {
		return "", fmt.Sprintf("%s is not in %s: `make models`", fullModel, models.Dir())
	}
	return dir, ""
}

// bench is one run over a pack.
type bench struct {
	pack               *pack.Pack
	read               time.Duration // what reading the pack took
	base               string        // temporary
	timeout            time.Duration // of a case of the evaluation; 0 for the suite's own
	python             string        // empty: the Python side is not run
	model, modelAbsent string        // folder of the full model, or why it is not there
	progress           io.Writer
}

func (b bench) run(ctx context.Context) (Figures, error) {
	f := newFigures(b.pack)
	build, systems, err := b.engine(ctx, "default", nil, "BM25", "dense", "hybrid")
	if err != nil {
		return f, err
	}
	f.Build = build
	f.Systems = append(f.Systems, systems...)

	switch {
	case b.modelAbsent != "":
		f.NotRun = append(f.NotRun, fmt.Sprintf("this engine with %s (%s)", fullModel, b.modelAbsent))
	case onnx.Default != onnx.ORT:
		f.NotRun = append(f.NotRun, fmt.Sprintf("this engine with %s (needs a build with the tag ORT: `make ort` prints how)", fullModel))
	default:
		m, err := embed.OpenModel(b.model, embed.ModelOptions{Name: fullModel})
		if err != nil {
			return f, err
		}
		_, systems, err := b.engine(ctx, fullModel, m, "dense", "hybrid")
		if err = errors.Join(err, m.Close()); err != nil {
			return f, err
		}
		f.Systems = append(f.Systems, systems...)
	}

	if b.python == "" {
		f.NotRun = append(f.NotRun, "bm25s and "+fullModel+" in Python (set BENCH_PYTHON to a Python with tools/benchengine/requirements.txt)")
		return f, nil
	}
	if b.modelAbsent != "" {
		f.NotRun = append(f.NotRun, fmt.Sprintf("Python with %s (%s)", fullModel, b.modelAbsent))
	}
	peers, versions, err := b.peers(ctx)
	f.Systems, f.Versions = append(f.Systems, peers...), versions
	return f, err
}
