package enrich

import (
	"strings"
	"time"
)

const (
	weekday = `(monday|tuesday|wednesday|thursday|friday|saturday|sunday)`
	number  = `([0-9]{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten)`
)

var (
	nearRE    = dateRE(`(yesterday|today|tomorrow)`)
	agoRE     = dateRE(number + gap + `(day|week|month|year)s?` + gap + `ago`)
	besideRE  = dateRE(`(last|this|next)` + gap + `(week|month|quarter|year)`)
	weekdayRE = dateRE(`(last|this|next)` + gap + weekday)
	monthRE   = dateRE(`(last|this|next)` + gap + month)
)

// relativeAt reads a date that only means something as of a day.
func relativeAt(text string, asOf *Day) (length int, d *days) {
	for _, p := range []struct {
		find func(string) []string
		read func(m []string, asOf Day) days
	}{
		{nearRE.FindStringSubmatch, func(m []string, asOf Day) days {
			d := asOf + map[string]Day{"yesterday": -1, "tomorrow": 1}[m[1]]
			return days{d, d}
		}},
		{agoRE.FindStringSubmatch, func(m []string, asOf Day) days { return beside(m[2], -amount(m[1]), asOf) }},
		{besideRE.FindStringSubmatch, func(m []string, asOf Day) days { return beside(m[2], step(m[1]), asOf) }},
		{weekdayRE.FindStringSubmatch, func(m []string, asOf Day) days { return weekdayBeside(m[2], step(m[1]), asOf) }},
		{monthOnly, func(m []string, asOf Day) days { return monthBeside(m[2], step(m[1]), asOf) }},
	} {
		m := p.find(text)
		if m == nil || continues(text[len(m[0]):]) {
			continue
		}
		if asOf == nil {
			return len(m[0]), nil
		}
		found := p.read(m, *asOf)
		return len(m[0]), &found
	}
	return 0, nil
}

// monthOnly leaves "last March 2024" to the absolute dates.
func monthOnly(text string) []string {
	m := monthRE.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	if length, _ := absoluteAt(text[len(m[0])-len(m[2]):]); length > 0 {
		return nil
	}
	return m
}

func step(word string) int { return map[string]int{"last": -1, "this": 0, "next": 1}[word] }

func amount(word string) int {
	switch word {
	case "a", "an":
		return 1
	}
	for i, w := range strings.Fields("one two three four five six seven eight nine ten") {
		if w == word {
			return i + 1
		}
	}
	return atoi(word)
}

// beside is the nth unit after the one that asOf lies in.
func beside(unit string, n int, asOf Day) days {
	t := asOf.time()
	switch unit {
	case "day":
		return days{asOf + Day(n), asOf + Day(n)}
	case "week":
		first := monday(asOf) + Day(7*n)
		return days{first, first + 6}
	case "month":
		return period(t.Year(), t.Month()+time.Month(n), 1)
	case "quarter":
		return period(t.Year(), (t.Month()-1)/3*3+1+time.Month(3*n), 3)
	default: // year
		return period(t.Year()+n, 1, 12)
	}
}

// period is n whole months; the month may be outside 1 to 12.
func period(year int, month time.Month, n int) days {
	first := dayOf(time.Date(year, month, 1, 0, 0, 0, 0, time.UTC))
	end := dayOf(time.Date(year, month+time.Month(n), 1, 0, 0, 0, 0, time.UTC))
	return days{first, end - 1}
}

func monday(d Day) Day { return d - Day((int(d.time().Weekday())+6)%7) }

func weekdayBeside(name string, n int, asOf Day) days {
	var wanted Day
	for i, w := range strings.Fields("monday tuesday wednesday thursday friday saturday sunday") {
		if w == name {
			wanted = Day(i)
		}
	}
	d := monday(asOf) + wanted // this week's
	if n < 0 && d >= asOf {
		d -= 7
	}
	if n > 0 && d <= asOf {
		d += 7
	}
	return days{d, d}
}

func monthBeside(name string, n int, asOf Day) days {
	now := asOf.time()
	wanted, year := monthOf(name), now.Year()
	if n < 0 && wanted >= now.Month() {
		year--
	}
	if n > 0 && wanted <= now.Month() {
		year++
	}
	return period(year, wanted, 1)
}
