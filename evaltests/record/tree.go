package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// UnknownTree is the tree id outside a git checkout. It equals nothing, not
// even itself: a record with an unknown tree cannot bless.
const UnknownTree = "unknown"

// Tree identifies the sources in the checkout that dir is in: SHA-256 over
// `git ls-files -s`, the diff of the work tree against HEAD, and the untracked
// content, all outside goldens/ (a blessing must not change what it vouches
// for) and .touchstone/ (nor may a run change its own sources). It is [UnknownTree] outside a checkout or without git.
func Tree(dir string) string {
	id, err := tree(dir)
	if err != nil {
		return UnknownTree
	}
	return id
}

func tree(dir string) (string, error) {
	out, err := git(dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", err
	}
	top := strings.TrimSuffix(string(out), "\n")
	h := sha256.New()
	outside := []string{"--", ".", ":(exclude,glob)**/goldens/**", ":(exclude,glob)**/.touchstone/**"}
	for _, args := range [][]string{{"ls-files", "-s", "-z"}, {"diff", "--no-ext-diff", "--no-color", "--binary"}} {
		out, err := git(top, append(args, outside...)...)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\x00", args[0], len(out))
		h.Write(out)
	}
	list, err := git(top, append([]string{"ls-files", "-z", "--others", "--exclude-standard"}, outside...)...)
	if err != nil {
		return "", err
	}
	for _, name := range bytes.Split(list, []byte{0}) {
		if len(name) == 0 {
			continue
		}
		if err := hashFile(h, top, string(name)); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func hashFile(h io.Writer, top, name string) error {
	path := filepath.Join(top, filepath.FromSlash(name))
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	var content []byte
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		target, err := os.Readlink(path)
		if err != nil {
			return err
		}
		content = []byte(target)
	case info.Mode().IsRegular():
		if content, err = os.ReadFile(path); err != nil {
			return err
		}
	default:
		return nil // a socket or a nested repository has no content of its own
	}
	fmt.Fprintf(h, "%s %o %d\x00", name, info.Mode().Perm()&0o111, len(content))
	_, err = h.Write(content)
	return err
}
