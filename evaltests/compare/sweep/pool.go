package sweep

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

// Keys that the arms of a pool probe may differ in.
const (
	poolKey  = "pool_size"
	judgeKey = "judge"
	noJudge  = "none"
)

// LeastDocuments is how many documents a store must hold for its pools to say
// anything.
const LeastDocuments = 100

// shownDepth is how far down a list users look.
const shownDepth = 10

// PoolReport is what pool sizes with and without a reranker are worth.
type PoolReport struct {
	Suite     string `json:"suite"`
	Measure   string `json:"measure"`
	Documents int    `json:"documents"` // of the smallest store
	Planned   int    `json:"planned"`
	N         int    `json:"n"` // cases that every arm has
	Base      string `json:"base"`
	Family    int    `json:"family"` // tests that were corrected together
	Stratum   string `json:"stratum,omitempty"`

	Arms   []PoolArm `json:"arms"` // off first, then by pool
	Tests  []Test    `json:"tests"`
	Axes   []Axis    `json:"axes"`
	Buried int       `json:"buried"` // cases whose gold is absent from the base arm's first ten
	Notes  []string  `json:"notes,omitempty"`
}

// PoolArm is one setting, run on its own.
type PoolArm struct {
	Name     string  `json:"name"`
	Pool     int     `json:"pool"`
	Reranker string  `json:"reranker"` // "none" if it is off
	Mean     float64 `json:"mean"`
	Lo       float64 `json:"lo"`
	Hi       float64 `json:"hi"`

	Recall5    float64 `json:"recall_5"`
	RecallPool float64 `json:"recall_pool"` // share of the relevant documents among the candidates
	Coverage   float64 `json:"coverage"`    // and in the whole final list
	Effective  float64 `json:"effective_pool"`

	P50   int64   `json:"p50_us"` // of the search as its caller sees it
	P95   int64   `json:"p95_us"`
	P99   int64   `json:"p99_us"`
	Share float64 `json:"reranker_share"` // of that time

	Inside  int `json:"buried_inside"`    // of the buried cases, those with gold in the pool
	Outside int `json:"buried_outside"`   // and those without: no reranker can reach them
	Raised  int `json:"buried_recovered"` // of the buried, those that this arm shows in its first ten

	Dominated string `json:"dominated_by,omitempty"` // an arm that is as good and as fast, and better in one
	Knee      bool   `json:"knee,omitempty"`

	scored []float64
	side   compare.Side
}

// Test is one paired comparison of two arms.
type Test struct {
	Axis       string             `json:"axis"`
	From       string             `json:"from"`
	To         string             `json:"to"`
	N          int                `json:"n"`
	Difference float64            `json:"difference"`
	Lo         float64            `json:"lo"`
	Hi         float64            `json:"hi"`
	Wins       int                `json:"wins"`
	Losses     int                `json:"losses"`
	Ties       int                `json:"ties"`
	P          float64            `json:"p"`      // sign flip, two-sided
	Adj        float64            `json:"p_holm"` // over all tests of the probe
	Detectable compare.Detectable `json:"detectable"`
}

// Finding is how an axis ends.
type Finding string

// Findings.
const (
	Firm          Finding = "firm"           // significant after correction, all in one direction
	Directional   Finding = "directional"    // significant alone, not after correction, or in both directions
	NotResolvable Finding = "not resolvable" // decide on latency
)

// Axes of a probe.
const (
	RerankerAxis = "reranker on"
	PoolAxis     = "pool size"
)

// Axis is the finding on one question.
type Axis struct {
	Name    string  `json:"name"`
	Finding Finding `json:"finding"`
	Tests   int     `json:"tests"`
	Firm    int     `json:"significant"` // after correction
	Alone   int     `json:"alone"`       // without
	Better  int     `json:"better"`      // of the significant ones, or else of those alone
	Worse   int     `json:"worse"`
}

// ShapeError is a corpus that is too small for the pools that were asked for.
type ShapeError struct {
	Suite     string
	Documents int
	Pool      int
}

func (e *ShapeError) Error() string {
	if e.Documents < LeastDocuments {
		return fmt.Sprintf("%s: a store holds %d documents; a pool probe wants at least %d, for below that every pool holds nearly everything", e.Suite, e.Documents, LeastDocuments)
	}
	return fmt.Sprintf("%s: pool %d and %d documents; a pool must be under half the corpus, or it hides nothing from the reranker; try at most %d",
		e.Suite, e.Pool, e.Documents, (e.Documents-1)/2)
}

// CheckShape refuses pools that a corpus is too small for.
func CheckShape(suite string, documents int, pools []int) error {
	if documents < LeastDocuments {
		return &ShapeError{suite, documents, 0}
	}
	for _, p := range pools {
		if 2*p >= documents {
			return &ShapeError{suite, documents, p}
		}
	}
	return nil
}

// SelectionError is a choice of cases by what came out for them.
type SelectionError struct{ Stratum string }

func (e *SelectionError) Error() string {
	return fmt.Sprintf("stratum %q: buried cases are known only by their outcome, and on those alone every deeper pool looks good; name a stratum that the pack declares, and read the buried columns of all cases", e.Stratum)
}

// BuriedStratum is the name under which the cases are known that may not be
// selected.
const BuriedStratum = "buried"

// PoolOptions of [Pool].
type PoolOptions struct {
	Measure string // that decides; default nDCG@10
	Stratum string // only the cases of a stratum that the pack declares
}

// Pool reads the arms of a pool probe: runs of one suite over one store that
// differ in the pool size and the reranker and in nothing else.
func Pool(sides []compare.Side, o PoolOptions) (*PoolReport, error) {
	if o.Stratum == BuriedStratum {
		return nil, &SelectionError{o.Stratum}
	}
	if o.Measure == "" {
		o.Measure = "nDCG@10"
	}
	ms, err := metric.ParseAll([]string{o.Measure, "R@5"})
	if err != nil {
		return nil, err
	}
	if !ms[0].HigherIsBetter() {
		return nil, fmt.Errorf("%s describes a list and does not grade it; choose a measure of quality", ms[0])
	}
	if len(sides) < 2 {
		return nil, fmt.Errorf("pool probe: %d runs; want at least two arms", len(sides))
	}
	r := &PoolReport{Measure: ms[0].String(), Stratum: o.Stratum}
	if err := r.arms(sides); err != nil {
		return nil, err
	}
	cases, err := r.cases(o.Stratum)
	if err != nil {
		return nil, err
	}
	for i := range r.Arms {
		if err := r.Arms[i].measure(r, ms, cases); err != nil {
			return nil, err
		}
	}
	r.bury(cases)
	r.front()
	return r, r.test()
}

// arms reads the settings, orders the arms and refuses what confounds them.
func (r *PoolReport) arms(sides []compare.Side) error {
	pools := []int{}
	for _, s := range sides {
		if err := readable(s.File); err != nil {
			return err
		}
		run := s.File.Run
		pool, err := strconv.Atoi(run.Config[poolKey].Value)
		if err != nil || pool < 1 {
			return fmt.Errorf("%s: %s is %q; want a number, as the effective configuration of the engine has it", s.Label, poolKey, run.Config[poolKey].Value)
		}
		a := PoolArm{Pool: pool, Reranker: run.Config[judgeKey].Value, side: s}
		a.Name = "off"
		if a.on() {
			a.Name = "on"
		}
		a.Name += "/" + strconv.Itoa(pool)
		r.Arms = append(r.Arms, a)
		pools = append(pools, pool)
	}
	slices.SortStableFunc(r.Arms, func(a, b PoolArm) int {
		return cmp.Or(count(a.on())-count(b.on()), cmp.Compare(a.Reranker, b.Reranker), a.Pool-b.Pool)
	})
	for i := 1; i < len(r.Arms); i++ {
		a, b := r.Arms[i-1], r.Arms[i]
		if a.Pool == b.Pool && a.Reranker == b.Reranker {
			return fmt.Errorf("%s and %s are the same arm (%s); give each once", a.side.Label, b.side.Label, a.Name)
		}
		if a.on() && b.on() && a.Reranker != b.Reranker {
			return fmt.Errorf("%s and %s have different rerankers (%s, %s); probe one at a time", a.side.Label, b.side.Label, a.Reranker, b.Reranker)
		}
	}
	base := r.Arms[0]
	r.Base, r.Suite, r.Planned = base.Name, base.side.File.Run.Suite, len(base.side.File.Run.Plan)
	for _, a := range r.Arms[1:] {
		vary := []string{poolKey, judgeKey}
		// The swept keys alone: whatever else differs is named.
		if _, err := compare.Comparable(base.side, a.side, vary); err != nil {
			return fmt.Errorf("the arms of a probe may differ in %s and %s alone: %w", poolKey, judgeKey, err)
		}
	}
	r.Documents = smallestStore(base.side.File.Run)
	return CheckShape(r.Suite, r.Documents, pools)
}

// smallestStore is the number of documents of the smallest store; the whole
// pack where there is one for the suite.
func smallestStore(run record.Run) int {
	if run.Scope == "" || run.Scope == "suite" {
		return run.Pack.Documents
	}
	least := run.Pack.Documents
	for _, s := range run.Seeds {
		least = min(least, s.Documents)
	}
	return least
}

func (a PoolArm) on() bool { return a.Reranker != "" && a.Reranker != noJudge }

// probedCase has the rows of every arm, in the order of the arms.
type probedCase struct {
	id   string
	rows [][]record.Row
}

// cases are those that all arms answered or failed; a failed one has the worst
// value.
func (r *PoolReport) cases(stratum string) ([]probedCase, error) {
	base := r.Arms[0].side.File
	at := map[string]int{}
	var out []probedCase
	for i, a := range r.Arms {
		ps, err := compare.Pair(base, a.side.File)
		if err != nil {
			return nil, err
		}
		if ps.Overlap() < compare.LeastOverlap {
			return nil, fmt.Errorf("%s: %d of %d planned cases are pairs with %s, want %.0f %%; run the arm again", a.Name, len(ps.List), ps.Planned, r.Base, 100*compare.LeastOverlap)
		}
		for _, p := range ps.List {
			if stratum != "" && p.Base[0].Stratum != stratum {
				continue
			}
			if i == 0 {
				at[p.Case] = len(out)
				out = append(out, probedCase{id: p.Case})
			}
			if k, ok := at[p.Case]; ok {
				out[k].rows = append(out[k].rows, p.Treatment)
			}
		}
	}
	out = slices.DeleteFunc(out, func(c probedCase) bool { return len(c.rows) != len(r.Arms) })
	if r.N = len(out); r.N == 0 {
		return nil, fmt.Errorf("%s: no case in common (stratum %q)", r.Suite, stratum)
	}
	return out, nil
}

// index of an arm.
func (r *PoolReport) index(name string) int {
	return slices.IndexFunc(r.Arms, func(a PoolArm) bool { return a.Name == name })
}

// measure computes an arm over the cases.
func (a *PoolArm) measure(r *PoolReport, ms []metric.Measure, cases []probedCase) error {
	k := r.index(a.Name)
	var micros []float64
	total, reranking := 0.0, 0.0
	for _, c := range cases {
		vs, err := compare.Values(ms, record.Final, c.rows[k])
		if err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
		a.scored = append(a.scored, vs[0])
		a.Recall5 += vs[1]
		pool, coverage, size, repeats := 0.0, 0.0, 0.0, float64(len(c.rows[k]))
		for _, row := range c.rows[k] {
			if row.Outcome.State != record.Scored {
				continue
			}
			micros = append(micros, float64(row.Micros))
			total += float64(row.Micros)
			if s, ok := row.Stage("rerank"); ok && s.State == record.Executed {
				reranking += float64(s.Micros)
			}
			if s, ok := row.Stage("candidates"); ok {
				pool += recall(s.Entries, row.Gold)
				size += float64(len(s.Entries))
			}
			coverage += recall(row.Ranking, row.Gold)
		}
		a.RecallPool += pool / repeats
		a.Coverage += coverage / repeats
		a.Effective += size / repeats
	}
	n := float64(len(cases))
	a.Mean, a.Recall5, a.RecallPool, a.Coverage, a.Effective = mean(a.scored), a.Recall5/n, a.RecallPool/n, a.Coverage/n, a.Effective/n
	if total > 0 {
		a.Share = reranking / total
	}
	if len(micros) == 0 {
		return fmt.Errorf("%s: no case was scored", a.Name)
	}
	at, err := stat.Percentiles(micros, 50, 95, 99)
	if err != nil {
		return err
	}
	a.P50, a.P95, a.P99 = int64(at[0]), int64(at[1]), int64(at[2])
	b, err := stat.BootstrapMean(a.scored, resamples, stat.NewStream(1, a.side.File.Run.Hashes.Question, "pool"))
	if err != nil {
		return err
	}
	in, err := b.Percentile(confidence)
	a.Lo, a.Hi = in.Lo, in.Hi
	return err
}

// recall is the share of the relevant documents that a list holds.
func recall(entries []record.Entry, gold map[string]int) float64 {
	ids, _, _ := record.Documents(entries)
	found, of := 0, 0
	for _, g := range gold {
		of += count(g > 0)
	}
	for _, id := range ids {
		found += count(gold[id] > 0)
	}
	if of == 0 {
		return 0
	}
	return float64(found) / float64(of)
}

// shows reports a relevant document within a depth, in the first repeat.
func shows(entries []record.Entry, gold map[string]int, depth int) bool {
	ids, _, _ := record.Documents(entries)
	return slices.ContainsFunc(ids[:min(depth, len(ids))], func(id string) bool { return gold[id] > 0 })
}

// bury counts the cases whose gold the base arm does not show, and what each
// arm can make of them. They are counted, never selected.
func (r *PoolReport) bury(cases []probedCase) {
	for _, c := range cases {
		if base := c.rows[0][0]; shows(base.Ranking, base.Gold, shownDepth) {
			continue
		}
		r.Buried++
		for i := range r.Arms {
			row := c.rows[i][0]
			s, _ := row.Stage("candidates")
			if shows(s.Entries, row.Gold, math.MaxInt) {
				r.Arms[i].Inside++
			} else {
				r.Arms[i].Outside++
			}
			r.Arms[i].Raised += count(shows(row.Ranking, row.Gold, shownDepth))
		}
	}
}

// front finds the arms that no other dominates, in the measure and the median
// latency, and the knee among them: the arm farthest above the line between the
// cheapest and the best.
func (r *PoolReport) front() {
	var front []*PoolArm
	for i := range r.Arms {
		a := &r.Arms[i]
		for _, b := range r.Arms {
			if b.Mean >= a.Mean && b.P50 <= a.P50 && (b.Mean > a.Mean || b.P50 < a.P50) {
				a.Dominated = b.Name
				break
			}
		}
		if a.Dominated == "" {
			front = append(front, a)
		}
	}
	slices.SortStableFunc(front, func(a, b *PoolArm) int { return cmp.Compare(a.P50, b.P50) })
	if len(front) < 3 {
		return
	}
	lo, hi := front[0], front[len(front)-1]
	best, at := 0.0, -1
	for i, a := range front {
		x := float64(a.P50-lo.P50) / float64(hi.P50-lo.P50)
		y := (a.Mean - lo.Mean) / (hi.Mean - lo.Mean)
		if y-x > best {
			best, at = y-x, i
		}
	}
	if at >= 0 {
		front[at].Knee = true
	}
}

// test pairs the arms along both axes, and corrects over all pairs: the
// reranker against none at each pool, and each pool against the smallest.
func (r *PoolReport) test() error {
	byName := map[string]int{}
	for i, a := range r.Arms {
		byName[a.Name] = i
	}
	first := -1 // the smallest pool with the reranker on
	for i, a := range r.Arms {
		if !a.on() {
			continue
		}
		off, ok := byName["off/"+strconv.Itoa(a.Pool)]
		if !ok { // without a reranker the pool does not matter: any arm will do
			off = slices.IndexFunc(r.Arms, func(b PoolArm) bool { return !b.on() })
		}
		if off >= 0 {
			if err := r.pair(RerankerAxis, off, i); err != nil {
				return err
			}
		}
		if first >= 0 {
			if err := r.pair(PoolAxis, first, i); err != nil {
				return err
			}
		} else {
			first = i
		}
	}
	r.inert()
	if r.Family = len(r.Tests); r.Family == 0 {
		return nil
	}
	ps := make([]float64, len(r.Tests))
	for i, t := range r.Tests {
		ps[i] = t.P
	}
	adjusted, detectable, err := compare.Holm(ps, func(i int) []float64 { return r.differences(r.Tests[i]) }, Alpha)
	if err != nil {
		return err
	}
	for i := range r.Tests {
		r.Tests[i].Adj, r.Tests[i].Detectable = adjusted[i], detectable[i]
	}
	for _, name := range []string{RerankerAxis, PoolAxis} {
		if a := axis(name, r.Tests); a.Tests > 0 {
			r.Axes = append(r.Axes, a)
		}
	}
	return nil
}

func (r *PoolReport) differences(t Test) []float64 {
	d, _, _, _ := compare.Deltas(r.Arms[r.index(t.From)].scored, r.Arms[r.index(t.To)].scored, tie)
	return d
}

func (r *PoolReport) pair(axis string, from, to int) error {
	t := Test{Axis: axis, From: r.Arms[from].Name, To: r.Arms[to].Name, N: r.N}
	var d []float64
	d, t.Wins, t.Losses, t.Ties = compare.Deltas(r.Arms[from].scored, r.Arms[to].scored, tie)
	stream := stat.NewStream(1, r.Arms[from].side.Digest(), r.Arms[to].side.Digest())
	b, err := stat.BootstrapMean(d, resamples, stream)
	if err != nil {
		return err
	}
	in, err := b.Percentile(confidence)
	if err != nil {
		return err
	}
	f, err := stat.SignFlipTest(d, resamples, stream)
	t.Difference, t.Lo, t.Hi, t.P = b.Observed, in.Lo, in.Hi, f.P
	r.Tests = append(r.Tests, t)
	return err
}

// inert notes whether the pool changes anything without a reranker: if it does,
// something other than the reranker reads it.
func (r *PoolReport) inert() {
	var off []int
	for i, a := range r.Arms {
		if !a.on() {
			off = append(off, i)
		}
	}
	if len(off) < 2 {
		return
	}
	moved := 0
	for k := range r.Arms[off[0]].scored {
		for _, i := range off[1:] {
			if r.Arms[i].scored[k] != r.Arms[off[0]].scored[k] {
				moved++
				break
			}
		}
	}
	r.Notes = append(r.Notes, fmt.Sprintf("without the reranker the pool moves %d of %d cases", moved, r.N))
}

func axis(name string, tests []Test) Axis {
	a := Axis{Name: name, Finding: NotResolvable}
	tally := func(limit func(Test) float64) (n, better, worse int) {
		for _, t := range tests {
			if t.Axis == name && limit(t) <= Alpha {
				n++
				better += count(t.Difference > 0)
				worse += count(t.Difference < 0)
			}
		}
		return n, better, worse
	}
	for _, t := range tests {
		a.Tests += count(t.Axis == name)
	}
	a.Alone, a.Better, a.Worse = tally(func(t Test) float64 { return t.P })
	if a.Alone > 0 {
		a.Finding = Directional
	}
	if n, better, worse := tally(func(t Test) float64 { return t.Adj }); n > 0 {
		a.Firm, a.Better, a.Worse = n, better, worse
		if better == 0 || worse == 0 {
			a.Finding = Firm
		}
	}
	return a
}
