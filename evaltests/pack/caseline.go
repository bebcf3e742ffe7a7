package pack

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// caseLine is a line of cases.jsonl: what our own packs say of a question
// beside its text and its judgements. docs/packs.md lists the keys.
type caseLine struct {
	ID         string            `json:"id"`
	Stratum    string            `json:"stratum,omitempty"`
	Group      string            `json:"group,omitempty"`
	Tags       []string          `json:"tags,omitempty"`
	Answerable *bool             `json:"answerable,omitempty"`
	AsOf       string            `json:"as_of,omitempty"`
	Filters    map[string]string `json:"filters,omitempty"`
	Expected   []string          `json:"expected,omitempty"`
	Patterns   []string          `json:"patterns,omitempty"`
	Sources    []string          `json:"sources,omitempty"`
	Evidence   []evidenceLine    `json:"evidence,omitempty"`
	Assertions json.RawMessage   `json:"assertions,omitempty"`
	Negative   []string          `json:"negative,omitempty"`
	Entities   []string          `json:"entities,omitempty"`
	EmptySet   bool              `json:"empty_set,omitempty"`
	Unjudged   string            `json:"unjudged,omitempty"`

	KnownBroken *knownBrokenLine `json:"known_broken,omitempty"`
}

type knownBrokenLine struct {
	Reason string `json:"reason"`
	Owner  string `json:"owner"`
	Until  string `json:"until"`
}

func (l *knownBrokenLine) known() (*KnownBroken, error) {
	if l == nil {
		return nil, nil
	}
	if strings.TrimSpace(l.Reason) == "" || strings.TrimSpace(l.Owner) == "" {
		return nil, errors.New("want a reason and an owner: what is broken, and who sees to it")
	}
	if _, err := time.Parse(time.DateOnly, l.Until); err != nil {
		return nil, fmt.Errorf("until: found %.40q, want YYYY-MM-DD: the day by which it is mended", l.Until)
	}
	k := KnownBroken(*l)
	return &k, nil
}

type evidenceLine struct {
	Doc     string `json:"doc,omitempty"`
	Section string `json:"section,omitempty"`
	Text    string `json:"text"`
}

type assertionsLine struct {
	MustContainAll []string `json:"must_contain_all,omitempty"`
	MustContainAny []string `json:"must_contain_any,omitempty"`
	MustCiteAny    []string `json:"must_cite_any,omitempty"`
	MustNotContain []string `json:"must_not_contain,omitempty"`
}

func (k caseLine) asCase(q Question) (Case, error) {
	if err := dateOrTime(k.AsOf); err != nil {
		return Case{}, fmt.Errorf("as_of: %w", err)
	}
	q.AsOf, q.Filters = k.AsOf, k.Filters
	c := Case{
		Question: q, Stratum: k.Stratum, Group: k.Group, Tags: k.Tags, Unjudged: k.Unjudged,
		Gold: Gold{
			Answerable: k.Answerable == nil || *k.Answerable, Expected: k.Expected, Patterns: k.Patterns, Sources: k.Sources,
			Negative: k.Negative, Entities: k.Entities, EmptySet: k.EmptySet,
		},
	}
	for i, e := range k.Evidence {
		if e.Text == "" {
			return Case{}, fmt.Errorf("evidence[%d]: want a value for text", i)
		}
		c.Gold.Evidence = append(c.Gold.Evidence, Evidence{Document: e.Doc, Section: e.Section, Text: e.Text})
	}
	a, err := assertions(k.Assertions)
	if err != nil {
		return Case{}, fmt.Errorf("assertions: %w", err)
	}
	c.Gold.Assertions = a
	if c.KnownBroken, err = k.KnownBroken.known(); err != nil {
		return Case{}, fmt.Errorf("known_broken: %w", err)
	}
	return c, patterns(k.Patterns)
}

// assertions are an object of lists, or one list of what must all be there.
func assertions(raw json.RawMessage) (*Assertions, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var a Assertions
	if raw[0] == '[' {
		if err := strict.JSON(raw, &a.MustContainAll, true); err != nil {
			return nil, err
		}
	} else {
		var l assertionsLine
		if err := strict.JSON(raw, &l, true); err != nil {
			return nil, err
		}
		a = Assertions(l)
	}
	if len(a.MustContainAll)+len(a.MustContainAny)+len(a.MustCiteAny)+len(a.MustNotContain) == 0 {
		return nil, fmt.Errorf("none is given; remove the key")
	}
	return &a, nil
}

// lineOf is what cases.jsonl says of a case.
func lineOf(k Case) (caseLine, error) {
	g := k.Gold
	l := caseLine{
		ID: k.Question.ID, Stratum: k.Stratum, Group: k.Group, Tags: k.Tags, AsOf: k.Question.AsOf, Filters: k.Question.Filters,
		Expected: g.Expected, Patterns: g.Patterns, Sources: g.Sources, Negative: g.Negative, Entities: g.Entities,
		EmptySet: g.EmptySet, Unjudged: k.Unjudged,
	}
	if !g.Answerable {
		no := false
		l.Answerable = &no
	}
	if k.KnownBroken != nil {
		broken := knownBrokenLine(*k.KnownBroken)
		l.KnownBroken = &broken
	}
	for _, e := range g.Evidence {
		l.Evidence = append(l.Evidence, evidenceLine{Doc: e.Document, Section: e.Section, Text: e.Text})
	}
	if g.Assertions != nil {
		var err error
		if l.Assertions, err = json.Marshal(assertionsLine(*g.Assertions)); err != nil {
			return caseLine{}, err
		}
	}
	return l, nil
}

// dateOrTime refuses what is neither empty nor a date or time of RFC 3339.
func dateOrTime(text string) error {
	if text == "" {
		return nil
	}
	if _, err := time.Parse(time.DateOnly, text); err == nil {
		return nil
	}
	if _, err := time.Parse(time.RFC3339, text); err == nil {
		return nil
	}
	return fmt.Errorf("found %.40q, want YYYY-MM-DD or a time in RFC 3339", text)
}
