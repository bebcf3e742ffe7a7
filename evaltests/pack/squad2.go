package pack

import "strings"

// SQuAD 2.0, sampled: each question stands with its paragraph. All paragraphs
// are one pool, with ids by content; gold is the question's own paragraph. A
// question marked impossible is unanswerable: its paragraph is on the topic
// but holds no answer, grade 0.
func readSQuAD2(c *content) error { return c.readSampled(c.squad2Question) }

func (c *content) squad2Question(s sampledQuestion) error {
	var q struct {
		Context  *string `json:"context"`
		Question *string `json:"question"`
	}
	if err := s.query.decode(&q); err != nil {
		return err
	}
	if err := required(field{"context", q.Context != nil}, field{"question", q.Question != nil}); err != nil {
		return s.query.errorf("%w", err)
	}
	var truth struct {
		Answers    []string `json:"answers"`
		Impossible *bool    `json:"is_impossible"`
	}
	if err := s.truth.decode(&truth); err != nil {
		return err
	}
	if err := required(field{"is_impossible", truth.Impossible != nil}); err != nil {
		return s.truth.errorf("%w", err)
	}
	answers := distinct(truth.Answers)
	if *truth.Impossible == (len(answers) > 0) {
		return s.truth.errorf("question %q has %d answers, but is_impossible is %t", s.id, len(answers), *truth.Impossible)
	}
	for _, a := range answers {
		if !strings.Contains(*q.Context, a) {
			return s.truth.errorf("answer %.60q of question %q is not in its paragraph", a, s.id)
		}
	}
	place := s.query.place()
	d := Document{ID: ContentID(*q.Context), Text: *q.Context}
	if err := c.addPassage(place, d); err != nil {
		return err
	}
	grade := 0 // judged, and on the topic, but no answer
	k := Case{Question: Question{ID: s.id, Text: *q.Question}, Stratum: "unanswerable", Gold: Gold{Expected: answers}}
	if !*truth.Impossible {
		k.Stratum, k.Gold.Answerable = "answerable", true
		grade = 1
	}
	c.addGold(place, s.id, d.ID, grade)
	return c.addCase(place, k)
}
