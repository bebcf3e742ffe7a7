package enrich

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Date is a date in a text: the days from First to Last.
type Date struct {
	InTitle     bool // the offsets are bytes of the title
	Start, End  int  // byte offsets, End exclusive
	First, Last Day
}

// Found is what [Dates] made of a text.
type Found struct {
	Dates    []Date // by position, without overlap
	Relative int    // "yesterday" and the like that were left out, since asOf is nil
	More     bool   // there are more than the limit
}

// Dates finds dates: 2024-03-12, 12 March 2024, March 12, 2024, March 2024, Q3
// 2023, and those that are relative to asOf (yesterday, 3 days ago, last week,
// last March, next Monday). Weeks begin on Monday. "last March" is the latest
// one that was over before the month of asOf began, "last Monday" the latest
// one before asOf.
func Dates(text string, asOf *Day, limit int) Found {
	var f Found
	// Only ASCII, so that no offset moves and no other letter that folds to one
	// of these ("ſ") gets into a pattern.
	text = lowerASCII(text)
	for pos := 0; pos < len(text); {
		at, ok := nextWord(text, pos)
		if !ok {
			break
		}
		pos = wordEnd(text, at)
		length, d := dateAt(text[at:min(len(text), at+maxDateBytes)], asOf)
		if length == 0 || continues(text[at+length:]) {
			continue
		}
		pos = at + length
		if d == nil {
			f.Relative++
			continue
		}
		if len(f.Dates) == limit {
			f.More = true
			break
		}
		f.Dates = append(f.Dates, Date{Start: at, End: pos, First: d.first, Last: d.last})
	}
	return f
}

// maxDateBytes bounds what the patterns see of a text at once.
const maxDateBytes = 64

// nextWord returns the beginning of the first word (a run of letters and
// digits) at or after pos.
func nextWord(text string, pos int) (int, bool) {
	for pos < len(text) {
		r, size := utf8.DecodeRuneInString(text[pos:])
		if inWord(r) {
			return pos, true
		}
		pos += size
	}
	return 0, false
}

func wordEnd(text string, pos int) int {
	for pos < len(text) {
		r, size := utf8.DecodeRuneInString(text[pos:])
		if !inWord(r) {
			break
		}
		pos += size
	}
	return pos
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// continues says whether what follows makes a number or word of a date into
// another one, as in 2024-03-121. A time of day may follow.
func continues(rest string) bool {
	if len(rest) > 1 && rest[0] == 't' && '0' <= rest[1] && rest[1] <= '9' {
		return false
	}
	r, size := utf8.DecodeRuneInString(rest)
	if r == '-' || r == '/' {
		r, _ = utf8.DecodeRuneInString(rest[size:])
		return unicode.IsDigit(r)
	}
	return inWord(r)
}

// days is a period.
type days struct{ first, last Day }

const (
	gap   = `[ \t\r\n]{1,3}`
	month = `(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)`
	day   = `([0-9]{1,2})(?:st|nd|rd|th)?`
	year  = `([0-9]{4})`
)

// patterns are tried in this order at the beginning of each word.
var patterns = []struct {
	re   *regexp.Regexp
	read func(m []string) (days, bool)
}{
	{dateRE(year + `([-/])([0-9]{2})([-/])([0-9]{2})`), func(m []string) (days, bool) {
		return oneDay(m[1], time.Month(atoi(m[3])), m[5], m[2] == m[4])
	}},
	{dateRE(day + gap + `(?:of` + gap + `)?` + month + `\.?,?` + gap + year), func(m []string) (days, bool) {
		return oneDay(m[3], monthOf(m[2]), m[1], true)
	}},
	{dateRE(month + `\.?` + gap + day + `,?` + gap + year), func(m []string) (days, bool) {
		return oneDay(m[3], monthOf(m[1]), m[2], true)
	}},
	{dateRE(month + `\.?,?` + gap + `(?:of` + gap + `)?` + year), func(m []string) (days, bool) {
		return months(atoi(m[2]), monthOf(m[1]), 1)
	}},
	{dateRE(`q([1-4])[ /-]?` + year), func(m []string) (days, bool) {
		return months(atoi(m[2]), time.Month(3*atoi(m[1])-2), 3)
	}},
	{dateRE(year + `[ /-]?q([1-4])`), func(m []string) (days, bool) {
		return months(atoi(m[1]), time.Month(3*atoi(m[2])-2), 3)
	}},
}

func dateRE(pattern string) *regexp.Regexp { return regexp.MustCompile(`^(?:` + pattern + `)`) }

// dateAt reads the date that text begins with. Its length is 0 if there is
// none; the days are nil for a relative date without asOf.
func dateAt(text string, asOf *Day) (length int, d *days) {
	if !maybeDate(text) {
		return 0, nil
	}
	if length, d = absoluteAt(text); length > 0 {
		return length, d
	}
	return relativeAt(text, asOf)
}

func absoluteAt(text string) (int, *days) {
	for _, p := range patterns {
		if m := p.re.FindStringSubmatch(text); m != nil {
			if found, ok := p.read(m); ok && !continues(text[len(m[0]):]) {
				return len(m[0]), &found
			}
		}
	}
	return 0, nil
}

// maybeDate keeps the patterns off most words.
func maybeDate(text string) bool {
	if '0' <= text[0] && text[0] <= '9' {
		return true
	}
	return beginnings[text[:min(3, len(text))]]
}

// beginnings are the first letters of all words that a date begins with.
var beginnings = func() map[string]bool {
	set := wordSet(`jan feb mar apr may jun jul aug sep oct nov dec yes tod tom las thi nex one two thr fou fiv six sev eig nin ten`)
	for _, quarter := range []string{"q1", "q2", "q3", "q4"} {
		for _, c := range []string{" ", "/", "-", "1", "2"} {
			set[quarter+c] = true
		}
	}
	for _, c := range " \t\r\n" {
		set["an"+string(c)] = true
		for _, d := range " \t\r\ndwmy" {
			set["a"+string(c)+string(d)] = true
		}
	}
	return set
}()

func lowerASCII(text string) string {
	lower := []byte(text)
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return string(lower)
}

func oneDay(year string, month time.Month, day string, ok bool) (days, bool) {
	d, valid := NewDay(atoi(year), month, atoi(day))
	return days{d, d}, ok && valid
}

// months is n whole months.
func months(year int, month time.Month, n int) (days, bool) {
	first, ok := NewDay(year, month, 1)
	end := dayOf(time.Date(year, month+time.Month(n), 1, 0, 0, 0, 0, time.UTC))
	return days{first, end - 1}, ok
}

// atoi is for what a pattern found to be a number.
func atoi(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return -1 // no year, month or day
	}
	return n
}

// monthOf knows a month by its first three letters.
func monthOf(name string) time.Month {
	const first = "janfebmaraprmayjunjulaugsepoctnovdec"
	return time.Month(strings.Index(first, name[:3])/3 + 1)
}
