package enrich_test

import (
	"testing"

	"github.com/touchstone-eval/touchstone/engine/enrich"
)

func TestParseMoment(t *testing.T) {
	for _, tc := range []struct {
		text, day string
		seconds   int64
	}{
		{"1970-01-02", "1970-01-02", 86400},
		{" 2024-02-29 ", "2024-02-29", 1709164800},
		{"2024-02-29T23:30:00-05:00", "2024-02-29", 1709267400},
		{"2024-02-29T00:30:00.5Z", "2024-02-29", 1709166600},
		{"2024-02-29 12:00", "2024-02-29", 1709208000},
		{"2023/05/20 (Sat) 02:21", "2023-05-20", 1684549260},
		{"29 February 2024", "2024-02-29", 1709164800},
		{"Feb 29, 2024", "2024-02-29", 1709164800},
		{"1815-06-18", "1815-06-18", -4876848000},
	} {
		m, ok := enrich.ParseMoment(tc.text)
		if !ok || m.Day.String() != tc.day || m.Seconds != tc.seconds {
			t.Errorf("%q: %s, %d, %v, want %s, %d", tc.text, m.Day, m.Seconds, ok, tc.day, tc.seconds)
		}
	}
	for _, text := range []string{"", "2024", "2024-02", "2023-02-29", "soon", "0001-01-01", "9999-01-01", "2024-02-29T25:00:00Z"} {
		if m, ok := enrich.ParseMoment(text); ok {
			t.Errorf("%q is taken for %s", text, m.Day)
		}
	}
}
