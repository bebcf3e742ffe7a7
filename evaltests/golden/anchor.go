package golden

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Anchoring is a decision to let the anchor follow the current golden.
type Anchoring struct {
	Dir     string // goldens/<suite>
	Tree    string // of the checkout now
	Commit  string
	Reason  string
	By      string
	When    time.Time
	AllowCI bool
	Place   *Place // nil: that of this process
}

// Move makes the current golden the anchor and adds a ledger line. It returns
// the creep that it forgives. The current golden must be one that the ledger
// vouches for; the anchor need not be, since this is how a lost one is made
// anew.
func (a Anchoring) Move() (Creep, error) {
	suite := filepath.Base(a.Dir)
	refused := func(err error) (Creep, error) { return Creep{}, fmt.Errorf("%s: refused: %w", suite, err) }
	if err := mayWrite(a.Place, a.Dir, a.AllowCI); err != nil {
		return refused(err)
	}
	if strings.TrimSpace(a.Reason) == "" {
		return refused(errors.New("no reason was given; say why what the small blessings add up to was meant"))
	}
	current, err := Read(filepath.Join(a.Dir, CurrentFile))
	if err != nil {
		return refused(err)
	}
	unlock, err := lock(a.Dir)
	if err != nil {
		return refused(err)
	}
	defer unlock()
	if err := VerifyLedger(a.Dir, current); err != nil {
		return refused(err)
	}
	entries, err := ReadLedger(a.Dir)
	if err != nil {
		return refused(err)
	}
	creep := Creep{Cases: current.cases()}
	before := ""
	anchor, err := Read(filepath.Join(a.Dir, AnchorFile))
	if err == nil {
		before = anchor.Digest
		err = verifyAnchor(a.Dir, entries, anchor)
	}
	if err != nil {
		creep.Unknown = err.Error()
	} else if creep, err = MeasureCreep(anchor, current); err != nil {
		return refused(err)
	}
	if before == current.Digest {
		return refused(errors.New("the anchor is the current golden already"))
	}
	data, err := os.ReadFile(filepath.Join(a.Dir, CurrentFile)) // byte by byte: its digest is what the ledger knows
	if err != nil {
		return Creep{}, err
	}
	last := entries[len(entries)-1]
	if err := writeFile(filepath.Join(a.Dir, AnchorFile), data); err != nil {
		return Creep{}, err
	}
	return creep, appendLedger(a.Dir, Entry{
		Kind: anchorKind, Suite: current.Header.Suite, When: a.When.UTC().Format(time.RFC3339), By: a.By, Commit: a.Commit, Tree: a.Tree,
		Cases: current.cases(), Reason: a.Reason, Vouched: last.Vouched, Before: before, After: current.Digest,
	})
}

// Creep is what the blessings since the anchor add up to.
type Creep struct {
	Unknown  string       // why there is nothing to compare with
	Cases    int          // of the current golden
	Compared int          // that the anchor has as well, with the same question and gold
	Moved    []CaseResult // worst first; Golden is the anchor's list, Live the current one
	Drifted  int
	MeanRBO  float64
}

// MeasureCreep holds the final rankings of the current golden to the anchor.
func MeasureCreep(anchor, current *File) (Creep, error) {
	c := Creep{Cases: current.cases()}
	was := index(anchor, "")
	k := current.Header.K
	sum := 0.0
	for _, g := range current.Cases {
		a, ok := was[g.Key]
		if g.Stage != "" || !ok || a.Digest != g.Digest {
			continue
		}
		r, err := Check(g.IDs, List{a.IDs, a.Scores}, k, DefaultEpsilon, Anchor)
		if err != nil {
			return c, fmt.Errorf("case %s: %w", g.Key, err)
		}
		if r.State == CouldNotMeasure {
			continue
		}
		c.Compared++
		sum += r.RBO
		if r.State == Drift {
			c.Drifted++
		}
		if r.State != Identical {
			n := min(k, len(g.IDs))
			c.Moved = append(c.Moved, CaseResult{Key: g.Key, Current: r, Anchor: &r, Golden: List{a.IDs, a.Scores}, Live: List{g.IDs[:n], g.Scores[:n]}})
		}
	}
	slices.SortStableFunc(c.Moved, worstFirst)
	if c.Compared > 0 {
		c.MeanRBO = sum / float64(c.Compared)
	}
	return c, nil
}

// String is the creep in one line.
func (c Creep) String() string {
	if c.Unknown != "" {
		return "creep unknown: " + c.Unknown
	}
	s := fmt.Sprintf("creep since the last anchor: %d of %d cases moved, %d beyond the anchor's floors, mean RBO %.4f", len(c.Moved), c.Compared, c.Drifted, c.MeanRBO)
	if len(c.Moved) > 0 {
		s += fmt.Sprintf(", worst %s %.4f", c.Moved[0].Key, c.Moved[0].Current.RBO)
	}
	if n := c.Cases - c.Compared; n > 0 {
		s += fmt.Sprintf("; %d cases are newer than the anchor", n)
	}
	return s
}
