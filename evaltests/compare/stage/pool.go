package stage

import (
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// pool looks at what the reranker was given, whether one ran or not.
func (r *Report) pool(cases []*sample, names []string, m metric.Measure) error {
	at := slices.Index(names, Rerank)
	if at < 1 {
		return nil
	}
	in := ""
	for _, name := range names[:at] {
		if r.figures(name).Ran > 0 {
			in = name
		}
	}
	if in == "" {
		return nil
	}
	p := &Pool{Stage: in}
	reranked, after := r.figures(Rerank).Ran > 0, 0.0
	for _, c := range cases {
		a, b := c.stages[in], c.stages[Rerank]
		if !a.ran || reranked && !b.ran {
			continue
		}
		p.N++
		gold := c.rows[0].Gold
		size, recall, ceiling, any := 0.0, 0.0, 0.0, false
		for _, es := range a.entries {
			docs, _, _ := record.Documents(es)
			found, of := relevant(docs, gold)
			size += float64(len(es))
			recall += float64(found) / float64(of)
			any = any || found > 0
			best, err := evaluate([]metric.Measure{m}, gold, ideal(es, gold))
			if err != nil {
				return err
			}
			ceiling += best[0]
		}
		k := float64(len(a.entries))
		p.Size += size / k
		p.Recall += recall / k
		p.Ceiling += ceiling / k
		p.Any += count(any)
		p.Before += a.values[0]
		if reranked {
			after += b.values[0]
		}
	}
	if p.N == 0 {
		return nil
	}
	n := float64(p.N)
	p.Size, p.Recall, p.Ceiling, p.Before = p.Size/n, p.Recall/n, p.Ceiling/n, p.Before/n
	if reranked {
		after /= n
		p.After = &after
	}
	r.Pool = p
	return nil
}

// relevant counts the relevant documents of a list, and all there are.
func relevant(docs []string, gold map[string]int) (found, of int) {
	for _, g := range gold {
		of += count(g > 0)
	}
	for _, id := range docs {
		found += count(gold[id] > 0)
	}
	return found, of
}

// ideal is the best order of the entries.
func ideal(entries []record.Entry, gold map[string]int) []record.Entry {
	out := slices.Clone(entries)
	slices.SortStableFunc(out, func(a, b record.Entry) int { return gold[b.Doc] - gold[a.Doc] })
	return out
}
