package pack

import (
	"cmp"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// LintRule is one thing that [Lint] looks for.
type LintRule struct {
	Name  string
	About string // what a finding means
	find  func(l *linter)
}

// LintRules lists what Lint looks for by itself, in order. Beside these, the
// defects that a loader noted are findings under the loader's own names.
func LintRules() []LintRule {
	return []LintRule{
		{"loose-pattern", "a pattern of accepted answers that matches inside other words, as yes does in yesterday", (*linter).loosePatterns},
		{"unjudged", "an answerable question without a relevant document: it enters no ranking measure", (*linter).unjudged},
		{"empty-document", "a document with neither title nor text", (*linter).emptyDocuments},
		{"expected-not-in-evidence", "no accepted answer of up to 80 characters, yes and no apart, occurs in the evidence or the relevant documents", (*linter).expectedElsewhere},
		{"evidence-not-in-document", "evidence that its document does not hold in these words", (*linter).evidenceElsewhere},
		{"duplicate-question", "a question that is asked twice in one group", (*linter).duplicateQuestions},
		{"near-duplicate", "a relevant document with a near-duplicate that is not relevant to the case", (*linter).nearDuplicates},
		{"needle-in-question", "every accepted answer stands in the question already: repeating it would be right", (*linter).needlesInQuestions},
		{"needle-in-refusal", "an accepted answer that the wording of a refusal holds: declining would be right", (*linter).needlesInRefusals},
		{"single-gold", "a case that is said to need several documents, with one relevant document", (*linter).singleGold},
		{"audited-error", "a case whose key an audit beside the data found wrong", (*linter).audited},
	}
}

// Lint looks for what is likely wrong with the answer key of a loaded pack.
// Findings are in the order of the rules, the loader's first, and within a
// rule in the order of the source.
func Lint(p *Pack) ([]Finding, error) {
	l := &linter{pack: p, text: map[string]string{}, documents: map[string]*Document{}, found: slices.Clone(p.Defects)}
	for i := range p.Documents {
		l.documents[p.Documents[i].ID] = &p.Documents[i]
	}
	for _, r := range LintRules() {
		l.rule = r.Name
		r.find(l)
		if l.err != nil {
			return nil, l.err
		}
	}
	return l.found, nil
}

type linter struct {
	pack      *Pack
	documents map[string]*Document
	text      map[string]string // plain text of a document, title first
	rule      string
	found     []Finding
	err       error
}

func (l *linter) say(k Case, format string, args ...any) {
	l.found = append(l.found, Finding{Rule: l.rule, Place: l.pack.casePlace(k.Question.ID), Case: k.Question.ID, Text: fmt.Sprintf(format, args...)})
}

// plain is the form in which texts are compared: NFKC, small letters, one
// blank for any white space.
func plain(text string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(text))), " ")
}

func (l *linter) plainDocument(id string) string {
	if t, ok := l.text[id]; ok {
		return t
	}
	t := ""
	if d := l.documents[id]; d != nil {
		t = plain(d.Title + "\n" + d.Text)
	}
	l.text[id] = t
	return t
}

// bounded reports whether needle stands in text by itself, not as a part of a
// longer word or number. Both are plain.
func bounded(text, needle string) bool {
	if needle == "" {
		return false
	}
	for from := 0; ; {
		i := strings.Index(text[from:], needle)
		if i < 0 {
			return false
		}
		i += from
		if edge(text[:i], needle, true) && edge(text[i+len(needle):], needle, false) {
			return true
		}
		from = i + 1
	}
}

// edge reports whether a match ends where a word does.
func edge(beside, needle string, before bool) bool {
	a, b := []rune(beside), []rune(needle)
	if len(a) == 0 {
		return true
	}
	out, in := a[0], b[len(b)-1]
	if before {
		out, in = a[len(a)-1], b[0]
	}
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	return !word(out) || !word(in)
}

// relevant lists the relevant documents of a case, by id.
func relevant(k Case) []string {
	var out []string
	for id, grade := range k.Gold.Grades {
		if grade > 0 {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

func (l *linter) loosePatterns() {
	for _, k := range l.pack.Cases {
		for _, p := range k.Gold.Patterns {
			if word, loose := loosePattern(p); loose {
				l.say(k, "pattern %q matches inside other words (%q in %q); bound it with \\b", p, word, "x"+word+"x")
			}
		}
	}
}

// loosePattern tells whether a pattern of one short word matches that word
// inside a longer one.
func loosePattern(pattern string) (word string, loose bool) {
	const short = 5 // longer words are hardly parts of others
	re, err := regexp.Compile(pattern)
	parsed, err2 := syntax.Parse(pattern, syntax.Perl)
	if err != nil || err2 != nil {
		return "", false
	}
	word = shortest(parsed.Simplify())
	plainWord := word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	digits := plainWord && !strings.ContainsFunc(word, unicode.IsLetter)
	if !plainWord || !digits && len([]rune(word)) > short {
		return word, false
	}
	return word, re.MatchString("x" + word + "x")
}

// shortest is a short text that an expression matches, boundaries left out.
func shortest(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			return strings.ToLower(string(re.Rune))
		}
		return string(re.Rune)
	case syntax.OpCharClass:
		if len(re.Rune) > 0 {
			return string(re.Rune[0])
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "x"
	case syntax.OpCapture, syntax.OpPlus:
		return shortest(re.Sub[0])
	case syntax.OpRepeat:
		return strings.Repeat(shortest(re.Sub[0]), re.Min)
	case syntax.OpConcat:
		out := ""
		for _, s := range re.Sub {
			out += shortest(s)
		}
		return out
	case syntax.OpAlternate:
		best := shortest(re.Sub[0])
		for _, s := range re.Sub[1:] {
			if t := shortest(s); len(t) < len(best) {
				best = t
			}
		}
		return best
	}
	return ""
}

func (l *linter) unjudged() {
	noted := map[string]bool{}
	for _, d := range l.pack.Defects {
		noted[d.Case] = noted[d.Case] || d.Rule == "no-evidence" || d.Rule == "no-relevant"
	}
	for _, k := range l.pack.Cases {
		if k.Unjudged != "" && !noted[k.Question.ID] {
			l.say(k, "%s", k.Unjudged)
		}
	}
}

func (l *linter) emptyDocuments() {
	for i, d := range l.pack.Documents {
		if strings.TrimSpace(d.Title+d.Text) == "" {
			l.found = append(l.found, Finding{Rule: l.rule, Place: l.pack.documentPlace(i), Document: d.ID, Text: "the document has neither title nor text"})
		}
	}
}

// shortAnswers are the accepted answers that can be looked for in a text.
func shortAnswers(k Case) []string {
	var out []string
	for _, e := range k.Gold.Expected {
		if p := plain(e); p != "" && p != "yes" && p != "no" && len([]rune(p)) <= qasperLongest {
			out = append(out, p)
		}
	}
	return out
}

func (l *linter) expectedElsewhere() {
	for _, k := range l.pack.Cases {
		answers := shortAnswers(k)
		if len(answers) == 0 || len(answers) < len(distinct(k.Gold.Expected)) {
			continue // another form is too long to be looked for
		}
		var texts []string
		for _, e := range k.Gold.Evidence {
			texts = append(texts, plain(e.Text))
		}
		where := "evidence"
		if len(texts) == 0 {
			where = "relevant documents"
			for _, id := range relevant(k) {
				texts = append(texts, l.plainDocument(id))
			}
		}
		in := func(text string) bool {
			return slices.ContainsFunc(answers, func(a string) bool { return strings.Contains(text, a) })
		}
		if len(texts) > 0 && !slices.ContainsFunc(texts, in) {
			l.say(k, "none of the accepted answers %.60q is in its %s", k.Gold.Expected, where)
		}
	}
}

func (l *linter) evidenceElsewhere() {
	for _, k := range l.pack.Cases {
		for _, e := range k.Gold.Evidence {
			if e.Document != "" && !strings.Contains(l.plainDocument(e.Document), plain(e.Text)) {
				l.say(k, "document %s does not hold its evidence %.60q", e.Document, e.Text)
			}
		}
	}
}

func (l *linter) duplicateQuestions() {
	first := map[[2]string]string{}
	for _, k := range l.pack.Cases {
		key := [2]string{k.Group, plain(k.Question.Text)}
		if id, twice := first[key]; twice {
			l.say(k, "case %s asks the same: %.60q", id, k.Question.Text)
			continue
		}
		first[key] = k.Question.ID
	}
}

func (l *linter) needlesInQuestions() {
	for _, k := range l.pack.Cases {
		answers := shortAnswers(k)
		question := plain(k.Question.Text)
		all := len(answers) > 0 && len(answers) == len(distinct(k.Gold.Expected))
		for _, a := range answers {
			all = all && bounded(question, a)
		}
		if all {
			l.say(k, "the question holds the answer %.60q", k.Gold.Expected)
		}
	}
}

// refusals are ways to say that there is no answer.
var refusals = []string{
	"i don't know.", "i do not know.", "not found.", "no answer found.", "there is no information on this in the documents.",
	"insufficient information.", "the provided documents do not mention this.", "it is not stated in the context.",
	"i cannot answer this question based on the given sources.", "no relevant results were found.", "none.", "unknown.", "not available.",
}

func (l *linter) needlesInRefusals() {
	for _, k := range l.pack.Cases {
		if !k.Gold.Answerable {
			continue
		}
		for _, e := range k.Gold.Expected {
			a := plain(e)
			if i := slices.IndexFunc(refusals, func(r string) bool { return bounded(r, a) }); i >= 0 && a != "no" {
				l.say(k, "the refusal %q holds the answer %q", refusals[i], e)
				break
			}
		}
	}
}

// severalDocuments are the strata and tags of cases that need more than one.
var severalDocuments = []string{
	"multi", "multi-hop", "multi_hop", "multi-document", "multi_document", "multi-session", "two-hop", "two_hop", "comparison", "bridge",
}

func (l *linter) singleGold() {
	for _, k := range l.pack.Cases {
		said := append([]string{k.Stratum}, k.Tags...)
		i := slices.IndexFunc(said, func(s string) bool { return slices.Contains(severalDocuments, strings.ToLower(s)) })
		if i >= 0 && k.Gold.Answerable && k.Gold.Relevant() == 1 {
			l.say(k, "it is %q, but has one relevant document", said[i])
		}
	}
}

func (l *linter) audited() {
	if l.pack.Manifest.Format == "locomo" {
		l.err = l.locomoAudit()
	}
}

// casePlace is where a case stands, relative to the content folder.
func (p *Pack) casePlace(id string) string {
	i, ok := p.caseAt[id]
	if !ok {
		return ""
	}
	return p.below(p.caseSpots.place(i))
}

func (p *Pack) documentPlace(i int) string { return p.below(p.docSpots.place(i)) }

func (p *Pack) below(place string) string {
	c := content{dir: p.Content}
	return cmp.Or(c.below(place), place)
}
