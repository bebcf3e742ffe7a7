package enrich

import (
	"cmp"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Reference is a place where a document points to another.
type Reference struct {
	Kind   string // markdown, wiki, or id
	Target string // the other's name, as in [Name.Text]
	Pos    int    // byte offset in the text
}

// The kinds of references.
const (
	ReferenceMarkdown = "markdown" // [text](target)
	ReferenceWiki     = "wiki"     // [[target]]
	ReferenceID       = "id"       // an identifier, which may be that of a document
)

// Name is what others may call a document.
type Name struct {
	Text  string // see [Fold]
	Alias bool   // not its id, and so only good if no id has this text
}

// names returns a document's id and what may stand for it: the title, the id
// without its folder, and without its file name extension.
func names(d Document) []Name {
	id := Fold(d.ID)
	out := []Name{{Text: id}}
	base := path.Base(id)
	for _, alias := range []string{Fold(d.Title), base, withoutExtension(id), withoutExtension(base)} {
		if alias != "" && alias != "." && alias != "/" && !slices.ContainsFunc(out, func(n Name) bool { return n.Text == alias }) {
			out = append(out, Name{Text: alias, Alias: true})
		}
	}
	return out
}

func withoutExtension(name string) string {
	switch ext := path.Ext(name); ext {
	case ".md", ".txt", ".html", ".htm", ".rst", ".markdown":
		return strings.TrimSuffix(name, ext)
	}
	return name
}

var (
	markdownRE = regexp.MustCompile(`\]\(<?([^()\s<>]{1,512})>?(?:[ \t]{1,8}"[^"\n]{0,256}")?\)`)
	wikiRE     = regexp.MustCompile(`\[\[([^\[\]|\n]{1,256})(?:\|[^\[\]\n]{0,256})?\]\]`)
	wordIDRE   = regexp.MustCompile(`[A-Z][A-Z0-9]{1,9}-[0-9]{1,8}`)
)

// References finds references in a text. Where from is a path, Markdown
// targets are relative to its folder.
func References(from, text string) []Reference {
	var out []Reference
	add := func(kind, target string, pos int) {
		if target != "" && target != Fold(from) {
			out = append(out, Reference{kind, target, pos})
		}
	}
	for _, m := range markdownRE.FindAllStringSubmatchIndex(text, -1) {
		add(ReferenceMarkdown, markdownTarget(from, text[m[2]:m[3]]), m[0])
	}
	for _, m := range wikiRE.FindAllStringSubmatchIndex(text, -1) {
		target, _, _ := strings.Cut(text[m[2]:m[3]], "#")
		add(ReferenceWiki, Fold(target), m[0])
	}
	for _, m := range wordIDRE.FindAllStringIndex(text, -1) {
		if wordBefore(text[:m[0]]) || continues(text[m[1]:]) {
			continue
		}
		add(ReferenceID, Fold(text[m[0]:m[1]]), m[0])
	}
	slices.SortStableFunc(out, func(a, b Reference) int { return cmp.Compare(a.Pos, b.Pos) })
	return out
}

func (r *Result) references(d Document) {
	found := References(d.ID, d.Text)
	// A title may name an identifier, but holds no links.
	for _, ref := range References(d.ID, d.Title) {
		if ref.Kind == ReferenceID {
			found = append(found, Reference{ref.Kind, ref.Target, -1})
		}
	}
	seen := map[Reference]bool{}
	for _, ref := range found {
		key := Reference{Kind: ref.Kind, Target: ref.Target, Pos: SectionAt(r.Sections, ref.Pos)}
		if seen[key] {
			continue
		}
		seen[key] = true
		if len(r.References) == MaxReferences {
			r.skip(StepReferences, "more than %d: only the first are kept", MaxReferences)
			return
		}
		r.References = append(r.References, ref)
	}
}

// wordBefore says whether a word would go on where text ends.
func wordBefore(text string) bool {
	r, size := utf8.DecodeLastRuneInString(text)
	return inWord(r) || r == '-' && size > 0
}

// markdownTarget is the name that a link means, empty for one within its own
// document.
func markdownTarget(from, target string) string {
	target, _, _ = strings.Cut(target, "#")
	if target == "" || strings.HasPrefix(strings.ToLower(target), "mailto:") {
		return ""
	}
	if strings.Contains(target, "://") {
		return Fold(target) // an id may be an address
	}
	if plain, err := url.PathUnescape(target); err == nil {
		target = plain
	}
	target = strings.ToValidUTF8(target, "\uFFFD")
	if strings.Contains(from, "/") && !strings.HasPrefix(target, "/") {
		target = path.Join(path.Dir(from), target)
	}
	return Fold(strings.TrimPrefix(path.Clean("/"+target), "/"))
}
