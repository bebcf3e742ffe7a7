package record

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Stage states.
const (
	Executed        = "executed"
	SkippedStage    = "skipped"
	NotInstrumented = "not_instrumented"
)

// Final is the name of the last stage: the ranking that users see.
const Final = "final"

// Entry is one ranked unit. Chunk is empty when the subject ranks documents. A
// page, which is no document of the corpus, stands for those that it covers.
type Entry struct {
	Chunk string `json:"chunk,omitempty"`
	Doc   string `json:"doc"` // or the id of the page

	// Covers are the documents of the corpus that a page stands for, best
	// first. Measures put them in its place.
	Covers []string `json:"covers,omitempty"`

	Score float64 `json:"score"` // diagnostic: suites measure the order, not the scores
}

// Stage is what one step of the search did.
type Stage struct {
	Name     string             `json:"name"`
	State    string             `json:"state"`            // Executed, SkippedStage or NotInstrumented
	Reason   string             `json:"reason,omitempty"` // why it was skipped
	Entries  []Entry            `json:"entries"`          // best first
	Total    int                `json:"total"`            // candidates before any cut
	CutAt    int                `json:"cut_at,omitempty"` // depth at which Entries was cut, 0 if it was not
	Micros   int64              `json:"micros"`           // latency
	Measures map[string]float64 `json:"measures,omitempty"`
	Same     *Same              `json:"same_as,omitempty"` // in a file only: stands for Entries
}

// Same says that entries are the first N of an earlier stage. Most stages hand
// on what they were given, and a record would hold the same list four times.
// It stands in files alone: [Read] gives every stage its entries.
type Same struct {
	Stage string `json:"stage"`
	N     int    `json:"n"`
}

// Channel says what a source of candidates did for one search.
type Channel struct {
	Name        string `json:"name"`
	Fired       bool   `json:"fired"`             // it was asked and returned something
	Contributed bool   `json:"contributed"`       // something of it is in the final ranking
	Skipped     string `json:"skipped,omitempty"` // why it was not asked
	// Hits is what it handed on, best first, where no stage of its name has it;
	// at most MaxHits are recorded. Found is how many there were.
	Hits  []Entry `json:"hits,omitempty"`
	Found int     `json:"found,omitempty"`
}

// MaxHits bounds the hits recorded of a channel.
const MaxHits = 200

// Observation is what a subject returns for one question.
type Observation struct {
	Ranking  []Entry   // the final order, best first
	Stages   []Stage   // the steps that led there, in order; may be empty
	Channels []Channel // may be empty
	Warnings []string  // anything a reader of the row should know
}

// Validate refuses an observation that cannot be measured: an entry without a
// document id, a document (and chunk) ranked twice, a score that is not
// finite. known, when not nil, tells whether an id is in the corpus.
func (o Observation) Validate(known func(doc string) bool) error {
	if err := validEntries("ranking", o.Ranking, known); err != nil {
		return err
	}
	names := map[string]bool{}
	for _, s := range o.Stages {
		if s.Name == "" || names[s.Name] {
			return fmt.Errorf("stage %q: found an empty name or one given twice; want distinct stage names", s.Name)
		}
		names[s.Name] = true
		switch s.State {
		case Executed:
		case SkippedStage:
			if s.Reason == "" {
				return fmt.Errorf("stage %s: skipped without a reason", s.Name)
			}
		case NotInstrumented:
		default:
			return fmt.Errorf("stage %s: state %q; want %s, %s or %s", s.Name, s.State, Executed, SkippedStage, NotInstrumented)
		}
		if err := validEntries("stage "+s.Name, s.Entries, known); err != nil {
			return err
		}
	}
	for _, c := range o.Channels {
		if err := validEntries("channel "+c.Name, c.Hits, known); err != nil {
			return err
		}
	}
	return nil
}

func validEntries(where string, entries []Entry, known func(string) bool) error {
	seen := map[[2]string]int{}
	var foreign []string
	for i, e := range entries {
		rank := i + 1
		if e.Doc == "" {
			return fmt.Errorf("%s: empty document id at rank %d", where, rank)
		}
		if math.IsNaN(e.Score) || math.IsInf(e.Score, 0) {
			return fmt.Errorf("%s: score %v of %q at rank %d is not finite", where, e.Score, e.Doc, rank)
		}
		key := [2]string{e.Doc, e.Chunk}
		if first, twice := seen[key]; twice {
			return fmt.Errorf("%s: %q is ranked twice, at %d and %d", where, e.Doc, first, rank)
		}
		seen[key] = rank
		units := []string{e.Doc}
		if e.Covers != nil {
			if units = e.Covers; known != nil && known(e.Doc) {
				return fmt.Errorf("%s: page %q at rank %d has the id of a document; give pages ids of their own", where, e.Doc, rank)
			}
			if err := validCover(e.Covers); err != nil {
				return fmt.Errorf("%s: page %q at rank %d: %w", where, e.Doc, rank, err)
			}
		}
		for _, id := range units {
			if known != nil && !known(id) {
				foreign = append(foreign, id)
			}
		}
	}
	if len(foreign) > 0 {
		n := len(foreign)
		if n > 3 {
			foreign = foreign[:3]
		}
		return fmt.Errorf("%s: %d ids are not in the corpus, for instance %q", where, n, foreign)
	}
	return nil
}

func validCover(covers []string) error {
	seen := map[string]bool{}
	for _, id := range covers {
		if id == "" || seen[id] {
			return fmt.Errorf("it covers %q, an empty id or one given twice", id)
		}
		seen[id] = true
	}
	if len(covers) == 0 {
		return errors.New("it covers no document, so nothing can be said of it")
	}
	return nil
}

// Documents collapses entries to document ids: a document stands where its
// first chunk stood, or the first page that covers it. collapsed tells whether
// any chunk was dropped.
func Documents(entries []Entry) (ids []string, scores []float64, collapsed bool) {
	seen := map[string]bool{}
	for _, e := range entries {
		units := e.Covers
		if units == nil {
			units = []string{e.Doc}
		}
		for _, id := range units {
			if seen[id] {
				collapsed = collapsed || e.Covers == nil
				continue
			}
			seen[id] = true
			ids = append(ids, id)
			scores = append(scores, e.Score)
		}
	}
	return ids, scores, collapsed
}

// Pages reports whether any entry is a page.
func Pages(entries []Entry) bool {
	return slices.ContainsFunc(entries, func(e Entry) bool { return e.Covers != nil })
}

// Blind are entries whose pages stand for nothing but themselves: what a
// ranking is worth to measures that know of no coverage. A diagnostic.
func Blind(entries []Entry) []Entry {
	out := slices.Clone(entries)
	for i := range out {
		out[i].Covers = nil
	}
	return out
}

// returnsPages reports whether an observation has a page anywhere.
func (o Observation) returnsPages() bool {
	return Pages(o.Ranking) || slices.ContainsFunc(o.Stages, func(s Stage) bool { return Pages(s.Entries) })
}

// RequireCoverage refuses an observation with pages where the pack does not
// say what they cover is to count: their measures would be zero, or made up.
func (o Observation) RequireCoverage(covered bool) (Outcome, bool) {
	if covered || !o.returnsPages() {
		return Outcome{}, false
	}
	return Outcome{State: Refused, Reason: "the subject returns pages, and the pack has no coverage",
		Action: "say pages = true under [coverage] in contract.toml, or switch off what returns pages"}, true
}

// RisingScore returns the first rank (from 2) whose score is above that of
// the rank before it, or 0. Suites measure the order; a rising score only
// hints that the order is not what the subject meant.
func RisingScore(entries []Entry) int {
	for i := 1; i < len(entries); i++ {
		if entries[i].Score > entries[i-1].Score {
			return i + 1
		}
	}
	return 0
}
