package enrich

import (
	"strings"
	"time"
)

// Moment is when a document was written or a question asked.
type Moment struct {
	Day     Day   // as written, in its own time zone
	Seconds int64 // Unix time; the start of the day if no time of day is given
}

var momentLayouts = []string{
	"2006-01-02",
	time.RFC3339Nano,
	"2006-01-02 15:04:05",
	"2006-01-02 15:04",
	"2006-01-02T15:04:05",
	"2006-01-02T15:04",
	"2006/01/02",
	"2006/01/02 15:04",
	"2006/01/02 (Mon) 15:04",
	"2 January 2006",
	"January 2, 2006",
	"2 Jan 2006",
	"Jan 2, 2006",
	time.RFC1123Z,
	time.RFC1123,
}

// ParseMoment reads a date or a time. One that does not tell the day (a month,
// a year) is not a moment. A time without a zone is taken as UTC.
func ParseMoment(text string) (m Moment, ok bool) {
	text = strings.TrimSpace(text)
	for _, layout := range momentLayouts {
		if t, err := time.Parse(layout, text); err == nil && t.Year() >= minYear && t.Year() <= maxYear {
			return Moment{Day: dayOf(t), Seconds: t.Unix()}, true
		}
	}
	return Moment{}, false
}
