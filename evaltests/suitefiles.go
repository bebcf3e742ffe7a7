package evaltests

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/golden"
	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// SuiteFile is what a suite file says without its pack.
type SuiteFile struct {
	Path   string
	Name   string
	Golden *golden.Config // nil: no drift gate
	Defect error          // why it cannot be read, and so says nothing but its name

	aside bool
}

// Aside reports whether the file is there to be read by a test only. As the go
// command passes over testdata folders, commands that look for the module's own
// suites pass over suite files in them, but for those that the module's
// inventory lists and that lie nowhere else.
func (f SuiteFile) Aside() bool { return f.aside }

func inTestdata(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && slices.Contains(strings.Split(filepath.ToSlash(rel), "/"), "testdata")
}

// setAside tells the files in testdata that are no suites of the module.
func setAside(root string, files []SuiteFile) {
	own := map[string]bool{}
	if inv, err := gate.ReadInventory(filepath.Join(root, gate.InventoryFile)); err == nil {
		for _, s := range inv.Suites {
			own[s.Name] = true
		}
	}
	for _, f := range files {
		if !inTestdata(root, f.Path) {
			own[f.Name] = false // this one is it
		}
	}
	for i, f := range files {
		files[i].aside = inTestdata(root, f.Path) && !own[f.Name]
	}
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
		defect := strict.TOMLFile(path, &f)
		if defect != nil {
			var named struct {
				Suite string `toml:"suite"`
			}
			if toml.Unmarshal(data, &named) != nil {
				return nil // no TOML: nobody can tell of which kind it is
			}
			f = suiteFile{Suite: named.Suite}
		}
		if f.Suite == "" || goldenRoot(filepath.Dir(path)) != root {
			return nil // of another kind
		}
		s := SuiteFile{Path: path, Name: f.Suite, Defect: defect}
		if f.Golden != nil {
			c := f.Golden.config()
			s.Golden = &c
		}
		out = append(out, s)
		return nil
	})
	setAside(root, out)
	return out, err
}
