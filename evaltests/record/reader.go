package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

// Completeness of a record file.
type Completeness string

// A record is complete only with an end line whose digest fits.
const (
	Complete  Completeness = "complete"
	Truncated Completeness = "truncated" // no end line, or a last line cut short
	Tampered  Completeness = "tampered"  // the digest does not fit, or a line is not of the format
)

// File is a record as read back.
type File struct {
	Path    string
	Run     Run
	Rows    []Row
	Gates   []Gate
	Verdict *Verdict // nil when the record ends before it
	End     *End
	State   Completeness
	Lines   int    // whole lines read
	Detail  string // what is wrong, empty when complete

	evidence int // bytes up to the end of the last run or case line
}

// Read reads a record. A file that is truncated or tampered is no error: its
// State says so, Rows holds what can still be read. A file that was cut short
// within its first line, as by a kill while the subject was being filled, has
// an empty Run but for the suite, which the file's name tells. An error means
// that the file could not be read at all, or does not start with a run line of
// a format this tool knows.
func Read(path string) (*File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, State: Truncated, Detail: "no end line"}
	sum := sha256.New()
	seen := map[string]bool{}
	whole := data
	for len(data) > 0 {
		line, rest, ended := bytes.Cut(data, []byte("\n"))
		if f.End != nil {
			f.State, f.Detail = Tampered, fmt.Sprintf("line %d follows the end line", f.Lines+1)
			break
		}
		if !ended {
			f.Detail = fmt.Sprintf("line %d is cut short; the last whole line is %d", f.Lines+1, f.Lines)
			break
		}
		if err := f.take(line, sum.Sum(nil), seen); err != nil {
			if f.Lines == 0 {
				return nil, fmt.Errorf("%s:1: %w", path, err)
			}
			f.State, f.Detail = Tampered, fmt.Sprintf("line %d: %v", f.Lines+1, err)
			break
		}
		sum.Write(line)
		sum.Write([]byte("\n"))
		f.Lines++
		data = rest
		if len(f.Gates) == 0 && f.Verdict == nil && f.End == nil {
			f.evidence = len(whole) - len(rest)
		}
	}
	if f.Lines == 0 {
		f.Run.Suite = suiteOf(path)
		f.Detail = "no whole line: it ended before its run line was written"
	}
	SortRows(f.Run.Plan, f.Rows)
	if f.State == Truncated && f.End == nil && f.Detail == "no end line" {
		f.Detail = fmt.Sprintf("no end line; the last whole line is %d", f.Lines)
	}
	return f, nil
}

func (f *File) take(line, sum []byte, seen map[string]bool) error {
	var head Head
	if err := json.Unmarshal(line, &head); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if head.V > Version || head.V < 1 {
		return fmt.Errorf("format %d; this tool reads up to %d", head.V, Version)
	}
	if (head.Kind == KindRun) != (f.Lines == 0) {
		return fmt.Errorf("found a line of kind %q; a record starts with its one run line", head.Kind)
	}
	switch head.Kind {
	case KindRun:
		return json.Unmarshal(line, &f.Run)
	case KindCase:
		r, err := ParseRow(line)
		if err != nil {
			return err
		}
		if !r.Outcome.State.written() {
			return fmt.Errorf("%s: outcome %q", r.Identity(), r.Outcome.State)
		}
		if seen[r.Identity()] {
			return fmt.Errorf("%s: second row of this identity", r.Identity())
		}
		seen[r.Identity()] = true
		f.Rows = append(f.Rows, r)
	case KindGate:
		var g Gate
		if err := json.Unmarshal(line, &g); err != nil {
			return err
		}
		f.Gates = append(f.Gates, g)
	case KindVerdict:
		if f.Verdict != nil {
			return errors.New("a second verdict")
		}
		f.Verdict = &Verdict{}
		return json.Unmarshal(line, f.Verdict)
	case KindEnd:
		f.End = &End{}
		if err := json.Unmarshal(line, f.End); err != nil {
			return err
		}
		if got := hex.EncodeToString(sum); f.End.SHA256 != got {
			return fmt.Errorf("end says sha256 %.12s, the lines before it have %.12s", f.End.SHA256, got)
		}
		// The digest is of the lines before it; the end line itself must be
		// the one that the writer would write.
		if again, err := encodeLine(f.End); err != nil || !bytes.Equal(bytes.TrimSuffix(again, []byte("\n")), line) {
			return errors.New("the end line is not in the form in which it is written")
		}
		f.State, f.Detail = Complete, ""
	default:
		return fmt.Errorf("unknown kind %q", head.Kind)
	}
	return nil
}

// ParseRow reads a case line, every list of it in full.
func ParseRow(line []byte) (Row, error) {
	var r Row
	if err := json.Unmarshal(line, &r); err != nil {
		return Row{}, err
	}
	if err := r.expand(); err != nil {
		return Row{}, fmt.Errorf("%s: %w", r.Identity(), err)
	}
	return r, nil
}

// suiteOf takes the suite from a file name as Create makes it.
func suiteOf(path string) string {
	if m := recordName.FindStringSubmatch(filepath.Base(path)); m != nil {
		return m[1]
	}
	return ""
}

var recordName = regexp.MustCompile(`^(.+)\.\d+\.\d+\.jsonl$`)

// Counts counts the record's rows per state against its plan.
func (f *File) Counts() map[State]int { return Count(f.Run.Plan, f.Cases()) }

// ReadAll reads every record of a run folder, by file name.
func ReadAll(dir string) ([]*File, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []*File
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".jsonl") {
			continue
		}
		f, err := Read(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	sort.Slice(files, func(i, j int) bool {
		a, b := files[i], files[j]
		if a.Run.Suite != b.Run.Suite {
			return a.Run.Suite < b.Run.Suite
		}
		return a.Path < b.Path
	})
	return files, nil
}
