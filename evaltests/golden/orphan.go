package golden

import (
	"errors"
	"io/fs"
	"os"
	"slices"
)

// Orphans lists the golden folders below root that belong to none of the
// suites: what no suite checks would look guarded and is not. A root that does
// not exist has none.
func Orphans(root string, suites []string) ([]string, error) {
	dirs, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var orphans []string
	for _, d := range dirs {
		if d.IsDir() && !slices.Contains(suites, d.Name()) {
			orphans = append(orphans, d.Name())
		}
	}
	return orphans, nil
}
