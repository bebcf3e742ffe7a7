package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
)

// Writer appends the lines of one record. A line is written whole, in one
// call, so killing the process loses at most the case in flight. It is safe
// for concurrent use.
type Writer struct {
	mu     sync.Mutex
	file   *os.File
	sum    hash.Hash
	seen   map[string]bool
	closed bool
}

var suiteName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// ValidSuite reports whether name can be part of a file name and of a subtest
// name on every system.
func ValidSuite(name string) bool { return suiteName.MatchString(name) }

// Create starts the record of a suite invocation in the run folder dir. The
// file is named <suite>.<pid>.<n>.jsonl: `go test ./...` runs one process a
// package at the same time, and -count runs a suite again in one process.
func Create(dir, suite string) (*Writer, error) {
	if !ValidSuite(suite) {
		return nil, fmt.Errorf("suite %q: want lower-case letters, digits, dots, dashes", suite)
	}
	for n := 1; ; n++ {
		path := filepath.Join(dir, fmt.Sprintf("%s.%d.%d.jsonl", suite, os.Getpid(), n))
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return &Writer{file: f, sum: sha256.New(), seen: map[string]bool{}}, nil
	}
}

// Path is the file being written.
func (w *Writer) Path() string { return w.file.Name() }

// Run writes the first line.
func (w *Writer) Run(r Run) error {
	r.Head = Head{Version, KindRun}
	return w.line(r)
}

// Row writes a case. A second row of the same identity is an error, and so is
// an outcome that should carry a reason and has none.
func (w *Writer) Row(r Row) error {
	r.Head = Head{Version, KindCase}
	if r.Outcome.State != Scored && r.Outcome.Reason == "" {
		return fmt.Errorf("%s: outcome %q without a reason", r.Identity(), r.Outcome.State)
	}
	w.mu.Lock()
	twice := w.seen[r.Identity()]
	w.seen[r.Identity()] = true
	w.mu.Unlock()
	if twice {
		return fmt.Errorf("%s: a row of this identity was written before", r.Identity())
	}
	return w.line(r)
}

// Gate writes the result of a gate.
func (w *Writer) Gate(g Gate) error {
	g.Head = Head{Version, KindGate}
	return w.line(g)
}

// Verdict writes the verdict.
func (w *Writer) Verdict(v Verdict) error {
	v.Head = Head{Version, KindVerdict}
	return w.line(v)
}

// End closes the record: without it a reader calls the file truncated.
func (w *Writer) End(e End) error {
	e.Head = Head{Version, KindEnd}
	w.mu.Lock()
	e.SHA256 = hex.EncodeToString(w.sum.Sum(nil))
	w.mu.Unlock()
	if err := w.line(e); err != nil {
		return err
	}
	return w.Close()
}

// Close closes the file without completing the record.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	return w.file.Close()
}

func (w *Writer) line(v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	// The encoder refuses NaN and infinities, so none can enter a record.
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(w.file.Name()), err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return fmt.Errorf("%s: record is closed", filepath.Base(w.file.Name()))
	}
	if _, err := w.file.Write(buf.Bytes()); err != nil {
		return err
	}
	w.sum.Write(buf.Bytes())
	return nil
}
