package pack

import (
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/digest"
)

// Limit is p with at most n documents for each group (all of them are one
// group in a pack without): every document that a planned case judges, cites
// or must not return, and distractors up to n, chosen by a digest of their
// ids, so that neither the order of a file nor the questions choose them.
// Where the cases' own documents are more than n, they are all kept. The
// digest stays that of the whole pack.
func (p *Pack) Limit(cases []Case, n int) (*Pack, error) {
	content, err := p.Digest()
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for _, k := range cases {
		for id := range k.Gold.Grades {
			own[id] = true
		}
		for _, id := range slices.Concat(k.Gold.Sources, k.Gold.Negative) {
			own[id] = true
		}
		for _, e := range k.Gold.Evidence {
			own[e.Document] = true
		}
	}
	type candidate struct{ key, id string }
	groups := map[string][]candidate{}
	kept := map[string]int{}
	for _, d := range p.Documents {
		if own[d.ID] {
			kept[d.Group]++
		} else {
			groups[d.Group] = append(groups[d.Group], candidate{digest.Bytes([]byte(d.ID)), d.ID})
		}
	}
	for group, list := range groups {
		slices.SortFunc(list, func(a, b candidate) int { return strings.Compare(a.key, b.key) })
		for _, c := range list[:min(len(list), max(0, n-kept[group]))] {
			own[c.id] = true
		}
	}
	out := *p
	out.content = content
	out.Documents = nil
	for _, d := range p.Documents {
		if own[d.ID] {
			out.Documents = append(out.Documents, d)
		}
	}
	return &out, nil
}

// split is the part of its source that the cases are of: what pack.toml says,
// the format's default, or "all".
func (m Manifest) split() string {
	if m.Split != "" {
		return m.Split
	}
	if splits := loaders[m.Format].splits; len(splits) > 0 && m.Format != "beir" { // a BEIR folder of our own has one set, whole
		return splits[0]
	}
	return "all"
}

// Reference is a published or measured value beside which a suite's own may
// stand. Only one of the same measure, kind of output, split and unit is
// comparable; of another it says why not.
type Reference struct {
	Measure string  `toml:"measure" json:"measure"`
	Stage   string  `toml:"stage" json:"stage,omitempty"` // empty: the final ranking
	Value   float64 `toml:"value" json:"value"`
	Output  string  `toml:"output" json:"output"` // what was measured: "ranking", or something else, such as "answer"
	Split   string  `toml:"split" json:"split"`
	Unit    string  `toml:"unit" json:"unit"`
	Source  string  `toml:"source" json:"source"` // who measured it, with what, and where that is written
}

// Unequal is why r cannot be compared with a ranking over p, empty if it can.
func (r Reference) Unequal(p *Pack) string {
	switch {
	case r.Output != "ranking":
		return "it is of " + r.Output + ", this of a ranking"
	case r.Split != p.Manifest.split():
		return "it is of split " + r.Split + ", this of " + p.Manifest.split()
	case r.Unit != p.Manifest.Unit:
		return "its unit is " + r.Unit + ", here " + p.Manifest.Unit
	}
	return ""
}
