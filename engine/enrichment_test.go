package engine_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/chunk"
	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
	"github.com/touchstone-eval/touchstone/engine/enrich"
)

// allSets are the documents of all written sets in one corpus, and all
// questions.
func allSets(t testing.TB) (docs []engine.Document, questions []asked) {
	t.Helper()
	for _, name := range []string{"graph", "temporal", "pages", "episodes", "plain"} {
		set := readSet(t, name)
		docs, questions = append(docs, set.docs...), append(append(questions, set.helps...), set.silent...)
	}
	return docs, questions
}

// everything has all channels and boosts on, and several passages a document.
var everything = engine.Config{
	Weights: both, Embedder: embedtest.New(256), Chunk: chunk.Config{MaxWords: 8}, Channels: allChannels, PoolSize: 20,
	Boosts: engine.Boosts{Title: .2, Recency: engine.Recency{Weight: .2}, Source: map[string]float64{"chat": .1}},
}

// firstDifference compares lists, and shows no more than the first element
// that differs: a full difference of long lists takes minutes.
func firstDifference[T any](t *testing.T, want, got []T) {
	t.Helper()
	for i := range min(len(want), len(got)) {
		if diff := cmp.Diff(want[i], got[i]); diff != "" {
			t.Errorf("element %d (-want +got):\n%.2000s", i, diff)
			return
		}
	}
	if len(want) != len(got) {
		t.Errorf("%d elements, want %d", len(got), len(want))
	}
}

// TestSameRankingWithChannels: with channels on, too, it is what the engine
// holds that decides a ranking, not how it came to hold it.
func TestSameRankingWithChannels(t *testing.T) {
	docs, questions := allSets(t)
	rng := rand.New(rand.NewPCG(4, 4))
	shuffled := func() []engine.Document {
		out := slices.Clone(docs)
		rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		return out
	}
	build := func(t *testing.T, batch int, docs ...engine.Document) *engine.Engine {
		cfg := everything
		cfg.BatchSize = batch
		e := open(t, t.TempDir(), cfg)
		ingest(t, e, docs...)
		return e
	}
	rankings := func(t *testing.T, e *engine.Engine) (out []ranked) {
		for _, q := range questions {
			if q.AsOf == "" {
				q.AsOf = "2024-05-20"
			}
			r := ask(t, e, q, 15)
			out = append(out, ranked{timeless(r), r.Channels})
		}
		return out
	}
	want := rankings(t, build(t, 50, docs...))
	fired := map[string]int{}
	for _, r := range want {
		for _, c := range r.Channels {
			if c.Fired && c.Contributed {
				fired[c.Name]++
			}
		}
	}
	for name := range alone {
		if fired[name] == 0 {
			t.Fatalf("%s never fires: the test would show nothing", name)
		}
	}
	// extra meddles with every channel: it makes entities, names, pages and
	// episodes that others have, too.
	extra := engine.Document{ID: "new/visa.md", Source: "chat", Date: "2024-05-01T10:01:00Z",
		Text: "Ilse Brandt, Nordlys Security and POL-358, @tove_n on 12 March 2024.\n# Moving abroad\nSee [[fleet]].\n# Another page\n[x](/canteen)"}
	for _, tc := range []struct {
		name string
		make func(t *testing.T) *engine.Engine
	}{
		{"another order", func(t *testing.T) *engine.Engine { return build(t, 50, shuffled()...) }},
		{"batches of 1", func(t *testing.T) *engine.Engine { return build(t, 1, shuffled()...) }},
		{"batches of 500", func(t *testing.T) *engine.Engine { return build(t, 500, shuffled()...) }},
		{"adding and deleting a document", func(t *testing.T) *engine.Engine {
			e := build(t, 50, append([]engine.Document{extra}, shuffled()...)...)
			if err := e.Delete(t.Context(), extra.ID); err != nil {
				t.Fatal(err)
			}
			return e
		}},
		{"ingesting the same documents again", func(t *testing.T) *engine.Engine {
			e := build(t, 50, docs...)
			ingest(t, e, shuffled()[:40]...)
			return e
		}},
		{"replacing another version", func(t *testing.T) *engine.Engine {
			var old []engine.Document
			for i, d := range docs {
				other := extra
				other.ID, other.Title = d.ID, docs[(i+1)%len(docs)].Title
				old = append(old, other)
			}
			e := build(t, 50, old...)
			ingest(t, e, docs...)
			return e
		}},
		{"deleting and adding again", func(t *testing.T) *engine.Engine {
			e := build(t, 7, docs...)
			for _, d := range docs[:15] {
				if err := e.Delete(t.Context(), d.ID); err != nil {
					t.Fatal(err)
				}
			}
			ingest(t, e, docs[:15]...)
			return e
		}},
		{"restarting", func(t *testing.T) *engine.Engine {
			dir := t.TempDir()
			for part := range slices.Chunk(docs, 30) {
				e := open(t, dir, everything)
				ingest(t, e, part...)
				shut(t, e)
			}
			cfg := everything
			cfg.ReadOnly = true
			return open(t, dir, cfg)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			firstDifference(t, want, rankings(t, tc.make(t)))
		})
	}
	t.Run("the test itself can fail", func(t *testing.T) {
		if reflect.DeepEqual(want, rankings(t, build(t, 50, append(docs, extra)...))) {
			t.Error("one more document changes nothing")
		}
	})
}

// TestSmallerKIsAPrefixWithChannels: also where channels bring in passages
// that no arm found.
func TestSmallerKIsAPrefixWithChannels(t *testing.T) {
	docs, questions := allSets(t)
	e := open(t, t.TempDir(), everything)
	ingest(t, e, docs...)
	for _, q := range questions {
		all := ask(t, e, q, 100)
		for _, k := range []int{1, 10, 25} {
			if diff := cmp.Diff(all.Hits[:min(k, len(all.Hits))], ask(t, e, q, k).Hits); diff != "" {
				t.Errorf("%q, k %d (-prefix of 100 +got):\n%s", q.Text, k, diff)
			}
		}
	}
}

// content is what enrichment left in the store, in terms of ids and names
// instead of row numbers.
func content(t testing.TB, dir string) []string {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(dir, engine.StoreFile))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var out []string
	for _, query := range []string{
		`SELECT 'enriched', d.id, version FROM enrichments JOIN documents d USING (document)`,
		`SELECT 'moment', d.id, s.name || ' ' || m.id || ' ' || seconds FROM moments m JOIN documents d USING (document) JOIN sources s ON s.source = m.source`,
		`SELECT 'date', d.id, in_title || ' ' || start_byte || ' ' || end_byte || ' ' || first_day || ' ' || last_day FROM event_dates JOIN documents d USING (document)`,
		`SELECT 'entity', kind || ' ' || name, documents FROM entities`,
		`SELECT 'mention', d.id, kind || ' ' || name || ' ' || times FROM mentions JOIN documents d USING (document) JOIN entities USING (entity)`,
		`SELECT 'name', d.id, name || ' ' || alias FROM names JOIN documents d USING (document)`,
		`SELECT 'page', title, '' FROM pages`,
		`SELECT 'section', d.id, pages.title || ' ' || ordinal || ' ' || start_byte || ' ' || end_byte || ' ' || tokens FROM sections JOIN pages USING (page) JOIN documents d USING (document)`,
		`SELECT 'term', d.id || ' ' || ordinal, term || ' ' || times FROM section_terms JOIN sections USING (section) JOIN documents d USING (document)`,
		`SELECT 'reference', d.id, r.ordinal || ' ' || kind || ' ' || target || ' ' || coalesce(s.ordinal, 'none')
			FROM document_references r JOIN documents d ON d.document = r.document LEFT JOIN sections s ON s.section = r.section`,
		`SELECT 'skipped', d.id, step || ' ' || reason FROM skipped_steps JOIN documents d USING (document)`,
	} {
		rows, err := db.Query(query)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var what, id, rest string
			if err := rows.Scan(&what, &id, &rest); err != nil {
				t.Fatal(err)
			}
			out = append(out, what+" | "+id+" | "+rest)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(out)
	return out
}

// TestConcurrentIngestStoresTheSame: one caller or many leave the same, even
// where two documents introduce the same new entity and page.
func TestConcurrentIngestStoresTheSame(t *testing.T) {
	docs, _ := allSets(t)
	for i := range 40 {
		docs = append(docs, engine.Document{ID: fmt.Sprint("twin", i), Text: fmt.Sprintf("Pair Number met Twin%c Sister.\n# Page %d\nsee [[twin%d]]", 'A'+i/2, i/2, i^1)})
	}
	fill := func(callers int) []string {
		dir := t.TempDir()
		e := open(t, dir, everything)
		var wg sync.WaitGroup
		for c := range callers {
			wg.Go(func() {
				for i := c; i < len(docs); i += callers {
					if _, err := e.Ingest(context.Background(), docs[i]); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		substrates(t, e)
		shut(t, e)
		return content(t, dir)
	}
	want := fill(1)
	if !slices.Contains(want, "entity | name twina sister | 2") {
		t.Fatalf("the twins share no entity: the test would show nothing:\n%s", strings.Join(want, "\n"))
	}
	firstDifference(t, want, fill(8))
}

// TestOlderStoreIsEnriched: a store that an older version made is enriched
// when it is opened, says so, and then holds what a new one would.
func TestOlderStoreIsEnriched(t *testing.T) {
	docs, questions := allSets(t)
	dir := t.TempDir()
	e := open(t, dir, everything)
	ingest(t, e, docs...)
	if n := e.EnrichedAgain(); n != 0 {
		t.Errorf("%d documents of a new store enriched again", n)
	}
	answers := func(e *engine.Engine) (out [][]engine.Stage) {
		for _, q := range questions {
			out = append(out, timeless(ask(t, e, q, 10)))
		}
		return out
	}
	ranking := answers(e)
	shut(t, e)
	want := content(t, dir)
	for _, tc := range []struct {
		name, statements string
		again            int
	}{
		{"before there was enrichment", `DROP TABLE document_references; DROP TABLE section_terms; DROP TABLE sections; DROP TABLE pages; DROP TABLE names;
			DROP TABLE mentions; DROP TABLE entities; DROP TABLE event_dates; DROP TABLE moments; DROP TABLE enrichments;
			DELETE FROM skipped_steps; DELETE FROM migrations WHERE number > 1`, len(docs)},
		{"other rules", `UPDATE enrichments SET version = 'enrich/0'; UPDATE event_dates SET last_day = 0; UPDATE skipped_steps SET reason = 'old'`, len(docs)},
		{"cut short", `DELETE FROM enrichments WHERE document > 10`, len(docs) - 10},
	} {
		t.Run(tc.name, func(t *testing.T) {
			alter(t, dir, tc.statements)
			readOnly := everything
			readOnly.ReadOnly = true
			if err := tryOpen(dir, readOnly); err == nil || !strings.Contains(err.Error(), "open it once for writing") {
				t.Errorf("read-only: %v", err)
			}
			e := open(t, dir, everything)
			if n := e.EnrichedAgain(); n != tc.again {
				t.Errorf("%d documents enriched again, want %d", n, tc.again)
			}
			firstDifference(t, ranking, answers(e))
			shut(t, e)
			firstDifference(t, want, content(t, dir))
			if err := tryOpen(dir, readOnly); err != nil {
				t.Errorf("read-only after it: %v", err)
			}
		})
	}
}

// TestHostileTextIsIngested: no text costs a document, whatever the channels.
func TestHostileTextIsIngested(t *testing.T) {
	texts := map[string]string{
		"headings": strings.Repeat("# x\n", 5000), "brackets": strings.Repeat("[[", 5000), "links": strings.Repeat("[a](b)", 5000),
		"dates": strings.Repeat("2024-03-12 ", 5000), "names": strings.Repeat("Aa Bb. ", 5000), "nul": "\x00# a\x00\nMaria\x00 Lopez 2024-03-12",
		"one word": strings.Repeat("A", 100_000), "ids": strings.Repeat("A1-1 ", 5000), "marks": strings.Repeat("e\u0301", 5000),
		"sql": "'; DROP TABLE entities; -- Robert'; Tables", "rtl": "\u202e# שלום\nMaria Lopez", "emoji": "# 🦊🦊\n[[🦊]] 👩‍👩‍👧",
	}
	e := open(t, t.TempDir(), engine.Config{Embedder: embedtest.New(16), Channels: allChannels})
	var docs []engine.Document
	for id, text := range texts {
		docs = append(docs, engine.Document{ID: id, Title: text[:min(len(text), 100)&^3], Text: text, Date: text[:2]})
	}
	for i := range docs {
		docs[i].Title, docs[i].Date = strings.ToValidUTF8(docs[i].Title, ""), strings.ToValidUTF8(docs[i].Date, "")
	}
	report := ingest(t, e, docs...)
	if report.Documents != len(docs) {
		t.Errorf("%d of %d documents", report.Documents, len(docs))
	}
	more := 0
	for _, s := range report.Skipped {
		if strings.HasPrefix(s.Reason, "more than") {
			more++
		}
	}
	if more != 2 { // the headings, the dates
		t.Errorf("%d documents hold more than is kept, want 2: %+v", more, report.Skipped)
	}
	if got := substrates(t, e); got["pages"] == 0 || got["event_dates"] != enrich.MaxDates+1 {
		t.Errorf("substrates %v", got)
	}
	for _, d := range docs {
		search(t, e, engine.Query{Text: d.Text[:min(len(d.Text), 10_000)&^7], K: 5, AsOf: "2024-03-13"})
	}
}
