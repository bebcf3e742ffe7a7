package golden

import (
	"fmt"
	"path/filepath"
	"slices"
)

// VerifyLedger refuses a golden that the ledger does not vouch for: its digest
// must be the one of the last line, and no blessing of another branch may
// stand beside it that it does not follow.
func VerifyLedger(dir string, current *File) error {
	entries, err := ReadLedger(dir)
	if err != nil {
		return err
	}
	return vouched(filepath.Join(dir, CurrentFile), entries, current.Digest)
}

func vouched(path string, entries []Entry, digest string) error {
	if len(entries) == 0 {
		return fmt.Errorf("%s: no ledger line vouches for it", path)
	}
	if open := OpenForks(entries, digest); len(open) > 0 && isTip(entries, digest) {
		if _, err := Trace(entries, "", digest); err != nil { // nothing was blessed before the first
			return fmt.Errorf("%s: a ledger line is missing: no path of blessings leads to it from the first one; restore the ledger from version control", path)
		}
		return fmt.Errorf("%s: the ledger forks: the blessing of %s (%s) is of another branch, and nobody measured both changes together; run the suite and accept again",
			path, open[0].When, open[0].Reason)
	}
	last := entries[len(entries)-1]
	if last.After == digest {
		return nil
	}
	for _, e := range slices.Backward(entries) {
		if e.After == digest {
			return fmt.Errorf("%s: is the golden of an earlier blessing (%s: %s); the last ledger line says %.12s", path, e.When, e.Reason, last.After)
		}
	}
	return fmt.Errorf("%s: edited since it was blessed: digest %.12s, the last ledger line says %.12s", path, digest, last.After)
}

// OpenForks lists the blessings that no later one follows, other than that of
// the current golden: those of other branches, brought in by a merge.
func OpenForks(entries []Entry, current string) []Entry {
	var open []Entry
	for _, e := range entries {
		if !e.anchors() && e.After != current && isTip(entries, e.After) {
			open = append(open, e)
		}
	}
	return open
}

// isTip reports whether a blessing made digest and none followed it.
func isTip(entries []Entry, digest string) bool {
	made := false
	for _, e := range entries {
		if e.anchors() {
			continue
		}
		made = made || e.After == digest
		if e.After != digest && (e.Before == digest || slices.Contains(e.Merged, digest)) {
			return false
		}
	}
	return made
}

// Trace is the path of blessings that leads from the anchor to the current
// golden, oldest first; empty if they are one. No path is an error: somebody
// replaced a file or removed a ledger line.
func Trace(entries []Entry, anchor, current string) ([]Entry, error) {
	seen := map[string]bool{}
	var walk func(digest string) ([]Entry, bool)
	walk = func(digest string) ([]Entry, bool) {
		if digest == anchor {
			return nil, true
		}
		if seen[digest] {
			return nil, false
		}
		seen[digest] = true
		for _, e := range slices.Backward(entries) {
			if e.anchors() || e.After != digest {
				continue
			}
			for _, from := range append([]string{e.Before}, e.Merged...) {
				if path, ok := walk(from); ok {
					return append(path, e), true
				}
			}
		}
		return nil, false
	}
	path, ok := walk(current)
	if !ok {
		return nil, fmt.Errorf("no path of blessings leads from the anchor (%.12s) to the current golden (%.12s); restore the ledger from version control, or move the anchor with a reason", anchor, current)
	}
	return path, nil
}

// verifyAnchor refuses an anchor that no deliberate act set: it is what the
// last move of the anchor says, or the first blessing if it never moved.
func verifyAnchor(dir string, entries []Entry, anchor *File) error {
	path := filepath.Join(dir, AnchorFile)
	moved := slices.ContainsFunc(entries, Entry.anchors)
	for _, e := range slices.Backward(entries) {
		if e.anchors() != moved || !moved && e.Before != "" {
			continue
		}
		if e.After == anchor.Digest {
			return nil
		}
		if moved { // only the last move counts
			return fmt.Errorf("%s: digest %.12s, the ledger says that the anchor was last moved to %.12s", path, anchor.Digest, e.After)
		}
	}
	return fmt.Errorf("%s: digest %.12s is not that of the first blessing in the ledger; the anchor moves by `touchstone golden anchor` only", path, anchor.Digest)
}

// Chain is the history of a golden folder.
type Chain struct {
	Entries []Entry `json:"entries"` // the whole ledger
	Path    []Entry `json:"path"`    // the blessings that lead from the anchor to the current golden
	Anchor  string  `json:"anchor"`  // digests
	Current string  `json:"current"`
}

// ReadChain reads the history of a golden folder and verifies it: the ledger
// vouches for the current golden and for the anchor, and a path of blessings
// leads from one to the other. With an error, what could be read is returned
// all the same.
func ReadChain(dir string) (Chain, error) {
	var c Chain
	var err error
	if c.Entries, err = ReadLedger(dir); err != nil {
		return c, fmt.Errorf("%w; restore it from version control (after a merge keep the lines of both sides)", err)
	}
	current, err := Read(filepath.Join(dir, CurrentFile))
	if err != nil {
		return c, err
	}
	c.Current = current.Digest
	anchor, err := Read(filepath.Join(dir, AnchorFile))
	if err != nil {
		return c, err
	}
	c.Anchor = anchor.Digest
	if err := vouched(filepath.Join(dir, CurrentFile), c.Entries, current.Digest); err != nil {
		return c, err
	}
	if err := verifyAnchor(dir, c.Entries, anchor); err != nil {
		return c, err
	}
	if c.Path, err = Trace(c.Entries, anchor.Digest, current.Digest); err != nil {
		return c, fmt.Errorf("%s: %w", filepath.Join(dir, LedgerFile), err)
	}
	return c, nil
}
