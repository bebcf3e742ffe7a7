package golden

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// DriftGate is the name of the gate that the oracle itself writes.
const DriftGate = "drift"

// Blessing is a decision to make a recorded run the golden of its suite.
type Blessing struct {
	Dir    string // goldens/<suite>
	Record *record.File
	Folder *record.Folder // the run that the record is of
	Tree   string         // of the checkout now
	K      int
	Reason string
	When   time.Time
}

// Accept checks that the blessing is sound and writes current.jsonl, a ledger
// line, and, the first time, anchor.jsonl. It returns the golden that is now
// current.
func (b Blessing) Accept() (*File, error) {
	if err := b.check(); err != nil {
		return nil, fmt.Errorf("%s: refused: %w", b.Record.Run.Suite, err)
	}
	if err := os.MkdirAll(b.Dir, 0o755); err != nil {
		return nil, err
	}
	before := ""
	old, err := Read(filepath.Join(b.Dir, CurrentFile))
	switch {
	case errors.Is(err, ErrMissing):
	case err != nil:
		return nil, err
	default:
		before = old.Digest
	}
	g := FromRecord(b.Record, b.K)
	g.Header.Why = b.Reason
	g.Header.When = b.When.UTC().Format(time.RFC3339)
	data, err := g.encode()
	if err != nil {
		return nil, err
	}
	// The ledger comes last: a golden that it does not vouch for is refused,
	// so a crash between the two writes cannot pass for a blessing.
	if err := writeFile(filepath.Join(b.Dir, CurrentFile), data); err != nil {
		return nil, err
	}
	anchor := filepath.Join(b.Dir, AnchorFile)
	if _, err := os.Stat(anchor); errors.Is(err, os.ErrNotExist) {
		if err := writeFile(anchor, data); err != nil {
			return nil, err
		}
	}
	return g, appendLedger(b.Dir, Entry{
		V: formatVersion, Suite: g.Header.Suite, When: g.Header.When, Commit: g.Header.Commit, Tree: b.Tree,
		Cases: len(g.Cases), Reason: b.Reason, Vouched: b.Record.End.SHA256, Before: before, After: g.Digest,
	})
}

func (b Blessing) check() error {
	f := b.Record
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
	case b.Folder.Tree != b.Tree:
		return fmt.Errorf("the run is of tree %.12s, the checkout is %.12s; run the suite again", b.Folder.Tree, b.Tree)
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
	for _, g := range f.Gates {
		if g.Name != DriftGate && g.Verdict != Pass && g.Verdict != "not-applicable" {
			return fmt.Errorf("gate %q is %s (%s); a golden is blessed only while the labelled gates are green", g.Name, g.Verdict, g.Reason)
		}
	}
	return nil
}
