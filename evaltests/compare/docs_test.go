package compare_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
)

// TestDocs holds docs/compare.md to the verdicts, in their order, and to the
// probes of all channels, and its example of a break to the decoder.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/compare.md")
	require.NoError(t, err)
	var rows []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Z-]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		rows = append(rows, m[1])
	}
	var want []string
	for _, v := range compare.Verdicts() {
		want = append(want, string(v))
	}
	assert.Equal(t, want, rows)
	for _, p := range compare.Probes() {
		assert.Regexp(t, "(?m)^\\| .*`"+p.Channel+"`.* \\| "+regexp.QuoteMeta(p.Looks)+" \\|$", string(text))
	}
	line := regexp.MustCompile(`(?m)^\{"v":1,.*\}$`).Find(text)
	require.NotNil(t, line)
	line = regexp.MustCompile(`<full commit id>`).ReplaceAll(line, []byte(sound))
	_, err = compare.ParseBreaks("docs/compare.md", line)
	assert.NoError(t, err)
}
