package models

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Dir is the folder of the models: EVAL_MODELS, or .touchstone/models in the
// nearest folder at or above the current one that holds a go.mod, or else in
// the current one.
func Dir() string {
	if dir := os.Getenv("EVAL_MODELS"); dir != "" {
		return dir
	}
	here, err := os.Getwd()
	if err != nil {
		here = "."
	}
	for at := here; ; at = filepath.Dir(at) {
		if info, err := os.Stat(filepath.Join(at, "go.mod")); err == nil && info.Mode().IsRegular() {
			return filepath.Join(at, ".touchstone", "models")
		}
		if at == filepath.Dir(at) {
			return filepath.Join(here, ".touchstone", "models")
		}
	}
}

// Find returns the folder of a model that is given by its name, which is
// looked for in [Dir], or by a path, which is told by its separators.
func Find(nameOrPath string) (string, error) {
	dir := nameOrPath
	if validName.MatchString(nameOrPath) {
		dir = filepath.Join(Dir(), nameOrPath)
	} else if !strings.ContainsAny(nameOrPath, `/\`) {
		return "", fmt.Errorf("model %q: want a name or a path", nameOrPath)
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is no folder")
	}
	if err != nil {
		return "", fmt.Errorf("model %s is not in %s (%w); fetch it with `touchstone models get`, or set EVAL_MODELS to the folder that holds it",
			filepath.Base(dir), filepath.Dir(dir), reason(err))
	}
	return dir, nil
}

// reason is a path error without its path.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// AbsentError says that a model is not in place at all.
type AbsentError struct{ Model, Dir string }

func (e *AbsentError) Error() string {
	return fmt.Sprintf("model %s: not in %s; fetch it with `touchstone models get %s`", e.Model, e.Dir, e.Model)
}

// ChangedError names every file of a model that is not the lock's.
type ChangedError struct {
	Model string
	Files []string // one a file: its path, what was found, what was expected
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("model %s is not what the lock says:\n  %s\nfetch it again with `touchstone models get %s`",
		e.Model, strings.Join(e.Files, "\n  "), e.Model)
}

// Verify reads every file of a model below dir and compares it with the lock.
// It returns an [*AbsentError] if the model's folder is not there, and a
// [*ChangedError] if a file is missing or differs by as much as a byte. It
// needs no network.
func Verify(dir string, m Model) error {
	folder := filepath.Join(dir, m.Name)
	if info, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return &AbsentError{m.Name, dir}
	} else if err != nil {
		return fmt.Errorf("model %s: %w", m.Name, err)
	} else if !info.IsDir() {
		return fmt.Errorf("model %s: %s is no folder", m.Name, folder)
	}
	var changed []string
	for _, f := range m.Files {
		if err := f.verify(filepath.Join(folder, f.Name)); err != nil {
			changed = append(changed, err.Error())
		}
	}
	if len(changed) > 0 {
		return &ChangedError{m.Name, changed}
	}
	return nil
}

// verify compares a file with what it should be.
func (f File) verify(path string) error {
	r, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, reason(err))
	}
	defer r.Close()
	return f.check(path, r, io.Discard)
}

// check copies what it reads, and refuses what is not the file.
func (f File) check(place string, r io.Reader, w io.Writer) error {
	sum := sha256.New()
	// One byte more than there should be tells a longer file from the right
	// one, and bounds what a hostile source can write.
	n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(r, f.Size+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", place, err)
	case n > f.Size:
		return fmt.Errorf("%s: more than %d bytes, want %d", place, f.Size, f.Size)
	case n < f.Size:
		return fmt.Errorf("%s: %d bytes, want %d", place, n, f.Size)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != f.SHA256 {
		return fmt.Errorf("%s: SHA-256 %s, want %s", place, got, f.SHA256)
	}
	return nil
}
