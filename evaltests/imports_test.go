package evaltests_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/touchstone-eval/touchstone"

// layers of the instrument, lowest first. A package imports only from layers
// below its own.
var layers = [][]string{
	{"evaltests/digest", "evaltests/strict", "evaltests/rank", "evaltests/stat"},
	{"evaltests/metric"},
	{"evaltests/metric/trec"},
	{"evaltests/pack"},
	{"evaltests/record"},
	{"evaltests/receipt", "evaltests/golden", "evaltests/grade", "evaltests/life", "evaltests/seed"},
	{"evaltests/compare"},
	{"evaltests/compare/stage", "evaltests/compare/sweep"},
	{"evaltests/gate"},
	{"evaltests/report"},
	{"evaltests/progress"},
	{"evaltests"},
	{"evaltests/adapt/builtin", "evaltests/adapt/httpsubject", "evaltests/adapt/trecrun", "evaltests/adapt/adapttest", "evaltests/selftest"},
	{"evaltests/suites"},
	{"tools/touchstone", "evaltests/metric/trec/bench"}, // and all of tools/
}

type goPackage struct {
	ImportPath string
	Dir        string
	Imports    []string
	GoFiles    []string
	CgoFiles   []string
	Standard   bool
}

func goList(t *testing.T, args ...string) []goPackage {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,Imports,GoFiles,CgoFiles,Standard"}, args...)...)
	cmd.Dir = ".."
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	var all []goPackage
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func layerOf(path string) int {
	if strings.HasPrefix(path, "tools/") {
		return len(layers) - 1
	}
	return slices.IndexFunc(layers, func(l []string) bool { return slices.Contains(l, path) })
}

// TestImports holds every package of the module to the layers.
func TestImports(t *testing.T) {
	seen := 0
	for _, p := range goList(t, "-tags", "eval", "./...") {
		path := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		isEngine := path == "engine" || strings.HasPrefix(path, "engine/")
		if !isEngine && layerOf(path) < 0 {
			t.Errorf("%s: not in the table of layers; add it where it belongs", path)
			continue
		}
		seen++
		for _, im := range p.Imports {
			to, ours := strings.CutPrefix(im, module+"/")
			if !ours {
				continue
			}
			toEngine := to == "engine" || strings.HasPrefix(to, "engine/")
			switch {
			case isEngine:
				assert.True(t, toEngine, "%s imports %s; the engine knows nothing of the suite", path, to)
			case toEngine:
				assert.True(t, path == "evaltests/adapt/builtin" || strings.HasPrefix(path, "tools/"),
					"%s imports %s; only adapt/builtin and tools may", path, to)
			default:
				assert.Less(t, layerOf(to), layerOf(path), "%s imports %s", path, to)
			}
		}
	}
	assert.Greater(t, seen, 15, "packages seen")
}

// TestDocs: every package has an untagged doc.go, so that plain `go vet` and
// `go test` find files to build whatever the tags.
func TestDocs(t *testing.T) {
	for _, p := range goList(t, "-tags", "eval", "./...") {
		doc, err := os.ReadFile(filepath.Join(p.Dir, "doc.go"))
		if !assert.NoError(t, err, p.ImportPath) {
			continue
		}
		assert.NotRegexp(t, `(?m)^//go:build`, string(doc), p.ImportPath)
		assert.Regexp(t, `(?m)^// (Package|Command) \w+ `, string(doc), p.ImportPath)
	}
}

// TestAdopterBuild: who imports the suite for another engine builds no cgo,
// no search library, no tensor library, and gets no global flags of goldie.
func TestAdopterBuild(t *testing.T) {
	banned := []string{"blevesearch/", "gomlx/", "knights-analytics/", "mattn/go-sqlite3", "sebdah/goldie", module + "/engine"}
	for _, p := range goList(t, "-deps", "./evaltests", "./evaltests/selftest") {
		for _, b := range banned {
			assert.NotContains(t, p.ImportPath, b)
		}
		if !p.Standard {
			assert.Empty(t, p.CgoFiles, p.ImportPath)
		}
	}
}
