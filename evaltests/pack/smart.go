package pack

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// The names under which the Cranfield collection is passed on.
const (
	smartDocuments = "cran.all.1400"
	smartQuestions = "cran.qry"
	smartQrels     = "cranqrel"
)

// SMART text: records that begin with ".I number", with fields .T (title) and
// .W (text). Two traps of the Cranfield collection: the judgements number the
// questions 1, 2, 3 by position, whatever their .I says; and relevance is
// 1 (a complete answer) to 5 (of no interest), so the grade is 5 minus it. The
// one row of each question with -1 is documented nowhere and is left out.
func readSMART(c *content) error {
	documents, err := c.smartRecords(smartDocuments)
	if err != nil {
		return err
	}
	for _, r := range documents {
		// The text repeats the title, as the source has it.
		d := Document{ID: strconv.Itoa(r.number), Title: r.text('T', " "), Text: r.text('W', "\n")}
		if err := c.addDocument(r.place, d); err != nil {
			return err
		}
	}
	questions, err := c.smartRecords(smartQuestions)
	if err != nil {
		return err
	}
	seen := map[int]string{}
	for i, r := range questions {
		if first, twice := seen[r.number]; twice {
			return fmt.Errorf("%s: question .I %d was given before, at %s", r.place, r.number, first)
		}
		seen[r.number] = r.place
		q := Question{ID: strconv.Itoa(i + 1), Text: r.text('W', " ")}
		if err := c.addCase(r.place, Case{Question: q, Gold: Gold{Answerable: true}}); err != nil {
			return err
		}
	}
	return c.smartQrels()
}

func (c *content) smartQrels() error {
	data, err := c.open(smartQrels)
	if err != nil {
		return err
	}
	return strict.Lines(c.file(smartQrels), bytes.NewReader(data), func(line int, text []byte) error {
		cols := strings.Fields(string(text))
		if len(cols) != 3 {
			return fmt.Errorf("found %d columns, want 3 (question, document, relevance): %.60q", len(cols), text)
		}
		switch relevance := cols[2]; relevance {
		case "-1":
		case "1", "2", "3", "4", "5":
			c.addGold(c.place(smartQrels, line), cols[0], cols[1], 5-int(relevance[0]-'0'))
		default:
			return fmt.Errorf("relevance %q: want 1 (complete answer) to 5 (no interest), or -1", relevance)
		}
		return nil
	})
}

type smartRecord struct {
	place  string
	number int
	fields map[byte][]string // lines by letter
}

// text joins the lines of a field.
func (r smartRecord) text(field byte, sep string) string { return strings.Join(r.fields[field], sep) }

// smartRecords splits a file into its records. A field that is given again in
// a record continues, as in the collection's damaged records 240, 576 and 578.
func (c *content) smartRecords(file string) ([]smartRecord, error) {
	data, err := c.open(file)
	if err != nil {
		return nil, err
	}
	var out []smartRecord
	var field byte
	err = strict.Lines(c.file(file), bytes.NewReader(data), func(line int, text []byte) error {
		if number, ok := strings.CutPrefix(string(text), ".I"); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 31)
			if err != nil {
				return fmt.Errorf("found %.40q, want .I and a number", text)
			}
			out = append(out, smartRecord{c.place(file, line), int(n), map[byte][]string{}})
			field = 0
			return nil
		}
		if len(text) == 2 && text[0] == '.' && text[1] >= 'A' && text[1] <= 'Z' {
			if strings.IndexByte("TABW", text[1]) < 0 {
				return fmt.Errorf("field %s: want .T, .A, .B or .W", text)
			}
			if len(out) == 0 {
				return fmt.Errorf("field %s before the first .I", text)
			}
			field = text[1]
			return nil
		}
		if field == 0 {
			return fmt.Errorf("text outside a field: %.40q; want .T, .A, .B or .W first", text)
		}
		last := out[len(out)-1]
		last.fields[field] = append(last.fields[field], string(text))
		return nil
	})
	return out, err
}
