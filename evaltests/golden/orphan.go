package golden

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Orphans lists the golden folders below root that belong to none of the
// suites that have a golden: what no suite checks would look guarded and is
// not. A folder of another suite, named in known, is none as long as it holds
// no golden: progress and measurement breaks lie beside. A root that does not
// exist has no orphans.
func Orphans(root string, suites, known []string) ([]string, error) {
	dirs, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var orphans []string
	for _, d := range dirs {
		name := d.Name()
		if !d.IsDir() || slices.Contains(suites, name) || slices.Contains(known, name) && !holdsGolden(filepath.Join(root, name)) {
			continue
		}
		orphans = append(orphans, name)
	}
	return orphans, nil
}

func holdsGolden(dir string) bool {
	return slices.ContainsFunc([]string{CurrentFile, AnchorFile, LedgerFile}, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return !errors.Is(err, fs.ErrNotExist)
	})
}
