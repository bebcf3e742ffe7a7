package record

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// FolderFile is the name of the file that makes a folder a run folder.
const FolderFile = "run.json"

// Folder is run.json: which run a folder holds.
type Folder struct {
	V        int       `json:"v"`
	Nonce    string    `json:"nonce"` // fresh for each run; a record of another nonce is not of this run
	Started  time.Time `json:"started"`
	Tree     string    `json:"tree"` // see Tree
	Identity Identity  `json:"identity"`
	By       string    `json:"by"`             // "touchstone eval", "go test", "touchstone run"
	Args     []string  `json:"args,omitempty"` // of go test
	// Suites are those of the inventory that the run is held to; none is all.
	Suites []string `json:"suites,omitempty"`
	// Resumed are the times at which the run was taken up again after an
	// interruption.
	Resumed []time.Time `json:"resumed,omitempty"`
	// Merged are the run folders that a merged run was made of, as they were
	// named, with their nonces.
	Merged []string `json:"merged,omitempty"`
	Dir    string   `json:"-"`
}

// NewFolder makes a fresh run folder below base, for sources in the checkout
// of sourceDir.
func NewFolder(base, sourceDir, by string, args []string) (*Folder, error) {
	f, err := fresh(by)
	if err != nil {
		return nil, err
	}
	f.Tree, f.Args = Tree(sourceDir), args
	// No colon: folder names must be valid on every system.
	f.Dir = filepath.Join(base, fmt.Sprintf("%s-%s", f.Started.Format("20060102T150405"), f.Nonce[:8]))
	return f, f.create()
}

// NewMerged makes dir the run folder of a merged run, of the sources that tree
// identifies and the runs that from names. The folder must not be there.
func NewMerged(dir, tree string, from []string) (*Folder, error) {
	f, err := fresh("touchstone merge")
	if err != nil {
		return nil, err
	}
	f.Tree, f.Merged, f.Dir = tree, from, dir
	return f, f.create()
}

func fresh(by string) (*Folder, error) {
	nonce := make([]byte, 16)
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return &Folder{V: Version, Nonce: hex.EncodeToString(nonce), Started: time.Now().UTC(), Identity: CurrentIdentity(), By: by}, nil
}

func (f *Folder) create() error {
	if err := os.MkdirAll(filepath.Dir(f.Dir), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(f.Dir, 0o755); err != nil {
		return err
	}
	// A run folder inside a checkout is no source of it: without this, a run
	// would change the tree that it is of.
	if err := os.WriteFile(filepath.Join(f.Dir, ".gitignore"), []byte("*\n"), 0o644); err != nil {
		return err
	}
	return f.Write()
}

// Write writes run.json, whole or not at all.
func (f *Folder) Write() error {
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(f.Dir, "."+FolderFile)
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(append(data, '\n'))
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), filepath.Join(f.Dir, FolderFile))
}

// Lock holds the run against a second process that would resume or remove it
// while it goes on. The system ends the lock with the process.
func (f *Folder) Lock() (unlock func(), err error) {
	l := flock.New(filepath.Join(f.Dir, lockFile))
	ok, err := l.TryLock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", l.Path(), err)
	case !ok:
		return nil, fmt.Errorf("%s: the run is still going on; wait for it, or end its process", f.Dir)
	}
	return func() { l.Unlock() }, nil
}

const lockFile = ".lock"

// ReadFolder reads dir/run.json.
func ReadFolder(dir string) (*Folder, error) {
	path := filepath.Join(dir, FolderFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no run folder: %s is missing; give the folder that a run printed", dir, FolderFile)
	}
	if err != nil {
		return nil, err
	}
	f := &Folder{Dir: dir}
	if err := json.Unmarshal(data, f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if f.V < 1 || f.V > Version {
		return nil, fmt.Errorf("%s: format %d; this tool reads up to %d", path, f.V, Version)
	}
	if f.Nonce == "" {
		return nil, fmt.Errorf("%s: no nonce", path)
	}
	return f, nil
}

// Base is where run folders go when EVAL_OUT does not say: .touchstone/runs
// beside the nearest go.mod above dir, else a folder of the temp dir.
func Base(dir string) string {
	if root, ok := ModuleRoot(dir); ok {
		return filepath.Join(root, ".touchstone", "runs")
	}
	return filepath.Join(os.TempDir(), "touchstone-runs")
}

// ModuleRoot is the nearest folder at or above dir that holds a go.mod.
func ModuleRoot(dir string) (string, bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	for {
		if info, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil && info.Mode().IsRegular() {
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}
