package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCompareDocs: docs/compare.md names every flag of what it describes.
func TestCompareDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/compare.md")
	require.NoError(t, err)
	flag := regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[a-z-]+)`)
	for _, c := range append([]*cobra.Command{compareCommand(), abCommand()}, baselineCommand().Commands()...) {
		for _, m := range flag.FindAllStringSubmatch(c.Flags().FlagUsages(), -1) {
			if m[1] == "--measure" {
				m[1] = "-m MEASURE"
			}
			assert.Contains(t, string(text), m[1], c.Name())
		}
	}
}
