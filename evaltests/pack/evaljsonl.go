package pack

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// Evaluation JSONL is one case a line, with blank lines and lines that start
// with // left out; every other line must be a case. It is the only *.jsonl
// of the folder beside corpus.jsonl. The documents are those of corpus.jsonl,
// in BEIR's form, or without it the text files of the folder and below.
//
// Gold are the groundTruthChunkIds, or without any the expectedCitations. A
// case that shouldAbstain is unanswerable.
func readEvalJSONL(c *content) error {
	const corpus = "corpus.jsonl"
	files, err := c.glob(func(file string) bool {
		return strings.HasSuffix(file, ".jsonl") && file != corpus && file != ExposureFile && file != RekeyFile
	})
	if err != nil {
		return err
	}
	if len(files) != 1 {
		return fmt.Errorf("%s: found %d files *.jsonl beside %s, want one", c.dir, len(files), corpus)
	}
	if c.exists(corpus) {
		err = c.readCorpus(corpus)
	} else {
		err = c.textDocuments(files[0])
	}
	if err != nil {
		return err
	}
	return c.lines(files[0], func(place string, _ int, text []byte) error {
		if bytes.HasPrefix(text, []byte("//")) {
			return nil
		}
		return c.evalCase(place, text)
	})
}

func (c *content) evalCase(place string, text []byte) error {
	var q struct {
		ID        *string  `json:"id"`
		Query     *string  `json:"query"`
		Answer    string   `json:"expectedAnswer"`
		Category  string   `json:"category"`
		Chunks    []string `json:"groundTruthChunkIds"`
		Citations []string `json:"expectedCitations"`
		Abstain   bool     `json:"shouldAbstain"`
		Container *string  `json:"containerId"`
		Mode      string   `json:"qualityMode"`
		Tags      []string `json:"tags"`
		Notes     string   `json:"notes"`
	}
	if err := strict.JSON(text, &q, true); err != nil {
		return err
	}
	if err := required(field{"id", q.ID != nil}, field{"query", q.Query != nil}); err != nil {
		return err
	}
	k := Case{
		Question: Question{ID: *q.ID, Text: *q.Query}, Stratum: q.Category, Tags: q.Tags,
		Gold: Gold{Answerable: !q.Abstain, Expected: distinct([]string{q.Answer})},
	}
	if q.Container != nil {
		k.Group = *q.Container
	}
	cited, err := c.namedAll(q.Citations)
	if err != nil {
		return fmt.Errorf("expectedCitations of %q: %w", *q.ID, err)
	}
	k.Gold.Sources = cited
	gold := q.Chunks
	if len(gold) == 0 {
		gold = cited
	}
	switch {
	case q.Abstain && len(gold) > 0:
		return fmt.Errorf("case %q should abstain, but names what answers it", *q.ID)
	case q.Abstain && q.Answer != "":
		return fmt.Errorf("case %q should abstain, but has the answer %.40q", *q.ID, q.Answer)
	case !q.Abstain && len(gold) == 0:
		return errors.New("want groundTruthChunkIds or expectedCitations, or shouldAbstain")
	}
	for _, id := range distinct(gold) {
		c.addGold(place, *q.ID, id, 1)
	}
	return c.addCase(place, k)
}
