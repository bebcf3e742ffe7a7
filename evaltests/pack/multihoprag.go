package pack

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// MultiHop-RAG, sampled, with the facts of the evidence as the pool: a
// document is one fact with the title, outlet and day of its article, since
// the questions name them. Gold is every fact of a question. A question of
// type null_query has no evidence and is unanswerable.
func readMultiHopRAG(c *content) error { return c.readSampled(c.multihopQuestion) }

func (c *content) multihopQuestion(s sampledQuestion) error {
	var q struct {
		Question *string `json:"question"`
		Type     *string `json:"question_type"`
	}
	if err := s.query.decode(&q); err != nil {
		return err
	}
	if err := required(field{"question", q.Question != nil}, field{"question_type", q.Type != nil}); err != nil {
		return s.query.errorf("%w", err)
	}
	var truth struct {
		Answer   *string           `json:"answer"`
		Evidence []json.RawMessage `json:"evidence_list"`
	}
	if err := s.truth.decode(&truth); err != nil {
		return err
	}
	if err := required(field{"answer", truth.Answer != nil}, field{"evidence_list", truth.Evidence != nil}); err != nil {
		return s.truth.errorf("%w", err)
	}
	answerable := *q.Type != "null_query"
	if answerable != (len(truth.Evidence) > 0) {
		return s.truth.errorf("question %q of type %s has %d facts as evidence", s.id, *q.Type, len(truth.Evidence))
	}
	k := Case{
		Question: Question{ID: s.id, Text: *q.Question},
		Stratum:  strings.TrimSuffix(*q.Type, "_query"),
		Gold:     Gold{Answerable: answerable},
	}
	if answerable {
		k.Gold.Expected = distinct([]string{*truth.Answer})
	}
	if err := c.addCase(s.query.place(), k); err != nil {
		return err
	}
	var gold []string
	for i, raw := range truth.Evidence {
		d, err := multihopFact(raw)
		if err != nil {
			return s.truth.errorf("evidence_list[%d] of question %q: %w", i, s.id, err)
		}
		if err := c.addPassage(s.truth.place(), d); err != nil {
			return err
		}
		if slices.Contains(gold, d.ID) {
			return s.truth.errorf("evidence_list[%d] of question %q repeats a fact", i, s.id)
		}
		gold = append(gold, d.ID)
		c.addGold(s.truth.place(), s.id, d.ID, 1)
	}
	return nil
}

func multihopFact(raw json.RawMessage) (Document, error) {
	var e struct {
		Title     *string `json:"title"`
		URL       *string `json:"url"`
		Source    *string `json:"source"`
		Author    *string `json:"author"` // null for some articles
		Category  *string `json:"category"`
		Published *string `json:"published_at"`
		Fact      *string `json:"fact"`
	}
	if err := strict.JSON(raw, &e, false); err != nil {
		return Document{}, err
	}
	if err := required(
		field{"title", e.Title != nil}, field{"url", e.URL != nil}, field{"source", e.Source != nil}, field{"category", e.Category != nil},
		field{"published_at", e.Published != nil}, field{"fact", e.Fact != nil},
	); err != nil {
		return Document{}, err
	}
	at, err := time.Parse(time.RFC3339, *e.Published)
	if err != nil {
		return Document{}, fmt.Errorf("published_at %.40q: want a time in RFC 3339", *e.Published)
	}
	day := at.Format(time.DateOnly)
	meta := map[string]string{"source": *e.Source, "category": *e.Category, "url": *e.URL}
	if e.Author != nil {
		meta["author"] = *e.Author
	}
	return Document{
		ID: ContentID(*e.URL, *e.Fact), Title: *e.Title, Text: *e.Source + " " + day + " " + *e.Fact, Date: day, Meta: meta,
	}, nil
}
