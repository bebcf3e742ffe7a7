package pack

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The list of what loaders note is what their sources say.
func TestLoaderRules(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var want []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`c\.note\("([a-z-]+)"`).FindAllStringSubmatch(string(text), -1) {
			want = append(want, m[1])
		}
	}
	slices.Sort(want)
	assert.Equal(t, slices.Compact(want), LoaderRules())
}
