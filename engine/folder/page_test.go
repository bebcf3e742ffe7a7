package folder

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMarkdown(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Page
	}{
		{"empty", "", Page{}},
		{"heading is the title and stays", "# Leave #\n\nThirty days.", Page{Title: "Leave", Text: "# Leave\n\nThirty days."}},
		{"deeper headings", "## Two\ntext\n###### Six", Page{Title: "Two", Text: "## Two\n\ntext\n\n###### Six"}},
		{"seven marks are no heading", "####### x", Page{Text: "####### x"}},
		{"a tag is no heading", "#tag", Page{Text: "#tag"}},
		{"underlined headings", "Leave\n=====\nDays\n----\nx", Page{Title: "Leave", Text: "# Leave\n\n## Days\n\nx"}},
		{"rules", "a\n\n***\n\nb\n\n- - -\n\nc", Page{Text: "a\n\nb\n\nc"}},
		{"yaml", "---\ntitle: \"Leave: all\"\ndate: 2024-05-01\ntags: [a]\n---\n# H\nx", Page{Title: "Leave: all", Date: "2024-05-01", Text: "# H\n\nx"}},
		{"toml", "+++\ntitle = 'Leave'\ndate = 2024-05-01\n+++\nx", Page{Title: "Leave", Date: "2024-05-01", Text: "x"}},
		{"nested keys are not the page's", "---\nimage:\n  title: no\n---\nx", Page{Text: "x"}},
		{"a block value is no simple title", "---\ntitle: >\n  long\n---\nx", Page{Text: "x"}},
		{"open front matter is text", "---\ntitle: no\n", Page{Text: "title: no"}},
		{"links and images", "See [the *plan*](a.md \"t\"), ![a map](m.png), [x][1] and <https://e.org>.\n\n[1]: http://e.org", Page{Text: "See the plan, a map, x and https://e.org."}},
		{"linked image", "[![build](b.svg)](https://ci)", Page{Text: "build"}},
		{"link with brackets", "[Go](https://e.org/Go_(game)) x", Page{Text: "Go x"}},
		{"emphasis", "**bold** *it* ***both*** _u_ __uu__ ~~gone~~ **a *b* c**", Page{Text: "bold it both u uu gone a b c"}},
		{"names and products are no emphasis", "snake_case_name 2 * 3 * 4 __init__.py", Page{Text: "snake_case_name 2 * 3 * 4 init.py"}},
		{"code spans keep their marks", "run `a_b*c*[d](e)` and ``x `y` z``", Page{Text: "run a_b*c*[d](e) and x y z"}},
		{"escapes", `\*not\* \[x\](y) \# z C:\dir`, Page{Text: `*not* [x](y) # z C:\dir`}},
		{"entities", "R&amp;D &lt;b&gt; caf&eacute;", Page{Text: "R&D <b> café"}},
		{"tags and comments", "a <b>bold</b><!-- no -->\n<!-- no\nno -->c<br/> x < y Map<K, V", Page{Text: "a bold\nc x < y Map<K, V"}},
		{"lists and quotes", "- one\n* two\n  1. three\n> said\n> > twice\n- [x] done", Page{Text: "one\ntwo\nthree\nsaid\ntwice\ndone"}},
		{"tables", "| a | b |\n|---|:-:|\n| 1 | 2 |", Page{Text: "a b\n1 2"}},
		{"code", "```go\n# not a *heading*\n\n\nx\n```\ny", Page{Text: "```\n# not a *heading*\n\n\nx\n```\ny"}},
		{"longer fence", "````\n```\nx\n````\ny", Page{Text: "```\n``\nx\n```\ny"}},
		{"open fence", "~~~\nx", Page{Text: "```\nx\n```"}},
		{"indented code is no heading", "    # comment", Page{Text: "comment"}},
		{"line ends", "a\r\nb\rc", Page{Text: "a\nb\nc"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Markdown(c.text)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestHTML(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Page
	}{
		{"empty", "", Page{}},
		{"title and paragraphs", "<html><head><title>A &amp; B</title></head><body><p>one\n two<p>three</body>", Page{Title: "A & B", Text: "one two\n\nthree"}},
		{"headings", "<h1>Top</h1>x<h2>Sub <em>part</em></h2>y", Page{Title: "Top", Text: "# Top\n\nx\n\n## Sub part\n\ny"}},
		{"script and style", "a<script>b<p></script><style>c{}</style><SCRIPT src=x>d</ScRiPt >e", Page{Text: "ae"}},
		{"script in a string in a script", `<script>"</scriptx>"</script>a`, Page{Text: "a"}},
		{"open script takes the rest", "a<script>b", Page{Text: "a"}},
		{"empty svg", "a<svg/>b<svg><text>c</text></svg>d", Page{Text: "abd"}},
		{"comments and declarations", "<!DOCTYPE html>a<!-- <p>b --> c<?php d ?>e", Page{Text: "a ce"}},
		{"quoted end of tag", `<a title="x>y" href='>'>z</a>`, Page{Text: "z"}},
		{"no tags", "1 < 2 && a <3 </ x", Page{Text: "1 < 2 && a <3 </ x"}},
		{"cut off", "a<b", Page{Text: "a"}},
		{"lists and tables", "<ul><li>a<li>b</ul><table><tr><th>c<th>d<tr><td>1<td>2</table>", Page{Text: "a\nb\n\nc d\n1 2"}},
		{"pre", "<pre># x\n\n  y &lt;</pre>z", Page{Text: "```\n# x\n\n  y <\n```\nz"}},
		{"open pre", "<pre>x", Page{Text: "```\nx\n```"}},
		{"text is no heading", "<p># x<p>```", Page{Text: "x"}},
		{"entities are read once", "<p>&amp;lt;script&gt;", Page{Text: "&lt;script>"}},
		{"breaks", "a<br>b<br/>c<hr>d", Page{Text: "a\nb\nc\nd"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, HTML(c.text)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestDocument(t *testing.T) {
	mod := time.Date(2024, 5, 1, 23, 0, 0, 0, time.FixedZone("", -3*3600))
	for _, c := range []struct {
		name, path, data         string
		title, date, text, error string
	}{
		{name: "file name and day", path: "a/notes.2.txt", data: "x", title: "notes.2", date: "2024-05-02", text: "x"},
		{name: "its own date", path: "a.MD", data: "---\ndate: 2020-01-02\ntitle: T\n---\n", title: "T", date: "2020-01-02"},
		{name: "time", path: "a.md", data: "---\ndate: 2020-01-02T10:00:00Z\n---\n", title: "a", date: "2020-01-02T10:00:00Z"},
		{name: "no date", path: "a.md", data: "---\ndate: next week\n---\n", title: "a", date: "2024-05-02"},
		{name: "byte order mark", path: "a.md", data: "\xEF\xBB\xBF# H", title: "H", date: "2024-05-02", text: "# H"},
		{name: "UTF-16, little end first", path: "a.txt", data: "\xFF\xFEh\x00\xE9\x00", title: "a", date: "2024-05-02", text: "hé"},
		{name: "UTF-16, big end first", path: "a.txt", data: "\xFE\xFF\x00h\xD8\x3D\xDE\x00", title: "a", date: "2024-05-02", text: "h😀"},
		{name: "half of a pair", path: "a.txt", data: "\xFE\xFF\xD8\x3D", error: "not UTF-16 text"},
		{name: "odd UTF-16", path: "a.txt", data: "\xFF\xFEh", error: "odd number"},
		{name: "Latin 1", path: "a.txt", data: "caf\xe9", error: "not UTF-8: byte 3 is 0xe9"},
		{name: "binary", path: "a.md", data: "ab\x00", error: "binary: byte 2 is NUL"},
		{name: "control character in the name", path: "a\x1b.md", data: "x", error: "control character"},
		{name: "name not UTF-8", path: "a\xff.md", data: "x", error: "not UTF-8"},
		{name: "control characters in the title", path: "a.html", data: "<title>a&#27;[2J\nb</title>", title: "a [2J b", date: "2024-05-02"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := Document(File{Path: c.path, Mod: mod}, []byte(c.data))
			if c.error != "" {
				assert.ErrorContains(t, err, c.error)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, []string{c.path, c.title, c.date, c.text}, []string{d.ID, d.Title, d.Date, d.Text})
		})
	}
}

// Long lines of one mark are what a careless pattern takes hours for.
func TestHostileLength(t *testing.T) {
	for _, mark := range []string{"<", "<a ", "<!--", "</", "[", "![", "[a](", "*", "**a", "_a ", "`", "`a", "~~", "#", ">", "|", "|-", "\\", "&", "&#", "- ", "<a b='", "</script", "<pre>", "```\n", "---\n"} {
		t.Run(mark, func(t *testing.T) {
			text := strings.Repeat(mark, (256<<10)/len(mark))
			start := time.Now()
			Markdown(text)
			HTML(text)
			HTML("<script>" + text)
			Snippet("a b", text)
			assert.Less(t, time.Since(start), 20*time.Second)
		})
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"# a\n```\nb", "---\ntitle: x\n---\n[a](b)", "a\n===\n<!-- b", "\\*a* `b` _c_ **d*"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { page(t, Markdown(readable(text))) })
}

func FuzzHTML(f *testing.F) {
	for _, s := range []string{"<title>a</title><h1>b</h1>", "<script>a</script><pre>b", "<a b='>'>&amp;#x3c;", "<!-- a --> </ <"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = readable(text)
		page(t, HTML(text))
		// What stands in a script is never text of the page.
		if !strings.Contains(text, "zqzq") {
			p := HTML("<script>zqzq" + text)
			assert.NotContains(t, p.Title+p.Text, "zqzq")
		}
	})
}

// readable makes any bytes text that gets past decode.
func readable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", "")
}

// page checks what the readers of a page count on.
func page(t *testing.T, p Page) {
	t.Helper()
	assert.True(t, utf8.ValidString(p.Title+p.Text))
	assert.NotContains(t, p.Title, "\n")
	assert.NotContains(t, p.Text, "\x00")
	fences := 0
	for l := range strings.Lines(p.Text) {
		if strings.HasPrefix(strings.TrimSpace(l), codeFence) {
			fences++
		}
	}
	assert.Zero(t, fences%2, "a block of code is left open: %q", p.Text)
}
