package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// DefaultMaxBytes is the size above which a file is left out. Text of that
// length is data rather than prose.
const DefaultMaxBytes = 4 << 20

// OtherKind is the reason of a [Skip] for a file of a kind that is not read,
// told by its suffix.
const OtherKind = "not Markdown, text or HTML"

// File is a file that [Walk] found to be of a kind that is read.
type File struct {
	Path string // relative to the folder, with slashes
	Size int64
	Mod  time.Time
}

// Skip is a file that is not read, and why.
type Skip struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Found is what a folder holds. Both lists are in the order of
// the walk, which is the same every time.
type Found struct {
	Files  []File
	Skips  []Skip
	Hidden int // files and folders whose name begins with a dot; not looked into
}

// kinds maps the suffix of a file's name, in lower case, to how it is read.
var kinds = map[string]func(string) Page{
	".md": Markdown, ".markdown": Markdown, ".txt": Plain, ".html": HTML, ".htm": HTML,
}

// Walk lists the files below root, leaving out the folder at the relative path
// except (empty for none). Only a root that cannot be listed, or the end of
// ctx, is an error.
func Walk(ctx context.Context, root *os.Root, except string) (Found, error) {
	var found Found
	skip := func(name, format string, args ...any) {
		found.Skips = append(found.Skips, Skip{name, fmt.Sprintf(format, args...)})
	}
	err := fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err != nil {
			if name == "." {
				return err
			}
			skip(name, "%v", reason(err))
			return nil
		}
		if name == "." {
			return nil
		}
		if strings.HasPrefix(d.Name(), ".") {
			found.Hidden++
			return skipDir(d)
		}
		if name == except {
			return skipDir(d)
		}
		switch {
		case d.IsDir():
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			skip(name, "symbolic link: not followed")
			return nil
		case !d.Type().IsRegular():
			skip(name, "not a regular file")
			return nil
		case kinds[suffix(name)] == nil:
			skip(name, "%s", OtherKind)
			return nil
		}
		info, err := d.Info()
		if err != nil {
			skip(name, "%v", reason(err))
			return nil
		}
		found.Files = append(found.Files, File{Path: name, Size: info.Size(), Mod: info.ModTime()})
		return nil
	})
	return found, err
}

func skipDir(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func suffix(name string) string { return strings.ToLower(path.Ext(name)) }

// reason drops the path of an error that is shown beside it.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// read returns the bytes of a file, at most max.
func read(root *os.Root, f File, max int64) ([]byte, error) {
	if f.Size > max {
		return nil, fmt.Errorf("%d bytes: at most %d are read", f.Size, max)
	}
	file, err := root.Open(f.Path)
	if err != nil {
		return nil, reason(err)
	}
	defer file.Close()
	// The file may have become another since it was listed.
	if info, err := file.Stat(); err != nil {
		return nil, reason(err)
	} else if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(file, max+1))
	if err != nil {
		return nil, reason(err)
	}
	if int64(len(data)) > max {
		return nil, fmt.Errorf("more than %d bytes: no more are read", max)
	}
	return data, nil
}
