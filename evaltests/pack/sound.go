package pack

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"unicode"
)

// MaxGrade bounds grades on both sides. It is far beyond any scale that people
// judge by, and below the grades whose gain, 2^grade - 1, is no number: what
// is larger is an id or a score in the wrong column.
const MaxGrade = 100

// printable refuses ids and groups with control characters. They name cases
// in test output, documents in TREC files, and both on terminals: a line end
// splits a record there, and an escape sequence rewrites the screen.
func printable(what, id string) error {
	for _, r := range id {
		if unicode.IsControl(r) {
			return fmt.Errorf("%s %q holds the control character %q; remove it, or give another id", what, id, r)
		}
	}
	return nil
}

// notEmpty refuses a pack of nothing: it would be asked nothing, or asked
// about nothing, and look whole.
func (c *content) notEmpty() error {
	documents := len(c.documents)
	if c.scan != nil {
		documents = c.scan.documents()
	}
	switch {
	case len(c.gold) > 0:
		// A judgement of a question or a document that is not there is an error
		// with its own place.
		return nil
	case documents == 0:
		return fmt.Errorf("%s: no documents; want at least one", c.dir)
	case len(c.cases) == 0:
		return fmt.Errorf("%s: no cases: no question is judged; want at least one", c.dir)
	}
	return nil
}

func (c *content) soundGrades() error {
	for n, g := range c.gold {
		if g.grade > MaxGrade || g.grade < -MaxGrade {
			return fmt.Errorf("%s: question %q gives document %q the grade %d; want %d to %d", c.goldSpots.place(n), g.caseID, g.docID, g.grade, -MaxGrade, MaxGrade)
		}
	}
	return nil
}

// unreadable says why a content file cannot be opened, and what to do.
func (c *content) unreadable(file string, err error) error {
	path := filepath.Join(c.dir, filepath.FromSlash(file))
	var perr *fs.PathError
	if errors.As(err, &perr) {
		err = perr.Err
	}
	// os.Root has no error value for a path that leaves it.
	if err.Error() == "path escapes from parent" {
		return fmt.Errorf("%s: a link that leaves the folder; put the file itself there: %w", path, err)
	}
	if errors.Is(err, fs.ErrNotExist) {
		for _, ending := range []string{".gz", ".zip", ".zst", ".bz2"} {
			if c.exists(file + ending) {
				return fmt.Errorf("%s: %w, but %s is there; unpack it", path, err, filepath.Base(path)+ending)
			}
		}
	}
	return fmt.Errorf("%s: %w", path, err)
}
