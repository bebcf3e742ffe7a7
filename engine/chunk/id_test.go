package chunk

import (
	"testing"

	"pgregory.net/rapid"
)

func TestID(t *testing.T) {
	for _, tc := range []struct {
		name, document string
		ordinal        int
		want           string
	}{
		{"plain", "guide", 0, "guide#0"},
		{"looks like a chunk id", "guide#0", 1, "guide%230#1"},
		{"looks escaped already", "guide%230", 1, "guide%25230#1"},
		{"slashes and spaces are kept", "a/b c.md", 12, "a/b c.md#12"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := ID(tc.document, tc.ordinal); got != tc.want {
				t.Errorf("ID = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestParseIDInvertsID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		document := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a#%235]{0,8}`)).Draw(t, "document")
		ordinal := rapid.IntRange(0, 1<<30).Draw(t, "ordinal")
		d, n, err := ParseID(ID(document, ordinal))
		if err != nil || d != document || n != ordinal {
			t.Fatalf("ParseID(ID(%q, %d)) = %q, %d, %v", document, ordinal, d, n, err)
		}
	})
}

func TestParseIDRefuses(t *testing.T) {
	for _, id := range []string{"", "guide", "guide#", "guide#x", "guide#-1", "guide#01", "guide#+1", "a#0#1", "a%2#0", "a%41#0"} {
		if d, n, err := ParseID(id); err == nil && ID(d, n) != id {
			t.Errorf("ParseID(%q) = %q, %d: want an error or the inverse of ID", id, d, n)
		}
	}
	for _, id := range []string{"", "guide", "guide#", "guide#x", "guide#-1", "guide#01", "a#0#1"} {
		if _, _, err := ParseID(id); err == nil {
			t.Errorf("ParseID(%q) succeeded, want an error", id)
		}
	}
}

func FuzzParseID(f *testing.F) {
	f.Add("guide#0")
	f.Add("a%231#0")
	f.Add("a%2#0")
	f.Fuzz(func(t *testing.T, id string) {
		if d, n, err := ParseID(id); err == nil && ID(d, n) != id {
			t.Errorf("ParseID(%q) = %q, %d, whose ID is %q", id, d, n, ID(d, n))
		}
	})
}
