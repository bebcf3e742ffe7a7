package compare

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Side is one suite invocation as a comparison takes it.
type Side struct {
	Label  string         // how reports name it
	Folder *record.Folder // of the run; nil for a record that lies elsewhere
	File   *record.File
}

// Digest names the record: the digest of its lines, or of its place for one
// that was cut short.
func (s Side) Digest() string {
	if s.File.End != nil {
		return s.File.End.SHA256
	}
	return fmt.Sprintf("%s %s %d", s.File.Run.Nonce, s.File.Run.Suite, s.File.Lines)
}

// Open reads the records at path: one file, or all of a folder and the folders
// below it, in order of their names. Records of suites that were not run are
// left out.
func Open(path string) ([]Side, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such run; give the folder that a run printed, or one of its records", path)
	}
	if err != nil {
		return nil, err
	}
	var out []Side
	take := func(file string) error {
		f, err := record.Read(file)
		if err != nil {
			return err
		}
		if f.Run.NotRun != "" {
			return nil
		}
		s := Side{Label: path, File: f}
		if folder, err := record.ReadFolder(filepath.Dir(file)); err == nil {
			s.Folder = folder
		}
		out = append(out, s)
		return nil
	}
	if !info.IsDir() {
		return out, take(path)
	}
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != path && isAside(d.Name()):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, ".jsonl"):
			return nil
		}
		return take(file)
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%s: no record of a suite in it; give the folder that a run printed", path)
	}
	return out, err
}

// isAside tells the folders of a run folder that hold no records.
func isAside(name string) bool {
	return name == "artifacts" || name == "pending" || name == familyFolder
}

// Of picks the one record of a suite. Two of them, as of two arms in one
// folder, are never collapsed.
func Of(sides []Side, suite string) (Side, error) {
	var found []Side
	for _, s := range sides {
		if s.File.Run.Suite == suite {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		return Side{}, fmt.Errorf("%s: no record of suite %s; compare runs of the same suites, or name one with --suite", sides[0].Label, suite)
	case 1:
		return found[0], nil
	}
	var names []string
	for _, s := range found {
		names = append(names, fmt.Sprintf("%s (arm %s)", s.File.Path, s.File.Run.Arm))
	}
	return Side{}, fmt.Errorf("%s: %d records of suite %s: %s; give the file of one", found[0].Label, len(found), suite, strings.Join(names, ", "))
}

// Suites lists the suites of sides, each once, in their order.
func Suites(sides []Side) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range sides {
		if !seen[s.File.Run.Suite] {
			seen[s.File.Run.Suite] = true
			out = append(out, s.File.Run.Suite)
		}
	}
	return out
}
