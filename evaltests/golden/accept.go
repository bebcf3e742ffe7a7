package golden

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// DriftGate is the name of the gate that the oracle itself writes.
const DriftGate = "drift"

// GateClass is the platform class on which goldens are blessed and on which
// drift blocks.
const GateClass = "linux/amd64/v1"

// MaxShrink is the largest share of a golden's cases that a blessing may drop
// without being told to.
const MaxShrink = 0.1

// Blessing is a decision to make a recorded run the golden of its suite.
type Blessing struct {
	Dir         string // goldens/<suite>
	Record      *record.File
	Folder      *record.Folder // the run that the record is of
	Tree        string         // of the checkout now
	K           int
	Reason      string
	When        time.Time
	Classes     []string // platform classes that may bless; empty: GateClass
	AllowShrink bool     // the golden may lose more than MaxShrink of its cases
}

// Accept checks that the blessing is sound and writes current.jsonl, a ledger
// line, and, the first time, anchor.jsonl. It returns the golden that is now
// current. Of two blessings of a suite at once, the second is refused.
func (b Blessing) Accept() (*File, error) {
	refused := func(err error) error { return fmt.Errorf("%s: refused: %w", b.Record.Run.Suite, err) }
	if err := b.check(); err != nil {
		return nil, refused(err)
	}
	if err := os.MkdirAll(b.Dir, 0o755); err != nil {
		return nil, err
	}
	// The lock is on the folder itself, so that it leaves no file behind.
	lock := flock.New(b.Dir, flock.SetFlag(os.O_RDONLY))
	switch locked, err := lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("%s: cannot be locked: %w", b.Dir, err)
	case !locked:
		return nil, refused(fmt.Errorf("another blessing of %s is going on; wait for it and look at what it changed", b.Dir))
	}
	defer lock.Unlock()

	g := FromRecord(b.Record, b.K)
	g.Header.Why = b.Reason
	g.Header.When = b.When.UTC().Format(time.RFC3339)
	data, err := g.encode()
	if err != nil {
		return nil, err
	}
	before, first, err := b.replaces(g)
	if err != nil {
		return nil, refused(err)
	}
	// The ledger comes last: a golden that it does not vouch for is refused,
	// so a crash between the writes cannot pass for a blessing.
	if err := writeFile(filepath.Join(b.Dir, CurrentFile), data); err != nil {
		return nil, err
	}
	if first {
		if err := writeFile(filepath.Join(b.Dir, AnchorFile), data); err != nil {
			return nil, err
		}
	}
	if err := appendLedger(b.Dir, Entry{
		V: formatVersion, Suite: g.Header.Suite, When: g.Header.When, Commit: g.Header.Commit, Tree: b.Tree,
		Cases: len(g.Cases), Reason: b.Reason, Vouched: b.Record.End.SHA256, Before: before, After: g.Digest,
	}); err != nil {
		return nil, err
	}
	return g, nil
}

// replaces looks at what g would replace: the digest of the golden that is
// current, and whether this is the first blessing, which makes the anchor.
func (b Blessing) replaces(g *File) (before string, first bool, err error) {
	entries, err := ReadLedger(b.Dir)
	if err != nil {
		return "", false, err
	}
	first = len(entries) == 0
	if _, err := os.Stat(filepath.Join(b.Dir, AnchorFile)); errors.Is(err, fs.ErrNotExist) && !first {
		// To make a new one would move it, unseen.
		return "", false, fmt.Errorf("%s is missing although there were blessings; restore it from version control", filepath.Join(b.Dir, AnchorFile))
	}
	old, err := Read(filepath.Join(b.Dir, CurrentFile))
	switch {
	case errors.Is(err, ErrMissing):
		return "", first, nil
	case err != nil:
		return "", false, err
	}
	if lost := len(old.Cases) - len(g.Cases); float64(lost) > MaxShrink*float64(len(old.Cases)) && !b.AllowShrink {
		return "", false, fmt.Errorf("the golden would shrink from %d to %d cases; restore the cases, or allow it to shrink", len(old.Cases), len(g.Cases))
	}
	return old.Digest, first, nil
}

func (b Blessing) check() error {
	f := b.Record
	classes := b.Classes
	if len(classes) == 0 {
		classes = []string{GateClass}
	}
	switch {
	case strings.TrimSpace(b.Reason) == "":
		return errors.New("no reason was given; say why the rankings were meant to move")
	case b.K < 1:
		return errors.New("the suite has no [golden] table; add one to its suite file and run it again")
	case f.State != record.Complete:
		return fmt.Errorf("%s is %s (%s); bless a complete run", filepath.Base(f.Path), f.State, f.Detail)
	case f.Run.Nonce != b.Folder.Nonce:
		return fmt.Errorf("%s is of another run (nonce %.8s, folder %.8s)", filepath.Base(f.Path), f.Run.Nonce, b.Folder.Nonce)
	case b.Folder.Tree == record.UnknownTree || b.Tree == record.UnknownTree:
		return errors.New("the tree id is unknown; bless in a git checkout")
	case !record.SameTree(b.Folder.Tree, b.Tree):
		return fmt.Errorf("the run is of tree %.12s, the checkout is %.12s; run the suite again", b.Folder.Tree, b.Tree)
	case !slices.Contains(classes, f.Run.Identity.Class):
		return fmt.Errorf("the run is of %s; goldens are blessed on %s only", f.Run.Identity.Class, strings.Join(classes, ", "))
	case f.Run.Shard != "" || len(f.Run.LeftOut) > 0:
		return errors.New("the run is of a shard or under a limit; bless a run of every case")
	}
	counts := f.Counts()
	for _, s := range []record.State{record.Failed, record.TimedOut, record.Refused, record.Skipped, record.NotReached} {
		if counts[s] > 0 {
			return fmt.Errorf("%d of %d cases are %s; bless a run in which every planned case was scored", counts[s], len(f.Run.Plan), s)
		}
	}
	if counts[record.Scored] == 0 {
		return errors.New("no case was scored")
	}
	return b.green()
}

// green refuses a run in which anything but drift is amiss.
func (b Blessing) green() error {
	f := b.Record
	for _, g := range f.Gates {
		if g.Name != DriftGate && g.Verdict != Pass && g.Verdict != "not-applicable" {
			return fmt.Errorf("gate %q is %s (%s); a golden is blessed only while the labelled gates are green", g.Name, g.Verdict, g.Reason)
		}
	}
	if f.Verdict == nil {
		return fmt.Errorf("%s has no verdict", filepath.Base(f.Path))
	}
	if f.Verdict.Verdict == "PASS" {
		return nil
	}
	// A dead stage or a broken instrument is no gate, and yet nothing that was
	// measured can be believed.
	for i, reason := range f.Verdict.Reasons {
		if i >= len(f.Verdict.Keys) || f.Verdict.Keys[i] != "gate "+DriftGate {
			return fmt.Errorf("the run is %s for more than drift: %s", f.Verdict.Verdict, reason)
		}
	}
	if len(f.Verdict.Reasons) == 0 {
		return fmt.Errorf("the run is %s for no stated reason", f.Verdict.Verdict)
	}
	return nil
}
