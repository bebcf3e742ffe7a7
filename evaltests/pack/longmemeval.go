package pack

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The mark that LongMemEval gives the ids of questions without an answer.
const abstentionMark = "_abs"

// LongMemEval is one JSON array of questions, each with a haystack of its own:
// chat sessions with their dates, in the order of the file. Documents are the
// turns, "user: what was said"; gold are the turns with has_answer. A question
// whose id ends in _abs is unanswerable (its has_answer turns, if any, have
// grade 0) and stands in the stratum abstention, the others in that of their
// type: the file is sorted by type, so limits must be stratified.
//
// The group is a digest of the question's id, and documents are numbered by
// session and turn in it: the ids of the file would tell a subject which
// sessions hold the answer ("answer_4be1") and which questions have none. A
// time is taken as UTC, since the file names no zone.
func readLongMemEval(c *content) error {
	file, err := c.oneJSON("longmemeval_s.json")
	if err != nil {
		return err
	}
	all, err := c.openJSON(file)
	if err != nil {
		return err
	}
	return all.each("questions", c.longMemQuestion)
}

type longMemTurn struct {
	Role      *string `json:"role"`
	Content   *string `json:"content"`
	HasAnswer bool    `json:"has_answer"`
}

func (c *content) longMemQuestion(item jsonValue) error {
	var q struct {
		ID       *string         `json:"question_id"`
		Type     *string         `json:"question_type"`
		Question *string         `json:"question"`
		Answer   json.RawMessage `json:"answer"`
		Date     *string         `json:"question_date"`
		Dates    []string        `json:"haystack_dates"`
		Sessions [][]longMemTurn `json:"haystack_sessions"`
	}
	if err := item.decode(&q); err != nil {
		return err
	}
	if err := required(
		field{"question_id", q.ID != nil}, field{"question_type", q.Type != nil}, field{"question", q.Question != nil},
		field{"question_date", q.Date != nil}, field{"haystack_dates", q.Dates != nil}, field{"haystack_sessions", q.Sessions != nil},
	); err != nil {
		return item.errorf("%w", err)
	}
	if len(q.Dates) != len(q.Sessions) {
		return item.errorf("question %q has %d haystack_dates for %d haystack_sessions", *q.ID, len(q.Dates), len(q.Sessions))
	}
	answer, err := plainText(q.Answer)
	if err != nil {
		return item.errorf("answer of question %q: %w", *q.ID, err)
	}
	asOf, err := chatTime(*q.Date)
	if err != nil {
		return item.errorf("question_date of question %q: %w", *q.ID, err)
	}
	id, place := *q.ID, item.place()
	k := Case{
		Question: Question{ID: id, Text: *q.Question, AsOf: asOf}, Stratum: *q.Type, Group: ContentID(id),
		Gold: Gold{Answerable: !strings.HasSuffix(id, abstentionMark)},
	}
	grade := 1
	switch {
	case !k.Gold.Answerable:
		k.Stratum, k.Tags, grade = "abstention", []string{*q.Type}, 0
	case answer == "":
		return item.errorf("question %q: want a value for answer", id)
	default:
		k.Gold.Expected = []string{answer}
	}
	evidence := 0
	for i, session := range q.Sessions {
		date, err := chatTime(q.Dates[i])
		if err != nil {
			return item.errorf("haystack_dates[%d] of question %q: %w", i, id, err)
		}
		for n, turn := range session {
			if err := required(field{"role", turn.Role != nil}, field{"content", turn.Content != nil}); err != nil {
				return item.errorf("haystack_sessions[%d][%d] of question %q: %w", i, n, id, err)
			}
			doc := SourceID(k.Group, "s"+strconv.Itoa(i), "t"+strconv.Itoa(n))
			if err := c.addDocument(place, Document{
				ID: doc, Text: *turn.Role + ": " + *turn.Content, Group: k.Group, Date: date,
				Meta: map[string]string{"role": *turn.Role, "session": strconv.Itoa(i)},
			}); err != nil {
				return err
			}
			if turn.HasAnswer {
				evidence++
				c.addGold(place, id, doc, grade)
			}
		}
	}
	if k.Gold.Answerable && evidence == 0 {
		k.Unjudged = "the source marks no turn with has_answer"
		c.note("no-evidence", place, id, "", "the question is answerable, but no turn has has_answer")
	}
	return c.addCase(place, k)
}

// chatTime reads "2023/05/30 (Tue) 23:40", or a date alone.
func chatTime(text string) (string, error) {
	if at, err := time.Parse("2006/01/02 (Mon) 15:04", text); err == nil {
		return at.UTC().Format(time.RFC3339), nil
	}
	for _, layout := range []string{"2006/01/02", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.Format(time.DateOnly), nil
		}
	}
	return "", fmt.Errorf(`found %.40q, want a time like "2023/05/30 (Tue) 23:40"`, text)
}
