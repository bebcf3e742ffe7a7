package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/gofrs/flock"
)

// claimed are the records that invocations of this process have taken up
// again: with -count=2 there are two of a suite, and each has its own.
var claimed = struct {
	sync.Mutex
	paths map[string]bool
}{paths: map[string]bool{}}

// Resume finds in the run folder dir the record of an earlier, interrupted
// process that like describes (suite, arm, mode, Go test), and opens it behind
// its last whole case. Gates and verdict of a record that was cut short behind
// them are dropped: they are computed again. A complete record is returned
// without a writer. A record that another process is writing is passed over.
// Without any, all results are nil: start a new one.
func Resume(dir string, like Run) (*Writer, *File, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, nil, err
	}
	claimed.Lock()
	defer claimed.Unlock()
	for _, path := range paths {
		if claimed.paths[path] || suiteOf(path) != like.Suite {
			continue
		}
		w, f, err := take(path, like)
		if err != nil {
			return nil, nil, err
		}
		if f != nil {
			claimed.paths[path] = true
			return w, f, nil
		}
	}
	return nil, nil, nil
}

// take opens one record; all results are nil when it is another's.
func take(path string, like Run) (*Writer, *File, error) {
	lock := flock.New(path)
	if ok, err := lock.TryLock(); err != nil || !ok {
		return nil, nil, err
	}
	w, f, err := open(path, like)
	if w == nil {
		return nil, f, errors.Join(err, lock.Unlock())
	}
	w.lock = lock
	return w, f, nil
}

func open(path string, like Run) (*Writer, *File, error) {
	f, err := Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if f.Lines > 0 && (f.Run.Arm != like.Arm || f.Run.Mode != like.Mode || f.Run.Test != like.Test || f.Run.Package != like.Package) {
		return nil, nil, nil
	}
	switch f.State {
	case Complete:
		if f.Verdict == nil || f.Verdict.Outcomes[NotReached] == 0 {
			return nil, f, nil
		}
		f.End = nil // an interrupt ended it in good order, and yet too early
	case Tampered:
		return nil, nil, fmt.Errorf("%s: record is tampered (%s), so it cannot be resumed; run anew", path, f.Detail)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	if err := os.Truncate(path, int64(f.evidence)); err != nil {
		return nil, nil, err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, nil, err
	}
	w := &Writer{file: file, sum: sha256.New(), seen: map[string]bool{}, started: f.evidence > 0}
	w.sum.Write(data[:f.evidence])
	for _, r := range f.Rows {
		w.seen[r.Identity()] = true
	}
	f.Gates, f.Verdict = nil, nil
	return w, f, nil
}

// Differing names the keys in which two run lines differ, nested ones with
// dots, but for the given ones and those that may differ between any two runs
// (context, nonce, how the stores came to be and stood to their contract: their
// keys are among the hashes). It is what forbids to resume or merge.
func Differing(a, b Run, but ...string) ([]string, error) {
	x, err := flat(a)
	if err != nil {
		return nil, err
	}
	y, err := flat(b)
	if err != nil {
		return nil, err
	}
	skip := map[string]bool{"context": true, "nonce": true, "seeds": true, "contract": true, "kind": true, "v": true}
	for _, key := range but {
		skip[key] = true
	}
	var out []string
	keys := maps.Clone(x)
	maps.Copy(keys, y)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		top, _, _ := bytes.Cut([]byte(key), []byte("."))
		if !skip[string(top)] && !skip[key] && x[key] != y[key] {
			out = append(out, key)
		}
	}
	return out, nil
}

// flat is a run line as keys with canonical values; only maps of named parts
// are opened, lists are one value.
func flat(r Run) (map[string]string, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(data, &top); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for key, raw := range top {
		var nested map[string]json.RawMessage
		if json.Unmarshal(raw, &nested) != nil || nested == nil {
			out[key] = string(raw)
			continue
		}
		for k, v := range nested {
			out[key+"."+k] = string(v)
		}
	}
	return out, nil
}
