package enrich

import "fmt"

// Version names the rules of this package. It changes whenever some text gives
// another result, so that stores made by other rules are recognised.
const Version = "enrich/1"

// The most that is kept of one document, so that no text can make a store
// grow without bound.
const (
	MaxDates      = 200
	MaxEntities   = 500 // different ones
	MaxReferences = 500
	MaxSections   = 500
)

// Document is what is read.
type Document struct {
	ID    string
	Title string
	Text  string
	Date  string // when it was written; see [ParseMoment]
}

// Result is what was found. Offsets are bytes of the document's text.
type Result struct {
	Moment     *Moment // when the document was written; nil if unknown
	Names      []Name  // under which others may refer to the document
	Dates      []Date  // by field, then position; they do not overlap
	Entities   []Entity
	References []Reference
	Sections   []Section
	Skipped    []Skip
}

// Skip is something that could not be done for a document.
type Skip struct {
	Step   string // one of the Step constants
	Reason string
}

// The steps of an enrichment, as in [Skip.Step].
const (
	StepDates      = "dates"
	StepEntities   = "entities"
	StepReferences = "references"
	StepSections   = "sections"
	StepEpisodes   = "episodes" // which need the document's date
)

// Steps are all of them.
var Steps = []string{StepDates, StepEntities, StepReferences, StepSections, StepEpisodes}

// Read reads a document. It never fails.
func Read(d Document) Result {
	r := Result{Names: names(d)}
	if m, ok := ParseMoment(d.Date); ok {
		r.Moment = &m
	} else {
		r.skip(StepEpisodes, "the document has %s", undated(d.Date))
	}
	r.dates(d)
	r.entities(d)
	if r.Sections = sections(d.Text); len(r.Sections) > MaxSections {
		r.Sections = r.Sections[:MaxSections]
		r.skip(StepSections, "more than %d: only the first are kept", MaxSections)
	}
	r.references(d)
	return r
}

func (r *Result) skip(step, format string, args ...any) {
	r.Skipped = append(r.Skipped, Skip{step, fmt.Sprintf(format, args...)})
}

func undated(date string) string {
	if date == "" {
		return "no date"
	}
	return fmt.Sprintf("a date that tells no day: %.40q", date)
}

func (r *Result) dates(d Document) {
	var asOf *Day
	if r.Moment != nil {
		asOf = &r.Moment.Day
	}
	title, text := Dates(d.Title, asOf, MaxDates), Dates(d.Text, asOf, MaxDates)
	for i := range title.Dates {
		title.Dates[i].InTitle = true
	}
	r.Dates = append(title.Dates, text.Dates...)
	if title.More || text.More || len(r.Dates) > MaxDates {
		r.Dates = r.Dates[:min(len(r.Dates), MaxDates)]
		r.skip(StepDates, "more than %d: only the first are kept", MaxDates)
	}
	if n := title.Relative + text.Relative; n > 0 {
		r.skip(StepDates, "%d relative ones left out: the document has %s", n, undated(d.Date))
	}
}
