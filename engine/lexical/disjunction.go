package lexical

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/searcher"
	index "github.com/blevesearch/bleve_index_api"
)

// anyTerm is a bleve query for passages with at least one of the terms. It
// scores as bleve's match query does (sum over the terms, times the share of
// terms that match), but adds in the order of the terms, and has no limit on
// their number.
type anyTerm struct {
	terms []term
	allow func(id string) bool
}

func (q *anyTerm) Searcher(ctx context.Context, r index.IndexReader, _ mapping.IndexMapping, opts search.SearcherOptions) (search.Searcher, error) {
	s := &anyTermSearcher{reader: r, allow: q.allow, explain: opts.Explain}
	var squares float64
	for i, t := range q.terms {
		ts, err := searcher.NewTermSearcher(ctx, r, t.text, field, float64(t.count), opts)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.cursors = append(s.cursors, &cursor{Searcher: ts, order: i, count: t.count})
		s.count += t.count
		squares += float64(ts.Weight())
	}
	s.SetQueryNorm(1 / math.Sqrt(squares))
	return s, nil
}

// cursor walks over the passages that have one term.
type cursor struct {
	search.Searcher
	order int // position of the term in the question
	count int // how often the question has it
	at    *search.DocumentMatch
}

// cursors is a heap by passage, then by term. The second key is what makes
// the order of addition, and so every score, independent of the heap's past.
type cursors []*cursor

func (c cursors) Len() int      { return len(c) }
func (c cursors) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c cursors) Less(i, j int) bool {
	if d := c[i].at.IndexInternalID.Compare(c[j].at.IndexInternalID); d != 0 {
		return d < 0
	}
	return c[i].order < c[j].order
}
func (c *cursors) Push(x any) { *c = append(*c, x.(*cursor)) }
func (c *cursors) Pop() any {
	last := len(*c) - 1
	x := (*c)[last]
	*c = (*c)[:last]
	return x
}

type anyTermSearcher struct {
	reader  index.IndexReader
	allow   func(id string) bool
	explain bool
	cursors []*cursor
	count   int // terms of the question, repeated ones counted
	open    cursors
	started bool
}

func (s *anyTermSearcher) Next(ctx *search.SearchContext) (*search.DocumentMatch, error) {
	if !s.started {
		s.started = true
		for _, c := range s.cursors {
			if err := s.move(ctx, c); err != nil {
				return nil, err
			}
		}
	}
	for len(s.open) > 0 {
		match, err := s.take(ctx)
		if err != nil {
			return nil, err
		}
		if s.allow != nil {
			id, err := s.reader.ExternalID(match.IndexInternalID)
			if err != nil {
				return nil, err
			}
			if !s.allow(id) {
				ctx.DocumentMatchPool.Put(match)
				continue
			}
		}
		return match, nil
	}
	return nil, nil
}

// move puts a cursor into the heap at its next match, or leaves it out if
// there is none.
func (s *anyTermSearcher) move(ctx *search.SearchContext, c *cursor) error {
	at, err := c.Next(ctx)
	if err != nil || at == nil {
		return err
	}
	c.at = at
	heap.Push(&s.open, c)
	return nil
}

// take scores the first passage of the heap and moves its cursors on.
func (s *anyTermSearcher) take(ctx *search.SearchContext) (*search.DocumentMatch, error) {
	match := s.open[0].at
	var sum float64
	var matched int
	var parts []*search.Explanation
	for len(s.open) > 0 && s.open[0].at.IndexInternalID.Equals(match.IndexInternalID) {
		c := heap.Pop(&s.open).(*cursor)
		sum += c.at.Score
		matched += c.count
		parts = append(parts, c.at.Expl)
		if c.at != match {
			ctx.DocumentMatchPool.Put(c.at)
		}
		if err := s.move(ctx, c); err != nil {
			return nil, err
		}
	}
	coord := float64(matched) / float64(s.count)
	match.Score = cut(float64(sum * coord))
	match.Expl = nil
	if s.explain {
		match.Expl = &search.Explanation{Value: match.Score, Message: "product of:", Children: []*search.Explanation{
			{Value: sum, Message: "sum of:", Children: parts},
			{Value: coord, Message: fmt.Sprintf("coord(%d/%d)", matched, s.count)},
		}}
	}
	return match, nil
}

// scoreBits is what is kept of a score's 53 significant bits.
const scoreBits = 40

// cut rounds to scoreBits significant bits.
func cut(score float64) float64 {
	const drop = 53 - scoreBits
	b := math.Float64bits(score)
	return math.Float64frombits((b + 1<<(drop-1)) &^ (1<<drop - 1))
}

// Advance is part of the interface; nothing calls it on the outermost query.
func (s *anyTermSearcher) Advance(ctx *search.SearchContext, id index.IndexInternalID) (*search.DocumentMatch, error) {
	for {
		match, err := s.Next(ctx)
		if match == nil || err != nil || match.IndexInternalID.Compare(id) >= 0 {
			return match, err
		}
		ctx.DocumentMatchPool.Put(match)
	}
}

func (s *anyTermSearcher) Close() error {
	var errs []error
	for _, c := range s.cursors {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

func (s *anyTermSearcher) Weight() float64 {
	var sum float64
	for _, c := range s.cursors {
		sum += c.Weight()
	}
	return sum
}

func (s *anyTermSearcher) SetQueryNorm(norm float64) {
	for _, c := range s.cursors {
		c.SetQueryNorm(norm)
	}
}

func (s *anyTermSearcher) Count() uint64 {
	var sum uint64
	for _, c := range s.cursors {
		sum += c.Count()
	}
	return sum
}

func (s *anyTermSearcher) Min() int { return 1 }

func (s *anyTermSearcher) Size() int {
	sum := int(unsafe.Sizeof(*s))
	for _, c := range s.cursors {
		sum += int(unsafe.Sizeof(*c)) + c.Size()
	}
	return sum
}

func (s *anyTermSearcher) DocumentMatchPoolSize() int {
	sum := len(s.cursors)
	for _, c := range s.cursors {
		sum += c.DocumentMatchPoolSize()
	}
	return sum
}
