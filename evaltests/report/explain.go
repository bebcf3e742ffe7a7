package report

import (
	"fmt"
	"io"
	"sort"
	"strings"
	"text/tabwriter"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Explain writes one case through all stages: the question, its gold with the
// rank at every stage, and the first ranks of each.
func Explain(w io.Writer, run record.Run, r record.Row, depth int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s / %s / %s   %s\n", clean(r.Suite), clean(r.Arm), clean(r.Case), clean(string(r.Outcome.State)))
	fmt.Fprintf(&b, "question  %s\n", clean(r.Question))
	if r.Outcome.Reason != "" {
		fmt.Fprintf(&b, "reason    %s\n", clean(r.Outcome.Reason))
	}
	if r.Outcome.Action != "" {
		fmt.Fprintf(&b, "do        %s\n", clean(r.Outcome.Action))
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "warning   %s\n", clean(warning))
	}
	if !r.Ranked() {
		b.WriteString("gold      none: the right behaviour is to decline\n")
	} else {
		goldTable(&b, r)
	}
	if len(r.Measures) > 0 {
		names := make([]string, 0, len(r.Measures))
		for m := range r.Measures {
			names = append(names, m)
		}
		sort.Strings(names)
		b.WriteString("\nmeasures  ")
		for i, m := range names {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%s %.4f", clean(m), r.Measures[m])
		}
		b.WriteString("\n")
	}
	for _, s := range r.Stages {
		stageList(&b, s, r.Gold, depth)
	}
	if len(r.Stages) == 0 && len(r.Ranking) > 0 {
		stageList(&b, record.Stage{Name: record.Final, State: record.Executed, Entries: r.Ranking, Total: len(r.Ranking)}, r.Gold, depth)
	}
	if cmd := Rerun(run, r.Case); cmd != "" {
		fmt.Fprintf(&b, "\nrerun     %s\n", clean(cmd))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func goldTable(b *strings.Builder, r record.Row) {
	tw := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprint(tw, "gold\tgrade")
	for _, s := range r.Stages {
		fmt.Fprintf(tw, "\t%s", clean(s.Name))
	}
	fmt.Fprintln(tw)
	for _, id := range expected(r.Gold) {
		fmt.Fprintf(tw, "  %s\t%d", clean(id), r.Gold[id])
		for _, s := range r.Stages {
			if s.State != record.Executed {
				fmt.Fprintf(tw, "\t%s", clean(s.State)) // it did not lose the document
				continue
			}
			fmt.Fprintf(tw, "\t%s", rankText(goldRank(s.Entries, map[string]int{id: 1})))
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
}

func stageList(b *strings.Builder, s record.Stage, gold map[string]int, depth int) {
	fmt.Fprintf(b, "\n%s", clean(s.Name))
	switch {
	case s.State != record.Executed:
		fmt.Fprintf(b, "  %s: %s\n", clean(s.State), clean(s.Reason))
		return
	case len(s.Entries) == 0:
		fmt.Fprintf(b, "  empty")
		if s.Reason != "" {
			fmt.Fprintf(b, ": %s", clean(s.Reason))
		}
		b.WriteString("\n")
		return
	}
	fmt.Fprintf(b, "  %d of %d candidates, %.2f ms\n", len(s.Entries), s.Total, float64(s.Micros)/1000)
	tw := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for i, e := range s.Entries[:min(max(depth, 0), len(s.Entries))] {
		mark := ""
		if gold[e.Doc] > 0 {
			mark = fmt.Sprintf("\t* grade %d", gold[e.Doc])
		}
		fmt.Fprintf(tw, "  %d\t%s\t%.6g%s\n", i+1, clean(e.Doc), e.Score, mark)
	}
	tw.Flush()
}
