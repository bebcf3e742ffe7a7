package folder

import (
	"strings"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/mapping"

	"github.com/touchstone-eval/touchstone/engine/lexical"
)

// analyzer is that of the lexical index, so that a word is marked exactly if
// it matched there: "running" for "runs", and no stop words.
var analyzer = func() analysis.Analyzer {
	a := mapping.NewIndexMapping().AnalyzerNamed(lexical.AnalyzerName)
	if a == nil {
		panic("folder: bleve has no analyzer " + lexical.AnalyzerName)
	}
	return a
}()

// Lengths of a snippet, in bytes.
const (
	snippetBytes = 240
	snippetLead  = 40 // before the first matched word
)

// Span is a piece of a snippet.
type Span struct {
	Text  string `json:"text"`
	Match bool   `json:"match,omitempty"` // a word of the question
}

type match struct {
	start, end int
	term       string
}

// Snippet returns the piece of a passage in which most different words of the
// question stand, the first of equally good ones; without any, the beginning.
// Marks of headings and code are left out, line ends become blanks.
func Snippet(question, passage string) []Span {
	asked := map[string]bool{}
	for _, t := range analyzer.Analyze([]byte(question)) {
		asked[string(t.Term)] = true
	}
	text := flat(passage)
	var matches []match
	for _, t := range analyzer.Analyze([]byte(text)) {
		if asked[string(t.Term)] && t.Start >= 0 && t.Start < t.End && t.End <= len(text) {
			matches = append(matches, match{t.Start, t.End, string(t.Term)})
		}
	}
	start, end := window(text, matches)
	var spans []Span
	add := func(s string, matched bool) {
		if s != "" {
			spans = append(spans, Span{s, matched})
		}
	}
	if start > 0 {
		add("… ", false)
	}
	pos := start
	for _, m := range matches {
		if m.start < pos || m.end > end {
			continue
		}
		add(text[pos:m.start], false)
		add(text[m.start:m.end], true)
		pos = m.end
	}
	add(text[pos:end], false)
	if end < len(text) {
		add(" …", false)
	}
	return spans
}

// flat is a passage in one line.
func flat(passage string) string {
	var b strings.Builder
	for l := range strings.Lines(passage) {
		if l = strings.TrimSpace(l); l == codeFence {
			continue
		}
		if atxHeading.MatchString(l) {
			l = strings.TrimLeft(l, "# \t")
		}
		if l = line(l); l != "" {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(l)
		}
	}
	return b.String()
}

// window chooses the piece, and ends it between words where it can.
func window(text string, matches []match) (start, end int) {
	most := 0
	count := map[string]int{}
	last := 0
	for first, m := range matches {
		for last < len(matches) && matches[last].end <= m.start-snippetLead+snippetBytes {
			count[matches[last].term]++
			last++
		}
		if len(count) > most {
			most, start = len(count), m.start
		}
		if last > first {
			if count[m.term]--; count[m.term] == 0 {
				delete(count, m.term)
			}
		} else {
			last = first + 1 // longer than the window
		}
	}
	return cut(text, max(0, start-snippetLead))
}

func cut(text string, start int) (int, int) {
	end := min(len(text), start+snippetBytes)
	if start > 0 {
		if at := strings.IndexByte(text[start:min(len(text), start+snippetLead)], ' '); at >= 0 {
			start += at + 1
		}
	}
	if end < len(text) {
		if at := strings.LastIndexByte(text[start:end], ' '); at > snippetBytes/2 {
			end = start + at
		}
	}
	for start > 0 && start < len(text) && !utf8.RuneStart(text[start]) {
		start--
	}
	for end < len(text) && end > start && !utf8.RuneStart(text[end]) {
		end--
	}
	return start, end
}
