package evaltests

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/golden"
	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// SuiteFile is what a suite file says without its pack.
type SuiteFile struct {
	Path   string
	Name   string
	Golden *golden.Config // nil: no drift gate
}

// Testdata reports whether the file lies in a testdata folder of the module at
// root. It is there to be read by a test; as the go command passes over such
// folders, so do commands that look for the module's own suites.
func (f SuiteFile) Testdata(root string) bool {
	root, err := filepath.Abs(root)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(root, f.Path)
	return err == nil && slices.Contains(strings.Split(filepath.ToSlash(rel), "/"), "testdata")
}

// SuiteFiles finds the suite files of the module at root: TOML files that name
// a suite. Folders that hold no sources (.git, vendor) are left out, and so
// are folders of suites that belong to another module.
func SuiteFiles(root string) ([]SuiteFile, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	var out []SuiteFile
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != root && (strings.HasPrefix(name, ".") || name == "vendor" || name == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".toml") || !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(data, []byte("suite")) && !bytes.Contains(data, []byte("\nsuite")) {
			return nil
		}
		var f suiteFile
		if strict.TOMLFile(path, &f) != nil || f.Suite == "" || goldenRoot(filepath.Dir(path)) != root {
			return nil // of another kind, or a defect that loading it will tell
		}
		s := SuiteFile{Path: path, Name: f.Suite}
		if f.Golden != nil {
			c := f.Golden.config()
			s.Golden = &c
		}
		out = append(out, s)
		return nil
	})
	return out, err
}
