package record

import (
	"bytes"
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

// UnknownTree is the tree id outside a git checkout. It equals nothing, not
// even itself (see [SameTree]): a record with an unknown tree cannot bless.
const UnknownTree = "unknown"

// SameTree reports whether two tree ids are known and equal.
func SameTree(a, b string) bool { return a == b && a != UnknownTree && a != "" }

// Tree identifies the sources in the checkout that dir is in: SHA-256 over
// `git ls-files -s`, the content of the files that differ from it, and the
// untracked files that are not ignored, all outside goldens/ (a blessing must
// not change what it vouches for) and .touchstone/ (nor may a run change its
// own sources). It is [UnknownTree] outside a checkout or without git. Content
// is taken from the files, not from `git diff`, whose
// text depends on each user's configuration.
func Tree(dir string) string {
	id, err := tree(dir, "")
	if err != nil {
		return UnknownTree
	}
	return id
}

// tree is the id of the checkout that dir is in, which lies inside that of
// outer, if any.
func tree(dir, outer string) (string, error) {
	out, err := git(dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", err
	}
	top := strings.TrimSuffix(string(out), "\n")
	if top == outer {
		return "", fmt.Errorf("%s: not a repository of its own", dir)
	}
	h := sha256.New()
	outside := []string{"--", ".", ":(exclude,glob)**/goldens/**", ":(exclude,glob)**/.touchstone/**"}
	index, err := git(top, append([]string{"ls-files", "-s", "-z"}, outside...)...)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(h, "index %d\x00", len(index))
	h.Write(index)
	// Files that git was told not to look at are always looked at.
	flagged, err := git(top, append([]string{"ls-files", "-v", "-z"}, outside...)...)
	if err != nil {
		return "", err
	}
	for _, entry := range strings.Split(string(flagged), "\x00") {
		if tag, name, ok := strings.Cut(entry, " "); ok && (tag == "S" || strings.ToLower(tag) == tag) {
			if err := hashFile(h, top, name); err != nil {
				return "", err
			}
		}
	}
	for _, list := range [][]string{
		{"-c", "diff.autoRefreshIndex=true", "diff", "--name-only", "-z", "--no-renames", "--no-relative", "--no-ext-diff", "--ignore-submodules=none"},
		{"ls-files", "-z", "--others", "--exclude-standard"},
	} {
		names, err := git(top, append(list, outside...)...)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "files %d\x00", bytes.Count(names, []byte{0}))
		for _, name := range bytes.Split(names, []byte{0}) {
			if len(name) == 0 {
				continue
			}
			if err := hashFile(h, top, string(name)); err != nil {
				return "", err
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// hashFile writes kind, name and content of a file of the work tree.
func hashFile(h io.Writer, top, name string) error {
	path := filepath.Join(top, filepath.FromSlash(name))
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return say(h, "deleted", name, "")
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		if err != nil {
			return err
		}
		return say(h, "link", name, target)
	case info.IsDir(): // another repository: a submodule or one that lies here untracked
		id, err := tree(path, top)
		if err != nil {
			return err
		}
		return say(h, "repository", name, id)
	case !info.Mode().IsRegular():
		return say(h, "special", name, "")
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	content := sha256.New()
	if _, err := io.Copy(content, f); err != nil {
		return err
	}
	kind := "file"
	if info.Mode()&0o100 != 0 { // the one permission that git keeps
		kind = "executable"
	}
	return say(h, kind, name, hex.EncodeToString(content.Sum(nil)))
}

// say writes one entry; the NUL bytes keep entries apart, since no name holds
// one.
func say(h io.Writer, kind, name, content string) error {
	_, err := fmt.Fprintf(h, "%s\x00%s\x00%s\x00", kind, name, content)
	return err
}
