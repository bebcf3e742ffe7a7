package golden

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Config is the [golden] table of suite.toml.
type Config struct {
	K        int      `toml:"k"`         // depth compared
	MeanRBO  float64  `toml:"mean_rbo"`  // suite floor of the mean RBO
	MaxMoved float64  `toml:"max_moved"` // largest share of cases that may have moved, drift or benign
	Stages   []string `toml:"stages"`    // stages that have goldens of their own, beside the final ranking
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
	for i, name := range c.Stages {
		if name == "" || name == record.Final || slices.Contains(c.Stages[:i], name) {
			return fmt.Errorf("golden.stages: %q; want distinct names of stages other than %s, which always has a golden", name, record.Final)
		}
	}
	return nil
}

// CaseResult is the check of one case, against current and, if there is one,
// against the anchor.
type CaseResult struct {
	Key     string
	Current Result
	Anchor  *Result
	Golden  List           // as blessed
	Live    List           // as found, to the depth compared
	Gold    map[string]int // grades of the case; nil when it enters no ranking measure
}

// drifted reports whether either check found drift.
func (c CaseResult) drifted() bool {
	return c.Current.State == Drift || c.Anchor != nil && c.Anchor.State == Drift
}

// Worse is the check that decides the case: the one that found drift, current
// before anchor.
func (c CaseResult) Worse() (Result, Against) {
	if c.Current.State != Drift && c.drifted() {
		return *c.Anchor, Anchor
	}
	return c.Current, Current
}

// Says is the result in a word: identical, benign, drift(current) or
// drift(anchor).
func (c CaseResult) Says() string {
	r, against := c.Worse()
	if r.State == Drift {
		return fmt.Sprintf("%s(%s)", Drift, against)
	}
	return string(r.State)
}

func worstFirst(a, b CaseResult) int {
	if a.drifted() != b.drifted() {
		if a.drifted() {
			return -1
		}
		return 1
	}
	x, _ := a.Worse()
	y, _ := b.Worse()
	return cmp.Or(cmp.Compare(x.RBO, y.RBO), cmp.Compare(a.Key, b.Key))
}

// SuiteResult is the check of a suite, or of one of its stages.
type SuiteResult struct {
	Suite     string
	Stage     string // empty: the final ranking
	Verdict   string // Pass, Regressed or NoMeasure
	Reasons   []string
	Action    string
	Advisory  string       // why it does not block here, if it does not
	Vouched   string       // the labelled record that vouches for the golden, and why it was blessed
	Cases     []CaseResult // moved cases, worst first
	Compared  int
	Planned   int
	Moved     int
	Drifted   int
	MeanRBO   float64
	Unblessed []string      // planned cases without a golden
	Changed   []string      // whose question or gold changed
	Missing   []string      // of the golden, planned, without a live ranking
	Unsure    []string      // whose golden cannot order its entries, with why
	Elsewhere []string      // why golden and run are of different stores; empty when they are not
	Stages    []SuiteResult // of Config.Stages, in their order

	golden, anchor *File // nil when they could not be read
	rows           []record.Row
	k              int
}

// Verdicts of a suite check, as a gate writes them.
const (
	Pass      = "pass"
	Regressed = "regressed"
	NoMeasure = "could-not-measure"
)

// CheckSuite holds the scored rows of a run to the golden in dir. rows and
// plan are those of one arm. The stages that cfg names are checked the same
// way, each with a result of its own. Where cases were repeated, every repeat
// is held to the golden, and the worst one is the result: a subject that ranks
// as blessed only sometimes has moved.
func CheckSuite(dir, suite string, cfg Config, run record.Run, rows []record.Row) SuiteResult {
	worst := checkOnce(dir, suite, cfg, run, repeat(rows, 0))
	for i := 1; i < run.Repeats; i++ {
		if next := checkOnce(dir, suite, cfg, run, repeat(rows, i)); next.worse(worst) {
			worst = next
		}
	}
	return worst
}

// repeat are the rows of one repeat.
func repeat(rows []record.Row, i int) []record.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r record.Row) bool { return r.Repeat != i })
}

// worse orders the checks of two repeats, stages among them.
func (res SuiteResult) worse(than SuiteResult) bool {
	bad := func(r SuiteResult) (n int) {
		for _, s := range append([]SuiteResult{r}, r.Stages...) {
			n = max(n, slices.Index([]string{Pass, NoMeasure, Regressed}, s.Verdict))
		}
		return n
	}
	if a, b := bad(res), bad(than); a != b {
		return a > b
	}
	return res.MeanRBO < than.MeanRBO
}

func checkOnce(dir, suite string, cfg Config, run record.Run, rows []record.Row) SuiteResult {
	res := SuiteResult{Suite: suite, Planned: len(run.Plan), rows: rows, k: cfg.K}
	bless := fmt.Sprintf("look at the moves (`touchstone golden show %[1]s --run DIR`), then `touchstone golden accept %[1]s --run DIR --reason TEXT`", suite)
	fail := func(action, format string, args ...any) SuiteResult {
		res.Verdict, res.Action = NoMeasure, action
		res.Reasons = append(res.Reasons, fmt.Sprintf(format, args...))
		for _, name := range cfg.Stages {
			s := res
			s.Stage, s.Stages = name, nil
			res.Stages = append(res.Stages, s)
		}
		return res
	}
	held, action, err := open(dir, bless)
	if err != nil {
		return fail(action, "%v", err)
	}
	for _, g := range []*File{held.current, held.anchor} {
		// Another suite's or depth's rankings say nothing about these.
		if g.Header.Suite != suite || g.Header.K != cfg.K {
			move := bless
			if g == held.anchor && held.current.Header.K == cfg.K {
				move = fmt.Sprintf("`touchstone golden anchor %s --reason TEXT`", suite)
			}
			return fail(move, "golden is of suite %s at k = %d; this is %s at k = %d", g.Header.Suite, g.Header.K, suite, cfg.K)
		}
	}
	res.golden, res.anchor, res.Vouched = held.current, held.anchor, held.vouched
	if c := held.current.Header.Class; c != run.Identity.Class {
		res.Advisory = fmt.Sprintf("advisory here: golden is of %s, this is %s", c, run.Identity.Class)
	}
	res.Elsewhere = elsewhere(held.current.Header, headerOf(run, cfg.K))
	stage := func(name string) SuiteResult {
		s := res
		s.Stage = name
		return s.compare(cfg, run, bless)
	}
	whole := stage("")
	for _, name := range cfg.Stages {
		whole.Stages = append(whole.Stages, stage(name))
	}
	if dropped := held.stagesBeside(cfg.Stages); len(dropped) > 0 {
		// What is no longer checked must not go unsaid.
		whole.Reasons = append(whole.Reasons, fmt.Sprintf("the golden holds stages that the suite no longer names: %s", strings.Join(dropped, ", ")))
		if whole.Verdict == Pass {
			whole.Verdict, whole.Action = NoMeasure, bless
		}
	}
	return whole
}

// held is a golden folder as read and found sound.
type held struct {
	current, anchor *File
	entries         []Entry
	vouched         string
}

// open reads a golden folder; an error comes with what to do about it.
func open(dir, bless string) (*held, string, error) {
	const restore = "restore the file from version control"
	path := filepath.Join(dir, CurrentFile)
	var anchor *File
	var anchorErr error
	read := make(chan struct{})
	go func() { // the two are large, and independent
		defer close(read)
		anchor, anchorErr = Read(filepath.Join(dir, AnchorFile))
	}()
	current, err := Read(path)
	<-read
	if errors.Is(err, ErrMissing) {
		return nil, bless, fmt.Errorf("%s: no golden", path)
	}
	if err != nil {
		return nil, restore, err
	}
	entries, err := ReadLedger(dir)
	if err != nil {
		return nil, restore + "; after a merge keep the lines of both sides", err
	}
	if err := vouched(path, entries, current.Digest); err != nil {
		return nil, "restore the golden from version control, or bless again with a reason", err
	}
	if anchorErr == nil {
		anchorErr = verifyAnchor(dir, entries, anchor)
	}
	if anchorErr != nil {
		return nil, restore, anchorErr
	}
	h := &held{current: current, anchor: anchor, entries: entries}
	for _, e := range entries {
		if !e.anchors() && e.After == current.Digest {
			h.vouched = fmt.Sprintf("record %.12s of %s vouches for the golden: %s", e.Vouched, e.When, e.Reason)
		}
	}
	return h, "", nil
}

func (h *held) stagesBeside(stages []string) []string {
	beside := map[string]bool{}
	for _, c := range h.current.Cases {
		if c.Stage != "" && !slices.Contains(stages, c.Stage) {
			beside[c.Stage] = true
		}
	}
	return slices.Sorted(maps.Keys(beside))
}

// elsewhere says why a golden and a run are of different stores. A golden of
// format 1 does not know its pack and models.
func elsewhere(golden, live Header) []string {
	var why []string
	if golden.V > 1 && !maps.Equal(golden.Models, live.Models) {
		why = append(why, fmt.Sprintf("golden was made with other models: %s; this run has %s", list(golden.Models), list(live.Models)))
	}
	if golden.Seed != live.Seed && len(why) == 0 {
		why = append(why, "golden was made over another store (models, chunks or schema differ)")
	}
	return why
}

func list(models map[string]string) string {
	if len(models) == 0 {
		return "none"
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(models)) {
		out = append(out, key+" "+models[key])
	}
	return strings.Join(out, ", ")
}

// entriesOf are the ranked entries of a row's stage; false when there are
// none to compare.
func entriesOf(r record.Row, stage string) ([]record.Entry, bool) {
	if r.Outcome.State != record.Scored {
		return nil, false
	}
	if stage == "" {
		return r.Ranking, true
	}
	s, ok := r.Stage(stage)
	return s.Entries, ok && s.State == record.Executed
}

func (res SuiteResult) compare(cfg Config, run record.Run, bless string) SuiteResult {
	blessed, anchors := index(res.golden, res.Stage), index(res.anchor, res.Stage)
	live := map[string]record.Row{}
	for _, r := range res.rows {
		live[r.Case] = r
	}
	var sum float64
	for _, key := range run.Plan {
		r := live[key]
		entries, ranked := entriesOf(r, res.Stage)
		g, ok := blessed[key]
		switch {
		case !ranked && ok:
			res.Missing = append(res.Missing, key)
			continue
		case !ranked:
			continue
		case !ok:
			res.Unblessed = append(res.Unblessed, key)
			continue
		case g.Digest != r.Digest:
			res.Changed = append(res.Changed, key)
			continue
		}
		ids, scores, _ := record.Documents(entries)
		c := CaseResult{Key: key}
		var err error
		if c.Current, err = Check(ids, List{g.IDs, g.Scores}, cfg.K, DefaultEpsilon, Current); err != nil {
			res.Unsure = append(res.Unsure, fmt.Sprintf("%s (%v)", key, err))
			continue
		}
		if c.Current.State == CouldNotMeasure {
			res.Unsure = append(res.Unsure, fmt.Sprintf("%s (%d tied scores)", key, c.Current.LargestGroup))
			continue
		}
		// A changed question has no anchor any more; a new one has none yet.
		if a, ok := anchors[key]; ok && a.Digest == r.Digest {
			x := c.Current
			if x.State == Identical && slices.Equal(a.IDs, g.IDs) && slices.Equal(a.Scores, g.Scores) {
				x.Floor, x.OverlapFloor = Floor(x.N, Anchor), OverlapFloor(x.N, Anchor) // the same lists: most cases of most suites
			} else {
				x, err = Check(ids, List{a.IDs, a.Scores}, cfg.K, DefaultEpsilon, Anchor)
			}
			switch {
			case err != nil:
				res.Unsure = append(res.Unsure, fmt.Sprintf("%s (anchor: %v)", key, err))
			case x.State == CouldNotMeasure:
				res.Unsure = append(res.Unsure, fmt.Sprintf("%s (anchor: %d tied scores)", key, x.LargestGroup))
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
			n := min(cfg.K, len(ids))
			c.Golden, c.Live = List{g.IDs, g.Scores}, List{ids[:n], scores[:n]}
			if r.Ranked() {
				c.Gold = r.Gold
			}
			res.Cases = append(res.Cases, c)
		}
	}
	slices.SortStableFunc(res.Cases, worstFirst)
	if res.Compared > 0 {
		res.MeanRBO = sum / float64(res.Compared)
	}
	pack := res.golden.Header.Pack
	res.decide(cfg, bless, pack != "" && pack != run.Pack.Digest)
	return res
}

func index(f *File, stage string) map[string]Case {
	cases := map[string]Case{}
	for _, c := range f.Cases {
		if c.Stage == stage {
			cases[c.Key] = c
		}
	}
	return cases
}

// decide gives the verdict. otherPack: the pack is not the one that the golden
// is of.
func (res *SuiteResult) decide(cfg Config, bless string, otherPack bool) {
	if len(res.Elsewhere) > 0 {
		// Of course rankings moved; whether a change moved them nobody can tell.
		res.Verdict, res.Action, res.Reasons = NoMeasure, bless, slices.Clone(res.Elsewhere)
		return
	}
	if res.Drifted > 0 {
		worst, against := res.Cases[0].Worse()
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
		if res.onlyAnchor() {
			res.Action = fmt.Sprintf("each blessing was small, together they are not: look at the creep (`touchstone golden show %[1]s`), then undo it, or if it was meant, `touchstone golden anchor %[1]s --reason TEXT`", res.Suite)
		}
		if res.Vouched != "" {
			res.Reasons = append(res.Reasons, res.Vouched) // drift alone does not say which ranking is better
		}
	}
	uncovered := false
	for _, u := range []struct {
		kind string
		keys []string
	}{
		{"cases of the golden without a live ranking", res.Missing},
		{"cases whose golden cannot order its entries", res.Unsure},
		{"cases whose question or gold changed", res.Changed},
		{"planned cases without a golden", res.Unblessed},
	} {
		if len(u.keys) > 0 {
			uncovered = true
			res.cannot(bless, "%d %s: %s", len(u.keys), u.kind, some(u.keys))
		}
	}
	if otherPack && !uncovered {
		// The questions are the same, so the documents are not.
		res.cannot(bless, "golden is of another corpus: its pack digest is %.12s", res.golden.Header.Pack)
	}
	if res.Compared == 0 && res.Verdict == "" {
		res.cannot(bless, "no case was compared")
	}
	if res.Verdict == "" {
		res.Verdict = Pass
	}
}

// onlyAnchor reports whether nothing drifted from the current golden.
func (res *SuiteResult) onlyAnchor() bool {
	return res.Moved == 0 && !slices.ContainsFunc(res.Cases, func(c CaseResult) bool { return c.Current.State != Identical })
}

func (res *SuiteResult) cannot(action, format string, args ...any) {
	res.Reasons = append(res.Reasons, fmt.Sprintf(format, args...))
	if res.Verdict == "" {
		res.Verdict, res.Action = NoMeasure, action
	}
}

func some(keys []string) string {
	const most = 5
	if len(keys) <= most {
		return strings.Join(keys, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(keys[:most], ", "), len(keys)-most)
}
