package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/engine/enrich"
)

// enriched is a document as the engine stores it.
func enriched(id, date, text string) Entry {
	e := entry(id, text)
	e.Document.Date = date
	e.Document.Title = ""
	r := enrich.Read(enrich.Document{ID: id, Text: text, Date: date})
	e.Enriched = &r
	return e
}

func TestLinks(t *testing.T) {
	s := fresh(t)
	for _, e := range []Entry{
		enriched("a", "", "Maria Lopez wrote. See [b](b.md) and [[c]]."),
		enriched("b.md", "", "Maria Lopez signed POL-7, see [[c]]"),
		enriched("c", "", "nothing"),
		enriched("POL-7", "", "Blue Heron Inn, see [gone](gone.md)"),
		enriched("x/dup.md", "", "Blue Heron Inn"),
		enriched("y/dup.md", "", "see [[dup]]"),
		enriched("d1", "", "Red Fox Club"), enriched("d2", "", "Red Fox Club"), enriched("d3", "", "Red Fox Club"),
		enriched("d4", "", "Red Fox Club"), enriched("d5", "", "Red Fox Club"), enriched("d6", "", "Red Fox Club"),
	} {
		put(t, s, e)
	}
	links, err := s.Links(t.Context(), "b.md", "x/dup.md", "a", "d1")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range links {
		got = append(got, fmt.Sprintf("%s > %s: %s %.2g", l.From, l.To, l.Via, l.Weight))
	}
	want := []string{
		"b.md > POL-7: reference to 1",
		"b.md > a: entity name maria lopez 0.5", "b.md > a: reference from 1",
		"b.md > c: reference to 1",
		"x/dup.md > POL-7: entity name blue heron inn 0.5",
		"a > b.md: entity name maria lopez 0.5", "a > b.md: reference to 1",
		"a > c: reference to 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// With one document less the entity is rare, and the other name is no
	// longer shared.
	if _, _, err := s.Delete(t.Context(), "d6", "x/dup.md"); err != nil {
		t.Fatal(err)
	}
	if links, err := s.Links(t.Context(), "d1"); err != nil || len(links) != 4 {
		t.Errorf("links %+v, %v, want those to four documents", links, err)
	}
	if links, err := s.Links(t.Context(), "POL-7", "y/dup.md"); err != nil || len(links) != 1 || links[0].Via != "reference from" {
		t.Errorf("links %+v, %v", links, err)
	}
}

func TestPages(t *testing.T) {
	s := fresh(t)
	put(t, s, enriched("a", "", "# Travel\ntrains and [b](b) and [gone](gone)\n# Food\nbread"))
	put(t, s, enriched("b", "", "no heading"))
	put(t, s, enriched("c", "", "intro\n## travel\nplanes, see [[a]]\n## Travel\ntrains"))
	matches, totals, err := s.MatchPages(t.Context(), enrich.Terms("trains planes travel bus"))
	if err != nil || len(matches) != 1 || totals != (PageTotals{2, 13}) {
		t.Fatalf("%+v of %+v, %v", matches, totals, err)
	}
	m := matches[0]
	if diff := cmp.Diff(map[string]int{"train": 2, "plane": 1, "travel": 3}, m.Times); diff != "" || m.Title != "travel" || m.Tokens != 11 {
		t.Errorf("%q of %d terms (-want +got):\n%s", m.Title, m.Tokens, diff)
	}
	sources, err := s.PageSources(t.Context(), m.Page)
	if diff := cmp.Diff([]PageSource{{"a", 0}, {"c", 6}, {"b", -1}}, sources); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, _, err := s.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Count(t.Context(), Pages); n != 1 || err != nil {
		t.Errorf("%d pages, %v: the page without a section is still there", n, err)
	}
}

func TestEpisodes(t *testing.T) {
	s := fresh(t)
	for id, date := range map[string]string{
		"a": "2024-03-12 08:00", "b": "2024-03-12 09:00", "c": "2024-03-12 09:00", "d": "2024-03-12 15:00",
		"late": "2024-03-12 21:01", "undated": "", "later": "2024-03-14", "other": "2024-03-12 08:30",
	} {
		e := enriched(id, date, "x")
		if id == "other" {
			e.Document.Source = "elsewhere"
		}
		put(t, s, e)
	}
	for id, want := range map[string]string{"c": "b1 d1 a2", "a": "b1 c2", "late": "", "undated": "", "other": "", "gone": ""} {
		found, err := s.EpisodeNeighbours(t.Context(), id, 2)
		var got []string
		for _, n := range found {
			got = append(got, fmt.Sprint(n.Document, n.Distance))
		}
		if s := strings.Join(got, " "); s != want || err != nil {
			t.Errorf("%s: %s, %v, want %s", id, s, err, want)
		}
	}
	if n, err := s.Count(t.Context(), Episodes); n != 1 || err != nil {
		t.Errorf("%d episodes, %v, want 1", n, err)
	}
}

func TestEvents(t *testing.T) {
	s := fresh(t)
	e := enriched("a", "", "on 2024-03-12 and in March 2024")
	e.Document.Title = "As of 2024-03-01"
	r := enrich.Read(enrich.Document{ID: "a", Title: e.Document.Title, Text: e.Document.Text})
	e.Enriched = &r
	put(t, s, e)
	for _, tc := range []struct{ first, last, want string }{
		{"2024-03-12", "2024-03-12", "3 21"}, {"2024-03-01", "2024-03-31", "-1 3 21"}, {"2024-03-31", "2024-04-30", "21"}, {"2024-04-01", "2024-04-30", ""},
	} {
		first, _ := enrich.ParseMoment(tc.first)
		last, _ := enrich.ParseMoment(tc.last)
		events, err := s.Events(t.Context(), first.Day, last.Day)
		var got []string
		for _, e := range events {
			got = append(got, fmt.Sprint(e.Start))
		}
		if s := strings.Join(got, " "); s != tc.want || err != nil {
			t.Errorf("%s to %s: %s, %v, want %s", tc.first, tc.last, s, err, tc.want)
		}
	}
}

// derived are the tables that enrichment fills.
var derived = []string{"enrichments", "moments", "event_dates", "entities", "mentions", "names", "pages", "sections", "section_terms", "document_references"}

// TestCountsAgree: after any sequence of writes both counts of each substrate
// are the same, links and episodes are those that a plain reading of the
// documents gives, and a store without documents has nothing left.
func TestCountsAgree(t *testing.T) {
	ctx := context.Background()
	s := fresh(t)
	rapid.Check(t, func(rt *rapid.T) {
		left, err := texts(s.read.Query(`SELECT id FROM documents`)) // by a check that failed
		if err != nil {
			rt.Fatal(err)
		}
		if _, _, err := s.Delete(ctx, left...); err != nil {
			rt.Fatal(err)
		}
		held := map[string]string{}
		words := rapid.SampledFrom([]string{"Maria Lopez ", "POL-1 ", "Blue Heron. ", "[[a]] ", "[x](b) ", "[[none]] ", "\n# One\n", "\n# Two\n", "on 2024-03-12 ", "word "})
		for range rapid.IntRange(1, 12).Draw(rt, "writes") {
			id := rapid.SampledFrom([]string{"a", "b", "c", "POL-1", "d", "e", "f", "g"}).Draw(rt, "id")
			if _, ok := held[id]; ok && rapid.Bool().Draw(rt, "delete") {
				if _, _, err := s.Delete(ctx, id); err != nil {
					rt.Fatal(err)
				}
				delete(held, id)
				continue
			}
			held[id] = strings.Join(rapid.SliceOfN(words, 0, 5).Draw(rt, "text"), "")
			date := rapid.SampledFrom([]string{"", "2024-03-12 08:00", "2024-03-12 10:00", "2024-03-13"}).Draw(rt, "date")
			if _, _, err := s.Put(ctx, enriched(id, date, held[id])); err != nil {
				rt.Fatal(err)
			}
		}
		for _, table := range []Table{EventDates, Entities, Links, Pages, PageSources, Episodes} {
			n, err1 := s.Count(ctx, table)
			m, err2 := s.Enumerate(ctx, table)
			if err := errors.Join(err1, err2); err != nil || n != m {
				rt.Fatalf("%s: count %d, enumerated %d, %v", table, n, m, err)
			}
			if table != Entities && table != PageSources {
				if any, err := s.Any(ctx, table); err != nil || any != (n > 0) {
					rt.Fatalf("%s: any %v of %d, %v", table, any, n, err)
				}
			}
			if table == Links && n != plainLinks(held) {
				rt.Fatalf("%d links, a plain reading gives %d", n, plainLinks(held))
			}
		}
		for id := range held {
			if _, _, err := s.Delete(ctx, id); err != nil {
				rt.Fatal(err)
			}
		}
		for _, table := range derived {
			var n int
			if err := s.read.QueryRow(`SELECT count(*) FROM ` + table).Scan(&n); err != nil || n != 0 {
				rt.Fatalf("%s: %d rows left, %v", table, n, err)
			}
		}
	})
}

// plainLinks counts links by comparing all pairs of documents.
func plainLinks(held map[string]string) int {
	mentions := map[string][]string{}
	read := map[string]enrich.Result{}
	for id, text := range held {
		read[id] = enrich.Read(enrich.Document{ID: id, Text: text})
		for _, e := range read[id].Entities {
			mentions[e.Name] = append(mentions[e.Name], id)
		}
	}
	n := 0
	for _, ids := range mentions {
		if len(ids) <= RareDocuments {
			n += len(ids) * (len(ids) - 1) / 2
		}
	}
	for a := range held {
		for b := range held {
			if a != b && slices.ContainsFunc(read[a].References, func(r enrich.Reference) bool { return r.Target == enrich.Fold(b) }) {
				n++
			}
		}
	}
	return n
}

// TestOlderStoreMigrates: a store of the first version opens, keeps what it
// has, and knows what it lacks.
func TestOlderStoreMigrates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sqlite")
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	if err := apply(t.Context(), db, migrations[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`INSERT INTO sources VALUES (1, ''); INSERT INTO documents VALUES (1, 'a', 1, '', 'Maria Lopez, 2024-03-12', '2024-03-12');
		INSERT INTO skipped_steps VALUES (1, 'dates', 'old'), (1, 'embed', 'kept')`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, Options{ReadOnly: true}); err == nil || !strings.Contains(err.Error(), "0002_enrichment.sql") {
		t.Errorf("read-only: %v, want it to name the migration", err)
	}
	s := open(t, path, Options{})
	if ids, err := s.Unenriched(t.Context()); err != nil || !slices.Equal(ids, []string{"a"}) {
		t.Fatalf("to enrich: %v, %v", ids, err)
	}
	d, err := s.Document(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	before, err := s.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time replaces
		if err := s.Enrich(t.Context(), "a", enrich.Read(enrich.Document{ID: d.ID, Text: d.Text, Date: d.Date})); err != nil {
			t.Fatal(err)
		}
	}
	if ids, err := s.Unenriched(t.Context()); err != nil || len(ids) != 0 {
		t.Errorf("still to enrich: %v, %v", ids, err)
	}
	for table, want := range map[Table]int{EventDates: 1, Entities: 1, Links: 0} {
		if n, err := s.Count(t.Context(), table); err != nil || n != want {
			t.Errorf("%s: %d, %v, want %d", table, n, err, want)
		}
	}
	skipped, err := s.Skipped(t.Context())
	if diff := cmp.Diff(map[string][]Skip{"a": {{"embed", "kept"}}}, skipped); diff != "" || err != nil {
		t.Errorf("skipped steps, %v (-want +got):\n%s", err, diff)
	}
	if after, err := s.State(t.Context()); err != nil || after != before {
		t.Errorf("the state moved, which would make every index stale: %v", err)
	}
	if err := s.Enrich(t.Context(), "gone", enrich.Result{}); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown document: %v", err)
	}
	if _, err := s.write.Exec(`UPDATE enrichments SET version = 'enrich/0'`); err != nil {
		t.Fatal(err)
	}
	if ids, err := s.Unenriched(t.Context()); err != nil || len(ids) != 1 {
		t.Errorf("enriched by other rules: %v, %v, want it listed", ids, err)
	}
}

// TestMissingTablesAreUnknown: never a count of 0.
func TestMissingTablesAreUnknown(t *testing.T) {
	for table, needs := range map[Table]string{
		EventDates: "event_dates", Entities: "mentions", Links: "names", Pages: "sections", PageSources: "document_references", Episodes: "moments",
	} {
		s := fresh(t)
		put(t, s, enriched("a", "2024-03-12", "# One\n[[b]] on 2024-03-12"))
		if _, err := s.write.Exec(`PRAGMA foreign_keys = 0; DROP TABLE ` + needs); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Enumerate(t.Context(), table); err == nil {
			t.Errorf("%s without %s: enumerated %d", table, needs, n)
		}
		if needs == "mentions" || needs == "sections" {
			continue // counted elsewhere: the two counts disagree, which is what they are for
		}
		if n, err := s.Count(t.Context(), table); err == nil {
			t.Errorf("%s without %s: count %d", table, needs, n)
		}
	}
}

func TestLabels(t *testing.T) {
	s := fresh(t)
	e := entry("a", "x")
	e.Document.Date = "some day"
	put(t, s, e)
	got, err := s.Labels(t.Context(), "a", "a")
	if diff := cmp.Diff(map[string]Label{"a": {"src", "title of a", "some day"}}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := s.Labels(t.Context(), "a", "b"); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown document: %v", err)
	}
}
