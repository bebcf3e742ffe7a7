package pack

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
	Unjudged string `json:",omitempty"` // why an answerable case has no relevant document: it enters no ranking measure
}

// Document is one unit of a corpus.
type Document struct {
	ID    string
	Title string
	Text  string
	Group string
	Date  string // RFC 3339 date, empty if unknown
	Meta  map[string]string
}
