package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/compare/sweep"
	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

// Findings are what a set of runs shows about the parts of the engine, on
// several suites. Every figure and every statement is made of these rows.
type Findings struct {
	Measure string              `json:"measure"`
	Alpha   float64             `json:"alpha"`
	Runs    []FindingRun        `json:"runs"`
	Steps   []StepRow           `json:"steps"` // one family: Holm over all of them
	Curves  []*sweep.Curve      `json:"curves,omitempty"`
	Pools   []*sweep.PoolReport `json:"pools,omitempty"`
	AA      []AARow             `json:"aa,omitempty"`
	// Remarks are a person's, on what no row holds.
	Remarks []string `json:"remarks,omitempty"`
}

// FindingRun is one record that was read.
type FindingRun struct {
	Suite     string `json:"suite"`
	Arm       string `json:"arm"`
	Scored    int    `json:"scored"`
	Planned   int    `json:"planned"`
	Documents int    `json:"documents"`
	Pack      string `json:"pack"` // digest of its content
	Embedder  string `json:"embedder"`
	Reranker  string `json:"reranker"`
	Class     string `json:"class"`
	Treatment string `json:"treatment"`      // hash of the effective configuration
	Load      string `json:"load,omitempty"` // load averages when it began
	Command   string `json:"command"`        // that makes such a run
}

// StepRow is one step of a search on one suite: the cases of one run at two of
// its stages.
type StepRow struct {
	Suite      string             `json:"suite"`
	Arm        string             `json:"arm"`
	From       string             `json:"from"`
	To         string             `json:"to"`
	Setting    string             `json:"setting"` // what makes the step what it is
	N          int                `json:"n"`
	Before     float64            `json:"before"`
	After      float64            `json:"after"`
	Difference float64            `json:"difference"`
	Lo         float64            `json:"lo"`
	Hi         float64            `json:"hi"`
	Wins       int                `json:"wins"`
	Losses     int                `json:"losses"`
	Ties       int                `json:"ties"`
	SignP      float64            `json:"sign_p"` // exact
	P          float64            `json:"p"`      // sign flip, two-sided; this one decides
	Adj        float64            `json:"p_holm"`
	Detectable compare.Detectable `json:"detectable"`

	diffs []float64
}

// Word is better, worse, or not significant.
func (r StepRow) Word(alpha float64) string {
	switch {
	case r.Adj > alpha:
		return "not significant"
	case r.Difference > 0:
		return "better"
	}
	return "worse"
}

// AARow is a pair of runs of one treatment.
type AARow struct {
	Suite     string  `json:"suite"`
	N         int     `json:"n"`
	Moved     int     `json:"moved"`     // cases whose measure differs
	Identical int     `json:"identical"` // cases whose final list is the same, entry by entry
	Mean      float64 `json:"mean"`
	Floor     string  `json:"floor"` // its source: proof, A/A, or why there is none
}

// findingSteps are the steps that are looked at, where both stages ran.
var findingSteps = []struct{ from, to string }{{"lexical", "fusion"}, {"vector", "fusion"}, {"candidates", "rerank"}, {"lexical", record.Final}}

// BuildFindings reads runs, of any number of suites. Runs of one suite are told
// apart by their effective configuration: the first without a reranker is the
// base, others of its treatment are its A/A runs, and runs that differ in the
// pool and the reranker alone are a pool probe where there are several pools.
// command gives the command that makes a run.
func BuildFindings(sides []compare.Side, command func(record.Run) string) (*Findings, error) {
	if len(sides) == 0 {
		return nil, fmt.Errorf("findings: no run was given")
	}
	f := &Findings{Measure: "nDCG@10", Alpha: sweep.Alpha}
	type group struct{ suite, question string }
	var order []group
	groups := map[group][]compare.Side{}
	for _, s := range sides {
		if s.File.State != record.Complete {
			return nil, fmt.Errorf("%s: record is %s: %s; findings are of complete records", s.Label, s.File.State, s.File.Detail)
		}
		run := s.File.Run
		g := group{run.Suite, run.Hashes.Question}
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], s)
		counts := s.File.Counts()
		f.Runs = append(f.Runs, FindingRun{
			Suite: run.Suite, Arm: run.Arm, Scored: counts[record.Scored], Planned: len(run.Plan), Documents: run.Pack.Documents, Pack: run.Pack.Digest,
			Embedder: run.Config["embedder"].Value, Reranker: run.Config["judge"].Value, Class: run.Identity.Class, Treatment: run.Hashes.Treatment,
			Load: run.Context.Load, Command: command(run),
		})
	}
	// Runs over all questions first: a run over fewer of them adds only what the
	// suite has no row of.
	slices.SortStableFunc(order, func(a, b group) int { return cmp.Compare(firstBase(groups[a]), firstBase(groups[b])) })
	for _, g := range order {
		if err := f.add(groups[g]); err != nil {
			return nil, err
		}
	}
	if err := f.test(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(f.Runs, func(a, b FindingRun) int { return cmp.Compare(a.Suite, b.Suite) })
	return f, f.Check()
}

func hasJudge(s compare.Side) bool {
	v := s.File.Run.Config["judge"].Value
	return v != "" && v != "none"
}

// firstBase puts groups with a run without a reranker first.
func firstBase(sides []compare.Side) int {
	if slices.ContainsFunc(sides, func(s compare.Side) bool { return !hasJudge(s) }) {
		return 0
	}
	return 1
}

// add looks at the runs of one suite that answered the same questions.
func (f *Findings) add(sides []compare.Side) error {
	var base *compare.Side
	pools := map[string]bool{}
	for i, s := range sides {
		if hasJudge(s) {
			pools[s.File.Run.Config["pool_size"].Value] = true
		} else if base == nil {
			base = &sides[i]
		}
	}
	if len(pools) > 1 {
		p, err := sweep.Pool(sides, sweep.PoolOptions{Measure: f.Measure})
		if err != nil {
			return err
		}
		f.Pools = append(f.Pools, p)
		return nil // its arms are small runs of their own, and no second evidence on the steps
	}
	if base != nil {
		if err := f.steps(*base, false); err != nil {
			return err
		}
		c, err := sweep.Fusion(base.File, sweep.FusionOptions{Weights: findingWeights, Measure: f.Measure})
		if err != nil {
			return err
		}
		f.Curves = append(f.Curves, c)
		if err := f.aa(*base, sides); err != nil {
			return err
		}
	}
	for _, s := range sides {
		if !hasJudge(s) {
			continue
		}
		fused := slices.ContainsFunc(f.Steps, func(r StepRow) bool { return r.Suite == s.File.Run.Suite && r.To == "fusion" })
		if err := f.steps(s, !fused); err != nil {
			return err
		}
	}
	return nil
}

var findingWeights = []float64{0, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1}

// steps adds the steps of a run: those up to the fusion of a run without a
// reranker, those from the reranker on of one with it, or all of them. The same
// lists in two runs are not twice the evidence.
func (f *Findings) steps(s compare.Side, all bool) error {
	reranked := hasJudge(s)
	for _, step := range findingSteps {
		isRerank := step.to == "rerank" || step.to == record.Final
		if isRerank != reranked && !(reranked && all) {
			continue
		}
		row, err := f.step(s, step.from, step.to)
		if err != nil {
			return err
		}
		if row != nil {
			f.Steps = append(f.Steps, *row)
		}
	}
	return nil
}

func (f *Findings) step(s compare.Side, from, to string) (*StepRow, error) {
	m, err := metric.Parse(f.Measure)
	if err != nil {
		return nil, err
	}
	pairs, err := compare.Pair(s.File, s.File)
	if err != nil {
		return nil, err
	}
	run := s.File.Run
	r := &StepRow{Suite: run.Suite, Arm: run.Arm, From: from, To: to}
	r.Setting = "weights.vector " + run.Config["weights.vector"].Value
	if hasJudge(s) && to != "fusion" {
		judge, _, _ := strings.Cut(run.Config["judge"].Value, "@") // its digest is in the table of runs
		r.Setting = fmt.Sprintf("%s, pool %s", judge, run.Config["pool_size"].Value)
	}
	for _, p := range pairs.List {
		if !slices.ContainsFunc(p.Base, func(r record.Row) bool { return r.Outcome.State == record.Scored }) {
			continue // no stage is known of it
		}
		a, err := compare.Value(m, from, p.Base)
		if err == nil {
			var b float64
			if b, err = compare.Value(m, to, p.Base); err == nil {
				r.take(a, b)
				continue
			}
		}
		var none *compare.NoStageError
		if !errors.As(err, &none) {
			return nil, fmt.Errorf("%s: %w", s.Label, err)
		}
	}
	if r.N == 0 {
		return nil, nil
	}
	r.Before, r.After = r.Before/float64(r.N), r.After/float64(r.N)
	stream := stat.NewStream(1, s.Digest(), from, to)
	b, err := stat.BootstrapMean(r.diffs, 10_000, stream)
	if err != nil {
		return nil, err
	}
	in, err := b.Percentile(.95)
	if err != nil {
		return nil, err
	}
	flip, err := stat.SignFlipTest(r.diffs, 10_000, stream)
	if err != nil {
		return nil, err
	}
	sign, err := stat.SignTest(r.Wins, r.Losses)
	r.Difference, r.Lo, r.Hi, r.P, r.SignP = b.Observed, in.Lo, in.Hi, flip.P, sign.P
	return r, err
}

func (r *StepRow) take(a, b float64) {
	d := b - a
	switch {
	case math.Abs(d) <= compare.Epsilon:
		d = 0
		r.Ties++
	case d > 0:
		r.Wins++
	default:
		r.Losses++
	}
	r.N++
	r.Before, r.After, r.diffs = r.Before+a, r.After+b, append(r.diffs, d)
}

// aa pairs the base with the other runs of its treatment.
func (f *Findings) aa(base compare.Side, sides []compare.Side) error {
	m, err := metric.Parse(f.Measure)
	if err != nil {
		return err
	}
	for _, s := range sides {
		if s.File == base.File || s.File.Run.Hashes.Treatment != base.File.Run.Hashes.Treatment {
			continue
		}
		floor, err := compare.NewFloor(base, []compare.Side{s}, m, nil)
		if err != nil {
			return err
		}
		pairs, err := compare.Pair(base.File, s.File)
		if err != nil {
			return err
		}
		row := AARow{Suite: base.File.Run.Suite, N: len(pairs.List), Floor: floor.Source}
		if row.Floor == "" {
			row.Floor = "none: " + floor.Problem
		}
		for _, r := range floor.Runs {
			row.Moved, row.Mean = r.Moved, r.Mean
		}
		for _, p := range pairs.List {
			if slices.Equal(order(p.Base[0].Ranking), order(p.Treatment[0].Ranking)) {
				row.Identical++
			}
		}
		f.AA = append(f.AA, row)
	}
	return nil
}

func order(es []record.Entry) []string {
	out := make([]string, len(es))
	for i, e := range es {
		out[i] = e.Doc + "\x00" + e.Chunk
	}
	return out
}

// test corrects the steps of all suites together.
func (f *Findings) test() error {
	if len(f.Steps) == 0 {
		return nil
	}
	ps := make([]float64, len(f.Steps))
	for i, r := range f.Steps {
		ps[i] = r.P
	}
	adjusted, detectable, err := compare.Holm(ps, func(i int) []float64 { return f.Steps[i].diffs }, f.Alpha)
	if err != nil {
		return err
	}
	for i := range f.Steps {
		f.Steps[i].Adj, f.Steps[i].Detectable = adjusted[i], detectable[i]
	}
	return nil
}

// Check refuses rows that contradict themselves: counts that do not add up, a
// difference that is not that of its means, an interval beside its mean.
func (f *Findings) Check() error {
	const slack = 1e-9
	for _, r := range f.Steps {
		where := fmt.Sprintf("%s: %s to %s", r.Suite, r.From, r.To)
		switch {
		case r.Wins+r.Losses+r.Ties != r.N:
			return fmt.Errorf("%s: %d better, %d worse and %d equal are not %d cases", where, r.Wins, r.Losses, r.Ties, r.N)
		case math.Abs(r.After-r.Before-r.Difference) > slack:
			return fmt.Errorf("%s: from %v to %v is not %v", where, r.Before, r.After, r.Difference)
		case r.Difference < r.Lo-slack || r.Difference > r.Hi+slack:
			return fmt.Errorf("%s: the mean %v is outside its interval [%v, %v]", where, r.Difference, r.Lo, r.Hi)
		case r.Adj < r.P-slack:
			return fmt.Errorf("%s: adjusted p %v is below p %v", where, r.Adj, r.P)
		}
		if s, err := stat.SignTest(r.Wins, r.Losses); err != nil || math.Abs(s.P-r.SignP) > slack {
			return fmt.Errorf("%s: %d better and %d worse give p %v by the sign test, the row says %v", where, r.Wins, r.Losses, s.P, r.SignP)
		}
	}
	for _, a := range f.AA {
		if a.Moved > a.N || a.Identical > a.N || a.Identical == a.N && a.Moved > 0 {
			return fmt.Errorf("%s: A/A: %d moved and %d identical of %d", a.Suite, a.Moved, a.Identical, a.N)
		}
	}
	return nil
}
