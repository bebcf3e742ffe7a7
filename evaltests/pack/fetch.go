package pack

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Fetched is a download, unpacked.
type Fetched struct {
	Dir    string // the folder that holds the files
	URL    string // after redirects, without user, password and query: they may be secrets, and this is noted in the pack
	Bytes  int64
	SHA256 string // of what was downloaded
}

// Fetch downloads a file or an archive (.zip, .tar, .tar.gz, .tgz) from an
// http or https address into dir, which must be empty. Neither the download
// nor what it unpacks to may be larger than max bytes. Nothing is written
// outside dir: an archive with an absolute path, with "..", or with anything
// but files and folders is refused, as is a redirect to another scheme. A
// single folder at the top of an archive is stepped into.
func Fetch(ctx context.Context, address, dir string, max int64) (Fetched, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return Fetched{}, fmt.Errorf("%s: want an http or https address", address)
	}
	address = public(u)
	client := &http.Client{
		Timeout: 30 * time.Minute,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if r.URL.Scheme != "http" && r.URL.Scheme != "https" {
				return fmt.Errorf("redirect to %s: want http or https", public(r.URL))
			}
			if len(via) >= 10 {
				return errors.New("more than 10 redirects")
			}
			return nil
		},
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Fetched{}, err
	}
	resp, err := client.Do(req)
	if err != nil {
		// The client's error repeats the address, secrets and all.
		var uerr *url.Error
		if errors.As(err, &uerr) {
			err = uerr.Err
		}
		return Fetched{}, fmt.Errorf("%s: %w", address, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return Fetched{}, fmt.Errorf("%s: %s", address, resp.Status)
	}
	tmp, err := os.CreateTemp("", "touchstone-fetch-*")
	if err != nil {
		return Fetched{}, err
	}
	defer os.Remove(tmp.Name())
	defer tmp.Close()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(tmp, sum), io.LimitReader(resp.Body, max+1))
	if err != nil {
		return Fetched{}, fmt.Errorf("%s: %w", address, err)
	}
	if n > max {
		return Fetched{}, fmt.Errorf("%s: more than %d bytes; raise --max-bytes if that is right", address, max)
	}
	final := resp.Request.URL
	out := Fetched{Dir: dir, URL: public(final), Bytes: n, SHA256: hex.EncodeToString(sum.Sum(nil))}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Fetched{}, err
	}
	defer root.Close()
	in := unpacker{root: root, left: max}
	name := strings.ToLower(path.Base(final.Path))
	switch {
	case strings.HasSuffix(name, ".zip"):
		err = in.zip(tmp, n)
	case strings.HasSuffix(name, ".tar.gz"), strings.HasSuffix(name, ".tgz"):
		err = in.gzip(tmp)
	case strings.HasSuffix(name, ".tar"):
		err = in.tar(tmp)
	default:
		if _, err = tmp.Seek(0, io.SeekStart); err == nil {
			err = in.file(path.Base(final.Path), tmp)
		}
	}
	if err != nil {
		return Fetched{}, fmt.Errorf("%s: %w", address, err)
	}
	entries, err := os.ReadDir(dir)
	// What archivers add of their own is no content.
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") || e.Name() == "__MACOSX" })
	if err == nil && len(entries) == 1 && entries[0].IsDir() {
		out.Dir = filepath.Join(dir, entries[0].Name())
	}
	return out, err
}

// public is an address as it may be written down.
func public(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}

// unpacker writes files below a root, up to a number of bytes.
type unpacker struct {
	root *os.Root
	left int64
}

func (u *unpacker) file(name string, r io.Reader) error {
	if strings.Contains(name, `\`) || !filepath.IsLocal(filepath.FromSlash(name)) || path.Clean(name) == "." {
		return fmt.Errorf("path %q leaves the folder", name)
	}
	name = filepath.FromSlash(path.Clean(name))
	if dir := filepath.Dir(name); dir != "." {
		if err := u.root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	f, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(r, u.left+1))
	u.left -= n
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if u.left < 0 {
		return errors.New("it unpacks to more than --max-bytes")
	}
	return nil
}

func (u *unpacker) zip(f *os.File, size int64) error {
	r, err := zip.NewReader(f, size)
	if err != nil {
		return err
	}
	for _, e := range r.File {
		if e.Mode().IsDir() {
			continue
		}
		if !e.Mode().IsRegular() {
			return fmt.Errorf("%q is neither a file nor a folder", e.Name)
		}
		in, err := e.Open()
		if err != nil {
			return err
		}
		if err := errors.Join(u.file(e.Name, in), in.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacker) gzip(f *os.File) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	return u.entries(tar.NewReader(z))
}

func (u *unpacker) tar(f *os.File) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return u.entries(tar.NewReader(f))
}

func (u *unpacker) entries(r *tar.Reader) error {
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch h.Typeflag {
		case tar.TypeDir, tar.TypeXGlobalHeader:
		case tar.TypeReg:
			if err := u.file(h.Name, r); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%q is neither a file nor a folder", h.Name)
		}
	}
}
