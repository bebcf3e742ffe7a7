package pack

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
)

// locomoAuditFile lists errors of LoCoMo's key that others found. It is read
// where it lies and never copied.
const locomoAuditFile = "locomo-audit-errors.json"

var auditID = regexp.MustCompile(`^locomo_([0-9]{1,4})_qa([0-9]{1,6})$`)

// locomoAudit adds what the audit beside the data says: conversation and
// question by position, from 0.
func (l *linter) locomoAudit() error {
	root, err := os.OpenRoot(l.pack.Content)
	if err != nil {
		return err
	}
	defer root.Close()
	c := &content{dir: l.pack.Content, root: root}
	if !c.exists(locomoAuditFile) {
		return nil
	}
	v, err := c.openJSON(locomoAuditFile)
	if err != nil {
		return err
	}
	items, err := v.array("errors")
	if err != nil {
		return err
	}
	var talks []string
	for _, k := range l.pack.Cases {
		if !slices.Contains(talks, k.Group) {
			talks = append(talks, k.Group)
		}
	}
	for _, item := range items {
		var e struct {
			ID       *string  `json:"question_id"`
			Question string   `json:"question"`
			Type     *string  `json:"error_type"`
			Correct  []string `json:"correct_evidence"`
		}
		if err := item.decode(&e); err != nil {
			return err
		}
		if err := required(field{"question_id", e.ID != nil}, field{"error_type", e.Type != nil}); err != nil {
			return item.errorf("%w", err)
		}
		m := auditID.FindStringSubmatch(*e.ID)
		if m == nil {
			return item.errorf("question_id %.40q: want locomo_N_qaN", *e.ID)
		}
		talk, _ := strconv.Atoi(m[1])
		if talk >= len(talks) {
			return item.errorf("question_id %s: the data has %d conversations", *e.ID, len(talks))
		}
		id := SourceID(talks[talk], "q"+m[2])
		i, ok := l.pack.caseAt[id]
		if !ok {
			return item.errorf("question_id %s: there is no case %s", *e.ID, id)
		}
		if q := l.pack.Cases[i].Question.Text; q != e.Question {
			return item.errorf("question_id %s: case %s asks %.60q, the audit read %.60q", *e.ID, id, q, e.Question)
		}
		l.found = append(l.found, Finding{
			Rule: l.rule, Place: c.below(item.place()), Case: id, Text: fmt.Sprintf("%s; right evidence: %v", *e.Type, e.Correct),
		})
	}
	return nil
}
