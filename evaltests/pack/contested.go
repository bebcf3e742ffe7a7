package pack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/digest"
	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// ContestedFile is the name of the file beside pack.toml that lists the cases
// whose published key is known to be wrong. They stay in the plan and are
// asked, but enter no ranking measure; reports count and name them.
const ContestedFile = "contested.toml"

type contestedFile struct {
	Cases []contestedCase `toml:"case"`
}

type contestedCase struct {
	ID     string `toml:"id"`     // of the case
	Reason string `toml:"reason"` // what is wrong with its key
	Source string `toml:"source"` // who found it, and where that is written
}

// contested marks the cases that contested.toml lists.
func (c *content) contested(dir string) error {
	path := filepath.Join(dir, ContestedFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var f contestedFile
	if err := strict.TOML(path, data, &f); err != nil {
		return err
	}
	at := strict.TOMLLines(data, "case")
	for n, k := range f.Cases {
		place := fmt.Sprintf("%s:%d", path, at[n])
		i, ok := c.caseAt[k.ID]
		switch {
		case !ok:
			return fmt.Errorf("%s: case %q is not in the pack", place, k.ID)
		case strings.TrimSpace(k.Reason) == "" || strings.TrimSpace(k.Source) == "":
			return fmt.Errorf("%s: case %q: want a reason and a source: what is wrong with the key, and who found it", place, k.ID)
		case c.cases[i].Contested != "":
			return fmt.Errorf("%s: case %q is listed twice", place, k.ID)
		}
		c.cases[i].Contested = k.Reason + " (" + k.Source + ")"
	}
	c.files = append(c.files, File{Path: ContestedFile, Bytes: int64(len(data)), SHA256: digest.Bytes(data)})
	return nil
}
