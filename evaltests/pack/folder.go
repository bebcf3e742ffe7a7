package pack

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// corpusFile makes a folder of documents a corpus.
const corpusFile = "corpus.json"

// FieldTruth is what a field of a document says.
type FieldTruth struct {
	Document string
	Field    string
	Expected string
}

// TypeTruth is the type of a document. An empty Expected is an expectation
// too: the document must stay untyped.
type TypeTruth struct {
	Document string
	Expected string
}

// A corpus folder is text files, in the folder and below, beside a corpus.json
// with name, description, questions, and what is known of the documents. A
// document's id is its path. A question is answered by the documents that it
// names, else by those of mustCiteAny; one that is negative is unanswerable;
// one that names none is not judged, since nobody said where its answer is.
func readFolder(c *content) error {
	if err := c.textDocuments(); err != nil {
		return err
	}
	v, err := c.openJSON(corpusFile)
	if err != nil {
		return err
	}
	members, err := v.object(corpusFile)
	if err != nil {
		return err
	}
	for _, m := range members {
		switch m.key {
		case "name", "description":
			err = m.decode(new(string))
		case "generator":
			err = m.decode(&map[string]json.RawMessage{}) // what made the folder; nothing is computed from it
		case "questions":
			err = c.each(m, c.folderQuestion)
		case "probeGroundTruth":
			err = c.each(m, c.folderField)
		case "docTypeGroundTruth":
			err = c.each(m, c.folderType)
		case "documents":
			err = c.each(m, c.folderDocument)
		default:
			err = m.errorf("unknown key %q", m.key)
		}
		if err != nil {
			return err
		}
	}
	if len(c.cases) == 0 {
		return v.errorf("no questions; want at least one")
	}
	return nil
}

// each calls f for the elements of an array, with their numbers.
func (c *content) each(v jsonValue, f func(i int, v jsonValue) error) error {
	items, err := v.array(v.key)
	if err != nil {
		return err
	}
	for i, item := range items {
		if err := f(i, item); err != nil {
			return err
		}
	}
	return nil
}

// strictly decodes v, refusing keys that to does not have.
func (v jsonValue) strictly(to any) error {
	if err := strict.JSON(v.raw, to, true); err != nil {
		return v.errorf("%w", err)
	}
	return nil
}

func (c *content) folderQuestion(i int, v jsonValue) error {
	var q struct {
		ID             string   `json:"id"`
		Question       *string  `json:"question"`
		Category       string   `json:"category"`
		Negative       bool     `json:"negative"`
		Documents      []string `json:"documents"`
		MustContainAll []string `json:"mustContainAll"`
		MustContainAny []string `json:"mustContainAny"`
		MustCiteAny    []string `json:"mustCiteAny"`
		MustNotContain []string `json:"mustNotContain"`
	}
	if err := v.strictly(&q); err != nil {
		return err
	}
	if err := required(field{"question", q.Question != nil}); err != nil {
		return v.errorf("%w", err)
	}
	if q.ID == "" {
		q.ID = "q" + strconv.Itoa(i)
	}
	gold, err := c.namedAll(q.Documents)
	if err != nil {
		return v.errorf("documents of question %q: %w", q.ID, err)
	}
	cite, err := c.namedAll(q.MustCiteAny)
	if err != nil {
		return v.errorf("mustCiteAny of question %q: %w", q.ID, err)
	}
	k := Case{Question: Question{ID: q.ID, Text: *q.Question}, Stratum: q.Category, Gold: Gold{Answerable: !q.Negative}}
	if len(q.MustContainAll)+len(q.MustContainAny)+len(cite)+len(q.MustNotContain) > 0 {
		k.Gold.Assertions = &Assertions{q.MustContainAll, q.MustContainAny, cite, q.MustNotContain}
	}
	if gold == nil {
		gold = cite
	}
	switch {
	case q.Negative && len(gold) > 0:
		return v.errorf("question %q is negative, but names documents", q.ID)
	case !q.Negative && len(gold) == 0:
		k.Unjudged = "the source names no document"
		c.note("no-evidence", v.place(), q.ID, "", "the question names no document that answers it")
	}
	for _, doc := range gold {
		c.addGold(v.place(), q.ID, doc, 1)
	}
	return c.addCase(v.place(), k)
}

func (c *content) folderField(_ int, v jsonValue) error {
	var f struct {
		Document *string `json:"document"`
		Field    *string `json:"field"`
		Expected *string `json:"expected"`
	}
	if err := v.strictly(&f); err != nil {
		return err
	}
	if err := required(field{"document", f.Document != nil}, field{"field", f.Field != nil}, field{"expected", f.Expected != nil}); err != nil {
		return v.errorf("%w", err)
	}
	id, err := c.named(*f.Document)
	if err != nil {
		return v.errorf("%w", err)
	}
	for _, known := range c.fields {
		if known.Document == id && known.Field == *f.Field {
			return v.errorf("field %q of %q is given twice", *f.Field, id)
		}
	}
	c.fields = append(c.fields, FieldTruth{id, *f.Field, *f.Expected})
	return nil
}

func (c *content) folderType(_ int, v jsonValue) error {
	var t struct {
		Document *string `json:"document"`
		Expected *string `json:"expected"` // absent: must stay untyped
	}
	if err := v.strictly(&t); err != nil {
		return err
	}
	if err := required(field{"document", t.Document != nil}); err != nil {
		return v.errorf("%w", err)
	}
	id, err := c.named(*t.Document)
	if err != nil {
		return v.errorf("%w", err)
	}
	truth := TypeTruth{Document: id}
	if t.Expected != nil {
		if truth.Expected = strings.TrimSpace(*t.Expected); truth.Expected == "" {
			return v.errorf("expected of %q is empty; leave the key out if it must stay untyped", id)
		}
	}
	for _, known := range c.types {
		if known.Document == id {
			return v.errorf("type of %q is given twice", id)
		}
	}
	c.types = append(c.types, truth)
	return nil
}

// folderDocument reads notes on a file; they may date it.
func (c *content) folderDocument(_ int, v jsonValue) error {
	var d struct {
		File  *string           `json:"file"`
		Notes string            `json:"notes"`
		Date  string            `json:"date"`
		Group string            `json:"group"`
		Truth map[string]string `json:"groundTruth"`
	}
	if err := v.strictly(&d); err != nil {
		return err
	}
	if err := required(field{"file", d.File != nil}); err != nil {
		return v.errorf("%w", err)
	}
	id, err := c.named(*d.File)
	if err != nil {
		return v.errorf("%w", err)
	}
	if err := dateOrTime(d.Date); err != nil {
		return v.errorf("date of %q: %w", id, err)
	}
	doc := &c.documents[c.docIndex[id]]
	doc.Date, doc.Group = d.Date, d.Group
	for _, name := range sorted(d.Truth) {
		c.fields = append(c.fields, FieldTruth{id, name, d.Truth[name]})
	}
	return nil
}
