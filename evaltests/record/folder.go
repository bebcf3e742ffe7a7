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
	Dir      string    `json:"-"`
}

// NewFolder makes a fresh run folder below base, for sources in the checkout
// of sourceDir.
func NewFolder(base, sourceDir, by string, args []string) (*Folder, error) {
	nonce := make([]byte, 16)
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	f := &Folder{
		V: Version, Nonce: hex.EncodeToString(nonce), Started: time.Now().UTC(), Tree: Tree(sourceDir),
		Identity: CurrentIdentity(), By: by, Args: args,
	}
	// No colon: folder names must be valid on every system.
	f.Dir = filepath.Join(base, fmt.Sprintf("%s-%s", f.Started.Format("20060102T150405"), f.Nonce[:8]))
	if err := os.MkdirAll(base, 0o755); err != nil {
		return nil, err
	}
	if err := os.Mkdir(f.Dir, 0o755); err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return nil, err
	}
	return f, os.WriteFile(filepath.Join(f.Dir, FolderFile), append(data, '\n'), 0o644)
}

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
