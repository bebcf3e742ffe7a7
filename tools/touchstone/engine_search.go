package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/engine/folder"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

func engineSearchCommand() *cobra.Command {
	var (
		o               engineOptions
		k               int
		asJSON, explain bool
	)
	c := &cobra.Command{
		Use:   "search DIR QUESTION",
		Short: "Search an indexed folder",
		Long: `Search an indexed folder. The words after DIR are the question; it is never
query syntax. A question that begins with a dash needs -- before DIR. Finding
nothing is no error.`,
		Example: "  touchstone engine search ~/notes how many days of leave\n  touchstone engine search ~/notes 'travel desk' -k 3 --explain",
		Args:    cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if k < 1 || k > maxHits {
				return usage("engine search: -k %d; want 1 to %d", k, maxHits)
			}
			x, err := o.open(cmd.Context(), args[0], true, 0)
			if err != nil {
				return err
			}
			a, err := x.Search(cmd.Context(), folder.Question{Text: strings.Join(args[1:], " "), K: k, Explain: explain})
			if err = errors.Join(err, x.Close()); err != nil {
				return refused(err)
			}
			if asJSON {
				return refused(report.JSON(cmd.OutOrStdout(), a))
			}
			if len(a.Hits) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "touchstone: nothing found")
			}
			showAnswer(cmd.OutOrStdout(), a, explain)
			return nil
		},
	}
	o.flags(c)
	c.Flags().IntVarP(&k, "k", "k", 10, "most files to show")
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	c.Flags().BoolVar(&explain, "explain", false, "show the stages, and the rank of each hit in them; with --json also how scores were computed")
	return c
}

// maxHits is the most that a search is asked for: the depth of its arms.
const maxHits = 100

func showAnswer(w io.Writer, a *folder.Answer, explain bool) {
	begin, end := "*", "*" // around matched words
	if isTerminal(w) && os.Getenv("NO_COLOR") == "" {
		begin, end = "\x1b[1m", "\x1b[0m"
	}
	if explain {
		for _, s := range a.Stages {
			line := fmt.Sprintf("%-10s %s, %d of %d passages", s.Name, s.State, s.Hits, s.Total)
			if s.Reason != "" {
				line += ": " + harmless(s.Reason)
			}
			fmt.Fprintln(w, line)
		}
		fmt.Fprintln(w)
	}
	for _, h := range a.Hits {
		fmt.Fprintf(w, "%d. %s  (%s, %s)\n", h.Rank, harmless(h.Title), harmless(h.Path), harmless(h.Date))
		var b strings.Builder
		for _, s := range h.Snippet {
			if s.Match {
				b.WriteString(begin + harmless(s.Text) + end)
			} else {
				b.WriteString(harmless(s.Text))
			}
		}
		if b.Len() > 0 {
			fmt.Fprintf(w, "   %s\n", b.String())
		}
		if explain {
			fmt.Fprintf(w, "   %s\n", rankLine(h.Ranks))
			// The rest is the computation of the BM25 score, for which there is
			// --json.
			how, _, _ := strings.Cut(h.Explain, "\n")
			fmt.Fprintf(w, "   %s\n", harmless(how))
		}
	}
}

// rankLine is such as "vector 3, lexical 1, fusion 1".
func rankLine(ranks []folder.StageRank) string {
	var parts []string
	for _, r := range ranks {
		at := "none"
		if r.Rank > 0 {
			at = fmt.Sprint(r.Rank)
		}
		parts = append(parts, r.Stage+" "+at)
	}
	return strings.Join(parts, ", ")
}
