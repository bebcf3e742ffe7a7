package folder

import (
	"html"
	"strings"
)

// HTML reads the text that a browser would show, without running anything.
// What stands in head, script, style and the like is dropped, apart from the
// title; without a title the first heading is it. Any bytes are accepted, and
// each is looked at a fixed number of times.
func HTML(text string) Page {
	x := hypertext{rest: lineEnds(text)}
	for x.rest != "" {
		x.step()
	}
	x.flush()
	if x.pre > 0 {
		x.lines = append(x.lines, codeFence)
	}
	p := Page{Title: line(x.title), Text: tidy(x.lines)}
	if p.Title == "" {
		p.Title = x.first
	}
	return p
}

// dropped are the elements whose content is not text of the page. A browser
// reads no tags within them but their own end; for noscript, svg and the like
// it does, but their words are not worth reading either.
var dropped = map[string]bool{
	"script": true, "style": true, "template": true, "noscript": true, "iframe": true, "object": true, "svg": true, "math": true,
	"textarea": true, "select": true, "noembed": true, "noframes": true, "xmp": true,
}

// blocks are the elements that begin and end a line.
var blocks = map[string]bool{
	"address": true, "article": true, "aside": true, "blockquote": true, "body": true, "br": true, "caption": true, "dd": true,
	"details": true, "div": true, "dl": true, "dt": true, "fieldset": true, "figcaption": true, "figure": true, "footer": true,
	"form": true, "head": true, "header": true, "hr": true, "html": true, "li": true, "main": true, "nav": true, "ol": true, "p": true,
	"section": true, "summary": true, "table": true, "tbody": true, "tfoot": true, "thead": true, "title": true, "tr": true, "ul": true,
}

// paragraphs are the blocks around which a line is left empty.
var paragraphs = map[string]bool{
	"article": true, "blockquote": true, "div": true, "dl": true, "ol": true, "p": true, "section": true, "table": true, "ul": true,
}

type hypertext struct {
	rest    string
	lines   []string
	current strings.Builder // the line so far, entities not yet read
	title   string
	first   string // first heading
	heading int    // level of the open heading, 0 outside one
	pre     int    // depth of pre
}

// step reads one run of text, or one tag.
func (x *hypertext) step() {
	at := strings.IndexByte(x.rest, '<')
	if at < 0 {
		at = len(x.rest)
	}
	x.text(x.rest[:at])
	if x.rest = x.rest[at:]; x.rest == "" {
		return
	}
	tag, length := readTag(x.rest)
	if length == 0 { // "a < b"
		x.current.WriteString("&lt;")
		x.rest = x.rest[1:]
		return
	}
	x.rest = x.rest[length:]
	switch {
	case tag.name == "":
	case tag.name == "title" && !tag.end:
		content := x.until("title")
		if x.title == "" {
			x.title = html.UnescapeString(content)
		}
	case dropped[tag.name] && !tag.end && !tag.closed:
		x.until(tag.name)
	case tag.name == "pre":
		x.preformatted(tag.end)
	case len(tag.name) == 2 && tag.name[0] == 'h' && tag.name[1] >= '1' && tag.name[1] <= '6':
		x.flush()
		if x.heading = 0; !tag.end {
			x.heading = int(tag.name[1] - '0')
		}
	case blocks[tag.name]:
		x.flush()
		if paragraphs[tag.name] {
			x.lines = append(x.lines, "")
		}
	case tag.name == "td" || tag.name == "th" || tag.name == "img" || tag.name == "option":
		x.current.WriteByte(' ')
	}
}

func (x *hypertext) text(t string) {
	if x.pre == 0 {
		x.current.WriteString(t)
		return
	}
	for {
		l, rest, more := strings.Cut(t, "\n")
		x.current.WriteString(l)
		if !more {
			return
		}
		x.flush()
		t = rest
	}
}

// flush ends the current line.
func (x *hypertext) flush() {
	t := html.UnescapeString(x.current.String())
	x.current.Reset()
	if x.pre > 0 {
		x.lines = append(x.lines, strings.ReplaceAll(strings.ReplaceAll(t, "\x00", ""), codeFence, "``"))
		return
	}
	if t = line(t); t == "" {
		return
	}
	if x.heading > 0 {
		if x.first == "" {
			x.first = t
		}
		x.lines = append(x.lines, "", strings.Repeat("#", x.heading)+" "+t, "")
		return
	}
	x.lines = append(x.lines, prose(t))
}

func (x *hypertext) preformatted(end bool) {
	x.flush()
	switch {
	case !end:
		if x.pre++; x.pre == 1 {
			x.lines = append(x.lines, codeFence)
		}
	case x.pre > 0:
		if x.pre--; x.pre == 0 {
			x.lines = append(x.lines, codeFence)
		}
	}
}

// until takes what precedes the end tag of an element, and the tag. Without
// one the element takes all the rest, as in a browser.
func (x *hypertext) until(name string) string {
	for from := 0; ; {
		at := strings.Index(x.rest[from:], "</")
		if at < 0 {
			content := x.rest
			x.rest = ""
			return content
		}
		at += from
		if tag, length := endTag(x.rest[at:], name); tag {
			content := x.rest[:at]
			x.rest = x.rest[at+length:]
			return content
		}
		from = at + 2
	}
}

// endTag says whether s begins with the end tag of name, and how long it is.
func endTag(s, name string) (ok bool, length int) {
	after := 2 + len(name)
	if len(s) < after || !strings.EqualFold(s[2:after], name) || len(s) > after && isNameByte(s[after]) {
		return false, 0
	}
	if end := strings.IndexByte(s[after:], '>'); end >= 0 {
		return true, after + end + 1
	}
	return true, len(s)
}

type tag struct {
	name   string // lower case; empty for a comment and the like
	end    bool
	closed bool // "<svg/>"
}

// readTag reads the tag, comment or declaration that s begins with. Its length
// is 0 if '<' begins none.
func readTag(s string) (tag, int) {
	if len(s) < 2 {
		return tag{}, 0
	}
	if strings.HasPrefix(s, "<!--") {
		if end := strings.Index(s[4:], "-->"); end >= 0 {
			return tag{}, 4 + end + 3
		}
		return tag{}, len(s)
	}
	if s[1] == '!' || s[1] == '?' {
		if end := strings.IndexByte(s, '>'); end >= 0 {
			return tag{}, end + 1
		}
		return tag{}, len(s)
	}
	var t tag
	pos := 1
	if s[pos] == '/' {
		t.end = true
		pos++
	}
	if pos == len(s) || !isLetter(s[pos]) {
		return tag{}, 0
	}
	from := pos
	for pos < len(s) && isNameByte(s[pos]) {
		pos++
	}
	t.name = strings.ToLower(s[from:pos])
	var quote byte
	for ; pos < len(s); pos++ {
		switch c := s[pos]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && s[pos-1] == '=':
			quote = c
		case c == '>':
			t.closed = s[pos-1] == '/'
			return t, pos + 1
		}
	}
	return t, len(s) // cut off in the middle of a tag
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isNameByte(c byte) bool {
	return c != '>' && c != '/' && c != ' ' && c != '\t' && c != '\n' && c != '\f'
}

// maxTag is the length up to which a tag is looked for within a line of
// Markdown; without a bound, a line of many '<' would be read as often.
const maxTag = 512

// stripTags drops the tags within a line of Markdown.
func stripTags(l string) string {
	if !strings.Contains(l, "<") {
		return l
	}
	var b strings.Builder
	for l != "" {
		at := strings.IndexByte(l, '<')
		if at < 0 {
			break
		}
		b.WriteString(l[:at])
		l = l[at:]
		// What is not closed in its line is text: "a <b" and "Map<K".
		if _, length := readTag(l[:min(len(l), maxTag)]); length > 0 && l[length-1] == '>' {
			l = l[length:]
			continue
		}
		b.WriteByte('<')
		l = l[1:]
	}
	b.WriteString(l)
	return b.String()
}
