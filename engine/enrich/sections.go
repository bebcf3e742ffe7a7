package enrich

import (
	"sort"
	"strings"
)

// maxSectionBytes is how much of a section its terms are taken from.
const maxSectionBytes = 8 << 10

// Section is the part of a text under one heading, up to the next heading of
// any level. Sections with one title, of whatever documents, make up a page.
type Section struct {
	Title      string // see [Fold]
	Start, End int    // byte offsets, heading included
}

// Terms returns the words that a section is found by.
func (s Section) Terms(text string) []string {
	body := text[s.Start:min(s.End, s.Start+maxSectionBytes)]
	return Terms(strings.ToValidUTF8(body, "")) // the last character may be cut in two
}

// sections cuts a text at its Markdown headings ("## Title"); what precedes
// the first belongs to none. At most MaxSections+1 are returned.
func sections(text string) []Section {
	var out []Section
	fence := ""
	for pos := 0; pos < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[pos:], '\n'); i >= 0 {
			end = pos + i + 1
		}
		line := strings.TrimSpace(text[pos:end])
		switch mark := fenceOf(line); {
		case fence != "":
			if mark == fence {
				fence = ""
			}
		case mark != "":
			fence = mark
		default:
			if title, ok := heading(line); ok {
				if len(out) > 0 {
					out[len(out)-1].End = pos
				}
				if len(out) > MaxSections {
					return out
				}
				out = append(out, Section{Title: title, Start: pos, End: len(text)})
			}
		}
		pos = end
	}
	return out
}

// fenceOf says whether a line opens or closes a block of code, in which '#'
// begins no heading.
func fenceOf(line string) string {
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) {
			return mark
		}
	}
	return ""
}

const maxHeadingBytes = 200

func heading(line string) (title string, ok bool) {
	rest := strings.TrimLeft(line, "#")
	level := len(line) - len(rest)
	if level < 1 || level > 6 || len(line) > maxHeadingBytes || !strings.HasPrefix(rest, " ") && !strings.HasPrefix(rest, "\t") {
		return "", false
	}
	title = Fold(strings.TrimRight(rest, "# \t"))
	return title, title != ""
}

// SectionAt returns the index of the section that a position lies in, -1 if
// it lies in none.
func SectionAt(list []Section, pos int) int {
	return sort.Search(len(list), func(i int) bool { return list[i].Start > pos }) - 1
}
