package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

const resamples = 10_000

// Figures are all that the document says in numbers.
type Figures struct {
	Subject     string // the embedder
	Class       string // the platform
	Development []Curve
	Choice      Choice
	Check       []Curve // other questions, which did not decide
	Test        []Curve
}

// Markdown renders the tables.
func (f Figures) Markdown() (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "Embedder `%s`, platform %s, %d resamples.\n\n", f.Subject, f.Class, resamples)
	for _, part := range []func(*strings.Builder) error{f.stages, f.graded, f.curve, f.check, f.effect} {
		if err := part(&b); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// stages shows the arms and their fusion with equal weights.
func (f Figures) stages(b *strings.Builder) error {
	b.WriteString("### Stages\n\nnDCG@10, linear gain, with the 95 % bootstrap interval.\n\n")
	fmt.Fprintf(b, "| pack | questions | BM25 | dense | fused 1:1 | fused, vector %v |\n|---|---|---|---|---|---|\n", f.Choice.Weight)
	for _, c := range f.Test {
		row := fmt.Sprintf("| %s | %d |", c.Pack, c.Cases)
		for _, col := range f.columns() {
			cell, err := interval(c, col.weight, col.stage, linear)
			if err != nil {
				return err
			}
			row += " " + cell + " |"
		}
		fmt.Fprintln(b, row)
	}
	b.WriteString("\n")
	return nil
}

type column struct {
	name   string
	weight float64
	stage  string
}

// columns of the table of stages. Each arm's own list is the same at every
// weight that lets the arm run.
func (f Figures) columns() []column {
	return []column{
		{"BM25", 1, "lexical"}, {"dense", 1, "vector"}, {"fused 1:1", 1, "final"},
		{"fused", f.Choice.Weight, "final"},
	}
}

// graded shows the other gains where grades differ.
func (f Figures) graded(b *strings.Builder) error {
	b.WriteString("### Packs with grades\n\n| pack | measure | BM25 | dense | fused 1:1 | fused, chosen |\n|---|---|---|---|---|---|\n")
	for _, c := range f.Test {
		if !c.Graded {
			continue
		}
		for _, m := range []string{linear, exponential, binary} {
			row := fmt.Sprintf("| %s | `%s` |", c.Pack, m)
			for _, col := range f.columns() {
				cell, err := interval(c, col.weight, col.stage, m)
				if err != nil {
					return err
				}
				row += " " + cell + " |"
			}
			fmt.Fprintln(b, row)
		}
	}
	b.WriteString("\n")
	return nil
}

// curve shows what the choice was made on.
func (f Figures) curve(b *strings.Builder) error {
	b.WriteString("### The weight on development data\n\n| vector weight |")
	for _, c := range f.Development {
		fmt.Fprintf(b, " %s (%d) |", c.Pack, c.Cases)
	}
	b.WriteString(" average | loss to the best | SE of the loss | p |\n|---|")
	b.WriteString(strings.Repeat("---|", len(f.Development)+4) + "\n")
	for _, p := range f.Choice.Points {
		name := fmt.Sprint(p.Weight)
		if p.Weight == f.Choice.Weight {
			name = "**" + name + "**"
		}
		fmt.Fprintf(b, "| %s |", name)
		for _, m := range p.Means {
			fmt.Fprintf(b, " %.4f |", m)
		}
		if p.Weight == f.Choice.Best {
			fmt.Fprintf(b, " %.4f | best | | |\n", p.Average)
			continue
		}
		fmt.Fprintf(b, " %.4f | %.4f | %.4f | %s |\n", p.Average, p.Loss, p.SE, pValue(p.P))
	}
	fmt.Fprintf(b, "\nBest average at %v; chosen: **%v**.\n\n", f.Choice.Best, f.Choice.Weight)
	return nil
}

// check shows the same weights on questions that had no say.
func (f Figures) check(b *strings.Builder) error {
	b.WriteString("### The same weights on questions that did not decide\n\n| vector weight |")
	for _, c := range f.Check {
		fmt.Fprintf(b, " %s (%d) |", c.Pack, c.Cases)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(f.Check)) + "\n")
	for _, p := range f.Choice.Points {
		fmt.Fprintf(b, "| %v |", p.Weight)
		for _, c := range f.Check {
			cell, err := interval(c, p.Weight, "final", linear)
			if err != nil {
				return err
			}
			b.WriteString(" " + cell + " |")
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	return nil
}

// effect compares the chosen weight with equal weights and with no vector arm.
func (f Figures) effect(b *strings.Builder) error {
	fmt.Fprintf(b, "### Effect of %v on the test packs\n\n", f.Choice.Weight)
	b.WriteString("Differences of nDCG@10 on the same questions, 95 % bootstrap interval, two-sided sign flip test, p by Holm over all rows.\n\n")
	b.WriteString("| pack | chosen less | difference | p | p, Holm | R@100 of chosen | R@100 of the other |\n|---|---|---|---|---|---|---|\n")
	type line struct{ head, tail string }
	var lines []line
	var ps []float64
	for _, c := range f.Test {
		for _, other := range []struct {
			name   string
			weight float64
		}{{"1:1", 1}, {"BM25 alone", 0}} {
			d, err := difference(c, f.Choice.Weight, other.weight)
			if err != nil {
				return err
			}
			flip, err := stat.SignFlipTest(d, resamples, stat.NewStream(1, c.Pack, other.name))
			if err != nil {
				return err
			}
			boot, err := stat.BootstrapMean(d, resamples, stat.NewStream(2, c.Pack, other.name))
			if err != nil {
				return err
			}
			in, err := boot.Percentile(0.95)
			if err != nil {
				return err
			}
			chosen, err := c.At(f.Choice.Weight, "final", recall)
			if err != nil {
				return err
			}
			against, err := c.At(other.weight, "final", recall)
			if err != nil {
				return err
			}
			ps = append(ps, flip.P)
			lines = append(lines, line{
				fmt.Sprintf("| %s | %s | %+.4f [%+.4f, %+.4f] | %s |", c.Pack, other.name, boot.Observed, in.Lo, in.Hi, pValue(flip.P)),
				fmt.Sprintf(" %.4f | %.4f |", mean(chosen), mean(against)),
			})
		}
	}
	adjusted, err := stat.Adjust(stat.Holm, ps)
	if err != nil {
		return err
	}
	for i, l := range lines {
		fmt.Fprintf(b, "%s %s |%s\n", l.head, pValue(adjusted[i]), l.tail)
	}
	b.WriteString("\n")
	return nil
}

func difference(c Curve, weight, other float64) ([]float64, error) {
	a, err := c.At(weight, "final", linear)
	if err != nil {
		return nil, err
	}
	b, err := c.At(other, "final", linear)
	if err != nil {
		return nil, err
	}
	d := make([]float64, len(a))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return d, nil
}

func interval(c Curve, weight float64, stage, measure string) (string, error) {
	v, err := c.At(weight, stage, measure)
	if err != nil {
		return "", err
	}
	boot, err := stat.BootstrapMean(v, resamples, stat.NewStream(1, c.Pack))
	if err != nil {
		return "", err
	}
	in, err := boot.Percentile(0.95)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%.4f [%.3f, %.3f]", boot.Observed, in.Lo, in.Hi), nil
}

func pValue(p float64) string {
	if p < 0.001 {
		return "< .001"
	}
	return fmt.Sprintf("%.3f", p)
}

const (
	begin = "<!-- figures: written by scripts/retrieval-table -->\n"
	end   = "<!-- end of figures -->\n"
)

// replace puts the figures between the two markers of the document.
func replace(doc, figures string) error {
	data, err := os.ReadFile(doc)
	if err != nil {
		return err
	}
	text, err := between(string(data), figures)
	if err != nil {
		return fmt.Errorf("%s: %w", doc, err)
	}
	return os.WriteFile(doc, []byte(text), 0o644)
}

func between(doc, figures string) (string, error) {
	head, rest, ok := strings.Cut(doc, begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", fmt.Errorf("want the lines %q and %q around the figures", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return head + begin + "\n" + figures + end + tail, nil
}
