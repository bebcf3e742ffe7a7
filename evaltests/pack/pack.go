package pack

import "time"

// Question is everything a subject receives of a case. Its gold stays with
// the instrument.
type Question struct {
	ID      string            `json:"id"`
	Text    string            `json:"text"`
	AsOf    string            `json:"as_of,omitempty"`   // RFC 3339 date or time; empty means now
	Filters map[string]string `json:"filters,omitempty"` // exact-match restrictions on document metadata
}

// Gold is what is known to be right for a case.
type Gold struct {
	Grades     map[string]int // document (or chunk) id -> grade; a grade above 0 is relevant
	Answerable bool           // false: the right behaviour is to decline
	Expected   []string       // accepted answer forms, if the pack has any

	Patterns   []string    `json:",omitempty"` // regular expressions of accepted answers, in Go's syntax
	Sources    []string    `json:",omitempty"` // documents that an answer is expected to cite
	Evidence   []Evidence  `json:",omitempty"` // what the answer rests on
	Assertions *Assertions `json:",omitempty"` // what must, and must not, be in an answer
	Negative   []string    `json:",omitempty"` // documents that must not be returned
	Entities   []string    `json:",omitempty"` // names that the question is about
	EmptySet   bool        `json:",omitempty"` // the right result is none at all
}

// Evidence is a passage that an answer rests on, in the words of its document.
type Evidence struct {
	Document string `json:",omitempty"` // empty if the source names none
	Section  string `json:",omitempty"`
	Text     string
}

// Assertions are checks on an answer. None given means that the answer cannot
// be graded by them.
type Assertions struct {
	MustContainAll []string `json:",omitempty"` // each of them
	MustContainAny []string `json:",omitempty"` // at least one of them
	MustCiteAny    []string `json:",omitempty"` // at least one of these documents
	MustNotContain []string `json:",omitempty"` // none of them
}

// Relevant counts the gold units with a grade above 0.
func (g Gold) Relevant() int {
	n := 0
	for _, grade := range g.Grades {
		if grade > 0 {
			n++
		}
	}
	return n
}

// Case is a question with what the instrument knows about it.
type Case struct {
	Question Question
	Stratum  string // for stratified limits and per-stratum figures; empty means "all"
	Group    string // store scope (a conversation, a tenant); empty means the whole corpus
	Tags     []string
	Gold     Gold

	Unjudged  string `json:",omitempty"` // why an answerable case has no relevant document: it enters no ranking measure
	Contested string `json:",omitempty"` // why its published key is known to be wrong: it enters no ranking measure

	// KnownBroken says that subjects are known to fail the case. It changes
	// nothing about how the case is asked and counted.
	KnownBroken *KnownBroken `json:",omitempty"`
}

// KnownBroken is a failure that somebody has taken on, until a day.
type KnownBroken struct {
	Reason string
	Owner  string // who sees to it
	Until  string // YYYY-MM-DD, the last day on which it is not overdue
}

// Overdue reports whether the last day is past at t, by UTC.
func (k KnownBroken) Overdue(t time.Time) bool {
	last, err := time.Parse(time.DateOnly, k.Until)
	return err != nil || !t.UTC().Before(last.AddDate(0, 0, 1)) // a date that cannot be read is no excuse
}

// Document is one unit of a corpus.
type Document struct {
	ID    string
	Title string
	Text  string
	Group string
	Date  string // RFC 3339 date or time, empty if unknown
	Meta  map[string]string
}
