package pack

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// A TREC collection is a folder with one topics file, one qrels file and
// documents, told by the beginning of their names: topics*, qrels*, and
// documents* (a file, or a folder whose files are all read, in byte order).
//
// Topics are in the classic form, <top> with <num>, <title>, <desc> and
// <narr>, or, in a file *.tsv, an id and a text a line. The question is the
// title, or with split = "description" the description. Documents are TRECTEXT,
// <DOC> with <DOCNO>, or, in a file *.jsonl, objects with id and contents (or
// text) and perhaps title. Qrels have the four columns of trec_eval; a grade
// above 0 is relevant.
//
// A topic that the qrels do not judge is no case, as trec_eval has it, and is
// noted; one that they judge without a relevant document is not judged.
func readTREC(c *content) error {
	topics, err := c.oneNamed("topics")
	if err != nil {
		return err
	}
	qrels, err := c.oneNamed("qrels")
	if err != nil {
		return err
	}
	documents, err := c.filesNamed("documents")
	if err != nil {
		return err
	}
	for _, file := range documents {
		if strings.HasSuffix(file, ".jsonl") {
			err = c.trecJSON(file)
		} else {
			err = c.trecText(file)
		}
		if err != nil {
			return err
		}
	}
	judged, relevant, err := c.trecQrels(qrels)
	if err != nil {
		return err
	}
	add := func(place, id, text string) error {
		if !judged[id] {
			c.note("unjudged-topic", place, id, "", "the qrels judge nothing for it; left out")
			return nil
		}
		k := Case{Question: Question{ID: id, Text: text}, Gold: Gold{Answerable: true}}
		if !relevant[id] {
			k.Unjudged = "the qrels judge no document relevant"
			c.note("no-relevant", place, id, "", "the qrels judge no document relevant")
		}
		return c.addCase(place, k)
	}
	if strings.HasSuffix(topics, ".tsv") {
		return c.lines(topics, func(place string, _ int, text []byte) error {
			id, question, ok := strings.Cut(string(text), "\t")
			if !ok || strings.Contains(question, "\t") {
				return fmt.Errorf("want an id and a text, separated by one tab: %.60q", text)
			}
			return add(place, id, question)
		})
	}
	return c.trecTopics(topics, add)
}

// oneNamed is the only file whose name starts so.
func (c *content) oneNamed(prefix string) (string, error) {
	files, err := c.glob(func(file string) bool { return strings.HasPrefix(file, prefix) })
	if err != nil {
		return "", err
	}
	if len(files) != 1 {
		return "", fmt.Errorf("%s: found %d files named %s*, want one", c.dir, len(files), prefix)
	}
	return files[0], nil
}

// filesNamed lists the files whose name starts so, and those of folders whose
// name does.
func (c *content) filesNamed(prefix string) ([]string, error) {
	files, err := c.tree(func(file string) bool { return strings.HasPrefix(file, prefix) })
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: found no file named %s*", c.dir, prefix)
	}
	return files, err
}

func (c *content) trecJSON(file string) error {
	return c.lines(file, func(place string, _ int, text []byte) error {
		var d struct {
			ID       *string         `json:"id"`
			Title    string          `json:"title"`
			Text     *string         `json:"text"`
			Contents *string         `json:"contents"`
			Raw      json.RawMessage `json:"raw"`
		}
		if err := strict.JSON(text, &d, false); err != nil {
			return err
		}
		if d.Text == nil {
			d.Text = d.Contents
		} else if d.Contents != nil {
			return errors.New("text and contents are both given; which one holds is anybody's guess")
		}
		if d.ID == nil || d.Text == nil {
			return errors.New("want an object with the strings id and contents (or text)")
		}
		return c.addDocument(place, Document{ID: strings.TrimSpace(*d.ID), Title: d.Title, Text: *d.Text})
	})
}

// trecTitles are the elements of TRECTEXT that hold a title.
var trecTitles = map[string]bool{"TITLE": true, "HEADLINE": true, "HEAD": true, "HL": true, "TI": true}

var trecTag = regexp.MustCompile(`<(/?)([A-Za-z][A-Za-z0-9_.-]*)[^<>]*>`)

// trecText reads TRECTEXT. The text of a document is what stands in its TEXT
// elements, or, without one, all that is neither number nor title; tags in it
// are dropped and entities resolved.
func (c *content) trecText(file string) error {
	var doc *Document
	var body, texts, title strings.Builder
	var start string
	open := "" // the element that is being filled: DOCNO, a title, TEXT, or none
	seenText := false
	docno := ""
	err := c.lines(file, func(at string, _ int, line []byte) error {
		rest := string(line)
		for {
			m := trecTag.FindStringSubmatchIndex(rest)
			text := rest
			if m != nil {
				text = rest[:m[0]]
			}
			if doc == nil && strings.TrimSpace(text) != "" {
				return fmt.Errorf("text outside a document: %.40q; want <DOC> first", strings.TrimSpace(text))
			}
			switch {
			case open == "DOCNO":
				docno += text
			case trecTitles[open]:
				title.WriteString(text)
			case open == "TEXT":
				texts.WriteString(text)
			default:
				body.WriteString(text)
			}
			if m == nil {
				break
			}
			closing, name := rest[m[2]:m[3]] != "", strings.ToUpper(rest[m[4]:m[5]])
			rest = rest[m[1]:]
			switch {
			case name == "DOC" && !closing:
				if doc != nil {
					return fmt.Errorf("<DOC> inside the document that starts at %s", start)
				}
				doc, start, docno, open, seenText = &Document{}, at, "", "", false
				body.Reset()
				texts.Reset()
				title.Reset()
			case doc == nil:
				return fmt.Errorf("tag %s outside a document; want <DOC> first", name)
			case name == "DOC":
				if open != "" {
					return fmt.Errorf("<%s> of the document that starts at %s is not closed", open, start)
				}
				switch parts := strings.Fields(docno); {
				case len(parts) == 0:
					return fmt.Errorf("the document that starts at %s has no <DOCNO>", start)
				case len(parts) > 1:
					return fmt.Errorf("<DOCNO> %q of the document that starts at %s: want an id without blanks, as qrels and runs have it", strings.TrimSpace(docno), start)
				}
				whole := body.String()
				if seenText {
					whole = texts.String()
				}
				doc.ID, doc.Title, doc.Text = strings.TrimSpace(docno), trecPlain(title.String()), trecPlain(whole)
				if err := c.addDocument(start, *doc); err != nil {
					return err
				}
				doc = nil
			case name == "DOCNO" || name == "TEXT" || trecTitles[name]:
				switch {
				case !closing && open == "":
					open = name
					seenText = seenText || name == "TEXT"
				case closing && open == name:
					open = ""
				case open == "TEXT":
					// a title element inside the text is part of it
				default:
					return fmt.Errorf("tag %s in the wrong place of the document that starts at %s", name, start)
				}
			}
		}
		for _, b := range []*strings.Builder{&body, &texts, &title} {
			b.WriteByte('\n')
		}
		return nil
	})
	if err == nil && doc != nil {
		err = fmt.Errorf("%s: the document is not closed; want </DOC>", start)
	}
	return err
}

// trecPlain resolves entities and drops empty lines.
func trecPlain(text string) string {
	lines := strings.Split(html.UnescapeString(text), "\n")
	kept := lines[:0]
	for _, l := range lines {
		if l = strings.TrimSpace(l); l != "" {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, "\n")
}

// trecQrels reads "topic iteration document grade" and tells which topics are
// judged, and which have a relevant document.
func (c *content) trecQrels(file string) (judged, relevant map[string]bool, err error) {
	judged, relevant = map[string]bool{}, map[string]bool{}
	err = c.lines(file, func(place string, _ int, text []byte) error {
		cols := strings.Fields(string(text))
		if len(cols) != 4 {
			return fmt.Errorf("found %d columns, want 4 (topic, iteration, document, grade): %.60q", len(cols), text)
		}
		grade, err := strconv.Atoi(cols[3])
		if err != nil {
			return fmt.Errorf("grade %.40q is not an integer", cols[3])
		}
		judged[cols[0]] = true
		relevant[cols[0]] = relevant[cols[0]] || grade > 0
		c.addGold(place, cols[0], cols[2], grade)
		return nil
	})
	return judged, relevant, err
}

// trecTopics reads classic topics, whose elements are not closed.
func (c *content) trecTopics(file string, add func(place, id, text string) error) error {
	start := ""
	fields := map[string]string{}
	open := ""
	want := "title"
	if c.manifest.Split == "description" {
		want = "desc"
	}
	err := c.lines(file, func(place string, _ int, line []byte) error {
		text := string(line)
		tag := ""
		if m := trecTag.FindStringSubmatchIndex(text); m != nil && m[0] == 0 {
			tag, text = text[1:m[1]-1], text[m[1]:]
		}
		switch tag = strings.ToLower(strings.TrimSpace(tag)); tag {
		case "top":
			if start != "" {
				return fmt.Errorf("<top> inside the topic that starts at %s", start)
			}
			start, open = place, ""
			clear(fields)
		case "/top":
			if start == "" {
				return errors.New("</top> without <top>")
			}
			id := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(fields["num"]), "Number:"))
			question := strings.Join(strings.Fields(fields[want]), " ")
			question = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(question, "Topic:"), "Description:"))
			at := start
			start = ""
			if id == "" {
				return fmt.Errorf("the topic that starts at %s has no <num>", at)
			}
			if question == "" {
				return fmt.Errorf("topic %s, which starts at %s, has no <%s>", id, at, want)
			}
			return add(at, id, html.UnescapeString(question))
		case "num", "title", "desc", "narr":
			if start == "" {
				return fmt.Errorf("<%s> outside a topic; want <top> first", tag)
			}
			if _, twice := fields[tag]; twice {
				return fmt.Errorf("<%s> is there twice in the topic that starts at %s", tag, start)
			}
			open = tag
			fields[tag] = text
		case "/num", "/title", "/desc", "/narr":
			open = ""
		default:
			if start == "" {
				return fmt.Errorf("text outside a topic: %.40q; want <top> first", line)
			}
			if open == "" && strings.TrimSpace(text) != "" && tag == "" {
				return fmt.Errorf("text outside an element: %.40q; want <num>, <title>, <desc> or <narr> first", line)
			}
			if open != "" {
				fields[open] += "\n" + string(line)
			}
		}
		// An element that is closed on its own line.
		if open != "" {
			for _, end := range []string{"</" + open + ">", "</" + strings.ToUpper(open) + ">"} {
				if i := strings.Index(fields[open], end); i >= 0 {
					fields[open] = fields[open][:i]
					open = ""
					break
				}
			}
		}
		return nil
	})
	if err == nil && start != "" {
		err = fmt.Errorf("%s: the topic is not closed; want </top>", start)
	}
	return err
}
