package pack

import (
	"encoding/json"
	"fmt"

	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

const (
	clapnqAnswerable   = "clapnq_dev_answerable.jsonl"
	clapnqUnanswerable = "clapnq_dev_unanswerable.jsonl"
)

// CLAP NQ has one question a line with the passage it was asked about, in a
// file for questions that the passage answers and one for those that it does
// not: there its grade is 0. All passages are one pool. The passages have no ids, so that they get
// them by content; two that differ in a trailing blank are two documents.
func readClapNQ(c *content) error {
	if err := c.readClapNQ(clapnqAnswerable, true); err != nil {
		return err
	}
	return c.readClapNQ(clapnqUnanswerable, false)
}

func (c *content) readClapNQ(file string, answerable bool) error {
	stratum := "unanswerable"
	if answerable {
		stratum = "answerable"
	}
	return c.lines(file, func(place string, _ int, text []byte) error {
		var q struct {
			ID       *string           `json:"id"`
			Input    *string           `json:"input"`
			Passages []json.RawMessage `json:"passages"`
			Output   []json.RawMessage `json:"output"`
		}
		if err := strict.JSON(text, &q, false); err != nil {
			return err
		}
		if err := required(field{"id", q.ID != nil}, field{"input", q.Input != nil}); err != nil {
			return err
		}
		if len(q.Passages) != 1 {
			return fmt.Errorf("question %q has %d passages, want 1", *q.ID, len(q.Passages))
		}
		d, err := clapnqPassage(q.Passages[0])
		if err != nil {
			return fmt.Errorf("passages[0] of question %q: %w", *q.ID, err)
		}
		expected, err := clapnqAnswers(q.Output)
		if err != nil {
			return fmt.Errorf("question %q: %w", *q.ID, err)
		}
		if answerable != (len(expected) > 0) {
			return fmt.Errorf("question %q has %d answers, but stands among the %s", *q.ID, len(expected), stratum)
		}
		if err := c.addPassage(place, d); err != nil {
			return err
		}
		err = c.addCase(place, Case{
			Question: Question{ID: *q.ID, Text: *q.Input}, Stratum: stratum,
			Gold: Gold{Answerable: answerable, Expected: expected},
		})
		grade := 0 // judged, and on the topic, but no answer
		if answerable {
			grade = 1
		}
		c.addGold(place, *q.ID, d.ID, grade)
		return err
	})
}

func clapnqPassage(raw json.RawMessage) (Document, error) {
	var p struct {
		Title *string `json:"title"`
		Text  *string `json:"text"`
	}
	if err := strict.JSON(raw, &p, false); err != nil {
		return Document{}, err
	}
	if err := required(field{"title", p.Title != nil}, field{"text", p.Text != nil}); err != nil {
		return Document{}, err
	}
	return Document{ID: ContentID(*p.Title, *p.Text), Title: *p.Title, Text: *p.Text}, nil
}

func clapnqAnswers(output []json.RawMessage) ([]string, error) {
	var answers []string
	for i, raw := range output {
		var o struct {
			Answer *string `json:"answer"`
		}
		err := strict.JSON(raw, &o, false)
		if err == nil {
			err = required(field{"answer", o.Answer != nil})
		}
		if err != nil {
			return nil, fmt.Errorf("output[%d]: %w", i, err)
		}
		answers = append(answers, *o.Answer)
	}
	return distinct(answers), nil
}
