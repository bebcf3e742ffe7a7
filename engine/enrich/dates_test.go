package enrich_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/engine/enrich"
)

func day(t testing.TB, text string) enrich.Day {
	t.Helper()
	m, ok := enrich.ParseMoment(text)
	if !ok {
		t.Fatalf("%q is no day", text)
	}
	return m.Day
}

// list prints dates as "text=first..last", with the last day only where it is
// another one.
func list(text string, dates []enrich.Date) string {
	var parts []string
	for _, d := range dates {
		part := fmt.Sprintf("%s=%s", text[d.Start:d.End], d.First)
		if d.Last != d.First {
			part += ".." + d.Last.String()
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

func TestAbsoluteDates(t *testing.T) {
	for text, want := range map[string]string{
		"due 2024-03-12.":             "2024-03-12=2024-03-12",
		"2024/03/12":                  "2024/03/12=2024-03-12",
		"at 2024-03-12T10:30:00Z":     "2024-03-12=2024-03-12",
		"on 12 March 2024, and":       "12 March 2024=2024-03-12",
		"12th of march, 2024":         "12th of march, 2024=2024-03-12",
		"March 12, 2024":              "March 12, 2024=2024-03-12",
		"MARCH 1ST 2024":              "MARCH 1ST 2024=2024-03-01",
		"Sept. 3, 2021":               "Sept. 3, 2021=2021-09-03",
		"in March\n2024":              "March\n2024=2024-03-01..2024-03-31",
		"Feb 2024":                    "Feb 2024=2024-02-01..2024-02-29",
		"Q3 2023":                     "Q3 2023=2023-07-01..2023-09-30",
		"2023 Q4 and q1-2024":         "2023 Q4=2023-10-01..2023-12-31; q1-2024=2024-01-01..2024-03-31",
		"last March 2024":             "March 2024=2024-03-01..2024-03-31",
		"29 February 2024":            "29 February 2024=2024-02-29",
		"29 February 2023":            "February 2023=2023-02-01..2023-02-28",
		"2024-01-02 to 2024-01-03":    "2024-01-02=2024-01-02; 2024-01-03=2024-01-03",
		"from 1 May 2020 to May 2021": "1 May 2020=2020-05-01; May 2021=2021-05-01..2021-05-31",
		"2024-02-30":                  "",
		"2024-13-01":                  "",
		"2024-03-121":                 "",
		"12024-03-12":                 "",
		"2024-03/12":                  "",
		"2024-03-12-07":               "",
		"March 12, 20245":             "",
		"may 1, in 2024":              "",
		"march on 2024":               "",
		"Q5 2023":                     "",
		"iq3 2023":                    "",
		"0500-01-01, 3000-01-01":      "",
		"ſept 2024":                   "",
		"the 1990s and 2024":          "",
		"":                            "",
	} {
		f := enrich.Dates(text, nil, 10)
		if got := list(text, f.Dates); got != want || f.Relative != 0 || f.More {
			t.Errorf("%q: %s (%d relative, more %v), want %s", text, got, f.Relative, f.More, want)
		}
	}
}

// TestRelativeDates: as of Wednesday, 13 March 2024.
func TestRelativeDates(t *testing.T) {
	asOf := day(t, "2024-03-13")
	for text, want := range map[string]string{
		"yesterday":       "2024-03-12",
		"Today":           "2024-03-13",
		"tomorrow":        "2024-03-14",
		"3 days ago":      "2024-03-10",
		"two weeks ago":   "2024-02-26..2024-03-03",
		"a month ago":     "2024-02-01..2024-02-29",
		"an week ago":     "2024-03-04..2024-03-10",
		"fourteen":        "",
		"2 years ago":     "2022-01-01..2022-12-31",
		"last week":       "2024-03-04..2024-03-10",
		"this week":       "2024-03-11..2024-03-17",
		"next week":       "2024-03-18..2024-03-24",
		"last month":      "2024-02-01..2024-02-29",
		"next month":      "2024-04-01..2024-04-30",
		"last quarter":    "2023-10-01..2023-12-31",
		"this quarter":    "2024-01-01..2024-03-31",
		"last year":       "2023-01-01..2023-12-31",
		"last March":      "2023-03-01..2023-03-31",
		"last february":   "2024-02-01..2024-02-29",
		"this March":      "2024-03-01..2024-03-31",
		"next March":      "2025-03-01..2025-03-31",
		"next April":      "2024-04-01..2024-04-30",
		"last Monday":     "2024-03-11",
		"last Wednesday":  "2024-03-06",
		"this Sunday":     "2024-03-17",
		"next Wednesday":  "2024-03-20",
		"next Monday":     "2024-03-18",
		"at last weekend": "",
		"yesterdays":      "",
		"laſt week":       "",
	} {
		f := enrich.Dates(text, &asOf, 10)
		got := ""
		if len(f.Dates) == 1 {
			_, got, _ = strings.Cut(list(text, f.Dates), "=")
		}
		if got != want || len(f.Dates) > 1 {
			t.Errorf("%q: %s (%d dates), want %s", text, got, len(f.Dates), want)
		}
		unknown := enrich.Dates(text, nil, 10)
		if len(unknown.Dates) != 0 || (unknown.Relative == 1) != (want != "") {
			t.Errorf("%q without a day: %d dates, %d left out", text, len(unknown.Dates), unknown.Relative)
		}
	}
}

func TestDatesAreLimited(t *testing.T) {
	text := strings.Repeat("2024-03-12 ", 5)
	for limit, want := range map[int]int{0: 0, 4: 4, 5: 5, 6: 5} {
		f := enrich.Dates(text, nil, limit)
		if len(f.Dates) != want || f.More != (limit < 5) {
			t.Errorf("limit %d: %d dates, more %v", limit, len(f.Dates), f.More)
		}
	}
}

// checkDates: what is found lies in the text, in order and without overlap,
// and is a period.
func checkDates(t interface{ Errorf(string, ...any) }, text string, f enrich.Found) {
	last := 0
	for _, d := range f.Dates {
		if d.Start < last || d.End <= d.Start || d.End > len(text) || d.Last < d.First {
			t.Errorf("%+v after byte %d of %d", d, last, len(text))
		}
		last = d.End
	}
}

// TestWrittenDatesAreRead: each form gives back the day that it was written
// from, whatever surrounds it.
func TestWrittenDatesAreRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		year, month, dayOfMonth := rapid.IntRange(1000, 2999).Draw(t, "year"), rapid.IntRange(1, 12).Draw(t, "month"), rapid.IntRange(1, 31).Draw(t, "day")
		want := fmt.Sprintf("%04d-%02d-%02d", year, month, dayOfMonth)
		m, ok := enrich.ParseMoment(want)
		if !ok {
			t.Skip("no such day")
		}
		name := strings.Fields("January February March April May June July August September October November December")[month-1]
		before, after := rapid.StringMatching(`[^\pL\pN/-]{0,8}`), rapid.StringMatching(`[^\pL\pN/-]{0,8}`)
		for _, form := range []string{want, fmt.Sprintf("%d %s %04d", dayOfMonth, name, year), fmt.Sprintf("%s %d, %04d", name, dayOfMonth, year)} {
			text := before.Draw(t, "before") + form + after.Draw(t, "after")
			f := enrich.Dates(text, nil, 10)
			if len(f.Dates) != 1 || f.Dates[0].First != m.Day || f.Dates[0].Last != m.Day || text[f.Dates[0].Start:f.Dates[0].End] != form {
				t.Fatalf("%q: %s, want %s", text, list(text, f.Dates), want)
			}
		}
	})
}

func FuzzDates(f *testing.F) {
	for _, text := range []string{"12 March 2024", "last week", "2024-03-12", "Q3 2023", "a\xffan 3 days ago", "ſept 2024", "१२ march 2024"} {
		f.Add(text)
	}
	asOf := enrich.Day(19795)
	f.Fuzz(func(t *testing.T, text string) {
		known, unknown := enrich.Dates(text, &asOf, 50), enrich.Dates(text, nil, 50)
		checkDates(t, text, known)
		checkDates(t, text, unknown)
		if known.Relative != 0 || len(unknown.Dates) > len(known.Dates) {
			t.Errorf("%d relative with a day, %d dates without and %d with it", known.Relative, len(unknown.Dates), len(known.Dates))
		}
	})
}
