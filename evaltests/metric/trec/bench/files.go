package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/metric/trec"
)

// compareFiles times and compares all tools on one run.
func (c config) compareFiles(ctx context.Context, t tools, qrels, run string) error {
	reading, size, err := readAll(run)
	if err != nil {
		return err
	}
	lines := c.questions * c.hits
	what := "grouped"
	if c.shuffle {
		what = "scattered"
	}
	fmt.Fprintf(c.stdout, "\n%s run: %d lines, %.0f MB, %.1f bytes a line\n", what, lines, mb(size), float64(size)/float64(lines))
	commands := []command{{t.self, []string{"-evaluate", string(t.order), qrels, run}}}
	if t.trecEval != "" {
		commands = append(commands, command{t.trecEval, []string{qrels, run}})
	}
	costs, _, err := t.fastest(ctx, c.rounds, commands...)
	if err != nil {
		return err
	}
	ours := costs[0]
	fmt.Fprintf(c.stdout, "  %-20s %7.3f s, peak %5.0f MB, %.1f million lines/s; reading alone %.3f s (%.0f %%)\n", "touchstone",
		ours.Wall.Seconds(), mb(ours.Peak), float64(lines)/ours.Wall.Seconds()/1e6, reading.Seconds(), 100*reading.Seconds()/ours.Wall.Seconds())
	if t.trecEval == "" {
		fmt.Fprintln(c.stdout, "  not run: trec_eval (set TREC_EVAL to a binary)")
	} else {
		c.report("trec_eval", costs[1], ours)
		if err := c.agreeWithTrecEval(ctx, t, qrels, run); err != nil {
			return err
		}
	}
	return c.comparePeers(ctx, t, qrels, run)
}

// report prints a tool's cost and how it compares.
func (c config) report(name string, theirs, ours cost) {
	fmt.Fprintf(c.stdout, "  %-20s %7.3f s, peak %5.0f MB: %.1f times the time, %.1f times the memory\n", name,
		theirs.Wall.Seconds(), mb(theirs.Peak), theirs.Wall.Seconds()/ours.Wall.Seconds(), float64(theirs.Peak)/float64(ours.Peak))
}

func (c config) agreeWithTrecEval(ctx context.Context, t tools, qrels, run string) error {
	_, out, err := t.fastest(ctx, 1,
		command{t.self, []string{"-evaluate", string(t.order), "-q", qrels, run}},
		command{t.trecEval, []string{"-q", qrels, run}})
	if err != nil {
		return err
	}
	ours, err := parseLines(out[0])
	if err != nil {
		return err
	}
	theirs, err := parseLines(out[1])
	if err != nil {
		return err
	}
	if err := agree(ours, theirs, fourDigits); err != nil {
		return fmt.Errorf("trec_eval: %w", err)
	}
	fmt.Fprintf(c.stdout, "  %-20s %d values, of each question and of all, agree to its four digits\n", "", len(ours))
	return nil
}

// comparePeers times the Python tools, once each: they are slow. Touchstone
// computes the same two measures.
func (c config) comparePeers(ctx context.Context, t tools, qrels, run string) error {
	var ours cost
	var limits map[string][]metric.TieRange
	for _, p := range peers {
		if !t.has[p.module] {
			fmt.Fprintln(c.stdout, " ", t.notRun(p.name))
			continue
		}
		if limits == nil {
			costs, _, err := t.fastest(ctx, c.rounds, command{t.self, []string{"-evaluate", string(trec.Trec), "-peers", "-q", qrels, run}})
			if err != nil {
				return err
			}
			ours = costs[0]
			fmt.Fprintf(c.stdout, "  %-20s %7.3f s, peak %5.0f MB for AP and nDCG@10 alone; what follows computes these two, in 1 run, loading included\n", "touchstone", ours.Wall.Seconds(), mb(ours.Peak))
			if limits, err = tieLimits(qrels, run); err != nil {
				return err
			}
		}
		out := filepath.Join(c.dir, p.task+".tsv")
		theirs, _, err := t.start(ctx, command{t.python, []string{t.script, p.task, qrels, run, out}})
		if err != nil {
			return err
		}
		c.report(p.name, theirs, ours)
		values, err := readPeer(out)
		if err != nil {
			return err
		}
		// terrier carries trec_eval's rule for ties; ranx has none.
		exact, free, err := agreeWithPeer(limits, values, p.task == "terrier")
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Fprintf(c.stdout, "  %-20s %d values agree to 1e-9", "", exact)
		if free > 0 {
			fmt.Fprintf(c.stdout, "; %d, where equal scores leave a choice, lie within its bounds", free)
		}
		fmt.Fprintln(c.stdout)
	}
	return nil
}

// tieLimits measures each question as the Python tools are asked to, with the
// bounds over tie orders. The value itself stands in Mean.
func tieLimits(qrels, run string) (map[string][]metric.TieRange, error) {
	measures, err := metric.ParseAll(peerMeasures)
	if err != nil {
		return nil, err
	}
	result, err := trec.Evaluate(qrels, run, trec.Options{Measures: measures, TieRanges: true})
	if err != nil {
		return nil, err
	}
	limits := make(map[string][]metric.TieRange, len(result.Questions))
	for _, q := range result.Questions {
		for i := range q.TieRanges {
			q.TieRanges[i].Mean = q.Values[i]
		}
		limits[q.ID] = q.TieRanges
	}
	return limits, nil
}
