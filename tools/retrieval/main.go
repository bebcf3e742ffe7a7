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
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// weights of the vector arm that are tried; the lexical arm has 1.
var weights = []float64{0, 0.1, 0.2, 0.3, 0.5, 0.75, 1}

var testPacks = []string{"scifact", "clapnq-dev", "multihoprag-500-facts", "hotpotqa-100", "squad2-sample500", "cranfield"}

func main() {
	doc := flag.String("doc", "docs/retrieval.md", "file whose figures are replaced; - prints them")
	fixtures := flag.String("fixtures", "fixtures", "folder of the packs")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *fixtures, *doc, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "retrieval:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, fixtures, doc string, out, progress io.Writer) (err error) {
	env, err := evaltests.ParseEnv(os.Environ())
	if err != nil {
		return err
	}
	if env.Limit > 0 || len(env.Limits) > 0 {
		return errors.New("EVAL_LIMIT is set: figures of a part of the questions do not belong into the document; unset it")
	}
	var figures Figures
	lab, err := newLab(env, progress)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lab.close()) }()
	load := func(name string) (*pack.Pack, error) {
		p, err := pack.Load(filepath.Join(fixtures, name), pack.Options{Packs: env.Packs})
		if err != nil {
			return nil, err
		}
		return p, p.Check()
	}

	train, err := load("scifact-train")
	if err != nil {
		return err
	}
	godoc, err := load("godoc")
	if err != nil {
		return err
	}
	godoc.Cases = EveryOther(godoc.Cases)
	for _, p := range []*pack.Pack{train, godoc} {
		curve, err := lab.sweep(ctx, p, weights)
		if err != nil {
			return err
		}
		figures.Development = append(figures.Development, curve)
	}
	if figures.Choice, err = Choose(weights, figures.Development); err != nil {
		return err
	}
	fmt.Fprintf(progress, "chosen: weights.vector=%v\n", figures.Choice.Weight)

	// Questions without an answer are in no figure of the test packs. The
	// passages they were asked about tell whether the choice holds elsewhere.
	for _, name := range []string{"clapnq-dev", "squad2-sample500"} {
		p, err := load(name)
		if err != nil {
			return err
		}
		p.Manifest.Name += "-asked-about"
		p.Cases = AskedAbout(p.Cases)
		curve, err := lab.sweep(ctx, p, weights)
		if err != nil {
			return err
		}
		figures.Check = append(figures.Check, curve)
	}

	for _, name := range testPacks {
		p, err := load(name)
		if err != nil {
			return err
		}
		arms := []float64{0, figures.Choice.Weight, 1}
		slices.Sort(arms)
		curve, err := lab.sweep(ctx, p, slices.Compact(arms))
		if err != nil {
			return err
		}
		figures.Test = append(figures.Test, curve)
	}
	figures.Subject = lab.subject
	figures.Class = record.CurrentIdentity().Class
	text, err := figures.Markdown()
	if err != nil {
		return err
	}
	if doc == "-" {
		_, err = io.WriteString(out, text)
		return err
	}
	return replace(doc, text)
}
