package pack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

const locomoFile = "locomo10.json"

// The questions of LoCoMo by its category number. The order is that of the
// data; the paper numbers them otherwise.
var locomoStrata = map[int]string{1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}

// LoCoMo is one JSON array of conversations, each with its sessions, what an
// annotator observed of each session, and its questions. Conversations are
// groups: a question is asked of its own conversation.
//
// Documents are the turns, with split = "observations" the observations. A
// turn conv-26/D1:3 says "Caroline: her words", and below it the caption of
// its image as "[image: a photo of a dog]". An observation conv-26/obs/17 is
// numbered over the sessions in numeric order, in each the first speaker's
// before the second's, as listed: never in the order of a JSON object. Its
// evidence are the turns that it names, so several observations of one turn
// are all gold.
//
// Questions of category 5 are unanswerable: their evidence is the turn that
// misleads, grade 0. Evidence that names no document is noted, not dropped in
// silence; a question without any other stays answerable and is not judged.
func readLoCoMo(c *content) error {
	file, err := c.oneJSON(locomoFile)
	if err != nil {
		return err
	}
	all, err := c.openJSON(file)
	if err != nil {
		return err
	}
	return all.each("conversations", c.locomoSample)
}

// oneJSON is the file of that name, or the only JSON file of the folder.
func (c *content) oneJSON(name string) (string, error) {
	if c.exists(name) {
		return name, nil
	}
	files, err := c.glob(func(file string) bool { return strings.HasSuffix(file, ".json") })
	if err != nil {
		return "", err
	}
	if len(files) != 1 {
		return "", fmt.Errorf("%s: found %d JSON files, want %s or exactly one", c.dir, len(files), name)
	}
	return files[0], nil
}

// locomoTalk is one conversation while it is read.
type locomoTalk struct {
	id       string
	speakers [2]string
	sessions []locomoSession
	turns    map[string]bool     // dialogue ids
	observed map[string][]string // dialogue id -> observation documents
}

type locomoSession struct {
	number int
	value  jsonValue
	date   string
	time   string
}

func (c *content) locomoSample(s jsonValue) error {
	var head struct {
		ID *string `json:"sample_id"`
	}
	if err := s.decode(&head); err != nil {
		return err
	}
	if head.ID == nil || strings.TrimSpace(*head.ID) == "" {
		return s.errorf("want a value for sample_id")
	}
	if first, twice := c.groupAt[*head.ID]; twice {
		return s.errorf("conversation %q was given before, at %s", *head.ID, first)
	}
	if c.groupAt == nil {
		c.groupAt = map[string]string{}
	}
	c.groupAt[*head.ID] = s.place()
	t := locomoTalk{id: *head.ID, turns: map[string]bool{}, observed: map[string][]string{}}
	talk, err := s.member("conversation "+t.id, "conversation")
	if err != nil {
		return err
	}
	if err := c.locomoSessions(talk, &t); err != nil {
		return err
	}
	if err := c.locomoTurns(&t); err != nil {
		return err
	}
	if c.manifest.Split == "observations" {
		observations, err := s.member("conversation "+t.id, "observation")
		if err != nil {
			return err
		}
		if err := c.locomoObservations(observations, &t); err != nil {
			return err
		}
	}
	list, err := s.member("conversation "+t.id, "qa")
	if err != nil {
		return err
	}
	questions, err := list.array("qa")
	if err != nil {
		return err
	}
	for i, q := range questions {
		if err := c.locomoQuestion(q, i, &t); err != nil {
			return err
		}
	}
	return nil
}

var locomoKey = regexp.MustCompile(`^session_([1-9][0-9]{0,5})(_date_time)?$`)

// locomoSessions sorts the sessions of a conversation by number: as text
// session_10 would come before session_2.
func (c *content) locomoSessions(talk jsonValue, t *locomoTalk) error {
	members, err := talk.object("conversation")
	if err != nil {
		return err
	}
	type dated struct{ day, clock string }
	dates := map[int]dated{}
	datedAt := map[int]jsonValue{}
	for _, m := range members {
		switch key := locomoKey.FindStringSubmatch(m.key); {
		case m.key == "speaker_a":
			err = m.decode(&t.speakers[0])
		case m.key == "speaker_b":
			err = m.decode(&t.speakers[1])
		case key == nil:
			err = m.errorf("key %q: want speaker_a, speaker_b, session_N or session_N_date_time", m.key)
		case key[2] == "":
			n, _ := strconv.Atoi(key[1])
			t.sessions = append(t.sessions, locomoSession{number: n, value: m})
		default:
			n, _ := strconv.Atoi(key[1])
			var d dated
			if d.day, d.clock, err = locomoTime(m); err == nil {
				dates[n], datedAt[n] = d, m
			}
		}
		if err != nil {
			return err
		}
	}
	if t.speakers[0] == "" || t.speakers[1] == "" || t.speakers[0] == t.speakers[1] {
		return talk.errorf("conversation %s: want two different speakers, found %q and %q", t.id, t.speakers[0], t.speakers[1])
	}
	slices.SortFunc(t.sessions, func(a, b locomoSession) int { return cmp.Compare(a.number, b.number) })
	for i := range t.sessions {
		n := &t.sessions[i]
		d, ok := dates[n.number]
		if !ok {
			return n.value.errorf("session %d of %s has no session_%d_date_time", n.number, t.id, n.number)
		}
		n.date, n.time = d.day, d.clock
		delete(dates, n.number)
	}
	var left []int
	for n := range dates {
		left = append(left, n)
	}
	slices.Sort(left)
	for _, n := range left {
		c.note("date-without-session", datedAt[n].place(), "", "", "%s has a date for session %d, which it does not have", t.id, n)
	}
	return nil
}

func locomoTime(v jsonValue) (day, clock string, err error) {
	var text string
	if err := v.decode(&text); err != nil {
		return "", "", err
	}
	at, err := time.Parse("3:04 pm on 2 January, 2006", text)
	if err != nil {
		return "", "", v.errorf(`%s: found %.40q, want a time like "1:56 pm on 8 May, 2023"`, v.key, text)
	}
	return at.Format(time.DateOnly), at.Format("15:04"), nil
}

func (c *content) locomoTurns(t *locomoTalk) error {
	for _, s := range t.sessions {
		turns, err := s.value.array(s.value.key)
		if err != nil {
			return err
		}
		for _, v := range turns {
			var turn struct {
				Speaker *string `json:"speaker"`
				ID      *string `json:"dia_id"`
				Text    *string `json:"text"`
				Caption string  `json:"blip_caption"`
			}
			if err := v.decode(&turn); err != nil {
				return err
			}
			if err := required(field{"speaker", turn.Speaker != nil}, field{"dia_id", turn.ID != nil}, field{"text", turn.Text != nil}); err != nil {
				return v.errorf("%w", err)
			}
			if !slices.Contains(t.speakers[:], *turn.Speaker) {
				return v.errorf("speaker %.40q of %s: want %q or %q", *turn.Speaker, t.id, t.speakers[0], t.speakers[1])
			}
			dia, ok := dialogueID(*turn.ID)
			if !ok || dia != *turn.ID || !strings.HasPrefix(dia, fmt.Sprintf("D%d:", s.number)) {
				return v.errorf("dia_id %.40q of %s: want D%d: and a number", *turn.ID, t.id, s.number)
			}
			if t.turns[dia] {
				return v.errorf("dia_id %s of %s was given before", dia, t.id)
			}
			t.turns[dia] = true
			if c.manifest.Split == "observations" {
				continue
			}
			d := Document{
				ID: SourceID(t.id, dia), Text: *turn.Speaker + ": " + *turn.Text, Group: t.id, Date: s.date,
				Meta: map[string]string{"speaker": *turn.Speaker, "session": strconv.Itoa(s.number), "time": s.time},
			}
			if turn.Caption != "" {
				d.Text += "\n[image: " + turn.Caption + "]"
			}
			if err := c.addDocument(v.place(), d); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *content) locomoObservations(v jsonValue, t *locomoTalk) error {
	members, err := v.object("observation")
	if err != nil {
		return err
	}
	bySession := map[string]jsonValue{}
	for _, m := range members {
		bySession[m.key] = m
	}
	i := 0
	for _, s := range t.sessions {
		key := fmt.Sprintf("session_%d_observation", s.number)
		session, ok := bySession[key]
		if !ok {
			return v.errorf("%s: no key %q", t.id, key)
		}
		delete(bySession, key)
		lists, err := session.object(key)
		if err != nil {
			return err
		}
		slices.SortStableFunc(lists, func(a, b jsonValue) int {
			return cmp.Compare(slices.Index(t.speakers[:], a.key), slices.Index(t.speakers[:], b.key))
		})
		for _, list := range lists {
			if !slices.Contains(t.speakers[:], list.key) {
				return list.errorf("%s: observations on %.40q, want %q or %q", key, list.key, t.speakers[0], t.speakers[1])
			}
			items, err := list.array(list.key)
			if err != nil {
				return err
			}
			for _, item := range items {
				if err := c.locomoObservation(item, list.key, i, s, t); err != nil {
					return err
				}
				i++
			}
		}
	}
	for _, m := range members {
		if _, left := bySession[m.key]; left {
			return m.errorf("%q of %s is of no session", m.key, t.id)
		}
	}
	return nil
}

func (c *content) locomoObservation(v jsonValue, speaker string, i int, s locomoSession, t *locomoTalk) error {
	var text string
	var of json.RawMessage
	if err := pair(v.raw, &text, &of); err != nil {
		return v.errorf("observation: %w", err)
	}
	var ids []string
	if of[0] == '[' {
		if err := strict.JSON(of, &ids, false); err != nil {
			return v.errorf("observation: %w", err)
		}
	} else {
		var one string
		if err := strict.JSON(of, &one, false); err != nil {
			return v.errorf("observation: %w", err)
		}
		ids = []string{one}
	}
	id := SourceID(t.id, "obs", strconv.Itoa(i))
	for _, text := range ids {
		found, bad := dialogueIDs(text, t.turns)
		for _, dia := range found {
			if !slices.Contains(t.observed[dia], id) {
				t.observed[dia] = append(t.observed[dia], id)
			}
		}
		for _, b := range bad {
			c.note("unmappable-observation", v.place(), "", id, "it is said to be of %q, which is no turn of %s", b, t.id)
		}
	}
	return c.addDocument(v.place(), Document{
		ID: id, Text: text, Group: t.id, Date: s.date,
		Meta: map[string]string{"speaker": speaker, "session": strconv.Itoa(s.number), "time": s.time},
	})
}

func (c *content) locomoQuestion(v jsonValue, i int, t *locomoTalk) error {
	var q struct {
		Question *string         `json:"question"`
		Answer   json.RawMessage `json:"answer"`
		Evidence []string        `json:"evidence"`
		Category *int            `json:"category"`
	}
	if err := v.decode(&q); err != nil {
		return err
	}
	if err := required(field{"question", q.Question != nil}, field{"evidence", q.Evidence != nil}, field{"category", q.Category != nil}); err != nil {
		return v.errorf("%w", err)
	}
	stratum, ok := locomoStrata[*q.Category]
	if !ok {
		return v.errorf("category %d: want 1 to 5", *q.Category)
	}
	k := Case{
		Question: Question{ID: SourceID(t.id, "q"+strconv.Itoa(i)), Text: *q.Question},
		Stratum:  stratum, Group: t.id, Gold: Gold{Answerable: *q.Category != 5},
	}
	id, place := k.Question.ID, v.place()
	answer, err := plainText(q.Answer)
	switch {
	case err != nil:
		return v.errorf("answer: %w", err)
	case k.Gold.Answerable && answer == "":
		return v.errorf("want a value for answer")
	case k.Gold.Answerable:
		k.Gold.Expected = []string{answer}
	case answer != "":
		c.note("adversarial-with-answer", place, id, "", "category 5 with the answer %.40q; taken as unanswerable", answer)
	}
	gold := c.locomoGold(q.Evidence, id, place, t)
	grade := 0 // the turn that misleads
	if k.Gold.Answerable {
		grade = 1
		switch {
		case len(q.Evidence) == 0:
			k.Unjudged = "the source gives no evidence"
			c.note("no-evidence", place, id, "", "the question is answerable, but the source gives no evidence")
		case len(gold) == 0:
			k.Unjudged = "none of its evidence is among the documents"
		}
	}
	for _, doc := range gold {
		c.addGold(place, id, doc, grade)
	}
	return c.addCase(place, k)
}

// locomoGold lists the documents that evidence names, and notes what names
// none.
func (c *content) locomoGold(evidence []string, id, place string, t *locomoTalk) []string {
	var gold []string
	add := func(doc string) {
		if !slices.Contains(gold, doc) {
			gold = append(gold, doc)
		}
	}
	for _, text := range evidence {
		found, bad := dialogueIDs(text, t.turns)
		for _, b := range bad {
			c.note("unmappable-evidence", place, id, "", "evidence %q names no turn of %s; left out", b, t.id)
		}
		if len(bad) == 0 && (len(found) != 1 || found[0] != text) {
			c.note("malformed-evidence", place, id, "", "evidence %q is no dialogue id; read as %s", text, strings.Join(found, " "))
		}
		for _, dia := range found {
			if c.manifest.Split != "observations" {
				add(SourceID(t.id, dia))
				continue
			}
			if len(t.observed[dia]) == 0 {
				c.note("unobserved-evidence", place, id, "", "no observation is of turn %s", dia)
			}
			for _, doc := range t.observed[dia] {
				add(doc)
			}
		}
	}
	return gold
}

var dialogue = regexp.MustCompile(`^D([0-9]{1,6}):([0-9]{1,6})$`)

// dialogueID is an id such as D30:5 without leading zeros.
func dialogueID(text string) (string, bool) {
	m := dialogue.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	session, _ := strconv.Atoi(m[1])
	turn, _ := strconv.Atoi(m[2])
	return fmt.Sprintf("D%d:%d", session, turn), true
}

// dialogueIDs reads one evidence string: ids between blanks, commas or
// semicolons. What is none, or is no turn, is bad.
func dialogueIDs(text string, turns map[string]bool) (found, bad []string) {
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;", r) })
	if len(parts) == 0 {
		return nil, []string{text}
	}
	for _, part := range parts {
		if id, ok := dialogueID(part); ok && turns[id] {
			found = append(found, id)
		} else {
			bad = append(bad, part)
		}
	}
	return found, bad
}

// plainText is a JSON string or number as text, empty for null or absent.
func plainText(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	if raw[0] == '"' {
		var text string
		err := strict.JSON(raw, &text, false)
		return text, err
	}
	if raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9' {
		return string(raw), nil
	}
	return "", fmt.Errorf("found %.40q, want a string or a number", raw)
}
