package pack

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// A BEIR folder is corpus.jsonl, queries.jsonl and qrels (qrels.tsv, or
// qrels/test.tsv as the public sets have it, or another split). Our own packs add cases.jsonl,
// which then lists every question; without it the cases are the questions
// that the qrels judge, as BEIR's own evaluation takes them.
func readBEIR(c *content) error {
	if err := c.readCorpus("corpus.jsonl"); err != nil {
		return err
	}
	return c.readQuestions()
}

// readGodoc takes its documents from pinned modules and its questions from
// the same files as a BEIR folder.
func readGodoc(c *content) error {
	documents, err := LoadGodoc(c.dir, c.options.ModCache)
	if err != nil {
		return err
	}
	for _, pin := range []string{"go.mod", "go.sum"} {
		if _, err := c.open(pin); err != nil {
			return err
		}
	}
	c.alias = Aliases(documents)
	for _, d := range documents {
		if err := c.addDocument(c.place("go.mod", 1), d); err != nil {
			return err
		}
	}
	return c.readQuestions()
}

func (c *content) readCorpus(file string) error {
	return c.lines(file, func(place string, _ int, text []byte) error {
		var d struct {
			ID       *string                    `json:"_id"`
			Title    string                     `json:"title"`
			Text     *string                    `json:"text"`
			Group    string                     `json:"group"`
			Date     string                     `json:"date"`
			Metadata map[string]json.RawMessage `json:"metadata"`
		}
		if err := strict.JSON(text, &d, false); err != nil {
			return err
		}
		if d.ID == nil || d.Text == nil {
			return fmt.Errorf("want an object with the strings _id and text")
		}
		if err := dateOrTime(d.Date); err != nil {
			return fmt.Errorf("date of %q: %w", *d.ID, err)
		}
		return c.addDocument(place, Document{
			ID: *d.ID, Title: d.Title, Text: *d.Text, Group: d.Group, Date: d.Date, Meta: textValues(d.Metadata),
		})
	})
}

// readQuestions reads queries.jsonl, the optional cases.jsonl and the qrels.
func (c *content) readQuestions() error {
	var order []Question
	var at spots
	index := map[string]int{}
	err := c.lines("queries.jsonl", func(place string, _ int, text []byte) error {
		var q struct {
			ID   *string `json:"_id"`
			Text *string `json:"text"`
		}
		if err := strict.JSON(text, &q, false); err != nil {
			return err
		}
		if q.ID == nil || q.Text == nil {
			return fmt.Errorf("want an object with the strings _id and text")
		}
		if first, twice := index[*q.ID]; twice {
			return fmt.Errorf("case id %q was given before, at %s; ids must be unique", *q.ID, at.place(first))
		}
		index[*q.ID] = len(order)
		order = append(order, Question{ID: *q.ID, Text: *q.Text})
		at.add(place)
		return nil
	})
	if err != nil {
		return err
	}
	qrels, err := c.qrelsFile()
	if err != nil {
		return err
	}
	judged, err := c.readQrels(qrels)
	if err != nil {
		return err
	}
	if !c.exists("cases.jsonl") {
		for i, q := range order {
			if !judged[q.ID] {
				continue
			}
			if err := c.addCase(at.place(i), Case{Question: q, Gold: Gold{Answerable: true}}); err != nil {
				return err
			}
		}
		return nil
	}
	err = c.lines("cases.jsonl", func(place string, _ int, text []byte) error {
		var k caseLine
		if err := strict.JSON(text, &k, true); err != nil {
			return err
		}
		i, ok := index[k.ID]
		if !ok {
			return fmt.Errorf("case %q is not in queries.jsonl", k.ID)
		}
		asked, err := k.asCase(order[i])
		if err != nil {
			return fmt.Errorf("case %q: %w", k.ID, err)
		}
		return c.addCase(place, asked)
	})
	if err != nil {
		return err
	}
	for i, q := range order {
		if _, ok := c.caseAt[q.ID]; !ok {
			return fmt.Errorf("%s: question %q is not in cases.jsonl, which must list every question", at.place(i), q.ID)
		}
	}
	return nil
}

// beirSplits are the sets of questions that public BEIR folders judge.
var beirSplits = []string{"test", "dev", "train"}

// qrelsFile is qrels.tsv, as own packs have it, or qrels/SPLIT.tsv of the
// public sets. Where both are there, nothing says which one holds.
func (c *content) qrelsFile() (string, error) {
	const own = "qrels.tsv"
	split := cmp.Or(c.manifest.Split, beirSplits[0])
	public := "qrels/" + split + ".tsv"
	switch {
	case c.exists(own) && (c.exists(public) || c.manifest.Split != ""):
		return "", fmt.Errorf("%s: judgements that are not of a split, but %s is asked for too; remove one of them", c.file(own), public)
	case c.exists(own):
		return own, nil
	case c.exists(public):
		return public, nil
	}
	var have []string
	for _, s := range beirSplits {
		if c.exists("qrels/" + s + ".tsv") {
			have = append(have, s)
		}
	}
	if len(have) == 0 {
		return "", fmt.Errorf("%s: found neither %s nor %s", c.dir, own, public)
	}
	return "", fmt.Errorf("%s: found neither %s nor %s, but judgements of %s; name the set as split in %s", c.dir, own, public, strings.Join(have, " and "), ManifestFile)
}

// readQrels reads the three columns of BEIR, tab separated, under a header.
func (c *content) readQrels(file string) (map[string]bool, error) {
	judged := map[string]bool{}
	header := true
	err := c.lines(file, func(place string, _ int, text []byte) error {
		cols := strings.Split(string(text), "\t")
		if len(cols) != 3 {
			return fmt.Errorf("found %d tab-separated columns, want 3 (query-id, corpus-id, score): %.60q", len(cols), text)
		}
		if header {
			header = false
			if cols[0] == "query-id" {
				return nil
			}
		}
		grade, err := strconv.Atoi(strings.TrimSpace(cols[2]))
		if err != nil {
			return fmt.Errorf("grade %q is not an integer", cols[2])
		}
		judged[cols[0]] = true
		c.addGold(place, cols[0], cols[1], grade)
		return nil
	})
	return judged, err
}

func (c *content) file(name string) string { return strings.TrimSuffix(c.place(name, 0), ":0") }

// unplaced takes the place off an error that strict.Lines will add again.
func unplaced(err error, place string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s", strings.TrimPrefix(err.Error(), place+": "))
}

// textValues keeps the metadata that can be filtered on: plain values, numbers
// as they are written (20200101 is no 2.0200101e+07).
func textValues(meta map[string]json.RawMessage) map[string]string {
	if len(meta) == 0 {
		return nil
	}
	out := map[string]string{}
	for key, raw := range meta {
		var text string
		switch {
		case json.Unmarshal(raw, &text) == nil && raw[0] == '"':
			out[key] = text
		case bytes.IndexByte([]byte("-0123456789tf"), raw[0]) >= 0:
			out[key] = string(raw)
		}
	}
	return out
}
