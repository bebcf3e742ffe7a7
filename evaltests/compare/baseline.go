package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// Layers are the surfaces by which a subject can be asked. A baseline of one is
// none of another: they never overwrite each other.
var Layers = []string{"library", "command", "http"}

// baselineFile describes a saved record.
const baselineFile = "baseline.json"

// Baseline is a record that was saved under a name, pinned to a commit.
type Baseline struct {
	V         int       `json:"v"`
	Name      string    `json:"name"`
	Layer     string    `json:"layer"`
	Suite     string    `json:"suite"`
	Arm       string    `json:"arm"`
	Treatment string    `json:"treatment"` // hash of the configuration
	Question  string    `json:"question"`
	Commit    string    `json:"commit"`
	Dirty     int       `json:"dirty_files"` // 0, unless that was allowed
	Tree      string    `json:"tree"`        // of the sources
	Digest    string    `json:"digest"`      // of the record
	Record    string    `json:"record"`      // file name
	Saved     time.Time `json:"saved"`
	Dir       string    `json:"-"`
}

// BaselineRoot is where the baselines of a module are kept, out of git as runs
// are.
func BaselineRoot(module string) string { return filepath.Join(module, ".touchstone", "baselines") }

// Locate is the path that a run was named by: a path as it stands, one relative
// to the module, or the name of a baseline.
func Locate(module, name string) string {
	if _, err := os.Stat(name); err == nil || filepath.IsAbs(name) || module == "" {
		return name
	}
	candidates := []string{filepath.Join(module, name)}
	if record.ValidSuite(name) {
		candidates = append(candidates, filepath.Join(BaselineRoot(module), name))
	}
	for _, path := range candidates {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return name
}

// Saving is a request to keep a record as a baseline.
type Saving struct {
	Module  string // root of the module
	Name    string
	Layer   string
	Side    Side
	Dirty   bool // a record of a changed checkout may be saved
	Replace bool // another record in the same place may be replaced
	When    time.Time
}

// Save copies a record to NAME/layer/suite/arm__hash. It refuses one that is
// not whole, of no commit, of a changed checkout, or in the place of another.
func (s Saving) Save() (Baseline, error) {
	run := s.Side.File.Run
	b := Baseline{
		V: 1, Name: s.Name, Layer: s.Layer, Suite: run.Suite, Arm: run.Arm, Treatment: run.Hashes.Treatment, Question: run.Hashes.Question,
		Commit: run.Context.Commit, Dirty: run.Context.DirtyFiles, Digest: s.Side.Digest(), Record: filepath.Base(s.Side.File.Path), Saved: s.When.UTC(),
	}
	if s.Side.Folder != nil {
		b.Tree = s.Side.Folder.Tree
	}
	switch {
	case !record.ValidSuite(s.Name):
		return b, fmt.Errorf("baseline %q: want lower-case letters, digits, dots, dashes", s.Name)
	case !slices.Contains(Layers, s.Layer):
		return b, fmt.Errorf("layer %q: want one of %v", s.Layer, Layers)
	case !record.ValidSuite(run.Suite) || !record.ValidSuite(run.Arm):
		return b, fmt.Errorf("%s: suite %q, arm %q cannot be names of folders", s.Side.File.Path, run.Suite, run.Arm)
	case s.Side.File.State != record.Complete:
		return b, fmt.Errorf("%s: record is %s: %s; save a whole one", s.Side.File.Path, s.Side.File.State, s.Side.File.Detail)
	case b.Commit == "":
		return b, fmt.Errorf("%s: the run was made outside a git checkout, so there is no commit to pin it to", s.Side.File.Path)
	case b.Dirty != 0 && !s.Dirty:
		return b, fmt.Errorf("%s: the run was made with changes that are not committed, so commit %.12s does not say what was measured; commit and run again, or say --allow-dirty", s.Side.File.Path, b.Commit)
	}
	b.Dir = filepath.Join(BaselineRoot(s.Module), s.Name, s.Layer, run.Suite, run.Arm+"__"+short12(b.Treatment))
	switch was, err := readBaseline(b.Dir); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return b, err
	case was.Digest == b.Digest:
		return was, nil
	case !s.Replace:
		return b, fmt.Errorf("%s: holds another record (commit %.12s); name another baseline, or say --replace", b.Dir, was.Commit)
	}
	return b, s.write(b)
}

func short12(s string) string { return s[:min(12, len(s))] }

// write puts the files in place: the description last, so that a folder without
// it is none.
func (s Saving) write(b Baseline) error {
	if err := os.RemoveAll(b.Dir); err != nil {
		return err
	}
	if err := os.MkdirAll(b.Dir, 0o755); err != nil {
		return err
	}
	data, err := os.ReadFile(s.Side.File.Path)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.Dir, b.Record), data, 0o644); err != nil {
		return err
	}
	if s.Side.Folder != nil {
		data, err := os.ReadFile(filepath.Join(s.Side.Folder.Dir, record.FolderFile))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(b.Dir, record.FolderFile), data, 0o644); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.Dir, baselineFile), append(text, '\n'), 0o644)
}

func readBaseline(dir string) (Baseline, error) {
	path := filepath.Join(dir, baselineFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return Baseline{}, err
	}
	var b Baseline
	if err := strict.JSON(bytes.TrimSpace(data), &b, true); err != nil {
		return b, fmt.Errorf("%s: %w", path, err)
	}
	if b.V != 1 {
		return b, fmt.Errorf("%s: format %d; this tool reads 1", path, b.V)
	}
	b.Dir = dir
	return b, nil
}

// Baselines lists the saved records of a module in order of their folders; with
// a name, those of one baseline, of which there must be some.
func Baselines(module, name string) ([]Baseline, error) {
	root := BaselineRoot(module)
	if name != "" {
		if !record.ValidSuite(name) {
			return nil, fmt.Errorf("baseline %q: want lower-case letters, digits, dots, dashes", name)
		}
		root = filepath.Join(root, name)
	}
	var out []Baseline
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && path == root:
			return nil
		case err != nil:
			return err
		case d.Name() != baselineFile:
			return nil
		}
		b, err := readBaseline(filepath.Dir(path))
		out = append(out, b)
		return err
	})
	if err == nil && name != "" && len(out) == 0 {
		err = fmt.Errorf("baseline %s: there is none; save one with `touchstone baseline save %s RUN`", name, name)
	}
	return out, err
}

// Check reads the saved record and refuses one that is not what was saved.
func (b Baseline) Check() error {
	f, err := record.Read(filepath.Join(b.Dir, filepath.Base(b.Record)))
	if err != nil {
		return err
	}
	if f.State != record.Complete {
		return fmt.Errorf("%s: record is %s: %s", f.Path, f.State, f.Detail)
	}
	if f.End.SHA256 != b.Digest {
		return fmt.Errorf("%s: digest %.12s, saved was %.12s", f.Path, f.End.SHA256, b.Digest)
	}
	return nil
}
