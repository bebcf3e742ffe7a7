package selftest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/digest"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/golden"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// forge changes the header of the trial's golden and of its anchor, with a
// ledger that vouches for them: what it was made of is wrong, not the file.
func forge(change func(*golden.Header)) func(*Trial) error {
	return func(t *Trial) error {
		data, err := os.ReadFile(in(t, golden.CurrentFile))
		if err != nil {
			return err
		}
		head, rest, _ := bytes.Cut(data, []byte("\n"))
		var h golden.Header
		if err := json.Unmarshal(head, &h); err != nil {
			return err
		}
		change(&h)
		if head, err = json.Marshal(h); err != nil {
			return err
		}
		forged := slices.Concat(head, []byte("\n"), rest)
		ledger, err := os.ReadFile(in(t, golden.LedgerFile))
		if err != nil {
			return err
		}
		ledger = bytes.ReplaceAll(ledger, []byte(digest.Bytes(data)), []byte(digest.Bytes(forged)))
		return errors.Join(
			os.WriteFile(in(t, golden.CurrentFile), forged, 0o644),
			os.WriteFile(in(t, golden.AnchorFile), forged, 0o644),
			os.WriteFile(in(t, golden.LedgerFile), ledger, 0o644))
	}
}

func both(fs ...func(*Trial) error) func(*Trial) error {
	return func(t *Trial) error {
		for _, f := range fs {
			if err := f(t); err != nil {
				return err
			}
		}
		return nil
	}
}

// extraCase asks one question more than the golden knows.
func extraCase(t *Trial) error {
	c := t.Suite.Cases[0]
	c.Question.ID = "extra"
	t.Suite.Cases = append(slices.Clone(t.Suite.Cases), c)
	return nil
}

// moveAnchor copies a golden that a blessing made over the anchor.
func moveAnchor(t *Trial) error {
	if err := bless(t, t.Subject); err != nil {
		return err
	}
	data, err := os.ReadFile(in(t, golden.CurrentFile))
	if err != nil {
		return err
	}
	return os.WriteFile(in(t, golden.AnchorFile), data, 0o644)
}

// forkLedger adds what a merge brings from a branch that blessed too.
func forkLedger(t *Trial) error {
	if err := bless(t, t.Subject); err != nil {
		return err
	}
	data, err := os.ReadFile(in(t, golden.LedgerFile))
	if err != nil {
		return err
	}
	current, err := golden.Read(in(t, golden.CurrentFile))
	if err != nil {
		return err
	}
	lines := strings.SplitAfter(string(data), "\n")
	theirs := strings.ReplaceAll(lines[1], current.Digest, strings.Repeat("f", 64))
	return os.WriteFile(in(t, golden.LedgerFile), []byte(string(data)+theirs), 0o644)
}

// creep blesses eight runs, each a step from the one before that the check
// calls benign: in a fifth of the cases the eleventh document comes in for the
// tenth, and climbs to the third rank. The trial's run is equal to the last.
func creep(t *Trial) error {
	inner := t.Subject
	for step := 1; step <= 8; step++ {
		s := &climbing{Subject: inner, step: step, cases: len(t.Suite.Cases) / 5}
		if err := bless(t, s); err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
		t.Subject = s
	}
	return nil
}

// climbing changes the answers to the first cases.
type climbing struct {
	evaltests.Subject
	step, cases, asked int
}

func (c *climbing) Ingest(ctx context.Context, corpus []pack.Document) error {
	c.asked = 0
	if in, ok := c.Subject.(evaltests.Ingester); ok {
		return in.Ingest(ctx, corpus)
	}
	return nil
}

func (c *climbing) Fingerprint(ctx context.Context) (evaltests.Fingerprint, error) {
	if f, ok := c.Subject.(evaltests.Fingerprinter); ok {
		return f.Fingerprint(ctx)
	}
	return evaltests.Fingerprint{}, nil
}

func (c *climbing) Search(ctx context.Context, q pack.Question) (record.Observation, error) {
	o, err := c.Subject.Search(ctx, q)
	if c.asked++; err != nil || c.asked > c.cases || len(o.Ranking) < 11 {
		return o, err
	}
	o.Ranking = slices.Clone(o.Ranking)
	for i := range o.Ranking {
		o.Ranking[i].Score = float64(-i) // without ties, or a move would be none
	}
	late := o.Ranking[10].Doc
	o.Ranking[10].Doc = o.Ranking[9].Doc
	for i := 9; i > 10-c.step; i-- {
		o.Ranking[i].Doc = o.Ranking[i-1].Doc
	}
	o.Ranking[10-c.step].Doc = late
	o.Stages = slices.DeleteFunc(slices.Clone(o.Stages), func(s record.Stage) bool { return s.Name == record.Final })
	return o, nil
}

// bless runs the trial's suite with a subject and accepts its rankings, as a
// maintainer would whose check is red for drift from the anchor at most.
func bless(t *Trial, subject evaltests.Subject) error {
	dir, err := os.MkdirTemp("", "touchstone-selftest-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	folder, err := record.NewFolder(dir, ".", "selftest", nil)
	if err != nil {
		return err
	}
	folder.Tree = "0123456789ab" // the trial may run outside a checkout
	run, err := evaltests.Evaluate(context.Background(), t.Suite.In(folder), subject)
	if err != nil {
		return err
	}
	for _, c := range run.Drift.Cases {
		if c.Current.State == golden.Drift {
			return fmt.Errorf("the blessing of %s is not benign: RBO %.4f", c.Key, c.Current.RBO)
		}
	}
	if run.Drift.Verdict != golden.Pass && run.Drift.Moved*5 > run.Drift.Compared {
		return fmt.Errorf("the blessing is not benign: %v", run.Drift.Reasons)
	}
	f, err := record.Read(run.Path)
	if err != nil {
		return err
	}
	_, err = golden.Blessing{
		Dir: t.Suite.GoldenDir, Record: f, Folder: folder, Tree: folder.Tree, K: t.Suite.Golden.K, Reason: "a small step",
		When: time.Unix(1, 0), Classes: []string{record.Class()}, Place: &golden.Place{},
	}.Accept()
	if err == nil && run.Verdict.Verdict == gate.CNM {
		return errors.New("a run that could not be measured was blessed")
	}
	return err
}
