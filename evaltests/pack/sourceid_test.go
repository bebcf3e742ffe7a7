package pack_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

func TestSourceID(t *testing.T) {
	for _, tc := range []struct {
		name  string
		parts []string
		want  string
	}{
		{"turn of a conversation", []string{"conv-26", "D1:3"}, "conv-26/D1:3"},
		{"one part", []string{"a"}, "a"},
		{"blanks", []string{"Ann  Ottery\t(baker)"}, "Ann_Ottery_(baker)"},
		{"no-break space", []string{"a\u00a0b"}, "a_b"},
		{"slash in a part", []string{"a/b", "c"}, "a%2Fb/c"},
		{"percent in a part", []string{"a%2Fb", "c"}, "a%252Fb/c"},
	} {
		t.Run(tc.name, func(t *testing.T) { assert.Equal(t, tc.want, pack.SourceID(tc.parts...)) })
	}
}

// Two lists of parts without white space never make one id.
func TestSourceIDKeepsPartsApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.StringOf(rapid.SampledFrom([]rune("ab/%25F:é"))).Filter(func(s string) bool { return s != "" })
		parts := rapid.SliceOfN(part, 1, 4)
		a, b := parts.Draw(t, "a"), parts.Draw(t, "b")
		if id := pack.SourceID(a...); (id == pack.SourceID(b...)) != (strings.Join(a, "\x00") == strings.Join(b, "\x00")) {
			t.Fatalf("%q and %q: %q", a, b, id)
		} else if strings.ContainsFunc(id, unicode.IsSpace) {
			t.Fatalf("%q holds white space", id)
		}
	})
}
