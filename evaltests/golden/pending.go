package golden

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// PendingCase is a ranking that waits for somebody's decision.
type PendingCase struct {
	Case
	State    string  `json:"state"`              // drift(current), drift(anchor), benign, new, changed, missing
	RBO      float64 `json:"rbo,omitempty"`      // of a moved case, against the list that it moved from
	Rejected string  `json:"rejected,omitempty"` // why it must not be accepted, once somebody said so
}

// Pending is a file of rankings that a run would have the golden take.
type Pending struct {
	Header Header
	Cases  []PendingCase
}

// PendingPath is where a run folder keeps what is pending for a suite.
func PendingPath(folder, suite, arm string) string {
	if arm != "" && arm != "base" {
		suite += "@" + arm // no suite's name holds the sign
	}
	return filepath.Join(folder, "pending", suite+".jsonl")
}

// WritePending notes in a run folder what a check found that needs a decision:
// the moves of a red check, cases without a golden, changed ones. It writes
// nothing where nothing does, and never outside the run folder.
func WritePending(folder string, run record.Run, cfg Config, res SuiteResult) error {
	p := pending(run, cfg, res)
	if len(p.Cases) == 0 {
		return nil
	}
	return p.write(PendingPath(folder, run.Suite, run.Arm))
}

func pending(run record.Run, cfg Config, res SuiteResult) Pending {
	p := Pending{Header: headerOf(run, cfg.K)}
	rows := map[string]record.Row{}
	for _, r := range res.rows {
		rows[r.Case] = r
	}
	for _, s := range append([]SuiteResult{res}, res.Stages...) {
		if s.Verdict == Pass {
			continue
		}
		add := func(key, state string, rbo float64) {
			c := PendingCase{Case: Case{Key: key, Stage: s.Stage, IDs: []string{}, Scores: []float64{}}, State: state, RBO: rbo}
			if r := rows[key]; r.Case == key {
				if entries, ok := entriesOf(r, s.Stage); ok {
					c.Case = caseOf(r, s.Stage, entries, cfg.K)
				}
			}
			p.Cases = append(p.Cases, c)
		}
		if res.golden == nil {
			for _, key := range run.Plan {
				if _, ok := entriesOf(rows[key], s.Stage); ok {
					add(key, "new", 0)
				}
			}
			continue
		}
		for _, c := range s.Cases {
			worse, _ := c.Worse()
			add(c.Key, c.Says(), worse.RBO)
		}
		for state, keys := range map[string][]string{"new": s.Unblessed, "changed": s.Changed, "missing": s.Missing} {
			for _, key := range keys {
				add(key, state, 0)
			}
		}
	}
	slices.SortFunc(p.Cases, func(a, b PendingCase) int { return a.slot().compare(b.slot()) })
	return p
}

func (p Pending) write(path string) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p.Header); err != nil {
		return err
	}
	for _, c := range p.Cases {
		if err := enc.Encode(c); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return writeFile(path, buf.Bytes())
}

// ReadPending reads a file that WritePending wrote. A missing one is empty:
// nothing waits for a decision.
func ReadPending(path string) (Pending, error) {
	var p Pending
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	first := true
	err = strict.Lines(path, bytes.NewReader(data), func(_ int, text []byte) error {
		if first {
			first = false
			if err := strict.JSON(text, &p.Header, true); err != nil {
				return err
			}
			return readable(p.Header.V)
		}
		var c PendingCase
		if err := strict.JSON(text, &c, true); err != nil {
			return err
		}
		if c.Key == "" || len(c.IDs) != len(c.Scores) {
			return fmt.Errorf("case %q: %d ids and %d scores", c.Key, len(c.IDs), len(c.Scores))
		}
		p.Cases = append(p.Cases, c)
		return nil
	})
	return p, err
}

// Reject notes in a run folder that pending rankings of a suite must not be
// accepted: those of the cases only, or all. An accept of the rest leaves them
// as they are in the golden. It returns how many cases it rejected; a case
// that is not pending is an error.
func Reject(folder, suite, arm string, only []string, reason string) (int, error) {
	path := PendingPath(folder, suite, arm)
	p, err := ReadPending(path)
	if err != nil {
		return 0, err
	}
	if len(p.Cases) == 0 {
		return 0, fmt.Errorf("%s: nothing is pending for suite %s in this run", path, suite)
	}
	if reason == "" {
		reason = "rejected"
	}
	rejected := map[string]bool{}
	for i, c := range p.Cases {
		if len(only) == 0 || slices.Contains(only, c.Key) {
			p.Cases[i].Rejected = reason
			rejected[c.Key] = true
		}
	}
	for _, key := range only {
		if !rejected[key] {
			return 0, fmt.Errorf("%s: case %q is not pending", path, key)
		}
	}
	return len(rejected), p.write(path)
}

// rejections are the cases of a run folder that somebody rejected, with why.
func rejections(folder, suite, arm string) (map[string]string, error) {
	if folder == "" {
		return nil, nil
	}
	p, err := ReadPending(PendingPath(folder, suite, arm))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, c := range p.Cases {
		if c.Rejected != "" {
			out[c.Key] = c.Rejected
		}
	}
	return out, nil
}
