package enrich

import "time"

// The years that a date may lie in; other numbers are taken for something
// else.
const (
	minYear = 1000
	maxYear = 2999
)

// Day is a day of the calendar, counted from 1970-01-01. The zero Day is that
// day.
type Day int

// NewDay returns a day; ok is false if the calendar has none such, as for 30
// February.
func NewDay(year int, month time.Month, day int) (d Day, ok bool) {
	t := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	if year < minYear || year > maxYear || t.Year() != year || t.Month() != month || t.Day() != day {
		return 0, false
	}
	return dayOf(t), true
}

// dayOf is the day on the calendar of t's own zone.
func dayOf(t time.Time) Day {
	seconds := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).Unix()
	return Day(seconds / 86400) // exact: the time of day is 0
}

func (d Day) time() time.Time { return time.Unix(int64(d)*86400, 0).UTC() }

// String is the day in the form 2006-01-02.
func (d Day) String() string { return d.time().Format(time.DateOnly) }
