package evaltests

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/golden"
	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/seed"
	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// suiteFile is suite.toml. Its keys are documented in docs/suite.md.
type suiteFile struct {
	Suite         string           `toml:"suite"`
	Pack          string           `toml:"pack"`
	Tier          string           `toml:"tier"`
	Arm           string           `toml:"arm"`
	CaseTimeout   string           `toml:"case_timeout"`
	Runner        string           `toml:"runner"`
	Scope         string           `toml:"scope"`
	CapPool       bool             `toml:"cap_pool"`
	Consolidated  string           `toml:"consolidated"`
	Workers       int              `toml:"workers"`
	PoolLimit     int              `toml:"pool_limit"`
	MaxExposure   *int             `toml:"max_exposure"`
	References    []pack.Reference `toml:"reference"`
	MinCaseTime   string           `toml:"min_case_time"`
	LatencyDrift  float64          `toml:"latency_drift"`
	Headline      []string         `toml:"headline"`
	Measures      []string         `toml:"measures"`
	StageMeasures []string         `toml:"stage_measures"`
	RequireStages []string         `toml:"require_stages"`
	Gates         []gate.Spec      `toml:"gate"`
	Golden        *goldenTable     `toml:"golden"`
	Paired        string           `toml:"paired_regression"`
	Waivers       []record.Waiver  `toml:"waiver"`
	Decision      *record.Decision `toml:"decision"`
}

type goldenTable struct {
	K        *int     `toml:"k"`
	MeanRBO  *float64 `toml:"mean_rbo"`
	MaxMoved *float64 `toml:"max_moved"`
	Stages   []string `toml:"stages"`
}

func (g goldenTable) config() golden.Config {
	c := golden.DefaultConfig()
	c.Stages = g.Stages
	if g.K != nil {
		c.K = *g.K
	}
	if g.MeanRBO != nil {
		c.MeanRBO = *g.MeanRBO
	}
	if g.MaxMoved != nil {
		c.MaxMoved = *g.MaxMoved
	}
	return c
}

// Suite is a pack with what is measured on it and what must hold.
type Suite struct {
	Name          string
	Arm           string
	Tier          string
	Pack          *pack.Pack
	Cases         []pack.Case    // the plan, in order
	LeftOut       map[string]int // cases that a limit left out, by stratum
	CaseTimeout   time.Duration
	Runner        seed.Kind        // empty: the subject's
	Scope         seed.Scope       // empty: the whole corpus
	CapPool       bool             // the candidate pool may be cut to half of a small store
	Contract      *seed.Contract   // of the pack; nil: it has none
	Consolidated  string           // the name of the pack, if its groups are meant to lie in one store
	Workers       int              // cases asked at a time; 0 is one
	Limits        record.Plausible // beyond them the run cannot be believed
	Headline      []string
	Measures      []metric.Measure
	StageMeasures []metric.Measure
	RequireStages []string
	PoolLimit     int              // most documents of a store beside the cases' own; 0 for no limit
	MaxExposure   *int             // how often a case may have been used for tuning; nil for no limit
	References    []pack.Reference // values of others beside which the headlines may stand
	Gates         []gate.Spec
	Golden        *golden.Config // nil: no drift gate
	GoldenDir     string
	Paired        bool // a significant loss against the golden's rankings blocks
	Waivers       []record.Waiver
	Decision      *record.Decision // how comparisons with its runs are read; nil: not fixed

	packDir string   // relative to the suite file
	whole   []string // of a shard: the case ids of the plan of all shards
	folder  *record.Folder
	env     Env
	problem *problem // why it cannot be measured
	notRun  string   // why it is not run here
}

// problem is a reason that stops a suite before its first case.
type problem struct{ reason, action string }

// Defaults of suite.toml.
var (
	defaultMeasures = []string{
		"nDCG@10", "nDCG(dcg='exp-log2')@10", "R@1", "R@5", "R@10", "P@1", "P@5", "P@10", "RR@10", "AP", "Success@1", "Success@5", "Success@10",
	}
	defaultHeadline      = []string{"nDCG@10", "R@5", "RR@10"}
	defaultStageMeasures = []string{"nDCG@10", "R@10", "RR@10"}
)

const defaultCaseTimeout = 10 * time.Second

// NewSuite makes a suite over a pack with the default measures and no gates.
func NewSuite(p *pack.Pack, env Env) (*Suite, error) {
	s := &Suite{
		Name: p.Manifest.Name, Arm: "base", Tier: "smoke", Pack: p, CaseTimeout: defaultCaseTimeout,
		Headline: defaultHeadline, env: env,
	}
	if env.CaseTimeout > 0 {
		s.CaseTimeout = env.CaseTimeout
	}
	// Questions of a conversation are asked of it, not of all conversations.
	if slices.ContainsFunc(p.Cases, func(c pack.Case) bool { return c.Group != "" }) &&
		slices.ContainsFunc(p.Documents, func(d pack.Document) bool { return d.Group != "" }) {
		s.Scope = seed.ByGroup
	}
	var err error
	if s.Measures, err = metric.ParseAll(defaultMeasures); err != nil {
		return nil, err
	}
	if s.StageMeasures, err = metric.ParseAll(defaultStageMeasures); err != nil {
		return nil, err
	}
	if err := s.readContract(); err != nil {
		return nil, err
	}
	return s, s.plan()
}

// LoadSuite reads a suite file and its pack. An error is a defect of the
// suite file itself, with file:line. A pack that is not here, not the pinned
// one, or broken does not stop loading: such a suite says so when evaluated,
// so that the record names it.
func LoadSuite(path string, env Env) (*Suite, error) {
	s, err := readSuite(path, env)
	if err != nil {
		return nil, err
	}
	if !gate.InTier(s.Tier, env.Tier) {
		s.notRun = fmt.Sprintf("tier %s, this run is %s; set EVAL_TIER=%s", s.Tier, env.Tier, s.Tier)
		return s, nil
	}
	s.load(filepath.Join(filepath.Dir(path), filepath.FromSlash(s.packDir)))
	return s, nil
}

// readSuite reads a suite file alone.
func readSuite(path string, env Env) (*Suite, error) {
	var f suiteFile
	if err := strict.TOMLFile(path, &f); err != nil {
		return nil, err
	}
	s, err := f.suite(path, env)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s.packDir = f.Pack
	return s, nil
}

// load loads the pack and makes the plan, or notes why that cannot be.
func (s *Suite) load(dir string) {
	p, err := pack.Load(dir, pack.Options{Packs: s.env.Packs})
	var notHere *pack.NotHereError
	var modules *pack.MissingModulesError
	switch {
	case errors.As(err, &notHere):
		s.notRun = notHere.Error()
		return
	case errors.As(err, &modules):
		s.problem = &problem{"modules of the pack are not in the module cache: " + strings.Join(modules.Modules, ", "), modules.Command()}
		return
	case err != nil:
		s.problem = &problem{"pack: " + err.Error(), "correct the pack"}
		return
	}
	s.Pack = p
	if err := p.Check(); err != nil {
		s.problem = &problem{"pack: " + err.Error(), ""}
		return
	}
	if err := s.readContract(); err != nil {
		s.problem = &problem{err.Error(), "correct the contract"}
		return
	}
	if err := s.plan(); err != nil {
		s.problem = &problem{err.Error(), "correct the pack"}
	}
}

func (f suiteFile) suite(path string, env Env) (*Suite, error) {
	s := &Suite{
		Name: f.Suite, Arm: orDefault(f.Arm, "base"), Tier: orDefault(f.Tier, "full"), CaseTimeout: defaultCaseTimeout,
		Headline: f.Headline, RequireStages: f.RequireStages, Gates: f.Gates, Waivers: f.Waivers, env: env,
	}
	if !record.ValidSuite(s.Name) {
		return nil, fmt.Errorf("suite = %q; want lower-case letters, digits, dots, dashes", s.Name)
	}
	if !record.ValidSuite(s.Arm) {
		return nil, fmt.Errorf("arm = %q; want lower-case letters, digits, dots, dashes", s.Arm)
	}
	if !gate.ValidTier(s.Tier) {
		return nil, fmt.Errorf("tier = %q; want smoke, full or deep", s.Tier)
	}
	if f.CaseTimeout != "" {
		d, err := time.ParseDuration(f.CaseTimeout)
		if err != nil || d <= 0 {
			return nil, fmt.Errorf("case_timeout = %q; want a duration such as \"5s\"", f.CaseTimeout)
		}
		s.CaseTimeout = d
	}
	if env.CaseTimeout > 0 {
		s.CaseTimeout = env.CaseTimeout
	}
	if err := s.setLimits(f); err != nil {
		return nil, err
	}
	if err := s.setMeasures(f); err != nil {
		return nil, err
	}
	if err := s.setPackKeys(f); err != nil {
		return nil, err
	}
	if err := s.setStore(f); err != nil {
		return nil, err
	}
	if err := s.setDecision(f.Decision); err != nil {
		return nil, err
	}
	for _, w := range f.Waivers {
		if _, err := time.Parse(time.DateOnly, w.Until); err != nil || w.Reason == "" || w.Max < 1 {
			return nil, fmt.Errorf("waiver %q: want a reason, max of at least 1 and until = \"YYYY-MM-DD\"", w.Reason)
		}
	}
	if f.Golden != nil {
		c := f.Golden.config()
		if err := c.Validate(); err != nil {
			return nil, err
		}
		s.Golden = &c
		root := goldenRoot(filepath.Dir(path))
		s.GoldenDir = filepath.Join(root, "goldens", s.Name)
	}
	switch {
	case f.Paired == "golden" && s.Golden != nil:
		s.Paired = true
	case f.Paired == "golden":
		return nil, errors.New(`paired_regression = "golden"; the suite has no [golden] table to pair with`)
	case f.Paired != "":
		return nil, fmt.Errorf("paired_regression = %q; want \"golden\"", f.Paired)
	}
	return s, nil
}

// setLimits takes how many cases run at a time, and beyond what a run cannot
// be believed.
func (s *Suite) setLimits(f suiteFile) error {
	if f.Workers < 0 {
		return fmt.Errorf("workers = %d; want at least 1", f.Workers)
	}
	s.Workers = f.Workers
	if f.MinCaseTime != "" {
		d, err := time.ParseDuration(f.MinCaseTime)
		if err != nil || d < time.Microsecond {
			return fmt.Errorf("min_case_time = %q; want a duration such as \"100us\"", f.MinCaseTime)
		}
		s.Limits.MinMicros = d.Microseconds()
	}
	if f.LatencyDrift < 0 {
		return fmt.Errorf("latency_drift = %v; want a share such as 0.5, or 0 for no limit", f.LatencyDrift)
	}
	s.Limits.LatencyDrift = f.LatencyDrift
	return nil
}

// goldenRoot is the module that a suite file in dir belongs to. The go.mod of
// a godoc pack pins its corpus; it is no module of anybody's sources.
func goldenRoot(dir string) string {
	root, ok := record.ModuleRoot(dir)
	if !ok {
		return dir
	}
	if m, err := pack.ReadManifest(root); err == nil && m.Format == "godoc" {
		return goldenRoot(filepath.Dir(root))
	}
	return root
}

// setMeasures parses the measures and sees that gates and headlines are among
// what will be computed.
func (s *Suite) setMeasures(f suiteFile) (err error) {
	if len(f.Measures) == 0 {
		f.Measures = defaultMeasures
	}
	if len(f.StageMeasures) == 0 {
		f.StageMeasures = defaultStageMeasures
	}
	if len(s.Headline) == 0 {
		s.Headline = defaultHeadline
	}
	if s.Measures, err = metric.ParseAll(f.Measures); err != nil {
		return fmt.Errorf("measures: %w", err)
	}
	if s.StageMeasures, err = metric.ParseAll(f.StageMeasures); err != nil {
		return fmt.Errorf("stage_measures: %w", err)
	}
	have := func(ms []metric.Measure, name string) bool {
		for _, m := range ms {
			if m.String() == name {
				return true
			}
		}
		return false
	}
	for _, name := range s.Headline {
		if !have(s.Measures, name) {
			return fmt.Errorf("headline %q is not among measures", name)
		}
	}
	for i, g := range s.Gates {
		if err := g.Validate(); err != nil {
			return err
		}
		if g.Measure == "" {
			continue
		}
		m, err := metric.Parse(g.Measure)
		if err != nil {
			return err
		}
		s.Gates[i].Measure = m.String() // one spelling in rows and gates
		among, list := s.Measures, "measures"
		if g.Stage != "" && g.Stage != record.Final {
			among, list = s.StageMeasures, "stage_measures"
		}
		if !have(among, m.String()) {
			return fmt.Errorf("gate %q: %s is not among %s", g.Name(), m, list)
		}
	}
	return nil
}

func orDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// plan fixes the cases that will run, after the limit.
func (s *Suite) plan() error {
	s.Cases, s.LeftOut = stratified(s.Pack.Cases, s.env.limitFor(s.Name))
	if s.PoolLimit > 0 {
		limited, err := s.Pack.Limit(s.Cases, s.PoolLimit)
		if err != nil {
			return err
		}
		s.Pack = limited
	}
	if err := uniqueSubtests(s.Cases); err != nil || s.env.Shard.All() {
		return err
	}
	s.whole, _ = s.planned()
	s.Cases = slices.DeleteFunc(slices.Clone(s.Cases), func(c pack.Case) bool { return !s.env.Shard.Has(c.Question.ID) })
	return nil
}

// uniqueSubtests refuses case ids that are equal once Go has rewritten them
// for subtest names: Go would silently name the second "#01", and every
// paired figure would join the wrong rows.
func uniqueSubtests(cases []pack.Case) error {
	seen := map[string]string{}
	for _, c := range cases {
		name := record.SubtestName(c.Question.ID)
		if first, twice := seen[name]; twice {
			return fmt.Errorf("case ids %q and %q are the same subtest name %q; rename one", first, c.Question.ID, name)
		}
		seen[name] = c.Question.ID
	}
	return nil
}

// stratified takes at most limit cases: the strata share it by largest
// remainder (a plain prefix of a file sorted by type would take one type
// only), and each gives its first cases. It returns what was left out.
func stratified(cases []pack.Case, limit int) ([]pack.Case, map[string]int) {
	if limit <= 0 || limit >= len(cases) {
		return cases, nil
	}
	sizes := map[string]int{}
	for _, c := range cases {
		sizes[c.Stratum]++
	}
	names := sortedKeys(sizes)
	quota := map[string]int{}
	given := 0
	for _, name := range names {
		quota[name] = limit * sizes[name] / len(cases)
		given += quota[name]
	}
	byRemainder := append([]string(nil), names...)
	sort.SliceStable(byRemainder, func(i, j int) bool {
		return limit*sizes[byRemainder[i]]%len(cases) > limit*sizes[byRemainder[j]]%len(cases)
	})
	for _, name := range byRemainder[:limit-given] {
		quota[name]++
	}
	left := map[string]int{}
	var out []pack.Case
	for _, c := range cases {
		if quota[c.Stratum] > 0 {
			quota[c.Stratum]--
			out = append(out, c)
			continue
		}
		left[c.Stratum]++
	}
	return out, left
}

// SuiteKeys lists the keys of suite.toml, tables with their keys as "key" and
// "table", for the documentation's test.
func SuiteKeys() []string {
	var keys []string
	for _, v := range []any{suiteFile{}, gate.Spec{}, goldenTable{}, record.Waiver{}, record.Decision{}, pack.Reference{}} {
		typ := reflect.TypeOf(v)
		for i := range typ.NumField() {
			keys = append(keys, typ.Field(i).Tag.Get("toml"))
		}
	}
	return keys
}
