package progress

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/touchstone-eval/touchstone/evaltests/digest"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// FileName is the name of the file in goldens/<suite>.
const FileName = "progress.jsonl"

// Evidence says what a line's figures rest on.
type Evidence string

// The levels of evidence, from least to most.
const (
	Interrupted Evidence = "interrupted" // the run did not end: there are no figures
	Single      Evidence = "single-run"
	Repeated    Evidence = "repeated"           // each case was asked more than once
	Paired      Evidence = "paired-significant" // a paired comparison with another run found a difference
	Reproduced  Evidence = "reproduced"         // another run of the same question, store and configuration has the same figures
)

// Status says what became of the question that a run was made for.
type Status string

// The states of a line.
const (
	Open      Status = "open"
	Settled   Status = "settled"
	Withdrawn Status = "withdrawn" // its figures are not to be used: Why says for what reason
)

// Figure is the mean of a measure over the cases that count.
type Figure struct {
	Measure string  `json:"measure"`
	Mean    float64 `json:"mean"`
	N       int     `json:"n"`       // cases in the mean
	Planned int     `json:"planned"` // of the answerable cases that were reached
}

// Stage is a row of the stage table: means over the cases in which it ran.
type Stage struct {
	Stage   string             `json:"stage"`
	Ran     int                `json:"ran"`
	Of      int                `json:"of"`
	Skipped string             `json:"skipped,omitempty"` // why it did not run
	Means   map[string]float64 `json:"means,omitempty"`
}

// Against is the comparison behind [Paired].
type Against struct {
	Record  string  `json:"record"` // digest of the base's record
	Measure string  `json:"measure"`
	Mean    float64 `json:"mean"` // of this run less the base
	P       float64 `json:"p"`    // adjusted over the base's family
	Pairs   int     `json:"pairs"`
}

// Line is one run of one suite.
type Line struct {
	V        int           `json:"v"`
	ID       string        `json:"id"` // of the record: see [IDOf]
	Suite    string        `json:"suite"`
	Arm      string        `json:"arm"`
	Tier     string        `json:"tier"`
	Date     time.Time     `json:"date"` // when the run began
	Commit   string        `json:"commit,omitempty"`
	Dirty    int           `json:"dirty_files"`
	Record   string        `json:"record"` // digest of its lines; of one that was cut short, of those that are there
	Hashes   record.Hashes `json:"hashes"`
	Verdict  string        `json:"verdict"`
	Planned  int           `json:"planned"`
	Scored   int           `json:"scored"`
	Headline []Figure      `json:"headline,omitempty"`
	Stages   []Stage       `json:"stages,omitempty"`
	Note     string        `json:"note"` // what the run measures
	Limits   []string      `json:"limits,omitempty"`
	Evidence Evidence      `json:"evidence"`
	Against  *Against      `json:"against,omitempty"`
	Status   Status        `json:"status"`
	Why      string        `json:"why,omitempty"` // of a line that was withdrawn
}

const version = 1

// idLength is how many digits of a record's digest name its line.
const idLength = 12

// IDOf names the line of a record: the first digits of [Digest].
func IDOf(f *record.File) string { return Digest(f)[:idLength] }

// Digest is the digest of a record: that of its lines as its end states it; of
// a record that was cut short, one over its run and how much of it there is,
// so that a run that was taken up again is another line.
func Digest(f *record.File) string {
	if f.End != nil {
		return f.End.SHA256
	}
	return digest.Bytes(fmt.Appendf(nil, "touchstone/progress/1\x00%s\x00%s\x00%s\x00%d", f.Run.Nonce, f.Run.Suite, filepath.Base(f.Path), f.Lines))
}

// Parse reads the lines of a suite's file, strictly.
func Parse(name, suite string, data []byte) ([]Line, error) {
	var out []Line
	err := strict.Lines(name, bytes.NewReader(data), func(_ int, text []byte) error {
		var l Line
		if err := strict.JSON(text, &l, true); err != nil {
			return err
		}
		if err := l.validate(suite); err != nil {
			return err
		}
		if slices.ContainsFunc(out, func(o Line) bool { return o.ID == l.ID }) {
			return fmt.Errorf("id %s: a second line of one record; keep one", l.ID)
		}
		out = append(out, l)
		return nil
	})
	return out, err
}

func (l Line) validate(suite string) error {
	if l.V != version {
		return fmt.Errorf("v = %d; this tool reads %d", l.V, version)
	}
	if l.Suite != suite {
		return fmt.Errorf("suite %q in the file of %s; move the line to its own suite", l.Suite, suite)
	}
	if !isHex(l.Record, 64) || l.ID != l.Record[:idLength] {
		return fmt.Errorf("id %q, record %q; want the digest of a record and its first %d digits", l.ID, l.Record, idLength)
	}
	if err := sentence("note", l.Note); err != nil {
		return err
	}
	if l.Date.IsZero() {
		return errors.New("no date; want when the run began")
	}
	if l.Commit != "" && !isHex(l.Commit, 40) && !isHex(l.Commit, 64) {
		return fmt.Errorf("commit %q; want a full id, or none", l.Commit)
	}
	if l.Dirty < 0 || l.Planned < 0 || l.Scored < 0 || l.Scored > l.Planned {
		return fmt.Errorf("%d of %d scored, %d files changed; want counts", l.Scored, l.Planned, l.Dirty)
	}
	for _, f := range l.Headline {
		if f.Measure == "" || math.IsNaN(f.Mean) || f.N < 1 || f.N > f.Planned {
			return fmt.Errorf("headline %q: %d of %d cases; want a measure with its denominator", f.Measure, f.N, f.Planned)
		}
	}
	if !slices.Contains([]Evidence{Interrupted, Single, Repeated, Paired, Reproduced}, l.Evidence) {
		return fmt.Errorf("evidence %q; want %s, %s, %s, %s or %s", l.Evidence, Interrupted, Single, Repeated, Paired, Reproduced)
	}
	if (l.Evidence == Paired) != (l.Against != nil) {
		return fmt.Errorf("evidence %s, against %v; the one comes with the other", l.Evidence, l.Against != nil)
	}
	if l.Evidence == Interrupted && len(l.Headline) > 0 {
		return errors.New("an interrupted run has no headline; remove it")
	}
	if l.Hashes.Question == "" && l.Evidence != Interrupted {
		return errors.New("no question hash; nobody could tell which lines compare with it")
	}
	switch l.Status {
	case Open, Settled:
		if l.Why != "" {
			return fmt.Errorf("status %s with a reason; only a withdrawn line has one", l.Status)
		}
	case Withdrawn:
		return sentence("why", l.Why)
	default:
		return fmt.Errorf("status %q; want %s, %s or %s", l.Status, Open, Settled, Withdrawn)
	}
	return nil
}

// sentence refuses a text that says nothing, or that is more than a line.
func sentence(what, text string) error {
	const most = 1000
	if strings.TrimSpace(text) == "" {
		return fmt.Errorf("%s is empty; say in a sentence what a reader should know", what)
	}
	if len(text) > most || strings.ContainsFunc(text, unicode.IsControl) {
		return fmt.Errorf("%s: want one line of at most %d bytes", what, most)
	}
	return nil
}

func isHex(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789abcdef") == ""
}
