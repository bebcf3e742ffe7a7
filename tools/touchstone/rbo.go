package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests/rank"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

func rboCommand() *cobra.Command {
	var o rboOptions
	c := &cobra.Command{
		Use:   "rbo A B",
		Short: "Rank-biased overlap of two rankings",
		Long: `Rank-biased overlap of two rankings: files with one id a line, the ids of a tie
group on one line separated by blanks; with --inline strings such as "(a b) c".

It prints the bare value; the form ext prints value, min and max, separated by
tabs. Forms: ext (extrapolated), min, max, res (max - min), norm (truncated and
normalised, identical lists are 1: the drift oracle's).`,
		Example: "  touchstone rbo before.txt after.txt\n  touchstone rbo --form norm --depth 10 before.txt after.txt\n  touchstone rbo --inline '(a b) c' 'a c b'",
		Args:    cobra.ExactArgs(2),
		RunE:    o.run,
	}
	f := c.Flags()
	f.Float64Var(&o.p, "p", 0.9, "persistence, between 0 and 1")
	f.StringVar(&o.form, "form", "ext", "ext, min, max, res or norm")
	f.StringVar(&o.ties, "ties", "a", "rule for ties: a (an order not known), b (RBO(x, x) is 1), w (equal ranks)")
	f.IntVar(&o.depth, "depth", 0, "compare only this deep")
	f.BoolVar(&o.inline, "inline", false, `A and B are rankings such as "(a b) c"`)
	f.BoolVar(&o.json, "json", false, "one JSON document")
	return c
}

type rboOptions struct {
	p            float64
	form, ties   string
	depth        int
	inline, json bool
}

func (o *rboOptions) run(cmd *cobra.Command, args []string) error {
	switch {
	case !(o.p > 0 && o.p < 1):
		return usage("rbo: --p %v; want between 0 and 1", o.p)
	case !slices.Contains([]string{"ext", "min", "max", "res", "norm"}, o.form):
		return usage("rbo: --form %q; want ext, min, max, res or norm", o.form)
	case !slices.Contains([]string{"a", "b", "w"}, o.ties):
		return usage("rbo: --ties %q; want a, b or w", o.ties)
	case o.depth < 0 || o.depth == 0 && cmd.Flags().Changed("depth"):
		return usage("rbo: --depth %d; want at least 1", o.depth)
	}
	var lists [2]rank.Tied
	for i, arg := range args {
		var err error
		if lists[i], err = o.read(arg); err != nil {
			return err
		}
	}
	values, err := o.compare(lists[0], lists[1])
	if err != nil {
		return refused(fmt.Errorf("rbo: %w", err))
	}
	out := cmd.OutOrStdout()
	if o.json {
		m := map[string]float64{o.form: values[0]}
		if len(values) == 3 {
			m["min"], m["max"] = values[1], values[2]
		}
		return refused(report.JSON(out, m))
	}
	for i, v := range values {
		separator := "\t"
		if i == len(values)-1 {
			separator = "\n"
		}
		if _, err := fmt.Fprint(out, shortest(v), separator); err != nil {
			return refused(err)
		}
	}
	return nil
}

func (o *rboOptions) read(arg string) (rank.Tied, error) {
	if o.inline {
		t, err := rank.ParseTied(arg)
		if err != nil {
			return nil, usage("rbo: %w", err)
		}
		return t, nil
	}
	f, err := os.Open(arg)
	if err != nil {
		return nil, refused(err)
	}
	defer f.Close()
	t, err := rank.ReadTied(arg, f)
	return t, refused(err)
}

func (o *rboOptions) compare(a, b rank.Tied) ([]float64, error) {
	rule := rank.TieRule(o.ties)
	if o.form == "norm" {
		depth := o.depth
		if depth == 0 {
			depth = max(1, len(a.IDs()), len(b.IDs()))
		}
		v, err := rank.RBONormTied(a, b, o.p, depth, rule)
		return []float64{v}, err
	}
	if o.depth > 0 {
		a, b = a.Top(o.depth), b.Top(o.depth)
	}
	r, err := rank.NewRBO(a, b, o.p, rule)
	if err != nil {
		return nil, err
	}
	switch o.form {
	case "min":
		return []float64{r.Min}, nil
	case "max":
		return []float64{r.Max}, nil
	case "res":
		return []float64{r.Res}, nil
	}
	return []float64{r.Ext, r.Min, r.Max}, nil
}
