package folder

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Markdown reads CommonMark, and the tables and front matter of its common
// extensions. Links and images are reduced to their words, emphasis and other
// marks are dropped, blocks of code are kept as they are. The title is that of
// the front matter, or else the first heading.
func Markdown(text string) Page {
	p, body := frontMatter(lineEnds(text))
	var m markdown
	for l := range strings.Lines(body) {
		m.line(strings.TrimSuffix(l, "\n"))
	}
	m.endFence()
	if p.Title == "" {
		p.Title = m.title
	}
	p.Text = tidy(m.out)
	return p
}

// frontMatter takes the lines between "---" (YAML) or "+++" (TOML) from the
// top of a text. Only title and date are read, and only when simple: one line,
// a bare or quoted value.
func frontMatter(text string) (Page, string) {
	var p Page
	var between string
	first, rest, _ := strings.Cut(text, "\n")
	switch strings.TrimRight(first, " \t") {
	case "---":
		between = ":"
	case "+++":
		between = "="
	default:
		return p, text
	}
	end := strings.TrimRight(first, " \t")
	for rest != "" {
		var l string
		l, rest, _ = strings.Cut(rest, "\n")
		if l = strings.TrimRight(l, " \t"); l == end || between == ":" && l == "..." {
			return p, rest
		}
		key, value, ok := strings.Cut(l, between)
		if !ok {
			continue
		}
		value = unquote(strings.TrimSpace(value))
		switch strings.TrimRight(key, " \t") {
		case "title":
			p.Title = value
		case "date":
			p.Date = value
		}
	}
	return Page{}, text // never closed: a rule, not front matter
}

func unquote(value string) string {
	if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		return value[1 : n-1]
	}
	if strings.HasPrefix(value, "|") || strings.HasPrefix(value, ">") {
		return "" // a block that goes on in the next lines
	}
	return value
}

// markdown reads line by line, so its time grows with the text and no faster.
type markdown struct {
	out   []string
	fence string // what closes the block of code that is open
	title string
	in    comment
}

var (
	atxHeading = regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$`)
	setext     = regexp.MustCompile(`^ {0,3}(=+|-+)[ \t]*$`)
	thematic   = regexp.MustCompile(`^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$`)
	fenceLine  = regexp.MustCompile("^[ \t]*(`{3,}|~{3,})(.*)$")
	listMark   = regexp.MustCompile(`^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?`)
	quoteMark  = regexp.MustCompile(`^ {0,3}(?:>[ \t]?)+`)
	definition = regexp.MustCompile(`^ {0,3}\[[^\]]+\]:[ \t]*\S+`)
	tableRule  = regexp.MustCompile(`^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?[ \t]*)?$`)

	link      = regexp.MustCompile(`!?\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])`)
	autolink  = regexp.MustCompile(`<((?:https?|mailto):[^<>\s]+)>`)
	codeSpan  = regexp.MustCompile("`+([^`]+)`+")
	underline = regexp.MustCompile(`(^|[^\pL\pN_])(_{1,3})([^\s_](?:[^_]*[^\s_])?)_{1,3}($|[^\pL\pN_])`)
	star      = regexp.MustCompile(`(\*{1,3})([^\s*](?:[^*]*[^\s*])?)\*{1,3}`)
	strike    = regexp.MustCompile(`~~([^~]+)~~`)
)

const codeFence = "```"

func (m *markdown) line(l string) {
	if f := fenceLine.FindStringSubmatch(l); f != nil && m.in == "" {
		switch {
		case m.fence == "" && (f[1][0] == '~' || !strings.Contains(f[2], "`")):
			m.fence = f[1]
			m.out = append(m.out, codeFence)
			return
		case m.fence != "" && strings.HasPrefix(f[1], m.fence) && strings.TrimSpace(f[2]) == "":
			m.endFence()
			return
		}
	}
	if m.fence != "" {
		// Three marks inside a longer fence would end it for the next reader.
		m.out = append(m.out, strings.ReplaceAll(l, codeFence, "``"))
		return
	}
	if visible := m.in.cut(l); visible != l {
		if l = visible; strings.TrimSpace(l) == "" {
			return
		}
	}
	l = quoteMark.ReplaceAllString(l, "")
	switch h := atxHeading.FindStringSubmatch(l); {
	case h != nil:
		m.heading(len(h[1]), inline(h[2]))
		return
	case definition.MatchString(l), tableRule.MatchString(l):
		return
	}
	if s := setext.FindStringSubmatch(l); s != nil && len(m.out) > 0 && underlined(m.out[len(m.out)-1]) {
		title := m.out[len(m.out)-1]
		m.out = m.out[:len(m.out)-1]
		level := 1
		if s[1][0] == '-' {
			level = 2
		}
		m.heading(level, title)
		return
	}
	if thematic.MatchString(l) {
		m.out = append(m.out, "")
		return
	}
	l = listMark.ReplaceAllString(l, "")
	if strings.HasPrefix(strings.TrimSpace(l), "|") {
		l = strings.Join(strings.Fields(strings.ReplaceAll(l, "|", " ")), " ")
	}
	m.out = append(m.out, prose(inline(l)))
}

// underlined says whether a line of "===" below makes it a heading.
func underlined(above string) bool {
	return above != "" && above != codeFence && !strings.HasPrefix(above, "#")
}

func (m *markdown) heading(level int, title string) {
	title = line(title)
	if title == "" {
		return
	}
	if m.title == "" {
		m.title = title
	}
	m.out = append(m.out, "", strings.Repeat("#", level)+" "+title, "")
}

func (m *markdown) endFence() {
	if m.fence != "" {
		m.out = append(m.out, codeFence)
		m.fence = ""
	}
}

// inline drops the marks within a line. Code spans keep what they hold.
func inline(l string) string {
	var b strings.Builder
	pos := 0
	for _, at := range codeSpan.FindAllStringSubmatchIndex(l, -1) {
		b.WriteString(marks(l[pos:at[0]]))
		b.WriteString(l[at[2]:at[3]])
		pos = at[1]
	}
	b.WriteString(marks(l[pos:]))
	return b.String()
}

func marks(l string) string {
	if l == "" {
		return l
	}
	l, escaped := hideEscapes(l)
	l = autolink.ReplaceAllString(l, "$1")
	for range 2 { // an image may stand inside a link
		l = link.ReplaceAllString(l, "$1")
	}
	l = stripTags(l)
	for range 2 { // bold may stand inside italic
		l = star.ReplaceAllString(l, "$2")
		l = underline.ReplaceAllString(l, "$1$3$4")
	}
	l = strike.ReplaceAllString(l, "$1")
	l = html.UnescapeString(l)
	return showEscapes(l, escaped)
}

// hidden begins the private characters that stand for a character after a
// backslash while marks are dropped.
const hidden = '\U000F0000'

func hideEscapes(l string) (string, bool) {
	if !strings.Contains(l, `\`) {
		return l, false
	}
	var b strings.Builder
	for i := 0; i < len(l); i++ {
		if l[i] == '\\' && i+1 < len(l) && l[i+1] < utf8.RuneSelf && (unicode.IsPunct(rune(l[i+1])) || unicode.IsSymbol(rune(l[i+1]))) {
			i++
			b.WriteRune(hidden + rune(l[i]))
			continue
		}
		b.WriteByte(l[i])
	}
	return b.String(), true
}

func showEscapes(l string, escaped bool) string {
	if !escaped {
		return l
	}
	return strings.Map(func(r rune) rune {
		if r >= hidden && r < hidden+utf8.RuneSelf {
			return r - hidden
		}
		return r
	}, l)
}

// comment is what ends the HTML comment that a line is in, empty outside one.
type comment string

// cut drops the parts of a line that are in a comment.
func (c *comment) cut(l string) string {
	var b strings.Builder
	for l != "" {
		if *c != "" {
			_, rest, ended := strings.Cut(l, string(*c))
			if !ended {
				return b.String()
			}
			*c, l = "", rest
			continue
		}
		before, rest, begun := strings.Cut(l, "<!--")
		b.WriteString(before)
		l = rest
		if begun {
			*c = "-->"
		}
	}
	return b.String()
}

// prose is a line that the reader of a [Page] takes for neither a heading nor
// the border of a block of code.
func prose(l string) string {
	l = strings.TrimSpace(l)
	if atxHeading.MatchString(l) {
		l = strings.TrimLeft(l, "# \t")
	}
	for _, mark := range []string{codeFence, "~~~"} {
		if strings.HasPrefix(l, mark) {
			l = strings.TrimSpace(strings.TrimLeft(l, mark[:1]))
		}
	}
	return l
}

// tidy joins lines, with at most one empty line between two others outside of
// code.
func tidy(lines []string) string {
	var b strings.Builder
	code, empty := false, true
	for _, l := range lines {
		if l == codeFence {
			code = !code
		}
		l = strings.TrimRightFunc(l, unicode.IsSpace)
		if l == "" && empty && !code {
			continue
		}
		empty = l == ""
		b.WriteString(l)
		b.WriteByte('\n')
	}
	return strings.TrimSpace(b.String())
}
