package seed

import (
	"errors"
	"fmt"
	"slices"
)

// Substrate is something that a search depends on.
type Substrate int

// The substrates. Their names are those of [Substrate.String].
const (
	Documents Substrate = iota + 1
	Chunks
	Lexical // documents of the lexical index
	Vectors // of one model
	Entities
	Links      // between documents
	EventDates // dates that documents tell of
	Pages
	PageSources // pairs of a page and a document that it covers
	Episodes    // runs of documents of one source
	Facts       // statements that a memory holds
)

var substrateNames = map[Substrate]string{
	Documents: "documents", Chunks: "chunks", Lexical: "lexical", Vectors: "vectors", Entities: "entities",
	Links: "links", EventDates: "event_dates", Pages: "pages", PageSources: "page_sources", Episodes: "episodes", Facts: "facts",
}

// Substrates lists all substrates in a fixed order.
func Substrates() []Substrate {
	var all []Substrate
	for s := range substrateNames {
		all = append(all, s)
	}
	slices.Sort(all)
	return all
}

func (s Substrate) String() string {
	if name, ok := substrateNames[s]; ok {
		return name
	}
	return fmt.Sprintf("substrate(%d)", int(s))
}

// ParseSubstrate finds a substrate by its name.
func ParseSubstrate(name string) (Substrate, error) {
	for s, n := range substrateNames {
		if n == name {
			return s, nil
		}
	}
	return 0, fmt.Errorf("substrate %q: want one of %v", name, Substrates())
}

// Tally is a count, or the reason why there is none. The zero Tally is
// unknown: nobody counted.
type Tally struct {
	n     int
	known bool
	err   error
}

// Known is a count that was taken.
func Known(n int) Tally {
	if n < 0 {
		return Unknown(fmt.Errorf("a count of %d", n))
	}
	return Tally{n: n, known: true}
}

// Unknown is a count that could not be taken.
func Unknown(err error) Tally { return Tally{err: err} }

// TallyOf is [Unknown] with an error and [Known] without.
func TallyOf(n int, err error) Tally {
	if err != nil {
		return Unknown(err)
	}
	return Known(n)
}

var errNotCounted = errors.New("nobody counted")

// Value is the count, or the reason why it is unknown.
func (t Tally) Value() (int, error) {
	switch {
	case t.known:
		return t.n, nil
	case t.err != nil:
		return 0, t.err
	}
	return 0, errNotCounted
}

// String is the number, or "unknown: why".
func (t Tally) String() string {
	n, err := t.Value()
	if err != nil {
		return "unknown: " + err.Error()
	}
	return fmt.Sprint(n)
}

// Count is a substrate counted twice: by the store's own count, and by walking
// its entries the way that a search gets at them.
type Count struct {
	Substrate  Substrate
	Model      string // of vectors: which model made them
	Counted    Tally
	Enumerated Tally
}

// Rows is the count that both ways agree on. An error says which is unknown,
// or that they differ.
func (c Count) Rows() (int, error) {
	counted, err := c.Counted.Value()
	if err != nil {
		return 0, fmt.Errorf("substrate %s: count unknown: %w", c.name(), err)
	}
	enumerated, err := c.Enumerated.Value()
	if err != nil {
		return 0, fmt.Errorf("substrate %s: count unknown: enumerate: %w", c.name(), err)
	}
	if counted != enumerated {
		return 0, fmt.Errorf("substrate %s: counted %d, enumerated %d", c.name(), counted, enumerated)
	}
	return counted, nil
}

func (c Count) name() string {
	if c.Model != "" {
		return fmt.Sprintf("%s of %s", c.Substrate, c.Model)
	}
	return c.Substrate.String()
}
