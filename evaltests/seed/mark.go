package seed

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// MarkFile is the sandbox mark: a store in a folder with this file is ours to
// open for writing and to wipe. No flag stands in for it.
const MarkFile = "sandbox.json"

// Mark is sandbox.json.
type Mark struct {
	V    int       `json:"v"`
	Made string    `json:"made"` // "seed", "snapshot", "ephemeral"
	Of   string    `json:"of"`   // the pack and group, or the store that was copied
	Key  string    `json:"key,omitempty"`
	Fill *Filled   `json:"fill,omitempty"` // how the seed was filled; nil until it is
	Skip []Skipped `json:"skipped,omitempty"`
}

// Filled accounts for the filling of a store.
type Filled struct {
	Micros      int64  `json:"micros"` // wall time, from the empty folder to the stamp
	Concurrency int    `json:"concurrency"`
	Steps       []Step `json:"steps"`
	How         string `json:"how"` // "built" or "migrated"
}

// Step is one step of filling a store.
type Step struct {
	Name        string `json:"name"`
	Micros      int64  `json:"micros"`      // time at work; of steps that run side by side, summed
	Concurrency int    `json:"concurrency"` // batches side by side; 1: one after the other
}

const markVersion = 1

// WriteMark marks the folder dir, which holds a store of ours.
func WriteMark(dir string, m Mark) error {
	m.V = markVersion
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	tmp := filepath.Join(dir, MarkFile+".tmp")
	if err := os.WriteFile(tmp, append(data, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(dir, MarkFile))
}

// ReadMark reads the mark of dir. found is false for a folder without one, and
// an error is for a mark that is not sound: such a folder is not ours either.
func ReadMark(dir string) (m Mark, found bool, err error) {
	path := filepath.Join(dir, MarkFile)
	data, err := readFile(path)
	if err != nil || data == nil {
		return Mark{}, false, err
	}
	if err := strict.JSON(data, &m, true); err != nil {
		return Mark{}, false, fmt.Errorf("%s: %w", path, err)
	}
	if m.V != markVersion || m.Made == "" {
		return Mark{}, false, fmt.Errorf("%s: format %d, made %q; want format %d", path, m.V, m.Made, markVersion)
	}
	return m, true, nil
}

// RequireMark refuses a folder that is not ours.
func RequireMark(dir string) error {
	_, found, err := ReadMark(dir)
	if err != nil {
		return err
	}
	if !found {
		return &RefusedError{Reason: fmt.Sprintf("%s: no sandbox mark (%s): the store is not ours, and is neither written to nor wiped, whatever the flags", dir, MarkFile),
			Action: "copy it with `touchstone snapshot STORE DEST` and give the copy"}
	}
	return nil
}
