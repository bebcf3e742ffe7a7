package selftest_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/seed"
)

// toyPack is 120 documents of three words each from a closed vocabulary, and
// 40 questions that repeat the words of one document.
func toyPack() *pack.Pack {
	p := &pack.Pack{Manifest: pack.Manifest{
		Name: "toy", Version: "1", Unit: "document", Format: "beir", Role: "guard", Authored: "self",
	}, Loader: "beir/1"}
	word := func(i int) string { return fmt.Sprintf("word%02d", i) }
	for i := range 120 {
		p.Documents = append(p.Documents, pack.Document{
			ID:   fmt.Sprintf("d%03d", i),
			Text: strings.Join([]string{word(i % 40), word((i * 7) % 37), word((i*11 + 5) % 31)}, " "),
		})
	}
	for i := range 40 {
		d := p.Documents[i*3]
		p.Cases = append(p.Cases, pack.Case{
			Question: pack.Question{ID: fmt.Sprintf("q%02d", i), Text: d.Text},
			Stratum:  "all",
			Gold:     pack.Gold{Answerable: true, Grades: map[string]int{d.ID: 1}},
		})
	}
	return p
}

// toyEngine has a lexical arm (words in common, rare ones count more), a
// vector arm (letters in common) and their reciprocal rank fusion.
type toyEngine struct{ corpus []pack.Document }

func (e *toyEngine) Ingest(_ context.Context, corpus []pack.Document) error {
	e.corpus = corpus
	return nil
}

func (e *toyEngine) Fingerprint(context.Context) (evaltests.Fingerprint, error) {
	return evaltests.Fingerprint{
		Config: map[string]record.Set{"rrf_k": {Value: "60", Default: true}}, SeedKey: "toy",
	}, nil
}

func (e *toyEngine) Substrates(context.Context) ([]evaltests.Substrate, error) {
	return []evaltests.Substrate{{Name: "documents", Counted: len(e.corpus), Enumerated: len(e.corpus)}}, nil
}

// Survey reports a store that has all that any channel works on.
func (e *toyEngine) Survey(context.Context) (seed.Survey, error) {
	n := len(e.corpus)
	v := seed.Survey{
		Model: "toy", Sources: seed.Known(1), Duplicates: seed.Known(0), Classified: seed.Known(n), Dated: seed.Known(n), Cued: seed.Known(n),
		Truncated: seed.Known(0), Zero: seed.Known(0), Conformance: &seed.Conformance{Checks: 9, MinCosine: 1},
	}
	for _, s := range seed.Substrates() {
		c := seed.Count{Substrate: s, Counted: seed.Known(n), Enumerated: seed.Known(n)}
		if s == seed.Vectors {
			c.Model = "toy"
		}
		v.Counts = append(v.Counts, c)
	}
	return v, nil
}

func (e *toyEngine) Channels() []string { return record.Channels() }

func (e *toyEngine) Pool() int { return 50 }

func (e *toyEngine) Search(_ context.Context, q pack.Question) (record.Observation, error) {
	lexical := e.rank(func(d pack.Document) float64 {
		score := 0.0
		for _, w := range strings.Fields(q.Text) {
			if strings.Contains(d.Text, w) {
				score += 1 / float64(1+e.frequency(w))
			}
		}
		return score
	})
	vector := e.rank(func(d pack.Document) float64 { return cosine(letters(q.Text), letters(d.Text)) })
	fused := map[string]float64{}
	for _, arm := range [][]record.Entry{lexical, vector} {
		for i, x := range arm {
			fused[x.Doc] += 1 / float64(60+i+1)
		}
	}
	final := e.rank(func(d pack.Document) float64 { return fused[d.ID] })[:20]
	stage := func(name string, es []record.Entry) record.Stage {
		return record.Stage{Name: name, State: record.Executed, Entries: es, Total: len(es)}
	}
	return record.Observation{
		Ranking: final,
		Stages:  []record.Stage{stage("vector", vector), stage("lexical", lexical), stage(record.Final, final)},
	}, nil
}

func (e *toyEngine) frequency(w string) (n int) {
	for _, d := range e.corpus {
		if strings.Contains(d.Text, w) {
			n++
		}
	}
	return n
}

func (e *toyEngine) rank(score func(pack.Document) float64) []record.Entry {
	es := make([]record.Entry, len(e.corpus))
	for i, d := range e.corpus {
		es[i] = record.Entry{Doc: d.ID, Score: score(d)}
	}
	slices.SortFunc(es, func(a, b record.Entry) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
	})
	return es
}

func letters(s string) (v [64]float64) {
	for i := 0; i+1 < len(s); i++ {
		v[(int(s[i])*31+int(s[i+1]))%64]++
	}
	return v
}

func cosine(a, b [64]float64) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab, aa, bb = ab+a[i]*b[i], aa+a[i]*a[i], bb+b[i]*b[i]
	}
	return ab / math.Sqrt(aa*bb)
}
