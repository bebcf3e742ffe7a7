package golden

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// DriftGate is the name of the gate that the oracle itself writes. That of a
// stage has the stage's name after it.
const DriftGate = "drift"

// KeyBlessing is the key of the verdict of a run that is itself to bless: such
// a run is never green.
const KeyBlessing = "blessing"

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
	By          string
	When        time.Time
	Only        []string // cases to take; empty: all that were not rejected
	Classes     []string // platform classes that may bless; empty: GateClass
	AllowShrink bool     // the golden may lose more than MaxShrink of its cases
	AllowCI     bool     // a CI job may write, off the default branch
	Place       *Place   // nil: that of this process
}

// DriftStage is the stage that a drift gate is about, empty for the final
// ranking; false for a gate of another kind.
func DriftStage(gate string) (string, bool) {
	if gate == DriftGate {
		return "", true
	}
	return strings.CutPrefix(gate, DriftGate+" ")
}

// Accept checks that the blessing is sound and writes current.jsonl, a ledger
// line, and, the first time, anchor.jsonl. It returns the golden that is now
// current. Of two blessings of a suite at once, the second is refused.
func (b Blessing) Accept() (*File, error) {
	refused := func(err error) error { return fmt.Errorf("%s: refused: %w", b.Record.Run.Suite, err) }
	if err := mayWrite(b.Place, b.Dir, b.AllowCI); err != nil {
		return nil, refused(err)
	}
	if err := b.check(); err != nil {
		return nil, refused(err)
	}
	unlock, err := lock(b.Dir)
	if err != nil {
		return nil, refused(err)
	}
	defer unlock()

	was, err := readReplaced(b.Dir)
	if err != nil {
		return nil, refused(err)
	}
	g, taken, err := b.merge(was.golden)
	if err != nil {
		return nil, refused(err)
	}
	if err := b.shrinks(was.golden, g); err != nil {
		return nil, refused(err)
	}
	if err := b.lost(was.golden, taken); err != nil {
		return nil, refused(err)
	}
	g.Header.Why, g.Header.By = b.Reason, b.By
	g.Header.When = b.When.UTC().Format(time.RFC3339)
	data, err := g.encode()
	if err != nil {
		return nil, err
	}
	// The ledger comes last: a golden that it does not vouch for is refused,
	// so a crash between the writes cannot pass for a blessing.
	if err := writeFile(filepath.Join(b.Dir, CurrentFile), data); err != nil {
		return nil, err
	}
	if was.first {
		if err := writeFile(filepath.Join(b.Dir, AnchorFile), data); err != nil {
			return nil, err
		}
	}
	e := Entry{
		Kind: acceptKind, Suite: g.Header.Suite, When: g.Header.When, By: b.By, Commit: g.Header.Commit, Tree: b.Tree,
		Cases: g.cases(), Allowed: b.allowed(), Reason: b.Reason, Vouched: b.Record.End.SHA256,
		Found: was.found, Before: was.before, Merged: was.merged, After: g.Digest,
	}
	if len(taken) < len(keys(g, was.golden)) {
		e.Only = slices.Sorted(maps.Keys(taken))
	}
	if err := appendLedger(b.Dir, e); err != nil {
		return nil, err
	}
	return g, nil
}

func mayWrite(p *Place, dir string, allowCI bool) error {
	if p == nil {
		root, ok := record.ModuleRoot(dir)
		if !ok {
			root = "."
		}
		here := Here(root, os.Getenv)
		p = &here
	}
	return p.MayWrite(allowCI)
}

// lock keeps a golden folder for one writer.
func lock(dir string) (unlock func() error, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	// The lock is on the folder itself, so that it leaves no file behind.
	l := flock.New(dir, flock.SetFlag(os.O_RDONLY))
	switch locked, err := l.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("%s: cannot be locked: %w", dir, err)
	case !locked:
		return nil, fmt.Errorf("another blessing of %s is going on; wait for it and look at what it changed", dir)
	}
	return l.Unlock, nil
}

// replaced is what a blessing finds in the golden folder.
type replaced struct {
	golden *File // nil: none that can be read
	first  bool  // nothing was ever blessed, so the anchor is made as well
	before string
	found  string // other than before
	merged []string
}

func readReplaced(dir string) (replaced, error) {
	var was replaced
	entries, err := ReadLedger(dir)
	if err != nil {
		return was, fmt.Errorf("%w; restore it from version control (after a merge keep the lines of both sides)", err)
	}
	was.first = len(entries) == 0
	if _, err := os.Stat(filepath.Join(dir, AnchorFile)); errors.Is(err, fs.ErrNotExist) && !was.first {
		// To make a new one would move it, unseen.
		return was, fmt.Errorf("%s is missing although there were blessings; restore it from version control", filepath.Join(dir, AnchorFile))
	}
	if !was.first {
		was.before = entries[len(entries)-1].After
	}
	was.golden, err = Read(filepath.Join(dir, CurrentFile))
	switch {
	case errors.Is(err, ErrMissing):
		if !was.first {
			was.found = "missing"
		}
	case err != nil:
		return was, err
	case isTip(entries, was.golden.Digest):
		was.before = was.golden.Digest // of two branches' blessings, the one that the merge kept
	case was.golden.Digest != was.before:
		was.found = was.golden.Digest
	}
	for _, e := range OpenForks(entries, was.before) {
		was.merged = append(was.merged, e.After)
	}
	return was, nil
}

// merge is the golden after the blessing: the run's rankings, or, where only
// some cases were accepted or some were rejected, these in the old golden. It
// returns the cases that it takes.
func (b Blessing) merge(old *File) (*File, map[string]bool, error) {
	live := FromRecord(b.Record, b.K, b.stages()...)
	rejected, err := rejections(b.Folder.Dir, b.Record.Run.Suite, b.Record.Run.Arm)
	if err != nil {
		return nil, nil, err
	}
	taken := map[string]bool{}
	all := keys(live, old)
	for _, key := range b.Only {
		if !all[key] {
			return nil, nil, fmt.Errorf("case %q is neither in the run nor in the golden", key)
		}
		if why := rejected[key]; why != "" {
			return nil, nil, fmt.Errorf("case %q was rejected in this run (%s); run the suite again to decide anew", key, why)
		}
		taken[key] = true
	}
	if len(b.Only) == 0 {
		for key := range all {
			if rejected[key] == "" {
				taken[key] = true
			}
		}
	}
	switch {
	case len(taken) == 0:
		return nil, nil, errors.New("every case of the run was rejected; there is nothing to accept")
	case len(taken) == len(all):
		return live, taken, nil
	case old == nil:
		old = &File{}
	case old.Header.K != b.K:
		return nil, nil, fmt.Errorf("the golden is of depth %d, the run of depth %d; accept all cases together", old.Header.K, b.K)
	case len(elsewhere(old.Header, live.Header)) > 0:
		return nil, nil, fmt.Errorf("%s; accept all cases together", elsewhere(old.Header, live.Header)[0])
	}
	g := &File{Header: live.Header}
	for _, c := range live.Cases {
		if taken[c.Key] {
			g.Cases = append(g.Cases, c)
		}
	}
	for _, c := range old.Cases {
		if !taken[c.Key] {
			g.Cases = append(g.Cases, c)
		}
	}
	return g, taken, nil
}

// stages are those whose drift gates the run has.
func (b Blessing) stages() []string {
	var out []string
	for _, g := range b.Record.Gates {
		if stage, ok := DriftStage(g.Name); ok && stage != "" {
			out = append(out, stage)
		}
	}
	return out
}

// cases counts the cases of a golden, whatever its stages.
func (f *File) cases() int { return len(keys(f, nil)) }

func keys(f, g *File) map[string]bool {
	out := map[string]bool{}
	for _, x := range []*File{f, g} {
		if x != nil {
			for _, c := range x.Cases {
				out[c.Key] = true
			}
		}
	}
	return out
}

func (b Blessing) shrinks(old, g *File) error {
	if old == nil || b.AllowShrink {
		return nil
	}
	was, is := old.cases(), g.cases()
	if float64(was-is) > MaxShrink*float64(was) {
		return fmt.Errorf("the golden would shrink from %d to %d cases; restore the cases, or allow it to shrink (--allow-shrink)", was, is)
	}
	return nil
}

func (b Blessing) allowed() []string {
	var out []string
	if b.AllowShrink {
		out = append(out, "shrink")
	}
	if b.AllowCI {
		out = append(out, "ci")
	}
	return out
}

// lost refuses moves that cost a labelled measure significantly: the gates'
// floors stand still, and so would let a suite sink to them blessing by
// blessing.
func (b Blessing) lost(old *File, taken map[string]bool) error {
	if old == nil {
		return nil
	}
	moved := SuiteResult{golden: old, k: b.K}
	blessed := index(old, "")
	for _, r := range repeat(b.Record.Rows, 0) {
		g, ok := blessed[r.Case]
		if !ok || !taken[r.Case] || g.Digest != r.Digest || !r.Ranked() || r.Outcome.State != record.Scored {
			continue
		}
		ids, scores, _ := record.Documents(r.Ranking)
		c, err := Check(ids, List{g.IDs, g.Scores}, b.K, DefaultEpsilon, Current)
		if err != nil || c.State == Identical {
			continue // a golden that cannot be read as a ranking has nothing to lose
		}
		moved.Cases = append(moved.Cases, CaseResult{Key: r.Case, Current: c, Golden: List{g.IDs, g.Scores}, Live: List{ids, scores}, Gold: r.Gold})
	}
	effects, err := moved.Effect(Labelled(b.Record))
	if err != nil {
		return err
	}
	for _, p := range effects {
		if p.Lost() {
			return fmt.Errorf("the moved cases lost significantly: %s; make the change better, or accept only the cases that it helps (--case)", p)
		}
	}
	return nil
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
	if p := record.ProofOf(f.Run, f.Rows); p != nil && !p.Proven {
		return fmt.Errorf("the subject ranks differently from one repeat to the next (%s), so there is no one ranking to bless", some(p.Differ))
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

// green refuses a run in which anything but drift is amiss, and one that
// nothing labelled vouches for.
func (b Blessing) green() error {
	f := b.Record
	labelled := false
	for _, g := range f.Gates {
		if _, drift := DriftStage(g.Name); drift {
			continue
		}
		if g.Verdict != Pass && g.Verdict != "not-applicable" {
			return fmt.Errorf("gate %q is %s (%s); a golden is blessed only while the labelled gates are green", g.Name, g.Verdict, g.Reason)
		}
		labelled = labelled || g.Verdict == Pass && g.Measure != "" && g.Value != nil && (g.Floor != nil || g.Ceiling != nil)
	}
	if f.Verdict == nil {
		return fmt.Errorf("%s has no verdict", filepath.Base(f.Path))
	}
	if f.Verdict.Verdict != "PASS" {
		// A dead stage or a broken instrument is no gate, and yet nothing that
		// was measured can be believed.
		for i, reason := range f.Verdict.Reasons {
			if i >= len(f.Verdict.Keys) || !forgiven(f.Verdict.Keys[i]) {
				return fmt.Errorf("the run is %s for more than drift: %s", f.Verdict.Verdict, reason)
			}
		}
		if len(f.Verdict.Reasons) == 0 {
			return fmt.Errorf("the run is %s for no stated reason", f.Verdict.Verdict)
		}
	}
	if !labelled {
		return errors.New("no labelled gate passed in the run, so nothing says that its rankings are good; give the suite a [[gate]] with a measure and a floor")
	}
	return nil
}

// forgiven reports whether a reason against a run is what a blessing is for.
func forgiven(key string) bool {
	name, gate := strings.CutPrefix(key, "gate ")
	_, drift := DriftStage(name)
	return key == KeyBlessing || gate && drift
}
