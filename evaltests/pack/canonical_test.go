package pack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/evaltests/digest"
)

// The short way to the canonical text of a document is the long one's.
func TestCanonicalDocument(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String()
		d := Document{ID: text.Draw(rt, "id"), Title: text.Draw(rt, "title"), Text: text.Draw(rt, "text"), Group: text.Draw(rt, "group"), Date: text.Draw(rt, "date")}
		if rapid.Bool().Draw(rt, "meta") {
			d.Meta = rapid.MapOf(text, text).Draw(rt, "values")
		}
		want, err := digest.Canonical(d)
		require.NoError(t, err)
		got, err := canonicalDocument(d)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got))
	})
}
