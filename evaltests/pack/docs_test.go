package pack

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// docs/packs.md lists what there is, and nothing else.
func TestPacksPageListsWhatThereIs(t *testing.T) {
	text, err := os.ReadFile("../../docs/packs.md")
	require.NoError(t, err)
	page := string(text)
	table := func(head string) []string {
		_, rest, ok := strings.Cut(page, "| "+head+" |")
		require.True(t, ok, head)
		rest, _, _ = strings.Cut(rest, "\n\n")
		var names []string
		for _, row := range strings.Split(rest, "\n")[2:] {
			first, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " |")
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(first, -1) {
				names = append(names, m[1])
			}
		}
		return names
	}
	assert.Equal(t, Formats(), table("format"))
	var keys []string
	for _, f := range reflect.VisibleFields(reflect.TypeOf(caseLine{})) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		keys = append(keys, name)
	}
	assert.ElementsMatch(t, keys, table("key of cases.jsonl"))
	for _, r := range LintRules() {
		assert.Contains(t, page, fmt.Sprintf("| `%s` | %s |\n", r.Name, r.About))
	}
	assert.Len(t, table("rule"), len(LintRules()))
	for _, f := range reflect.VisibleFields(reflect.TypeOf(contestedCase{})) {
		assert.Contains(t, page, "`"+f.Tag.Get("toml")+"`")
	}
	for _, name := range Templates() {
		assert.Contains(t, page, "`"+name+"`")
	}
}
