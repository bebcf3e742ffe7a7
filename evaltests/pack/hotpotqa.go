package pack

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

const (
	hotpotFile       = "hotpotqa_100.json"
	hotpotParagraphs = 10 // of a question in the distractor setting
)

// HotpotQA in its distractor setting is one JSON array of questions, each with
// its paragraphs [title, [sentence...]] and supporting facts [title, sentence
// number]. All paragraphs are one pool; gold is every title with a supporting
// fact, grade 1. Titles name the paragraphs, with underscores for blanks, as
// Wikipedia writes page names, since TREC files cannot hold blanks.
func readHotpotQA(c *content) error {
	all, err := c.openJSON(hotpotFile)
	if err != nil {
		return err
	}
	return all.each("questions", c.hotpotQuestion)
}

func (c *content) hotpotQuestion(item jsonValue) error {
	var q struct {
		ID       *string           `json:"_id"`
		Question *string           `json:"question"`
		Answer   *string           `json:"answer"`
		Type     *string           `json:"type"`
		Facts    []json.RawMessage `json:"supporting_facts"`
		Context  []json.RawMessage `json:"context"`
	}
	if err := item.decode(&q); err != nil {
		return err
	}
	if err := required(
		field{"_id", q.ID != nil}, field{"question", q.Question != nil}, field{"answer", q.Answer != nil}, field{"type", q.Type != nil},
	); err != nil {
		return item.errorf("%w", err)
	}
	own := map[string]bool{}
	for i, raw := range q.Context {
		var title string
		var sentences []string
		if err := pair(raw, &title, &sentences); err != nil {
			return item.errorf("context[%d] of question %q: %w", i, *q.ID, err)
		}
		if own[title] {
			return item.errorf("question %q has paragraph %q twice", *q.ID, title)
		}
		own[title] = true
		if err := c.addPassage(item.place(), Document{ID: pageName(title), Title: title, Text: strings.Join(sentences, "")}); err != nil {
			return err
		}
	}
	if len(q.Context) < hotpotParagraphs {
		c.note("few-paragraphs", item.place(), *q.ID, "", "the question has %d paragraphs; the setting has %d, gold and distractors", len(q.Context), hotpotParagraphs)
	}
	err := c.addCase(item.place(), Case{
		Question: Question{ID: *q.ID, Text: *q.Question}, Stratum: *q.Type,
		Gold: Gold{Answerable: true, Expected: distinct([]string{*q.Answer})},
	})
	if err != nil {
		return err
	}
	var gold []string
	for i, raw := range q.Facts {
		var title string
		var sentence int
		if err := pair(raw, &title, &sentence); err != nil {
			return item.errorf("supporting_facts[%d] of question %q: %w", i, *q.ID, err)
		}
		if !own[title] {
			return item.errorf("supporting_facts[%d] of question %q: %q is not among its paragraphs", i, *q.ID, title)
		}
		// Several sentences of one paragraph are one gold document.
		if !slices.Contains(gold, title) {
			gold = append(gold, title)
			c.addGold(item.place(), *q.ID, pageName(title), 1)
		}
	}
	return nil
}

// pageName replaces runs of white space, so that the id is one word.
func pageName(title string) string { return strings.Join(strings.Fields(title), "_") }

// pair decodes an array of exactly two values.
func pair(raw json.RawMessage, first, second any) error {
	var both []json.RawMessage
	if err := strict.JSON(raw, &both, false); err != nil {
		return err
	}
	if len(both) != 2 {
		return fmt.Errorf("found %d values, want 2", len(both))
	}
	for i, to := range []any{first, second} {
		if string(both[i]) == "null" {
			return fmt.Errorf("value %d is null", i)
		}
		if err := strict.JSON(both[i], to, false); err != nil {
			return err
		}
	}
	return nil
}
