package engine

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/engine/enrich"
	"github.com/touchstone-eval/touchstone/engine/store"
)

// graph finds the documents that a link leads to from a seed: each link adds
// its weight, divided by the seed's rank.
func (s *search) graph() ([]place, string, error) {
	seeds := s.seeds()
	if len(seeds) == 0 {
		return nil, noSeed, nil
	}
	links, err := s.engine.store.Links(s.ctx, seeds...)
	if err != nil {
		return nil, "", err
	}
	scores := map[string]float64{}
	for _, l := range links { // in one order, for the sum decides an order
		scores[l.To] += float64(l.Weight / float64(slices.Index(seeds, l.From)+1))
	}
	return s.ranked(scores), "", nil
}

// episodeWindow is how far from a seed an episode is followed, on each side.
const episodeWindow = 5

// episodes finds the documents around a seed, nearest first.
func (s *search) episodes() ([]place, string, error) {
	seeds := s.seeds()
	if len(seeds) == 0 {
		return nil, noSeed, nil
	}
	scores := map[string]float64{}
	for i, seed := range seeds {
		around, err := s.engine.store.EpisodeNeighbours(s.ctx, seed, episodeWindow)
		if err != nil {
			return nil, "", err
		}
		for _, n := range around {
			scores[n.Document] = max(scores[n.Document], 1/float64(i+n.Distance))
		}
	}
	return s.ranked(scores), "", nil
}

// ranked orders documents by score, then by their place in the fused list,
// then by id.
func (s *search) ranked(scores map[string]float64) []place {
	var out []place
	for document, score := range scores {
		out = append(out, place{document, -1, score})
	}
	s.sortPlaces(out)
	return out
}

func (s *search) sortPlaces(list []place) {
	ranks := s.fusedRanks()
	rank := func(p place) int {
		if r := ranks[p.document]; r > 0 {
			return r
		}
		return math.MaxInt
	}
	slices.SortFunc(list, func(a, b place) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(rank(a), rank(b)), strings.Compare(a.document, b.document))
	})
}

// maxQuestionDates bounds the look-ups of one question.
const maxQuestionDates = 10

// temporal finds the documents that tell of the days in the question: score 1
// where what they tell lies within those days, 1/2 where it only overlaps
// them, as a year does with one of its days.
func (s *search) temporal() ([]place, string, error) {
	var today *enrich.Day
	if s.asOf != nil {
		today = &s.asOf.Day
	}
	asked := enrich.Dates(s.query.Text, today, maxQuestionDates)
	switch {
	case len(asked.Dates) > 0:
	case asked.Relative > 0:
		return nil, "the question's date is relative, and it does not say as of when", nil
	default:
		return nil, "question holds no date", nil
	}
	best := map[string]place{}
	for _, d := range asked.Dates {
		events, err := s.engine.store.Events(s.ctx, d.First, d.Last)
		if err != nil {
			return nil, "", err
		}
		for _, e := range events {
			score := .5
			if e.First >= d.First && e.Last <= d.Last {
				score = 1
			}
			if score > best[e.Document].score {
				best[e.Document] = place{e.Document, e.Start, score}
			}
		}
	}
	var out []place
	for _, p := range best {
		out = append(out, p)
	}
	s.sortPlaces(out)
	return out, "", nil
}

// Parameters of BM25 over pages, the usual ones.
const (
	pageK1 = 1.2
	pageB  = .75
)

// maxPages is how many pages a question is answered from.
const maxPages = 3

// pages finds the documents that the best pages cover, page by page. A page
// answers a question only if it has at least half of its different terms: one
// word in common says little.
func (s *search) pages() ([]place, string, error) {
	terms := enrich.Terms(s.query.Text)
	slices.Sort(terms)
	terms = slices.Compact(terms)
	if len(terms) == 0 {
		return nil, "question holds no term to look up", nil
	}
	matches, totals, err := s.engine.store.MatchPages(s.ctx, terms)
	if err != nil {
		return nil, "", err
	}
	ranked := rankPages(matches, totals, terms)
	var out []place
	seen := map[string]bool{}
	for _, p := range ranked[:min(len(ranked), maxPages)] {
		sources, err := s.engine.store.PageSources(s.ctx, p.Page)
		if err != nil {
			return nil, "", err
		}
		for _, source := range sources {
			if !seen[source.Document] {
				seen[source.Document] = true
				out = append(out, place{source.Document, source.Start, p.score})
			}
		}
	}
	return out, "", nil
}

type rankedPage struct {
	store.PageMatch
	score float64
}

// rankPages orders pages by BM25, then by title.
func rankPages(matches []store.PageMatch, totals store.PageTotals, terms []string) []rankedPage {
	with := map[string]int{}
	for _, m := range matches {
		for term := range m.Times {
			with[term]++
		}
	}
	average := float64(totals.Tokens) / float64(max(totals.Pages, 1))
	var out []rankedPage
	for _, m := range matches {
		if 2*len(m.Times) < len(terms) {
			continue
		}
		sum := 0.0
		norm := float64(pageK1 * (1 - pageB + float64(pageB*float64(float64(m.Tokens)/average))))
		for _, term := range terms { // in one order, for the sum decides an order
			times := float64(m.Times[term])
			idf := math.Log(1 + float64((float64(totals.Pages-with[term])+.5)/(float64(with[term])+.5)))
			sum += float64(idf * float64(float64(times*(pageK1+1))/(times+norm)))
		}
		out = append(out, rankedPage{m, cut(sum)})
	}
	slices.SortFunc(out, func(a, b rankedPage) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.Title, b.Title))
	})
	return out
}

// cut keeps 40 bits, so that the last bits of a logarithm on another processor
// cannot decide an order.
func cut(f float64) float64 { return math.Float64frombits(math.Float64bits(f) &^ (1<<13 - 1)) }
