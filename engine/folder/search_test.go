package folder_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/folder"
)

// marked writes a snippet with its matches in brackets.
func marked(spans []folder.Span) string {
	var b strings.Builder
	for _, s := range spans {
		if s.Match {
			b.WriteString("[" + s.Text + "]")
		} else {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

func TestSnippet(t *testing.T) {
	filler := strings.Repeat("lorem ipsum dolor sit amet ", 20)
	for _, c := range []struct{ name, question, passage, want string }{
		{"empty", "a", "", ""},
		{"no match gives the beginning", "zebra", "# Title\n\nOne.\nTwo.", "Title One. Two."},
		{"inflected words match, stop words do not", "the runner is running", "He runs the race; the runner ran.", "He [runs] the race; the [runner] ran."},
		{"code marks are left out", "x", "```\nx\n```", "[x]"},
		{"query syntax is text", `+(leave OR *"`, "leave or stay", "[leave] or stay"},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, marked(folder.Snippet(c.question, c.passage)))
		})
	}
	t.Run("where most words stand", func(t *testing.T) {
		got := marked(folder.Snippet("alpha beta", "alpha "+filler+"alpha then beta "+filler))
		assert.True(t, strings.HasPrefix(got, "… "), got)
		assert.True(t, strings.HasSuffix(got, " …"), got)
		assert.Contains(t, got, "[alpha] then [beta]")
	})
}

func TestSnippetIsPartOfThePassage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-cé😀]{1,60}`)
		passage := strings.Join(rapid.SliceOfN(word, 0, 40).Draw(t, "passage"), " ")
		question := strings.Join(rapid.SliceOfN(word, 0, 4).Draw(t, "question"), " ")
		var text strings.Builder
		for _, s := range folder.Snippet(question, passage) {
			if s.Text != "… " && s.Text != " …" {
				text.WriteString(s.Text)
			}
		}
		if !strings.Contains(passage, text.String()) || !utf8.ValidString(text.String()) {
			t.Fatalf("%q is no part of %q", text.String(), passage)
		}
		if passage != "" && text.Len() == 0 {
			t.Fatalf("nothing of %q is shown", passage)
		}
	})
}

func TestSearch(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"leave.md":  "---\ndate: 2024-01-02\n---\n# Leave\nThirty days of leave a year.",
		"travel.md": "# Travel\nTrips are booked by the travel desk.",
		"long.md":   "# Long\n" + strings.Repeat("Words about other things altogether. ", 400) + "\n\nThe walrus.",
	})
	synced(t, dir, folder.Options{})
	x := open(t, dir, folder.Options{Engine: engine.Config{ReadOnly: true}})
	defer x.Close()

	a, err := x.Search(t.Context(), folder.Question{Text: "days of leave", K: 2})
	require.NoError(t, err)
	require.Len(t, a.Hits, 2)
	h := a.Hits[0]
	assert.Equal(t, []string{"leave.md", "Leave", "2024-01-02"}, []string{h.Path, h.Title, h.Date})
	assert.Equal(t, "[Leave] Thirty [days] of [leave] a year.", marked(h.Snippet))
	assert.Empty(t, h.Explain)
	var names []string
	ranks := map[string]int{}
	for _, s := range h.Ranks {
		names = append(names, s.Stage)
		ranks[s.Stage] = s.Rank
	}
	assert.Len(t, a.Stages, 7)
	assert.Equal(t, []string{"vector", "lexical", "fusion", "boosted", "candidates", "final"}, names, "no place in a rerank that was skipped")
	assert.Equal(t, 1, ranks["lexical"])
	assert.Equal(t, 1, ranks["final"])

	// A file is shown once, by the passage that was found.
	a, err = x.Search(t.Context(), folder.Question{Text: "walrus", K: 10, Explain: true})
	require.NoError(t, err)
	assert.Equal(t, "long.md", a.Hits[0].Path)
	assert.Contains(t, marked(a.Hits[0].Snippet), "[walrus]")
	assert.Contains(t, a.Hits[0].Explain, "lexical rank 1")
	seen := map[string]bool{}
	for _, h := range a.Hits {
		assert.False(t, seen[h.Path], h.Path)
		seen[h.Path] = true
	}

	again, err := x.Search(t.Context(), folder.Question{Text: "walrus", K: 10, Explain: true})
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(a.Hits, again.Hits), "asked twice")
	_, err = x.Search(t.Context(), folder.Question{Text: "x", K: 0})
	assert.ErrorContains(t, err, "k 0")
}
