package pack

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// addPassage adds a passage that the source repeats with each question that
// it belongs to. One id with another text is refused.
func (c *content) addPassage(place string, d Document) error {
	first, again := c.documentAt(d.ID)
	if !again {
		return c.addDocument(place, d)
	}
	known := c.documents[c.docIndex[d.ID]]
	if known.Title != d.Title || known.Text != d.Text {
		return fmt.Errorf("%s: document %q differs from its first form, at %s", place, d.ID, first)
	}
	return nil
}

// field is a key that an object must have.
type field struct {
	name  string
	given bool
}

// required names the fields that are missing or null.
func required(fields ...field) error {
	var missing []string
	for _, f := range fields {
		if !f.given {
			missing = append(missing, f.name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("want a value for %s", strings.Join(missing, ", "))
}

// distinct drops repeated and empty answers; the order stays.
func distinct(answers []string) []string {
	var out []string
	for _, a := range answers {
		if strings.TrimSpace(a) != "" && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// patterns refuses a pattern that is no regular expression.
func patterns(list []string) error {
	for i, p := range list {
		if _, err := regexp.Compile(p); err != nil {
			return fmt.Errorf("patterns[%d]: %w", i, err)
		}
	}
	return nil
}

// sorted lists the keys of m in byte order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
