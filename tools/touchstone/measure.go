package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/metric/trec"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

func measureCommand() *cobra.Command {
	var o trec.Options
	var names []string
	var order, missing string
	var questions, asJSON bool
	c := &cobra.Command{
		Use:   "measure QRELS RUN",
		Short: "Measure a TREC run against qrels",
		Long: `Measure a TREC run against qrels, both plain or gzip. Lines are
measure<TAB>question or all<TAB>value. Without -m and --all-trec the measures
are those that trec_eval prints unless asked, under its names.

trec_eval's -c is --missing zero (the default here; without -c it is drop), -l
is --level, -M is --depth, -J is --judged-only.`,
		Example: "  touchstone measure qrels.txt run.txt\n  touchstone measure -m nDCG@10 -m 'P(rel=2)@5' -q qrels.txt run.txt.gz\n  touchstone measure --all-trec --order trec9 --missing drop qrels.txt run.txt",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if o.Measures, err = metric.ParseAll(names); err != nil {
				return usage("measure: %w", err)
			}
			o.Order, o.Missing = trec.Order(order), trec.Missing(missing)
			o.Official = len(names) == 0 && !o.All
			for name, n := range map[string]int{"level": o.Level, "depth": o.Depth} {
				if n == 0 && cmd.Flags().Changed(name) {
					return usage("measure: --%s 0; want at least 1", name)
				}
			}
			if err := o.Validate(); err != nil {
				return usage("measure: %w", err)
			}
			r, err := trec.Evaluate(args[0], args[1], o)
			if err != nil {
				return refused(err)
			}
			noteMeasured(cmd, r, o)
			if asJSON {
				m, err := measuredJSON(r)
				if err != nil {
					return refused(fmt.Errorf("%s: %w", args[1], err))
				}
				return refused(report.JSON(cmd.OutOrStdout(), m))
			}
			return refused(printMeasured(cmd, r, questions))
		},
	}
	f := c.Flags()
	f.StringArrayVarP(&names, "measure", "m", nil, "a measure as ir_measures names it, for instance nDCG@10 (repeatable)")
	f.BoolVar(&o.All, "all-trec", false, "all of trec_eval's measures, under its names")
	f.StringVar(&order, "order", string(trec.Trec), "order of a question's hits: trec, trec9, input or id-asc")
	f.StringVar(&missing, "missing", string(trec.Zero), "a question without results: zero or drop")
	f.IntVar(&o.Level, "level", 0, "lowest relevant grade (default 1)")
	f.IntVar(&o.Depth, "depth", 0, "use only this many hits of each question")
	f.BoolVar(&o.JudgedOnly, "judged-only", false, "leave out documents without a grade")
	f.StringVar(&o.Gains, "gains", "", "gains of nDCG by grade, for instance 1=1,2=3")
	f.BoolVarP(&questions, "questions", "q", false, "a line for each question too")
	f.BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}

func printMeasured(cmd *cobra.Command, r *trec.Result, questions bool) error {
	var b strings.Builder
	for l := range r.Lines(questions) {
		fmt.Fprintf(&b, "%s\t%s\t%s\n", l.Measure, l.Question, l.Value)
	}
	_, err := fmt.Fprint(cmd.OutOrStdout(), b.String())
	return err
}

// noteMeasured says on standard error what the figures leave out.
func noteMeasured(cmd *cobra.Command, r *trec.Result, o trec.Options) {
	w := cmd.ErrOrStderr()
	if n := len(r.Missing); n > 0 {
		what := "count 0"
		if o.Missing == trec.Drop {
			what = "are left out"
		}
		fmt.Fprintf(w, "touchstone: %d questions with gold have no results and %s: %s\n", n, what, some(r.Missing))
	}
	if n := len(r.NoGold); n > 0 {
		fmt.Fprintf(w, "touchstone: %d questions of the run have no gold and are left out: %s\n", n, some(r.NoGold))
	}
	for _, t := range r.Ties {
		if t.Questions > 0 {
			fmt.Fprintf(w, "touchstone: in %d questions equal scores lie on both sides of rank %d\n", t.Questions, t.Cut)
		}
	}
}

// some shows up to three ids, quoted where they hold what a terminal would act
// on or not show.
func some(ids []string) string {
	shown := make([]string, 0, 4)
	for _, id := range ids[:min(3, len(ids))] {
		if quoted := strconv.Quote(id); quoted != `"`+id+`"` {
			id = quoted
		}
		shown = append(shown, id)
	}
	if len(ids) > 3 {
		shown = append(shown, "...")
	}
	return strings.Join(shown, ", ")
}

type measured struct {
	Summary   map[string]any            `json:"summary"`
	Questions map[string]map[string]any `json:"questions"`
	Missing   []string                  `json:"missing"`
	NoGold    []string                  `json:"no_gold"`
	Ties      map[string]int            `json:"ties_across_rank"` // rank -> questions
}

// measuredJSON refuses ids that JSON cannot hold: it would replace their bytes,
// so that two questions may get one name.
func measuredJSON(r *trec.Result) (measured, error) {
	ids := slices.Concat(r.Missing, r.NoGold, []string{r.RunID})
	for _, q := range r.Questions {
		ids = append(ids, q.ID)
	}
	for _, id := range ids {
		if !utf8.ValidString(id) {
			return measured{}, fmt.Errorf("id %q is not UTF-8, which JSON cannot hold: leave --json out", id)
		}
	}
	m := measured{
		Summary: map[string]any{}, Questions: map[string]map[string]any{},
		Missing: append([]string{}, r.Missing...), NoGold: append([]string{}, r.NoGold...), Ties: map[string]int{},
	}
	for i, c := range r.Columns {
		text := c.Measure == (metric.Measure{})
		for _, q := range r.Questions {
			if !c.Questions {
				continue
			}
			if m.Questions[q.ID] == nil {
				m.Questions[q.ID] = map[string]any{}
			}
			if m.Questions[q.ID][c.Name] = q.Values[i]; text {
				m.Questions[q.ID][c.Name] = q.RelString
			}
		}
		if c.Summary {
			if m.Summary[c.Name] = r.Summary[i]; text {
				m.Summary[c.Name] = r.RunID
			}
		}
	}
	for _, t := range r.Ties {
		m.Ties[fmt.Sprint(t.Cut)] = t.Questions
	}
	return m, nil
}
