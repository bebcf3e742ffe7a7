package golden

import (
	"errors"
	"fmt"
	"path/filepath"
	"sort"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Config is the [golden] table of suite.toml.
type Config struct {
	K        int     `toml:"k"`         // depth compared
	MeanRBO  float64 `toml:"mean_rbo"`  // suite floor of the mean RBO
	MaxMoved float64 `toml:"max_moved"` // largest share of cases that may have moved, drift or benign
}

// DefaultConfig is what an empty table means.
func DefaultConfig() Config { return Config{K: 10, MeanRBO: 0.99, MaxMoved: 0.2} }

// Validate refuses a configuration under which nothing could fail.
func (c Config) Validate() error {
	switch {
	case c.K < 1:
		return fmt.Errorf("golden.k = %d; want at least 1", c.K)
	case !(c.MeanRBO > 0 && c.MeanRBO <= 1):
		return fmt.Errorf("golden.mean_rbo = %v; want above 0, at most 1", c.MeanRBO)
	case !(c.MaxMoved >= 0 && c.MaxMoved < 1):
		return fmt.Errorf("golden.max_moved = %v; want at least 0, below 1", c.MaxMoved)
	}
	return nil
}

// CaseResult is the check of one case, against current and, if there is one,
// against the anchor.
type CaseResult struct {
	Key     string
	Current Result
	Anchor  *Result
}

// drifted reports whether either check found drift.
func (c CaseResult) drifted() bool {
	return c.Current.State == Drift || c.Anchor != nil && c.Anchor.State == Drift
}

// worse is the check that decides the case: the one that found drift, current
// before anchor.
func (c CaseResult) worse() (Result, Against) {
	if c.Current.State != Drift && c.drifted() {
		return *c.Anchor, Anchor
	}
	return c.Current, Current
}

// SuiteResult is the check of a suite.
type SuiteResult struct {
	Verdict  string // Pass, Regressed or NoMeasure
	Reasons  []string
	Action   string
	Advisory string       // why it does not block here, if it does not
	Vouched  string       // the labelled record that vouches for the golden, and why it was blessed
	Cases    []CaseResult // moved cases, worst first
	Compared int
	Planned  int
	Moved    int
	Drifted  int
	MeanRBO  float64
}

// Verdicts of a suite check, as a gate writes them.
const (
	Pass      = "pass"
	Regressed = "regressed"
	NoMeasure = "could-not-measure"
)

// CheckSuite holds the scored rows of a run to the golden in dir. rows and
// plan are those of one arm.
func CheckSuite(dir, suite string, cfg Config, run record.Run, rows []record.Row) SuiteResult {
	res := SuiteResult{Planned: len(run.Plan)}
	bless := fmt.Sprintf("look at the run, then `touchstone golden accept %s --run DIR --reason TEXT`", suite)
	fail := func(action, format string, args ...any) SuiteResult {
		res.Verdict, res.Action = NoMeasure, action
		res.Reasons = append(res.Reasons, fmt.Sprintf(format, args...))
		return res
	}
	current, err := Read(filepath.Join(dir, CurrentFile))
	if errors.Is(err, ErrMissing) {
		return fail(bless, "%s: no golden", filepath.Join(dir, CurrentFile))
	}
	if err != nil {
		return fail("restore the file from version control", "%v", err)
	}
	if err := VerifyLedger(dir, current); err != nil {
		return fail("restore the golden from version control, or bless again with a reason", "%v", err)
	}
	entries, err := ReadLedger(dir)
	if err != nil {
		return fail("restore the file from version control", "%v", err)
	}
	last := entries[len(entries)-1]
	res.Vouched = fmt.Sprintf("record %.12s of %s vouches for the golden: %s", last.Vouched, last.When, last.Reason)
	anchor, err := Read(filepath.Join(dir, AnchorFile))
	if err == nil {
		err = verifyAnchor(dir, entries, anchor)
	}
	if err != nil {
		return fail("restore the file from version control", "%v", err)
	}
	for _, g := range []*File{current, anchor} {
		if g.Header.Suite != suite || g.Header.K != cfg.K {
			return fail(bless, "golden is of suite %s at k = %d; this is %s at k = %d", g.Header.Suite, g.Header.K, suite, cfg.K)
		}
	}
	if c := current.Header.Class; c != run.Identity.Class {
		res.Advisory = fmt.Sprintf("advisory here: golden is of %s, this is %s", c, run.Identity.Class)
	}
	if run.Hashes.SeedKey != current.Header.Seed {
		return fail(bless, "golden was made over another store (models, chunks or corpus differ)")
	}
	return res.compare(cfg, run.Plan, rows, current, anchor, bless)
}

func (res SuiteResult) compare(cfg Config, plan []string, rows []record.Row, current, anchor *File, bless string) SuiteResult {
	byKey := map[string]Case{}
	for _, c := range current.Cases {
		byKey[c.Key] = c
	}
	anchors := map[string]Case{}
	for _, c := range anchor.Cases {
		anchors[c.Key] = c
	}
	live := map[string]record.Row{}
	for _, r := range rows {
		if r.Outcome.State == record.Scored {
			live[r.Case] = r
		}
	}
	var missing, unblessed, changed, unsure []string
	var sum float64
	for _, key := range plan {
		r, scored := live[key]
		g, blessed := byKey[key]
		switch {
		case !scored && blessed:
			missing = append(missing, key)
			continue
		case !scored:
			continue
		case !blessed:
			unblessed = append(unblessed, key)
			continue
		case g.Digest != r.Digest:
			changed = append(changed, key)
			continue
		}
		ids, _, _ := record.Documents(r.Ranking)
		c := CaseResult{Key: key}
		var err error
		if c.Current, err = Check(ids, List{g.IDs, g.Scores}, cfg.K, DefaultEpsilon, Current); err != nil {
			unsure = append(unsure, fmt.Sprintf("%s (%v)", key, err))
			continue
		}
		if c.Current.State == CouldNotMeasure {
			unsure = append(unsure, fmt.Sprintf("%s (%d tied scores)", key, c.Current.LargestGroup))
			continue
		}
		// A changed question has no anchor any more; a new one has none yet.
		if a, ok := anchors[key]; ok && a.Digest == r.Digest {
			x, err := Check(ids, List{a.IDs, a.Scores}, cfg.K, DefaultEpsilon, Anchor)
			switch {
			case err != nil:
				unsure = append(unsure, fmt.Sprintf("%s (anchor: %v)", key, err))
			case x.State == CouldNotMeasure:
				unsure = append(unsure, fmt.Sprintf("%s (anchor: %d tied scores)", key, x.LargestGroup))
			default:
				c.Anchor = &x
			}
		}
		res.Compared++
		sum += c.Current.RBO
		if c.Current.State != Identical {
			res.Moved++
		}
		if c.drifted() {
			res.Drifted++
		}
		if c.Current.State != Identical || c.drifted() {
			res.Cases = append(res.Cases, c)
		}
	}
	sort.SliceStable(res.Cases, func(i, j int) bool {
		a, b := res.Cases[i], res.Cases[j]
		if a.drifted() != b.drifted() {
			return a.drifted()
		}
		x, _ := a.worse()
		y, _ := b.worse()
		if x.RBO != y.RBO {
			return x.RBO < y.RBO
		}
		return a.Key < b.Key
	})
	if res.Compared > 0 {
		res.MeanRBO = sum / float64(res.Compared)
	}
	res.decide(cfg, bless, map[string][]string{
		"planned cases without a golden":              unblessed,
		"cases whose question or gold changed":        changed,
		"cases of the golden without a live ranking":  missing,
		"cases whose golden cannot order its entries": unsure,
	})
	return res
}

func (res *SuiteResult) decide(cfg Config, bless string, uncovered map[string][]string) {
	if res.Drifted > 0 {
		worst, against := res.Cases[0].worse()
		res.Reasons = append(res.Reasons, fmt.Sprintf("%d of %d cases drifted, worst %s against %s: RBO %.4f (floor %.4f), %d of %d ids kept, first divergent rank %d",
			res.Drifted, res.Compared, res.Cases[0].Key, against, worst.RBO, worst.Floor, worst.Overlap, worst.N, worst.Divergent))
	}
	if res.Compared > 0 && res.MeanRBO < cfg.MeanRBO {
		res.Reasons = append(res.Reasons, fmt.Sprintf("mean RBO %.4f is below %.4f", res.MeanRBO, cfg.MeanRBO))
	}
	if moved := float64(res.Moved); res.Compared > 0 && moved > cfg.MaxMoved*float64(res.Compared) {
		res.Reasons = append(res.Reasons, fmt.Sprintf("%d of %d cases moved; at most %.0f%% may", res.Moved, res.Compared, 100*cfg.MaxMoved))
	}
	if len(res.Reasons) > 0 {
		res.Verdict, res.Action = Regressed, "undo the change, or if it was meant, "+bless
		res.Reasons = append(res.Reasons, res.Vouched) // drift alone does not say which ranking is better
	}
	kinds := make([]string, 0, len(uncovered))
	for kind := range uncovered {
		kinds = append(kinds, kind)
	}
	sort.Strings(kinds)
	for _, kind := range kinds {
		if keys := uncovered[kind]; len(keys) > 0 {
			res.Reasons = append(res.Reasons, fmt.Sprintf("%d %s: %s", len(keys), kind, some(keys)))
			if res.Verdict == "" {
				res.Verdict, res.Action = NoMeasure, bless
			}
		}
	}
	if res.Compared == 0 && res.Verdict == "" {
		res.Verdict, res.Action = NoMeasure, bless
		res.Reasons = append(res.Reasons, "no case was compared")
	}
	if res.Verdict == "" {
		res.Verdict = Pass
	}
}

func some(keys []string) string {
	const most = 5
	if len(keys) <= most {
		return strings.Join(keys, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(keys[:most], ", "), len(keys)-most)
}
