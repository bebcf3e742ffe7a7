package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests/report"
	"github.com/touchstone-eval/touchstone/evaltests/stat"
	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// figures are named numbers, or lists of them, in the order they are printed, p
// first where there is one.
type figures []struct {
	name  string
	value any
}

func (fs *figures) add(name string, value any) {
	*fs = append(*fs, struct {
		name  string
		value any
	}{name, value})
}

func (fs figures) print(w io.Writer, asJSON bool) error {
	if asJSON {
		m := map[string]any{}
		for _, f := range fs {
			m[f.name] = f.value
		}
		return report.JSON(w, m)
	}
	var b strings.Builder
	for _, f := range fs {
		switch v := f.value.(type) {
		case []float64:
			for _, x := range v {
				fmt.Fprintf(&b, "%s\t%s\n", f.name, shortest(x))
			}
		case float64:
			fmt.Fprintf(&b, "%s\t%s\n", f.name, shortest(v))
		default:
			fmt.Fprintf(&b, "%s\t%v\n", f.name, v)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// shortest is the shortest decimal that reads back to the same float64.
func shortest(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// statistic makes a command that computes figures. An error of compute is bad
// usage when the input stood on the command line, else a refusal.
func statistic(use, short, example string, args cobra.PositionalArgs, inline bool, compute func(args []string) (figures, error)) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: use, Short: short, Example: example, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			fs, err := compute(args)
			if err != nil && inline {
				return usage("%s: %w", strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" "), err)
			}
			if err != nil {
				return refused(err)
			}
			return refused(fs.print(cmd.OutOrStdout(), asJSON))
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}

func statCommand() *cobra.Command {
	return group("stat", "Exact and resampling statistics", statSign(), statMcNemar(), statWilcoxon(), statSignFlip(),
		statBootstrap(), statWilson(), statNewcombe(), statAdjust(), statMDE())
}

func statSign() *cobra.Command {
	return statistic("sign W L", "Exact sign test of wins and losses", "  touchstone stat sign 6 26", cobra.ExactArgs(2), true,
		func(args []string) (fs figures, err error) {
			n, err := counts(args)
			if err != nil {
				return nil, err
			}
			s, err := stat.SignTest(n[0], n[1])
			if err != nil {
				return nil, err
			}
			fs.add("p", s.P)
			fs.add("mid_p", s.MidP)
			fs.add("greater", s.Greater)
			fs.add("less", s.Less)
			return fs, nil
		})
}

func statMcNemar() *cobra.Command {
	return statistic("mcnemar A B C D", "McNemar's exact test: both right, first only, second only, neither",
		"  touchstone stat mcnemar 50 6 26 18", cobra.ExactArgs(4), true,
		func(args []string) (fs figures, err error) {
			n, err := counts(args)
			if err != nil {
				return nil, err
			}
			m, err := stat.McNemarTest(n[0], n[1], n[2], n[3])
			if err != nil {
				return nil, err
			}
			fs.add("p", m.P)
			fs.add("mid_p", m.MidP)
			if m.OddsDefined {
				fs.add("odds_ratio", m.OddsRatio)
			} else {
				fs.add("odds_ratio", "undefined")
			}
			return fs, nil
		})
}

func statWilcoxon() *cobra.Command {
	zeros := string(stat.ZerosWilcox)
	c := statistic("wilcoxon FILE", "Wilcoxon's signed-rank test of paired differences", "  touchstone stat wilcoxon --zeros pratt differences.txt",
		cobra.ExactArgs(1), false,
		func(args []string) (fs figures, err error) {
			if zeros != string(stat.ZerosWilcox) && zeros != string(stat.ZerosPratt) {
				return nil, usage("stat wilcoxon: --zeros %q; want wilcox or pratt", zeros)
			}
			d, err := numbers(args[0])
			if err != nil {
				return nil, err
			}
			w, err := stat.WilcoxonTest(d, stat.ZeroRule(zeros))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", args[0], err)
			}
			fs.add("p", w.P)
			fs.add("greater", w.Greater)
			fs.add("less", w.Less)
			fs.add("plus", w.Plus)
			fs.add("minus", w.Minus)
			fs.add("n", w.N)
			fs.add("zeros", w.Zeros)
			fs.add("z", w.Z)
			fs.add("exact", w.Exact)
			return fs, nil
		})
	c.Flags().StringVar(&zeros, "zeros", zeros, "differences of 0: wilcox (left out) or pratt (ranked, then dropped)")
	return c
}

// resampling are the flags of what draws at random.
type resampling struct {
	resamples int
	seed      uint64
}

func (r *resampling) check(what string) error {
	if r.resamples < 1 || r.resamples > stat.MaxResamples {
		return usage("stat %s: --resamples %d; want 1 to %d", what, r.resamples, stat.MaxResamples)
	}
	return nil
}

func (r *resampling) flags(c *cobra.Command) *cobra.Command {
	c.Flags().IntVar(&r.resamples, "resamples", 10000, "number of resamples")
	c.Flags().Uint64Var(&r.seed, "seed", 1, "seed of the resamples")
	return c
}

func statSignFlip() *cobra.Command {
	var r resampling
	return r.flags(statistic("signflip FILE", "Randomization test of paired differences: flips of sign", "  touchstone stat signflip differences.txt",
		cobra.ExactArgs(1), false,
		func(args []string) (fs figures, err error) {
			if err := r.check("signflip"); err != nil {
				return nil, err
			}
			d, err := numbers(args[0])
			if err != nil {
				return nil, err
			}
			s, err := stat.SignFlipTest(d, r.resamples, stat.NewStream(r.seed, "signflip"))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", args[0], err)
			}
			fs.add("p", s.P)
			fs.add("greater", s.Greater)
			fs.add("less", s.Less)
			fs.add("mean", s.Mean)
			fs.add("n", s.N)
			fs.add("exact", s.Exact)
			fs.add("resamples", s.Resamples)
			return fs, nil
		}))
}

func statBootstrap() *cobra.Command {
	var r resampling
	var confidence float64
	c := r.flags(statistic("bootstrap FILE", "Bootstrap intervals of a mean: BCa and percentile", "  touchstone stat bootstrap differences.txt",
		cobra.ExactArgs(1), false,
		func(args []string) (fs figures, err error) {
			if err := r.check("bootstrap"); err != nil {
				return nil, err
			}
			if !(confidence > 0 && confidence < 1) {
				return nil, usage("stat bootstrap: --confidence %v; want between 0 and 1", confidence)
			}
			d, err := numbers(args[0])
			if err != nil {
				return nil, err
			}
			b, err := stat.BootstrapMean(d, r.resamples, stat.NewStream(r.seed, "bootstrap"))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", args[0], err)
			}
			bca, err := b.BCa(confidence)
			if err != nil {
				return nil, err
			}
			percentile, err := b.Percentile(confidence)
			if err != nil {
				return nil, err
			}
			fs.add("mean", b.Observed)
			fs.add("bca_lo", bca.Lo)
			fs.add("bca_hi", bca.Hi)
			fs.add("percentile_lo", percentile.Lo)
			fs.add("percentile_hi", percentile.Hi)
			fs.add("se", b.SE())
			return fs, nil
		}))
	c.Flags().Float64Var(&confidence, "confidence", 0.95, "confidence of the intervals")
	return c
}

func statWilson() *cobra.Command {
	var confidence float64
	c := statistic("wilson K N", "Wilson's interval for K successes in N trials", "  touchstone stat wilson 72 83", cobra.ExactArgs(2), true,
		func(args []string) (fs figures, err error) {
			n, err := counts(args)
			if err != nil {
				return nil, err
			}
			lo, hi, err := stat.Wilson(n[0], n[1], confidence)
			if err != nil {
				return nil, err
			}
			fs.add("rate", float64(n[0])/float64(n[1]))
			fs.add("lo", lo)
			fs.add("hi", hi)
			return fs, nil
		})
	c.Flags().Float64Var(&confidence, "confidence", 0.95, "confidence of the interval")
	return c
}

func statNewcombe() *cobra.Command {
	var confidence float64
	c := statistic("newcombe A B C D", "Difference of two paired proportions with Newcombe's interval (method 10)",
		"  touchstone stat newcombe 50 6 26 18", cobra.ExactArgs(4), true,
		func(args []string) (fs figures, err error) {
			n, err := counts(args)
			if err != nil {
				return nil, err
			}
			d, ci, err := stat.Newcombe(n[0], n[1], n[2], n[3], confidence)
			if err != nil {
				return nil, err
			}
			fs.add("difference", d)
			fs.add("lo", ci.Lo)
			fs.add("hi", ci.Hi)
			return fs, nil
		})
	c.Flags().Float64Var(&confidence, "confidence", 0.95, "confidence of the interval")
	return c
}

func statAdjust() *cobra.Command {
	return statistic("adjust bh|by|holm|hochberg|bonferroni P...", "Adjust p-values for the number of tests",
		"  touchstone stat adjust bh 0.01 0.04 0.03", cobra.MinimumNArgs(2), true,
		func(args []string) (fs figures, err error) {
			var p []float64
			for _, a := range args[1:] {
				v, err := decimal(a)
				if err != nil {
					return nil, err
				}
				p = append(p, v)
			}
			adjusted, err := stat.Adjust(stat.Correction(args[0]), p)
			if err != nil {
				return nil, err
			}
			return figures{{"p", adjusted}}, nil
		})
}

func statMDE() *cobra.Command {
	var n int
	var assume stat.PairedProportions
	var exact bool
	c := statistic("mde --n N", "Smallest difference of paired proportions that N cases detect (5 %, two-sided; power 80 %)",
		"  touchstone stat mde --n 150\n  touchstone stat mde --n 30 --p 0.6 --rho 0.7 --exact", cobra.NoArgs, true,
		func([]string) (fs figures, err error) {
			const alpha, power = 0.05, 0.80
			if exact {
				d, possible, err := assume.ExactMDE(n, alpha, power)
				if err != nil {
					return nil, err
				}
				if !possible {
					fs.add("mde", "out of reach")
				} else {
					fs.add("mde", d)
				}
				fs.add("form", "exact")
			} else {
				d, err := assume.NormalMDE(n, alpha, power)
				if err != nil {
					return nil, err
				}
				fs.add("mde", d)
				fs.add("form", "normal")
			}
			least, possible, err := stat.SmallestAttainable(n, alpha)
			if err != nil {
				return nil, err
			}
			if possible {
				fs.add("smallest_attainable", least)
			} else {
				fs.add("smallest_attainable", "none")
			}
			fs.add("discordance", assume.Discordance())
			return fs, nil
		})
	c.Flags().IntVar(&n, "n", 0, "number of cases")
	c.Flags().Float64Var(&assume.P, "p", 0.6, "assumed success rate of both systems")
	c.Flags().Float64Var(&assume.Rho, "rho", 0.7, "assumed correlation of their outcomes")
	c.Flags().BoolVar(&exact, "exact", false, "by the exact sign test instead of the normal form")
	return c
}

func counts(args []string) ([]int, error) {
	out := make([]int, len(args))
	for i, a := range args {
		n, err := strconv.Atoi(a)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%q is not a count", a)
		}
		out[i] = n
	}
	return out, nil
}

// decimal reads a number and refuses what ParseFloat also takes: hexadecimal,
// underscores, infinity and NaN.
func decimal(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%s is too large for a 64-bit floating-point number", quoteStart(text))
	case err != nil || strings.ContainsAny(text, "xXpP_nN"):
		return 0, fmt.Errorf("%s is not a decimal number", quoteStart(text))
	}
	return v, nil
}

// quoteStart quotes a text, or its start if it is long.
func quoteStart(text string) string {
	if len(text) > 60 {
		return strconv.Quote(text[:60]) + "..."
	}
	return strconv.Quote(text)
}

// numbers reads one number a line; blank lines are skipped.
func numbers(path string) ([]float64, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []float64
	err = strict.Lines(path, bytes.NewReader(data), func(_ int, text []byte) error {
		v, err := decimal(string(text))
		out = append(out, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: holds no number", path)
	}
	return out, nil
}
