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

	"github.com/gofrs/flock"
)

// Writer appends the lines of one record. A line is written whole, in one
// call, so killing the process loses at most the case in flight. It is safe
// for concurrent use.
type Writer struct {
	mu      sync.Mutex
	file    *os.File
	sum     hash.Hash
	seen    map[string]bool
	started bool // the run line is written
	closed  bool
	lock    *flock.Flock // held while the record is written, so that nobody resumes it meanwhile
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
		w := &Writer{file: f, sum: sha256.New(), seen: map[string]bool{}, lock: flock.New(path)}
		if ok, err := w.lock.TryLock(); err != nil || !ok {
			f.Close()
			return nil, errors.Join(fmt.Errorf("%s: cannot be locked", path), err)
		}
		return w, nil
	}
}

// Path is the file being written.
func (w *Writer) Path() string { return w.file.Name() }

// Run writes the first line. A record has one.
func (w *Writer) Run(r Run) error {
	r.Head = Head{Version, KindRun}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.started {
		return fmt.Errorf("%s: a second run line", w.name())
	}
	err := w.line(r)
	w.started = err == nil
	return err
}

// Row writes a case. It refuses a second row of the same identity, a state
// that no row may carry, and an outcome that should carry a reason and has
// none. A row that was refused may be mended and written again.
func (w *Writer) Row(r Row) error {
	r.Head = Head{Version, KindCase}
	if !r.Outcome.State.written() {
		return fmt.Errorf("%s: outcome %q; want one of scored, failed, timed_out, refused, skipped", r.Identity(), r.Outcome.State)
	}
	if r.Outcome.State != Scored && r.Outcome.Reason == "" {
		return fmt.Errorf("%s: outcome %q without a reason", r.Identity(), r.Outcome.State)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[r.Identity()] {
		return fmt.Errorf("%s: a row of this identity was written before", r.Identity())
	}
	if err := w.body(r.compact()); err != nil {
		return fmt.Errorf("%s: %w", r.Identity(), err)
	}
	w.seen[r.Identity()] = true
	return nil
}

// Gate writes the result of a gate.
func (w *Writer) Gate(g Gate) error {
	g.Head = Head{Version, KindGate}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.body(g)
}

// Verdict writes the verdict.
func (w *Writer) Verdict(v Verdict) error {
	v.Head = Head{Version, KindVerdict}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.body(v)
}

// End closes the record: without it a reader calls the file truncated.
func (w *Writer) End(e End) error {
	e.Head = Head{Version, KindEnd}
	w.mu.Lock()
	defer w.mu.Unlock()
	e.SHA256 = hex.EncodeToString(w.sum.Sum(nil))
	if err := w.body(e); err != nil {
		return err
	}
	return w.close()
}

// Close closes the file without completing the record.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.close()
}

func (w *Writer) close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	return errors.Join(w.file.Close(), w.lock.Unlock())
}

func (w *Writer) name() string { return filepath.Base(w.file.Name()) }

// body writes a line that may not be the first.
func (w *Writer) body(v any) error {
	if !w.started {
		return fmt.Errorf("%s: no run line yet; a record starts with it", w.name())
	}
	return w.line(v)
}

func (w *Writer) line(v any) error {
	if w.closed {
		return fmt.Errorf("%s: record is closed", w.name())
	}
	data, err := encodeLine(v)
	if err != nil {
		return fmt.Errorf("%s: %w", w.name(), err)
	}
	if _, err := w.file.Write(data); err != nil {
		// Part of the line may be in the file. Anything after it would make a
		// record that was cut short look like an edited one.
		return errors.Join(err, w.close())
	}
	w.sum.Write(data)
	return nil
}

// encodeLine is the one form of a line. The encoder refuses NaN and
// infinities, so none can enter a record.
func encodeLine(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
