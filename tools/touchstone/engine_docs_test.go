package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEnginePageCommands holds docs/engine.md to the commands of the group
// and all their flags, and its examples to their parser.
func TestEnginePageCommands(t *testing.T) {
	doc, err := os.ReadFile("../../docs/engine.md")
	require.NoError(t, err)
	group := engineCommand()
	documented := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+) DIR[^`]*` \\| (.*) \\|$").FindAllStringSubmatch(string(doc), -1) {
		documented[m[1]] = m[2]
	}
	assert.Len(t, documented, len(group.Commands()))
	for _, c := range group.Commands() {
		assert.Contains(t, string(doc), "| `"+c.Use+"` |")
		var want, got []string
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if want = append(want, "--"+f.Name); f.Shorthand != "" {
				want = append(want, "-"+f.Shorthand)
			}
		})
		for _, m := range regexp.MustCompile("`(-[\\w-]+)`").FindAllStringSubmatch(documented[c.Name()], -1) {
			got = append(got, m[1])
		}
		assert.ElementsMatch(t, want, got, c.Name())
	}
	examples := regexp.MustCompile(`(?m)^touchstone engine (\w+) (.*?)(?: +#.*)?$`).FindAllStringSubmatch(string(doc), -1)
	assert.GreaterOrEqual(t, len(examples), 3)
	for _, m := range examples {
		c, _, err := group.Find(m[1:2])
		require.NoError(t, err)
		assert.Equal(t, m[1], c.Name())
		assert.NoError(t, c.ParseFlags(strings.Fields(m[2])), m[0])
	}
}
