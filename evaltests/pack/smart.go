package pack

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The names under which the Cranfield collection is passed on.
const (
	smartDocuments = "cran.all.1400"
	smartQuestions = "cran.qry"
	smartQrels     = "cranqrel"
)

// SMART text: records that begin with ".I number", with fields such as .T
// (title) and .W (text). A collection is three files: documents (cran.all.1400
// or *.all), questions (*.qry or query.text) and relations (cranqrel, *.rel or
// qrels.text), in small or capital letters. The other fields (authors,
// sources, cross references) are not text.
//
// Two traps of the Cranfield collection, which cranqrel tells: the judgements
// number the questions 1, 2, 3 by position, whatever their .I says; and
// relevance is 1 (a complete answer) to 5 (of no interest), so the grade is 5
// minus it. The one row of each question with -1 is documented nowhere and is
// left out, and noted.
//
// The other collections number questions by .I, and their relations hold
// question and document, then 0 and 0 (CISI, CACM); or question, 0, document
// and grade (MED); or question and document alone. A question that they do not
// judge is no case, and noted.
func readSMART(c *content) error {
	documentFile, err := c.smartFile("documents", smartDocuments, ".all")
	if err != nil {
		return err
	}
	questionFile, err := c.smartFile("questions", "query.text", ".qry")
	if err != nil {
		return err
	}
	relationFile, err := c.smartFile("relations", smartQrels, ".rel", "qrels.text")
	if err != nil {
		return err
	}
	documents, err := c.smartRecords(documentFile)
	if err != nil {
		return err
	}
	for _, r := range documents {
		// The text may repeat the title, as the source has it.
		d := Document{ID: strconv.Itoa(r.number), Title: r.text('T', " "), Text: r.text('W', "\n")}
		if err := c.addDocument(r.place, d); err != nil {
			return err
		}
	}
	questions, err := c.smartRecords(questionFile)
	if err != nil {
		return err
	}
	judged := map[string]bool{}
	if relationFile == smartQrels {
		err = c.cranfieldQrels(relationFile)
	} else {
		judged, err = c.smartRelations(relationFile)
	}
	if err != nil {
		return err
	}
	seen := map[int]string{}
	for i, r := range questions {
		if first, twice := seen[r.number]; twice {
			return fmt.Errorf("%s: question .I %d was given before, at %s", r.place, r.number, first)
		}
		seen[r.number] = r.place
		id := strconv.Itoa(r.number)
		if relationFile == smartQrels {
			id = strconv.Itoa(i + 1)
		} else if !judged[id] {
			c.note("unjudged-question", r.place, id, "", "the relations judge nothing for it; left out")
			continue
		}
		q := Question{ID: id, Text: r.text('W', " ")}
		if err := c.addCase(r.place, Case{Question: q, Gold: Gold{Answerable: true}}); err != nil {
			return err
		}
	}
	return nil
}

// smartFile is the only file with one of the names, or endings that begin with
// a dot.
func (c *content) smartFile(what string, names ...string) (string, error) {
	files, err := c.glob(func(file string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			return strings.EqualFold(file, name) || name[0] == '.' && strings.HasSuffix(strings.ToLower(file), name)
		})
	})
	if err != nil {
		return "", err
	}
	if len(files) != 1 {
		return "", fmt.Errorf("%s: found %d files of %s %v, want one of %s", c.dir, len(files), what, files, strings.Join(names, ", "))
	}
	return files[0], nil
}

func (c *content) cranfieldQrels(file string) error {
	return c.lines(file, func(place string, _ int, text []byte) error {
		cols := strings.Fields(string(text))
		if len(cols) != 3 {
			return fmt.Errorf("found %d columns, want 3 (question, document, relevance): %.60q", len(cols), text)
		}
		switch relevance := cols[2]; relevance {
		case "-1":
			c.note("undocumented-relevance", place, cols[0], cols[1], "relevance -1 is documented nowhere; the row is left out")
		case "1", "2", "3", "4", "5":
			c.addGold(place, cols[0], cols[1], 5-int(relevance[0]-'0'))
		default:
			return fmt.Errorf("relevance %q: want 1 (complete answer) to 5 (no interest), or -1", relevance)
		}
		return nil
	})
}

func (c *content) smartRelations(file string) (map[string]bool, error) {
	judged := map[string]bool{}
	err := c.lines(file, func(place string, _ int, text []byte) error {
		cols := strings.Fields(string(text))
		numbers := make([]float64, len(cols))
		for i, col := range cols {
			n, err := strconv.ParseFloat(col, 64)
			if err != nil || n < 0 || n > 1e9 || i < 3 && n != math.Trunc(n) {
				return fmt.Errorf("column %d is %.40q, want a number", i+1, col)
			}
			numbers[i] = n
		}
		question, document, grade := 0.0, 0.0, 1.0
		switch {
		case len(cols) == 2, len(cols) == 4 && numbers[2] == 0 && numbers[3] == 0 && numbers[1] > 0:
			question, document = numbers[0], numbers[1]
		case len(cols) == 4 && numbers[1] == 0 && numbers[2] > 0 && numbers[3] == math.Trunc(numbers[3]):
			question, document, grade = numbers[0], numbers[2], numbers[3]
		default:
			return fmt.Errorf("want question and document, then nothing or 0 and 0; or question, 0, document and grade: %.60q", text)
		}
		id := strconv.Itoa(int(question))
		judged[id] = true
		c.addGold(place, id, strconv.Itoa(int(document)), int(grade))
		return nil
	})
	return judged, err
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
	var out []smartRecord
	var field byte
	err := c.lines(file, func(place string, _ int, text []byte) error {
		if number, ok := strings.CutPrefix(string(text), ".I"); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 31)
			if err != nil {
				return fmt.Errorf("found %.40q, want .I and a number", text)
			}
			out = append(out, smartRecord{place, int(n), map[byte][]string{}})
			field = 0
			return nil
		}
		if len(text) == 2 && text[0] == '.' && text[1] >= 'A' && text[1] <= 'Z' {
			if strings.IndexByte("TABWXNKC", text[1]) < 0 {
				return fmt.Errorf("field %s: want .T, .W, or one of .A, .B, .C, .K, .N and .X", text)
			}
			if len(out) == 0 {
				return fmt.Errorf("field %s before the first .I", text)
			}
			field = text[1]
			return nil
		}
		if field == 0 {
			return fmt.Errorf("text outside a field: %.40q; want .T or .W first", text)
		}
		last := out[len(out)-1]
		last.fields[field] = append(last.fields[field], string(text))
		return nil
	})
	return out, err
}
