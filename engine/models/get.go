package models

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// Getter puts models in place.
type Getter struct {
	Dir   string                           // folder of the models; made if it is absent
	From  []string                         // folders that the source local looks in, in order
	Log   func(format string, args ...any) // progress for a person; may be nil
	HTTP  *http.Client                     // nil means one with timeouts
	Maven MavenConfig                      // where the source maven looks
	Hub   HubFunc                          // nil means hugot's own download

	pause time.Duration // before the second attempt of a download; doubles with each
}

// HubFunc downloads files of a repository of the hub, whole, and returns the
// folder that holds them by their base names.
type HubFunc func(ctx context.Context, to, repo, revision string, paths []string) (folder string, err error)

// Got says where a model came from.
type Got struct {
	Source  string // empty if the model was in place already
	Folder  string
	Skipped []string // sources that were tried before, and why they failed
}

// errNotTried is the failure of a source that there is nothing to ask.
var errNotTried = errors.New("not tried")

// Get puts a model in place, from the first of its sources that serves it. If
// the model is in place and verifies, nothing is done. One Get at a time works
// on a folder; another waits for it.
//
// Only if every file has the size and digest of the lock does the model's
// folder appear, by a rename, so a Get that fails or is killed changes nothing
// there. What it had downloaded is kept in .partial, where the next goes on.
func (g Getter) Get(ctx context.Context, m Model) (Got, error) {
	folder := filepath.Join(g.Dir, m.Name)
	err := Verify(g.Dir, m)
	if err == nil {
		return Got{Folder: folder}, nil
	}
	var changed *ChangedError
	if errors.As(err, &changed) {
		if err := onlyKnown(folder, m); err != nil {
			return Got{}, err
		}
		g.log("%v", err)
	}
	partial := filepath.Join(g.Dir, ".partial")
	if err := os.MkdirAll(partial, 0o755); err != nil {
		return Got{}, fmt.Errorf("models: %w", err)
	}
	lock := flock.New(filepath.Join(partial, "lock"))
	if _, err := lock.TryLockContext(ctx, 200*time.Millisecond); err != nil {
		return Got{}, fmt.Errorf("models: wait for another get in %s: %w", g.Dir, err)
	}
	defer lock.Close()
	if Verify(g.Dir, m) == nil { // the other one has put it in place
		return Got{Folder: folder}, nil
	}
	stage, err := os.MkdirTemp(partial, m.Name+"-")
	if err != nil {
		return Got{}, fmt.Errorf("models: %w", err)
	}
	defer os.RemoveAll(stage)

	var failed []string
	for _, s := range m.Sources {
		ready := filepath.Join(stage, s.Kind)
		err := os.Mkdir(ready, 0o755)
		if err == nil {
			err = g.from(ctx, s, m, ready, stage)
		}
		if err == nil {
			return Got{Source: s.String(), Folder: folder, Skipped: failed}, replace(folder, ready, stage)
		}
		if ctx.Err() != nil {
			return Got{}, fmt.Errorf("model %s: %w", m.Name, err)
		}
		failed = append(failed, fmt.Sprintf("%s: %v", s, err))
		if !errors.Is(err, errNotTried) {
			g.log("%s: %v", s, err)
		}
	}
	return Got{}, fmt.Errorf("model %s: none of its %d sources serves it:\n  %s", m.Name, len(failed), strings.Join(failed, "\n  "))
}

func (g Getter) log(format string, args ...any) {
	if g.Log != nil {
		g.Log(format, args...)
	}
}

// onlyKnown refuses a folder that holds what the lock does not name, since
// replacing it would lose that.
func onlyKnown(folder string, m Model) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("model %s: %w", m.Name, err)
	}
	known := map[string]bool{}
	for _, f := range m.Files {
		known[f.Name] = true
	}
	for _, e := range entries {
		if !known[e.Name()] {
			return fmt.Errorf("model %s: %s is not what the lock says, and holds %s, which the lock does not know: move the folder away", m.Name, folder, e.Name())
		}
	}
	return nil
}

// replace moves a finished folder into its place. What was there before is
// moved aside first, so there is never a mixture of both.
func replace(folder, ready, stage string) error {
	err := os.Rename(folder, filepath.Join(stage, "old"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("models: %w", err)
	}
	if err := os.Rename(ready, folder); err != nil {
		return fmt.Errorf("models: %w", err)
	}
	return nil
}

// from fills a folder from one source.
func (g Getter) from(ctx context.Context, s Source, m Model, ready, stage string) error {
	switch s.Kind {
	case Local:
		return g.local(s, m, ready)
	case Hub:
		return g.hub(ctx, s, m, ready, stage)
	default:
		return g.maven(ctx, s, m, ready)
	}
}

// local looks for DIR/MODEL/FILE, then for DIR/FILE.
func (g Getter) local(s Source, m Model, ready string) error {
	if len(g.From) == 0 {
		return fmt.Errorf("no folder was given: %w", errNotTried)
	}
	var errs []error
	for _, from := range g.From {
		dir := filepath.Join(from, m.Name)
		if _, err := os.Stat(dir); err != nil {
			dir = from
		}
		err := fill(ready, m, func(f File) (string, io.ReadCloser, error) {
			path := filepath.Join(dir, filepath.FromSlash(s.path(f.Name)))
			r, err := os.Open(path)
			return path, r, err
		})
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// fill copies each file of a model into a folder, and refuses what is not it.
func fill(ready string, m Model, open func(File) (place string, r io.ReadCloser, err error)) error {
	for _, f := range m.Files {
		place, r, err := open(f)
		if err != nil {
			return err
		}
		err = write(filepath.Join(ready, f.Name), func(w io.Writer) error { return f.check(place, r, w) })
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
	}
	return nil
}

// write makes a file that is on the disk when write returns, so that the
// rename that follows cannot come before its content.
func write(path string, content func(io.Writer) error) error {
	w, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := content(w); err != nil {
		return errors.Join(err, w.Close())
	}
	return errors.Join(w.Sync(), w.Close())
}

func (g Getter) hub(ctx context.Context, s Source, m Model, ready, stage string) error {
	get := g.Hub
	if get == nil {
		get = hugotDownload
	}
	paths := make([]string, len(m.Files))
	for i, f := range m.Files {
		paths[i] = s.path(f.Name)
	}
	g.log("model %s: asking %s", m.Name, s)
	folder, err := get(ctx, stage, s.Repo, s.Revision, paths)
	if err != nil {
		return err
	}
	return fill(ready, m, func(f File) (string, io.ReadCloser, error) {
		path := filepath.Join(folder, filepath.Base(filepath.FromSlash(s.path(f.Name))))
		r, err := os.Open(path)
		return path, r, err
	})
}
