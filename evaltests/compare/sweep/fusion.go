package sweep

import (
	"fmt"
	"math"
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/rank"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

// Limits of a calibration.
const (
	LeastAgreement = 0.95 // of the positions, over all cases; also of one case, below which it is counted apart
	MostDifference = 1e-4 // of an aggregate measure
	CalibratedTop  = 10   // positions of a case
)

const (
	// Alpha is the level of every corrected test.
	Alpha      = .05
	confidence = .95
	resamples  = 10_000
	tie        = 1e-12 // values of a measure within it are equal
)

// Curve is the measure of the fused list at each weight of the vector arm, all
// else as recorded. It covers retrieval only: what follows the fusion (boosts,
// reranking, the answer) is not replayed.
type Curve struct {
	Suite    string   `json:"suite"`
	Arm      string   `json:"arm"`
	Measure  string   `json:"measure"`
	Settings Settings `json:"settings"` // as recorded
	Planned  int      `json:"planned"`
	N        int      `json:"n"`        // cases of the curve
	LeftOut  int      `json:"left_out"` // planned cases without gold, or not scored in every repeat

	Calibration Calibration `json:"calibration"`
	Points      []Point     `json:"points"` // by weight

	Best        float64            `json:"best"`       // weight of the highest mean
	Distinct    bool               `json:"distinct"`   // it can be told from the current weight, after Holm over all of them
	Detectable  compare.Detectable `json:"detectable"` // of best against current, at the level of Holm's first step
	Correction  string             `json:"correction"`
	Unfaithful  int                `json:"unfaithful"` // cases that replay under LeastAgreement
	AfterFusion []string           `json:"after_fusion,omitempty"`
	Notes       []string           `json:"notes,omitempty"`
}

// Point is one weight.
type Point struct {
	Weight  float64            `json:"weight"`
	Current bool               `json:"current"`
	Means   map[string]float64 `json:"means"` // of all measures
	Mean    float64            `json:"mean"`  // of the deciding one
	Lo      float64            `json:"lo"`    // of its 95 % bootstrap interval
	Hi      float64            `json:"hi"`
	// Faithful is the mean without the cases that replay badly.
	Faithful float64 `json:"faithful"`

	Difference float64 `json:"difference"` // to the current weight, on the same cases
	DiffLo     float64 `json:"difference_lo"`
	DiffHi     float64 `json:"difference_hi"`
	Wins       int     `json:"wins"`
	Losses     int     `json:"losses"`
	Ties       int     `json:"ties"`
	P          float64 `json:"p"`      // sign flip, two-sided; 1 for the current weight
	Adj        float64 `json:"p_holm"` // over all weights but the current one
	// ScoreTies are the cases with equal scores next to each other in the first
	// ten: their order is the tie rule's.
	ScoreTies int `json:"score_ties"`
}

// Calibration says how well the replay at the recorded weight is the recorded
// fusion.
type Calibration struct {
	Positions  int         `json:"positions"` // of all cases, at most CalibratedTop each
	Agree      int         `json:"agree"`
	Under      []string    `json:"under,omitempty"` // cases under LeastAgreement
	Aggregates []Aggregate `json:"aggregates"`
}

// Share of the positions that agree.
func (c Calibration) Share() float64 {
	if c.Positions == 0 {
		return 0
	}
	return float64(c.Agree) / float64(c.Positions)
}

// Aggregate is one mean that a replay must reproduce.
type Aggregate struct {
	Where    string  `json:"where"` // fusion as recorded, or one arm alone
	Measure  string  `json:"measure"`
	Recorded float64 `json:"recorded"`
	Replayed float64 `json:"replayed"`
}

// OK reports whether they agree.
func (a Aggregate) OK() bool { return math.Abs(a.Recorded-a.Replayed) <= MostDifference }

// UncalibratedError says that the replay is not the engine's fusion. There is no
// curve of such a replay.
type UncalibratedError struct {
	Suite       string
	Calibration Calibration
	Reasons     []string
}

func (e *UncalibratedError) Error() string {
	s := fmt.Sprintf("%s: the replay is not the recorded fusion: ", e.Suite)
	for i, r := range e.Reasons {
		if i > 0 {
			s += "; "
		}
		s += r
	}
	if u := e.Calibration.Under; len(u) > 0 {
		s += fmt.Sprintf("; %d cases disagree: %s", len(u), some(u))
	}
	return s + "; run the suite again with this version, and do not sweep a record that was edited"
}

// FusionOptions of [Fusion].
type FusionOptions struct {
	Weights []float64 // of the vector arm; the recorded one is added
	Measure string    // that decides; default: the first headline of the run
}

// curveMeasures are reported beside the deciding one.
var curveMeasures = []string{"nDCG@10", "RR@10", "R@1", "R@5", "R@10"}

// Fusion replays the fusion of a record at other weights of the vector arm.
// The error is an [*UncalibratedError] if the replay does not reproduce what was
// recorded.
func Fusion(f *record.File, o FusionOptions) (*Curve, error) {
	if err := readable(f); err != nil {
		return nil, err
	}
	run := f.Run
	s, err := SettingsOf(run)
	if err != nil {
		return nil, err
	}
	name := o.Measure
	if name == "" {
		name = headline(run)
	}
	ms, err := measures(name)
	if err != nil {
		return nil, err
	}
	c := &Curve{
		Suite: run.Suite, Arm: run.Arm, Measure: ms[0].String(), Settings: s, Planned: len(run.Plan), Correction: string(stat.Holm),
	}
	cases, err := load(f.Rows, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", run.Suite, err)
	}
	if c.N = len(cases); c.N == 0 {
		return nil, fmt.Errorf("%s: no case with gold was scored", run.Suite)
	}
	c.LeftOut = c.Planned - c.N
	if err := c.calibrate(cases, ms); err != nil {
		return nil, err
	}
	c.notes(run, f.Rows)
	return c, c.sweep(cases, ms, o.Weights, run)
}

func readable(f *record.File) error {
	if f.State != record.Complete {
		return fmt.Errorf("%s: record is %s: %s; only a complete record is swept", f.Path, f.State, f.Detail)
	}
	return nil
}

func headline(run record.Run) string {
	if len(run.Headline) > 0 {
		return run.Headline[0]
	}
	return "nDCG@10"
}

// measures puts the deciding one first.
func measures(name string) ([]metric.Measure, error) {
	main, err := metric.Parse(name)
	if err != nil {
		return nil, err
	}
	if !main.HigherIsBetter() {
		return nil, fmt.Errorf("%s describes a list and does not grade it; choose a measure of quality", main)
	}
	rest, err := metric.ParseAll(curveMeasures)
	if err != nil {
		return nil, err
	}
	return append([]metric.Measure{main}, slices.DeleteFunc(rest, func(m metric.Measure) bool { return m == main })...), nil
}

// fusedCase is one case with all its repeats.
type fusedCase struct {
	id       string
	gold     map[string]int
	repeats  []lists
	faithful bool
}

// load takes the cases all of whose repeats were scored and have gold.
func load(rows []record.Row, s Settings) ([]*fusedCase, error) {
	at := map[string]*fusedCase{}
	out := map[string]bool{}
	var cases []*fusedCase
	for _, r := range rows {
		if r.Outcome.State != record.Scored || !r.Ranked() {
			out[r.Case] = true
			continue
		}
		l, err := listsOf(r, s)
		if err != nil {
			return nil, err
		}
		k, ok := at[r.Case]
		if !ok {
			k = &fusedCase{id: r.Case, gold: r.Gold}
			at[r.Case] = k
			cases = append(cases, k)
		}
		k.repeats = append(k.repeats, l)
	}
	return slices.DeleteFunc(cases, func(k *fusedCase) bool { return out[k.id] }), nil
}

// evaluate measures the documents of a list.
func evaluate(ms []metric.Measure, gold map[string]int, entries []record.Entry) ([]float64, error) {
	ids, _, _ := record.Documents(entries)
	list, err := rank.New(ids, nil)
	if err != nil {
		return nil, err
	}
	return metric.EvalAll(ms, metric.Grades(gold), list)
}

// values of every case, averaged over its repeats: values[measure][case].
func values(cases []*fusedCase, ms []metric.Measure, list func(lists) []record.Entry) ([][]float64, error) {
	out := make([][]float64, len(ms))
	for i := range out {
		out[i] = make([]float64, len(cases))
	}
	for k, c := range cases {
		for _, l := range c.repeats {
			vs, err := evaluate(ms, c.gold, list(l))
			if err != nil {
				return nil, fmt.Errorf("case %s: %w", c.id, err)
			}
			for i, v := range vs {
				out[i][k] += v
			}
		}
		for i := range ms {
			out[i][k] /= float64(len(c.repeats))
		}
	}
	return out, nil
}

// calibrate replays at the recorded weights and at either arm alone, and
// refuses what does not reproduce the record.
func (c *Curve) calibrate(cases []*fusedCase, ms []metric.Measure) error {
	s := c.Settings
	cal := &c.Calibration
	for _, k := range cases {
		agree, positions := 0, 0
		for _, l := range k.repeats {
			a, n := agreement(replay(l, s), l.fused)
			agree, positions = agree+a, positions+n
		}
		cal.Agree, cal.Positions = cal.Agree+agree, cal.Positions+positions
		if k.faithful = float64(agree) >= LeastAgreement*float64(positions); !k.faithful {
			cal.Under = append(cal.Under, k.id)
		}
	}
	c.Unfaithful = len(cal.Under)
	alone := func(w Settings) func(lists) []record.Entry {
		return func(l lists) []record.Entry {
			l.channels = nil
			return replay(l, w)
		}
	}
	for _, check := range []struct {
		where              string
		recorded, replayed func(lists) []record.Entry
	}{
		{"fusion", func(l lists) []record.Entry { return l.fused }, func(l lists) []record.Entry { return replay(l, s) }},
		{"lexical alone (weight 0)", func(l lists) []record.Entry { return l.lexical }, alone(Settings{Vector: 0, Lexical: 1, K: s.K})},
		{"vector alone (weight 1)", func(l lists) []record.Entry { return l.vector }, alone(Settings{Vector: 1, Lexical: 0, K: s.K})},
	} {
		recorded, err := values(cases, ms, check.recorded)
		if err != nil {
			return err
		}
		replayed, err := values(cases, ms, check.replayed)
		if err != nil {
			return err
		}
		for i, m := range ms {
			cal.Aggregates = append(cal.Aggregates, Aggregate{check.where, m.String(), mean(recorded[i]), mean(replayed[i])})
		}
	}
	e := &UncalibratedError{Suite: c.Suite, Calibration: *cal}
	if share := cal.Share(); share < LeastAgreement {
		e.Reasons = append(e.Reasons, fmt.Sprintf("%d of %d positions of the first %d agree (%.1f %%), want %.0f %%", cal.Agree, cal.Positions, CalibratedTop, 100*share, 100*LeastAgreement))
	}
	for _, a := range cal.Aggregates {
		if !a.OK() {
			e.Reasons = append(e.Reasons, fmt.Sprintf("%s of %s is %.6f in the record and %.6f in the replay, want within %g", a.Measure, a.Where, a.Recorded, a.Replayed, MostDifference))
		}
	}
	if len(e.Reasons) > 0 {
		return e
	}
	return nil
}

// agreement counts the positions of the first ten that hold the same passage.
func agreement(got, want []record.Entry) (agree, positions int) {
	positions = min(CalibratedTop, max(len(got), len(want)))
	for i := range positions {
		if i < len(got) && i < len(want) && got[i].Doc == want[i].Doc && got[i].Chunk == want[i].Chunk {
			agree++
		}
	}
	return agree, positions
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(max(1, len(x)))
}

// notes name what the curve does not cover.
func (c *Curve) notes(run record.Run, rows []record.Row) {
	if v := run.Config["judge"].Value; v != "" && v != "none" {
		c.AfterFusion = append(c.AfterFusion, "the reranker "+v)
	}
	for _, key := range []string{"boosts.title", "boosts.recency", "boosts.source"} {
		if v := run.Config[key].Value; v != "" && v != "0" && v != "none" {
			c.AfterFusion = append(c.AfterFusion, key+" "+v)
		}
	}
	for _, ch := range c.Settings.Channels {
		c.Notes = append(c.Notes, fmt.Sprintf("channel %s is on: its recorded hits are held, though at another weight it may start from other documents", ch.Name))
	}
}

// sweep computes the points and tests each against the current weight.
func (c *Curve) sweep(cases []*fusedCase, ms []metric.Measure, weights []float64, run record.Run) error {
	weights, err := grid(weights, c.Settings.Vector)
	if err != nil {
		return err
	}
	stream := stat.NewStream(1, run.Hashes.Question, run.Hashes.Treatment, "fusion")
	at := func(w float64) (func(lists) []record.Entry, *int) {
		s := c.Settings
		s.Vector = w
		tied := 0
		return func(l lists) []record.Entry {
			out := replay(l, s)
			tied += count(scoreTied(out))
			return out
		}, &tied
	}
	list, _ := at(c.Settings.Vector)
	current, err := values(cases, ms, list)
	if err != nil {
		return err
	}
	var ps []float64
	for _, w := range weights {
		list, tied := at(w)
		vs, err := values(cases, ms, list)
		if err != nil {
			return err
		}
		p := Point{Weight: w, Current: w == c.Settings.Vector, Means: map[string]float64{}, P: 1, Adj: 1}
		for i, m := range ms {
			p.Means[m.String()] = mean(vs[i])
		}
		p.ScoreTies = *tied
		d := p.against(vs[0], current[0], cases)
		if err := p.intervals(vs[0], d, stream); err != nil {
			return err
		}
		if !p.Current {
			f, err := stat.SignFlipTest(d, resamples, stream)
			if err != nil {
				return err
			}
			p.P = f.P
			ps = append(ps, p.P)
		}
		c.Points = append(c.Points, p)
	}
	return c.decide(ps, cases, ms, current[0], at)
}

func (p *Point) against(v, current []float64, cases []*fusedCase) []float64 {
	var d []float64
	d, p.Wins, p.Losses, p.Ties = compare.Deltas(current, v, tie)
	faithful, n := 0.0, 0
	for i := range v {
		if cases[i].faithful {
			faithful, n = faithful+v[i], n+1
		}
	}
	p.Mean, p.Faithful, p.Difference = mean(v), faithful/float64(max(1, n)), mean(d)
	return d
}

func (p *Point) intervals(v, d []float64, stream stat.Stream) error {
	for _, x := range []struct {
		sample []float64
		lo, hi *float64
	}{{v, &p.Lo, &p.Hi}, {d, &p.DiffLo, &p.DiffHi}} {
		b, err := stat.BootstrapMean(x.sample, resamples, stream)
		if err != nil {
			return err
		}
		in, err := b.Percentile(confidence)
		if err != nil {
			return err
		}
		*x.lo, *x.hi = in.Lo, in.Hi
	}
	return nil
}

// decide corrects over the weights and looks at the best one.
func (c *Curve) decide(ps []float64, cases []*fusedCase, ms []metric.Measure, current []float64, at func(float64) (func(lists) []record.Entry, *int)) error {
	if len(ps) > 0 {
		adjusted, err := stat.Adjust(stat.Holm, ps)
		if err != nil {
			return err
		}
		i := 0
		for k := range c.Points {
			if !c.Points[k].Current {
				c.Points[k].Adj = adjusted[i]
				i++
			}
		}
	}
	best := c.At(c.Settings.Vector)
	for i := range c.Points {
		if c.Points[i].Mean > best.Mean+tie {
			best = &c.Points[i]
		}
	}
	c.Best = best.Weight
	c.Distinct = !best.Current && best.Adj <= Alpha && best.Difference > 0
	against := best
	if best.Current { // what the nearest rival could have shown
		for i := range c.Points {
			if p := &c.Points[i]; !p.Current && (against.Current || p.Mean > against.Mean) {
				against = p
			}
		}
	}
	list, _ := at(against.Weight)
	vs, err := values(cases, ms[:1], list)
	if err != nil {
		return err
	}
	d := make([]float64, len(current))
	for i := range d {
		d[i] = vs[0][i] - current[i]
	}
	c.Detectable, err = compare.NewDetectable(d, Alpha/float64(max(1, len(ps))), 0)
	return err
}

// At is the point of a weight, nil if there is none.
func (c *Curve) At(weight float64) *Point {
	i := slices.IndexFunc(c.Points, func(p Point) bool { return p.Weight == weight })
	if i < 0 {
		return nil
	}
	return &c.Points[i]
}

// scoreTied reports equal scores next to each other in the first ten.
func scoreTied(list []record.Entry) bool {
	for i := 1; i < min(CalibratedTop, len(list)); i++ {
		if list[i].Score == list[i-1].Score {
			return true
		}
	}
	return false
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
