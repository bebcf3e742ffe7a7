package pack

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// qasperLongest is the most characters of an answer that is taken: longer ones
// are summaries, which no two writers word alike.
const qasperLongest = 80

// QASPER is one JSON object of papers by id, each with its questions. All
// papers are one pool, title, abstract and sections; gold is the question's
// own paper. A question is taken by these rules, and the others are counted:
//
//   - at least two annotators judged it;
//   - it is unanswerable if most of them say so and nobody answered;
//   - else at least two answered, and at least one of the answers has at most
//     80 characters: these are the accepted forms.
//
// An annotator's answer is yes or no, the text written, or the spans marked,
// joined by ", ".
func readQASPER(c *content) error {
	file, err := c.oneJSON("qasper.json")
	if err != nil {
		return err
	}
	all, err := c.openJSON(file)
	if err != nil {
		return err
	}
	papers, err := all.object("papers")
	if err != nil {
		return err
	}
	for _, p := range papers {
		if err := c.qasperPaper(p); err != nil {
			return err
		}
	}
	return nil
}

func (c *content) qasperPaper(v jsonValue) error {
	var p struct {
		Title    *string `json:"title"`
		Abstract *string `json:"abstract"`
		Sections []struct {
			Name       *string  `json:"section_name"` // null for some
			Paragraphs []string `json:"paragraphs"`
		} `json:"full_text"`
	}
	if err := v.decode(&p); err != nil {
		return err
	}
	if err := required(field{"title", p.Title != nil}, field{"abstract", p.Abstract != nil}, field{"full_text", p.Sections != nil}); err != nil {
		return v.errorf("paper %q: %w", v.key, err)
	}
	parts := []string{*p.Abstract}
	for _, s := range p.Sections {
		if s.Name != nil {
			parts = append(parts, *s.Name)
		}
		parts = append(parts, s.Paragraphs...)
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return strings.TrimSpace(s) == "" })
	id := SourceID(v.key)
	if err := c.addDocument(v.place(), Document{ID: id, Title: *p.Title, Text: strings.Join(parts, "\n\n")}); err != nil {
		return err
	}
	list, err := v.member("paper "+v.key, "qas")
	if err != nil {
		return err
	}
	return list.each("qas", func(q jsonValue) error { return c.qasperQuestion(q, id) })
}

type qasperAnswer struct {
	Unanswerable *bool    `json:"unanswerable"`
	Spans        []string `json:"extractive_spans"`
	YesNo        *bool    `json:"yes_no"`
	FreeForm     string   `json:"free_form_answer"`
	Evidence     []string `json:"evidence"`
}

// text is the answer in words, and what kind it is.
func (a qasperAnswer) text() (answer, kind string) {
	switch spans := distinct(a.Spans); {
	case *a.Unanswerable:
		return "", "unanswerable"
	case len(spans) > 0:
		return strings.Join(spans, ", "), "extractive"
	case strings.TrimSpace(a.FreeForm) != "":
		return a.FreeForm, "free-form"
	case a.YesNo != nil && *a.YesNo:
		return "yes", "yes-no"
	case a.YesNo != nil:
		return "no", "yes-no"
	}
	return "", ""
}

func (c *content) qasperQuestion(v jsonValue, paper string) error {
	var q struct {
		ID       *string `json:"question_id"`
		Question *string `json:"question"`
		Answers  []struct {
			Answer    *qasperAnswer `json:"answer"`
			Annotator *string       `json:"worker_id"`
		} `json:"answers"`
	}
	if err := v.decode(&q); err != nil {
		return err
	}
	if err := required(field{"question_id", q.ID != nil}, field{"question", q.Question != nil}, field{"answers", q.Answers != nil}); err != nil {
		return v.errorf("%w", err)
	}
	var annotators []string
	answered, unanswerable := 0, 0
	kind := ""
	var short []string
	var evidence []Evidence
	for i, a := range q.Answers {
		if err := required(field{"answer", a.Answer != nil}, field{"worker_id", a.Annotator != nil}); err != nil {
			return v.errorf("answers[%d] of question %q: %w", i, *q.ID, err)
		}
		if a.Answer.Unanswerable == nil {
			return v.errorf("answers[%d] of question %q: want a value for unanswerable", i, *q.ID)
		}
		if slices.Contains(annotators, *a.Annotator) {
			continue // an annotator counts once, with the first answer
		}
		annotators = append(annotators, *a.Annotator)
		text, of := a.Answer.text()
		switch of {
		case "unanswerable":
			unanswerable++
		case "":
		default:
			answered++
			if kind == "" {
				kind = of
			}
			if utf8.RuneCountInString(text) <= qasperLongest {
				short = append(short, text)
			}
			for _, e := range a.Answer.Evidence {
				if e := (Evidence{Document: paper, Text: e}); strings.TrimSpace(e.Text) != "" && !slices.Contains(evidence, e) {
					evidence = append(evidence, e)
				}
			}
		}
	}
	left := ""
	k := Case{Question: Question{ID: *q.ID, Text: *q.Question}}
	switch {
	case len(annotators) < 2:
		left = "fewer than two annotators judged it"
	case answered == 0 && 2*unanswerable > len(annotators):
		k.Stratum = "unanswerable"
	case answered < 2:
		left = "fewer than two annotators answered, and it is not plainly unanswerable"
	case len(short) == 0:
		left = "no answer has at most 80 characters"
	default:
		k.Stratum = kind
		k.Gold = Gold{Answerable: true, Expected: distinct(short), Evidence: evidence}
	}
	if left != "" {
		c.note("left-out", v.place(), *q.ID, "", "%s", left)
		return nil
	}
	grade := 0
	if k.Gold.Answerable {
		grade = 1
	}
	c.addGold(v.place(), *q.ID, paper, grade)
	return c.addCase(v.place(), k)
}
