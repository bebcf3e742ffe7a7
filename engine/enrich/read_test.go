package enrich_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/touchstone-eval/touchstone/engine/enrich"
)

func TestEntities(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"names", "We met Maria Lopez and Jean-Luc O'Brien.", "name maria lopez 1; name jean-luc o'brien 1"},
		{"counted", "Acme Corp sued Acme Corp; ACME-1, ACME-1", "name acme corp 2; identifier acme-1 2"},
		{"beginning of a sentence", "The Blue Heron flies. On Monday Ada King spoke.", "name blue heron 1; name ada king 1"},
		{"possessive", "Maria Lopez's Harbour and Ada King’s boat", "name maria lopez 1; name ada king 1"},
		{"punctuation parts", "Ada, King. Maria (Lopez) \"Old\" Town", ""},
		{"lines part", "Ada\nKing", ""},
		{"one word", "Ada met king", ""},
		{"only common words", "The First", ""},
		{"headline", "How Maria Lopez Built Her Own Little Boat House", ""},
		{"shouted", "BREAKING NEWS", ""},
		{"other scripts", "Иван Петров and Ärzte Ohne Grenzen", "name иван петров 1; name ärzte ohne grenzen 1"},
		{"composed and decomposed", "Zoe\u0308 King, Zo\u00eb King", "name zoë king 2"},
		{"identifiers", "see POL-358, (ABC-12/AB2-3) pol-9 A-1 POLICYLONGER-1 POL-123456789", "identifier pol-358 1; identifier abc-12 1; identifier ab2-3 1"},
		{"handles", "cc @ada_k, @x a@b", "handle @ada_k 1"},
		{"emails", "<Ada.K@Example.org>, mailto:b@c.de.", "email ada.k@example.org 1"},
		{"in Markdown", "[Ada King](ada.md) and **Blue Heron** `Red Fox`", "name ada king 1; name blue heron 1; name red fox 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, e := range enrich.Entities(tc.text) {
				got = append(got, fmt.Sprintf("%s %s %d", e.Kind, e.Name, e.Count))
			}
			if s := strings.Join(got, "; "); s != tc.want {
				t.Errorf("%s, want %s", s, tc.want)
			}
		})
	}
}

func TestReferences(t *testing.T) {
	for _, tc := range []struct{ name, from, text, want string }{
		{"markdown", "a", `[x](Guide.md) ![i](<b.png>) [t](c.md "title")`, "markdown guide.md 2; markdown b.png 17; markdown c.md 30"},
		{"relative", "docs/a.md", "[x](b.md) [y](../c.md#part) [z](/d.md) [w](./e%20f.md)", "markdown docs/b.md 2; markdown c.md 12; markdown d.md 30; markdown docs/e f.md 41"},
		{"out of the root", "a/b", "[x](../../../../etc/passwd)", "markdown etc/passwd 2"},
		{"addresses", "a", "[x](https://Example.org/p#q) [m](mailto:a@b.de)", "markdown https://example.org/p 2"},
		{"itself", "docs/a.md", "[x](#here) [y](a.md) [[docs/a.md]]", ""},
		{"wiki", "a", "[[Travel Rules]] [[b|shown]] [[c#part]] [[ ]]", "wiki travel rules 0; wiki b 17; wiki c 29"},
		{"ids", "POL-1", "POL-1 POL-2, xPOL-3 POL-4-5 POL-66x (POL-7)", "id pol-2 6; id pol-7 37"},
		{"not UTF-8 once decoded", "a", "[x](%ff)", "markdown \uFFFD 2"},
		{"broken", "a", "[x](a b) [[ [[]] ](", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, r := range enrich.References(tc.from, tc.text) {
				got = append(got, fmt.Sprintf("%s %s %d", r.Kind, r.Target, r.Pos))
			}
			if s := strings.Join(got, "; "); s != tc.want {
				t.Errorf("%s, want %s", s, tc.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	for _, tc := range []struct{ id, title, want string }{
		{"plain", "", "plain"},
		{"Docs/Setup.md", "Setting  Up", "docs/setup.md (setting up) (setup.md) (docs/setup) (setup)"},
		{"POL-358", "pol-358", "pol-358"},
		{"/", "", "/"},
	} {
		var got []string
		for _, n := range enrich.Read(enrich.Document{ID: tc.id, Title: tc.title}).Names {
			if n.Alias {
				n.Text = "(" + n.Text + ")"
			}
			got = append(got, n.Text)
		}
		if s := strings.Join(got, " "); s != tc.want {
			t.Errorf("%q: %s, want %s", tc.id, s, tc.want)
		}
	}
}

func TestSections(t *testing.T) {
	text := "before\n# One\nbody of one\n```\n# no heading\n```\n##  Two  Words ##\n#no\n####### no\n # three\nlast"
	var got []string
	r := enrich.Read(enrich.Document{ID: "a", Text: text})
	for _, s := range r.Sections {
		got = append(got, fmt.Sprintf("%s: %q", s.Title, text[s.Start:s.End]))
	}
	want := []string{`one: "# One\nbody of one\n` + "```\\n# no heading\\n```" + `\n"`, `two words: "##  Two  Words ##\n#no\n####### no\n"`, `three: " # three\nlast"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"on", "bodi", "on", "head"}, r.Sections[0].Terms(text)); diff != "" {
		t.Errorf("terms (-want +got):\n%s", diff)
	}
	for pos, want := range map[int]int{0: -1, 7: 0, 20: 0, len(text): 2} {
		if got := enrich.SectionAt(r.Sections, pos); got != want {
			t.Errorf("byte %d: section %d, want %d", pos, got, want)
		}
	}
}

// TestSkippedSteps: what was left out is said.
func TestSkippedSteps(t *testing.T) {
	for _, tc := range []struct {
		name string
		doc  enrich.Document
		want []enrich.Skip
	}{
		{"nothing", enrich.Document{Text: "met yesterday", Date: "2024-03-12"}, nil},
		{"no date", enrich.Document{Text: "met"}, []enrich.Skip{{"episodes", "the document has no date"}}},
		{"relative without a date", enrich.Document{Title: "today", Text: "not tomorrow", Date: "March"}, []enrich.Skip{
			{"episodes", `the document has a date that tells no day: "March"`},
			{"dates", `2 relative ones left out: the document has a date that tells no day: "March"`}}},
		{"too much", enrich.Document{Date: "2024-03-12", Text: many()}, []enrich.Skip{
			{"dates", "more than 200: only the first are kept"}, {"entities", "more than 500: only the first are kept"},
			{"sections", "more than 500: only the first are kept"}, {"references", "more than 500: only the first are kept"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := enrich.Read(tc.doc).Skipped
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, s := range got {
				if !slices.Contains(enrich.Steps, s.Step) {
					t.Errorf("step %q is not listed", s.Step)
				}
			}
		})
	}
}

func many() string {
	var b strings.Builder
	for i := range 502 {
		fmt.Fprintf(&b, "# part%d\n2024-03-12 @user%d [[page%d]]\n", i, i, i)
	}
	return b.String()
}

// TestVersion: who changes what is read out of a text must raise [enrich.Version],
// or stores would keep what the old rules found.
func TestVersion(t *testing.T) {
	text := "# Travel rules\nOn 12 March 2024 and last week Maria Lopez's team filed POL-358 with @ada_k, ada@example.org; see [x](b.md), [[c]].\n" +
		"## Q3 2023\nThe Blue Heron Inn, yesterday, 3 days ago, next May, 2024-05-06, Feb 2, 2020, ABC-1. [y](https://example.org/z)"
	r := enrich.Read(enrich.Document{ID: "a/b c.md", Title: "Trip of 2024-03-01, POL-1", Text: text, Date: "2024-03-13 10:00"})
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Sections {
		data = fmt.Append(data, s.Terms(text))
	}
	sum := sha256.Sum256(data)
	got := enrich.Version + " " + hex.EncodeToString(sum[:4])
	if want := "enrich/1 b9e9a960"; got != want {
		t.Errorf("the rules give %s, want %s: if they were meant to change, raise the version and note both here\n%s", got, want, data)
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{"# T\nMaria Lopez, POL-358 yesterday [x](y.md) [[z]]", "\xff\xfe# a", strings.Repeat("#", 300), "[[[[((](", "@a@b.c", "\x00", "👩‍👩‍👧 Élan Vital"} {
		f.Add("a/b.md", "Title One", text, "2024-03-12")
	}
	f.Fuzz(func(t *testing.T, id, title, text, date string) {
		r := enrich.Read(enrich.Document{ID: id, Title: title, Text: text, Date: date})
		if len(r.Dates) > enrich.MaxDates || len(r.Entities) > enrich.MaxEntities || len(r.References) > enrich.MaxReferences || len(r.Sections) > enrich.MaxSections {
			t.Errorf("%d dates, %d entities, %d references, %d sections", len(r.Dates), len(r.Entities), len(r.References), len(r.Sections))
		}
		for _, d := range r.Dates {
			within := text
			if d.InTitle {
				within = title
			}
			if d.Start < 0 || d.End <= d.Start || d.End > len(within) {
				t.Errorf("date %+v in %d bytes", d, len(within))
			}
		}
		for _, e := range r.Entities {
			if e.Name != enrich.Fold(e.Name) || e.Name == "" || e.Count < 1 || !utf8.ValidString(e.Name) {
				t.Errorf("entity %+v", e)
			}
		}
		for _, ref := range r.References {
			if ref.Target != enrich.Fold(ref.Target) || ref.Target == "" || ref.Pos >= len(text) {
				t.Errorf("reference %+v", ref)
			}
		}
		last := 0
		for _, s := range r.Sections {
			if s.Start < last || s.End <= s.Start || s.End > len(text) || s.Title == "" {
				t.Errorf("section %+v after byte %d of %d", s, last, len(text))
			}
			s.Terms(text)
			last = s.End
		}
	})
}
