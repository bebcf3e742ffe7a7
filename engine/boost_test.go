package engine_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchstone-eval/touchstone/engine"
)

// boosted are documents that the arms tell apart by their ids alone.
var boosted = []engine.Document{
	{ID: "a", Source: "chat", Title: "notes misc", Text: "the ferry timetable", Date: "2026-01-01"},
	{ID: "b", Source: "wiki", Title: "ferry misc", Text: "the notes timetable", Date: "2026-03-01T10:00:00+02:00"},
	{ID: "c", Source: "mail", Title: "misc notes", Text: "the ferry timetable", Date: "some day"},
	{ID: "d", Source: "chat", Title: "misc ferry", Text: "the notes timetable", Date: "2027-01-01"},
}

func TestBoosts(t *testing.T) {
	for _, tc := range []struct {
		name   string
		boosts engine.Boosts
		asOf   string
		want   string
		reason string
	}{
		{"none", engine.Boosts{}, "2026-03-02", "a b c d", "identity: no boost is declared"},
		{"a source of 0", engine.Boosts{Source: map[string]float64{"wiki": 0}}, "", "a b c d", "identity: no boost is declared"},
		{"title", engine.Boosts{Title: .5}, "", "b d a c", ""},
		{"recency", engine.Boosts{Recency: engine.Recency{Weight: 1}}, "2026-03-02", "b a c d", ""},
		{"recency on the day itself", engine.Boosts{Recency: engine.Recency{Weight: 1}}, "2026-03-01T00:30:00Z", "b a c d", ""},
		{"recency before all", engine.Boosts{Recency: engine.Recency{Weight: 1}}, "2025-12-31", "a b c d", ""},
		{"recency, question without a day", engine.Boosts{Recency: engine.Recency{Weight: 1}}, "", "a b c d", "no recency: the question does not say as of when"},
		{"source up", engine.Boosts{Source: map[string]float64{"mail": .5}}, "", "c a b d", ""},
		{"source down", engine.Boosts{Source: map[string]float64{"chat": -.9}}, "", "b c a d", ""},
		{"unknown source", engine.Boosts{Source: map[string]float64{"fax": 9}}, "", "a b c d", ""},
		{"title and source", engine.Boosts{Title: .5, Source: map[string]float64{"mail": .2}}, "", "b d c a", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := open(t, t.TempDir(), engine.Config{Boosts: tc.boosts})
			ingest(t, e, boosted...)
			r := search(t, e, engine.Query{Text: "ferry", K: 4, AsOf: tc.asOf})
			s := stage(t, r, engine.StageBoosted)
			if got := strings.Join(documents(s.Hits), " "); got != tc.want || s.State != engine.Executed || s.Reason != tc.reason {
				t.Errorf("%s, %q: %s, want %q: %s", s.State, s.Reason, got, tc.reason, tc.want)
			}
			if got := strings.Join(documents(r.Hits), " "); got != tc.want {
				t.Errorf("final order %s, want %s", got, tc.want)
			}
			if fused := stage(t, r, engine.StageFusion); strings.Join(documents(fused.Hits), " ") != "a b c d" {
				t.Errorf("the boost shows in the fusion: %v", documents(fused.Hits))
			} else if strings.HasPrefix(tc.reason, "identity") {
				if diff := cmp.Diff(fused.Hits, s.Hits); diff != "" {
					t.Errorf("an identity changes hits (-fusion +boosted):\n%s", diff)
				}
			}
		})
	}
}

// TestBoostedOrderIsTotal: scores fall down the list, equal ones keep the
// fused order, and the order of ingest does not matter.
func TestBoostedOrderIsTotal(t *testing.T) {
	docs := corpus(80)
	cfg := engine.Config{Chunk: small, Boosts: engine.Boosts{Title: .3, Source: map[string]float64{"source0": .2, "source1": -.1}}}
	e := open(t, t.TempDir(), cfg)
	ingest(t, e, docs...)
	want := rankings(t, e)
	rand.New(rand.NewPCG(3, 3)).Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	other := open(t, t.TempDir(), cfg)
	ingest(t, other, docs...)
	same(t, "another order", want, rankings(t, other))
	moved := false
	for q, r := range want {
		fused, boosted := r.Stages[2].Hits, r.Stages[3].Hits
		place := map[string]int{}
		for i, h := range fused {
			place[h.ChunkID] = i
		}
		for i := 1; i < len(boosted); i++ {
			a, b := boosted[i-1], boosted[i]
			if a.Score < b.Score || a.Score == b.Score && place[a.ChunkID] > place[b.ChunkID] {
				t.Errorf("%s: %+v before %+v", q, a, b)
			}
		}
		moved = moved || !slices.Equal(chunks(fused), chunks(boosted))
	}
	if !moved {
		t.Error("no boost moves anything: the test would show nothing")
	}
}
