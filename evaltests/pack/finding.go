package pack

import (
	"cmp"
	"fmt"
	"slices"
)

// Finding is something wrong with a pack that does not stop it from loading:
// what its source got wrong and a loader could not repair, or what [Lint]
// found in its answer key.
type Finding struct {
	Rule     string `json:"rule"`               // the name of the rule, for instance "unmappable-evidence"
	Place    string `json:"place"`              // file:line below the content folder, or the file
	Case     string `json:"case,omitempty"`     // the case it is about, if it is about one
	Document string `json:"document,omitempty"` // the document it is about, if it is about one
	Text     string `json:"text"`               // what was found, what was expected
}

func (f Finding) String() string {
	about := ""
	if id := cmp.Or(f.Case, f.Document); id != "" {
		about = " " + id
	}
	return fmt.Sprintf("%s: %s%s: %s", f.Place, f.Rule, about, f.Text)
}

// LoaderRules lists what loaders note, in byte order.
func LoaderRules() []string {
	return []string{
		"adversarial-with-answer", "date-without-session", "few-paragraphs", "left-out", "malformed-evidence", "missing-file", "no-evidence",
		"no-relevant", "undocumented-relevance", "unjudged-question", "unjudged-topic", "unmappable-evidence", "unmappable-observation",
		"unobserved-evidence",
	}
}

// note records a defect of the source.
func (c *content) note(rule, place, caseID, docID, format string, args ...any) {
	c.defects = append(c.defects, Finding{Rule: rule, Place: c.below(place), Case: caseID, Document: docID, Text: fmt.Sprintf(format, args...)})
}

// Count counts findings by rule.
func Count(findings []Finding) map[string]int {
	n := map[string]int{}
	for _, f := range findings {
		n[f.Rule]++
	}
	return n
}

// Rules lists the rules that findings name, in byte order.
func Rules(findings []Finding) []string {
	var out []string
	for _, f := range findings {
		out = append(out, f.Rule)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
