package progress

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gofrs/flock"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Files are the progress files of a module.
type Files struct {
	Goldens string // folder of the suites' goldens
	Lock    string // file by which one writer at a time is let in, out of version control
}

// Read reads the lines of a suite; no file is no line.
func (f Files) Read(suite string) ([]Line, error) {
	if !record.ValidSuite(suite) {
		return nil, fmt.Errorf("suite %q: want lower-case letters, digits, dots, dashes", suite)
	}
	path := f.path(suite)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return Parse(path, suite, data)
}

func (f Files) path(suite string) string { return filepath.Join(f.Goldens, suite, FileName) }

// Suites lists the suites that have a file, sorted.
func (f Files) Suites() ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(f.Goldens, "*", FileName))
	var out []string
	for _, p := range paths {
		out = append(out, filepath.Base(filepath.Dir(p)))
	}
	slices.Sort(out)
	return out, err
}

// Update reads the lines of a suite, lets change alter them and writes the
// file, whole or not at all. Two processes take turns. Lines that are not
// changed keep their place.
func (f Files) Update(suite string, change func([]Line) ([]Line, error)) error {
	if err := os.MkdirAll(filepath.Dir(f.Lock), 0o755); err != nil {
		return err
	}
	lock := flock.New(f.Lock)
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("%s: %w", f.Lock, err)
	}
	defer lock.Close()
	lines, err := f.Read(suite)
	if err != nil {
		return err
	}
	if lines, err = change(lines); err != nil {
		return err
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			return fmt.Errorf("line %s: %w", l.ID, err)
		}
	}
	if _, err := Parse(f.path(suite), suite, buf.Bytes()); err != nil {
		return err // what could not be read again is not written
	}
	return write(f.path(suite), buf.Bytes())
}

// Withdraw takes back the line with the id, of whichever suite, and returns
// the suite. The line stays, with the reason and without a say.
func (f Files) Withdraw(id, reason string) (suite string, err error) {
	return f.set(id, func(l *Line) error {
		if l.Status == Withdrawn {
			return fmt.Errorf("line %s is withdrawn already: %s", id, l.Why)
		}
		l.Status, l.Why = Withdrawn, reason
		return sentence("reason", reason)
	})
}

// Settle says that the question of the line with the id is answered.
func (f Files) Settle(id string) (suite string, err error) {
	return f.set(id, func(l *Line) error {
		if l.Status != Open {
			return fmt.Errorf("line %s is %s; only an open one can be settled", id, l.Status)
		}
		l.Status = Settled
		return nil
	})
}

func (f Files) set(id string, change func(*Line) error) (string, error) {
	suites, err := f.Suites()
	if err != nil {
		return "", err
	}
	for _, suite := range suites {
		lines, err := f.Read(suite)
		if err != nil {
			return "", err
		}
		if !slices.ContainsFunc(lines, func(l Line) bool { return l.ID == id }) {
			continue
		}
		return suite, f.Update(suite, func(lines []Line) ([]Line, error) {
			at := slices.IndexFunc(lines, func(l Line) bool { return l.ID == id })
			if at < 0 {
				return nil, fmt.Errorf("line %s: gone meanwhile", id)
			}
			return lines, change(&lines[at])
		})
	}
	return "", fmt.Errorf("line %q: no suite has it; `touchstone progress` lists the ids", id)
}

func write(path string, data []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+FileName)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(tmp.Name())
		}
	}()
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
