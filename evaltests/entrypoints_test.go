package evaltests_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// opens are the calls that open a store of the built-in engine, and asserts
// those by which a function asserts that what it opened is live.
var (
	opens   = []string{"engine.Open", "folder.Open", "builtin.New", "builtin.Over"}
	asserts = []string{"AssertLive", "builtin.AssertLive", "seed.AssertLive"}
)

// elsewhere are the functions that open a store and assert nothing themselves,
// with who does, or why nothing is measured.
var elsewhere = map[string]string{
	"evaltests/adapt/builtin/builtin.go New":   "an empty store: the session surveys it when it is filled, and asserts its channels",
	"evaltests/adapt/builtin/runner.go Survey": "the survey that OpenStore asserts on",
	"evaltests/adapt/builtin/seeds.go open":    "the producer: seed.Build holds what it made to the contract",
	"tools/touchstone/engine.go open":          "a person searches; nothing is measured",
}

// TestEntryPointsAssertLiveness reads the source of the instrument and the
// tools, the suites with the tag eval included, for every function that opens
// a store. Each asserts liveness in its own body, or stands in the table.
func TestEntryPointsAssertLiveness(t *testing.T) {
	found := map[string]bool{}
	for _, root := range []string{"evaltests", "tools"} {
		err := filepath.WalkDir(filepath.Join("..", root), func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if e.IsDir() && e.Name() == "testdata" {
				return filepath.SkipDir
			}
			isTest := strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, "_eval_test.go")
			if e.IsDir() || !strings.HasSuffix(path, ".go") || isTest {
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || f.Body == nil {
					continue
				}
				called := calls(f.Body)
				if !slices.ContainsFunc(called, func(c string) bool { return slices.Contains(opens, c) }) {
					continue
				}
				place := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator))) + " " + f.Name.Name
				found[place] = true
				if slices.ContainsFunc(called, func(c string) bool { return slices.Contains(asserts, c) }) {
					assert.NotContains(t, elsewhere, place, "it asserts itself: take it off the table")
					continue
				}
				assert.Contains(t, elsewhere, place, "opens a store and does not assert that it is live: call builtin.AssertLive, or say in the table who does")
			}
			return nil
		})
		require.NoError(t, err)
	}
	assert.GreaterOrEqual(t, len(found), 7, "entry points: %v", found)
	for place := range elsewhere {
		assert.True(t, found[place], "%s opens no store any more: take it off the table", place)
	}
}

// calls lists the functions that are called in a body, with their package or
// receiver as it is written.
func calls(body ast.Node) (names []string) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch f := call.Fun.(type) {
		case *ast.Ident:
			names = append(names, f.Name)
		case *ast.SelectorExpr:
			if x, ok := f.X.(*ast.Ident); ok {
				names = append(names, x.Name+"."+f.Sel.Name)
			}
		}
		return true
	})
	return names
}
