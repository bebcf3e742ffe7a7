package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

// DefaultResamples is how many resamples intervals and tests draw.
const DefaultResamples = 10000

// Confidence of the intervals.
const Confidence = 0.95

// Options of a comparison.
type Options struct {
	Rule     *record.Decision // in the place of the base's own; a changed rule makes it exploratory
	Vary     []string         // keys of the configuration that may differ
	Channels []string         // channels that were changed; none: those of the keys that differ
	Control  []string         // stages that must be identical case by case
	Partial  bool             // fewer pairs than LeastOverlap are accepted
	AA       []Side           // runs of the base's own treatment
	Breaks   []Break
	After    Ancestry
	Family   []Member // what was compared with the base before
	All      bool     // all measures of the runs at all stages, not the headline alone

	Resamples int // 0: DefaultResamples
	Seed      uint64
}

// Comparison is a base with a family of treatments, of one suite.
type Comparison struct {
	Suite       string          `json:"suite"`
	Base        Subject         `json:"base"`
	Rule        record.Decision `json:"rule"`
	Exploratory []string        `json:"exploratory,omitempty"` // why the comparison was not fixed beforehand
	Partial     bool            `json:"partial,omitempty"`     // fewer pairs than LeastOverlap, or records cut short, were accepted
	Warnings    []string        `json:"warnings,omitempty"`
	Floor       Floor           `json:"floor"`
	Family      []Member        `json:"family,omitempty"` // earlier comparisons with this base
	Treatments  []*Treatment    `json:"treatments"`

	base Side
}

// Subject is a side as reports name it.
type Subject struct {
	Label  string `json:"label"`
	Arm    string `json:"arm"`
	Mode   string `json:"mode"`
	Record string `json:"record"`
	Commit string `json:"commit,omitempty"`
	Dirty  int    `json:"dirty_files"`
	Use    string `json:"use,omitempty"`
	UseWhy string `json:"use_why,omitempty"`
	Load   string `json:"load,omitempty"` // before and after
}

// Figure is a measure at a stage, as means over the pairs.
type Figure struct {
	Stage     string  `json:"stage"`
	Measure   string  `json:"measure"`
	N         int     `json:"n"`
	Base      float64 `json:"base"`
	Treatment float64 `json:"treatment"`
	Mean      float64 `json:"mean"` // of treatment less base
	Lo        float64 `json:"lo"`   // of its 95 % interval
	Hi        float64 `json:"hi"`
	Wins      int     `json:"wins"`
	Losses    int     `json:"losses"`
	Ties      int     `json:"ties"`
	SignP     float64 `json:"sign_p"` // exact, two-sided
}

// Case is one pair: the table that every figure and every sentence of the
// primary measure comes from.
type Case struct {
	Case      string          `json:"case"`
	Question  string          `json:"question"`
	Stratum   string          `json:"stratum"`
	Base      float64         `json:"base"`
	Treatment float64         `json:"treatment"`
	States    [2]record.State `json:"states"`
	Ranks     [2]int          `json:"ranks"`              // of the first relevant document; 0 when there is none
	Right     [2]bool         `json:"right"`              // something relevant is within the depth that users see
	Missed    [2]string       `json:"missed"`             // where the relevant documents were lost; empty when right
	Diverges  string          `json:"diverges,omitempty"` // first stage whose list differs
}

// Diff is the difference of the case.
func (c Case) Diff() float64 {
	if d := c.Treatment - c.Base; math.Abs(d) > Epsilon {
		return d
	}
	return 0
}

// Broke reports a case that was right and is wrong, Mended the opposite.
func (c Case) Broke() bool  { return c.Right[0] && !c.Right[1] }
func (c Case) Mended() bool { return !c.Right[0] && c.Right[1] }

// Treatment is one treatment against the base.
type Treatment struct {
	Subject     Subject     `json:"subject"`
	Differs     []Mismatch  `json:"differs,omitempty"`
	Pairs       int         `json:"pairs"`
	Planned     int         `json:"planned"`
	Ungraded    int         `json:"ungraded"`
	OnlyBase    []LeftOut   `json:"only_base,omitempty"`
	OnlyTreated []LeftOut   `json:"only_treatment,omitempty"`
	Neither     []LeftOut   `json:"neither,omitempty"`
	Worst       [2]int      `json:"worst"`    // pairs with the worst value, on each side
	Timeouts    int         `json:"timeouts"` // of the treatment
	Depth       int         `json:"depth"`    // within which a case is right
	Cases       []Case      `json:"cases"`
	Primary     Figure      `json:"primary"`
	P           float64     `json:"p"` // sign flip, two-sided; this one decides
	Exact       bool        `json:"p_exact"`
	Adjusted    float64     `json:"p_adjusted"`
	FamilySize  int         `json:"family_size"`
	Significant bool        `json:"significant"`
	WilcoxonP   float64     `json:"wilcoxon_p"`
	Detectable  Detectable  `json:"detectable"`
	Completed   *Figure     `json:"completed,omitempty"` // over the pairs that both completed, where some did not
	Equivalent  bool        `json:"equivalent"`
	TOST        *TOST       `json:"tost,omitempty"`
	Others      []Figure    `json:"others,omitempty"`  // other measures and stages
	NotRun      []string    `json:"not_run,omitempty"` // stages without figures, with the reason
	Strata      []Stratum   `json:"strata,omitempty"`
	Skew        *Skew       `json:"skew,omitempty"`
	Misses      []Miss      `json:"misses,omitempty"`
	Wrong       [2]int      `json:"wrong"` // cases that are not right, on each side
	Latency     [2]Latency  `json:"latency"`
	Attribution Attribution `json:"attribution"`
	Verdict     Verdict     `json:"verdict"`
	Star        bool        `json:"star"` // attribution is unknown
	Gate        string      `json:"gate"`
	GateWhy     string      `json:"gate_why,omitempty"`
	Advice      string      `json:"advice"`
	Notes       []string    `json:"notes,omitempty"`
	Sentences   []string    `json:"sentences"`

	lostWithout bool
	noChange    bool     // another run of the base's own treatment and sources
	without     []string // stages that a measurement break keeps out
	member      Member
}

// TOST is the equivalence test: whether the mean lies within the margin.
type TOST struct {
	Margin float64 `json:"margin"`
	P      float64 `json:"p"`
	Lo     float64 `json:"lo"` // of the interval at 1 - 2 alpha
	Hi     float64 `json:"hi"`
}

// Compare compares treatments with a base. Everything that can make them
// incomparable is looked at before a number is computed, for all of them.
func Compare(base Side, treatments []Side, o Options) (*Comparison, error) {
	if len(treatments) == 0 {
		return nil, errors.New("no treatment to compare with the base")
	}
	if err := known(o.Channels, base, treatments); err != nil {
		return nil, err
	}
	if o.Resamples == 0 {
		o.Resamples = DefaultResamples
	}
	c := &Comparison{Suite: base.File.Run.Suite, Base: subject(base), base: base}
	if err := c.rule(base, treatments, o.Rule); err != nil {
		return nil, err
	}
	primary, err := metric.Parse(c.Rule.Primary)
	if err != nil {
		return nil, err
	}
	differ := make([][]Mismatch, len(treatments))
	pairs := make([]Pairs, len(treatments))
	made := make([]*Treatment, len(treatments))
	for i, t := range treatments {
		made[i] = &Treatment{Subject: subject(t)}
		if differ[i], pairs[i], err = c.admit(base, t, made[i], o); err != nil {
			return nil, err
		}
		made[i].Differs = differ[i]
	}
	if err := undeclared(o.Vary, base, treatments, differ); err != nil {
		return nil, err
	}
	if len(base.File.Run.Config) == 0 {
		c.Warnings = append(c.Warnings, "WARNING: neither side tells its configuration (the subject has no Fingerprint), so differences that nobody declared cannot be seen, and what was changed rests on your word")
	}
	channels := o.Channels
	if len(channels) == 0 {
		channels = changed(differ)
	}
	if c.Floor, err = NewFloor(base, o.AA, primary, channels); err != nil {
		return nil, err
	}
	for i, t := range treatments {
		x := made[i]
		if err := x.measure(c, t, pairs[i], primary, o); err != nil {
			return nil, fmt.Errorf("%s: %w", t.Label, err)
		}
		x.member = newMember(c, t, x)
		if x.noChange = sameSources(base, t) && len(x.Differs) == 0; x.noChange {
			x.Notes = append(x.Notes, "another run of the base's own configuration and sources: no treatment, and no member of the family; give it with --aa")
		}
		c.Treatments = append(c.Treatments, x)
	}
	if err := c.decide(treatments, o); err != nil {
		return nil, err
	}
	return c, nil
}

// rule takes the rule that was fixed before the runs, or says why there is
// none.
func (c *Comparison) rule(base Side, treatments []Side, given *record.Decision) error {
	run := base.File.Run
	explore := func(format string, args ...any) { c.Exploratory = append(c.Exploratory, fmt.Sprintf(format, args...)) }
	switch {
	case run.Decision != nil:
		c.Rule = *run.Decision
	case given != nil:
		c.Rule = *given
	case len(run.Headline) > 0:
		c.Rule = record.Decision{Primary: run.Headline[0]}
	default:
		return fmt.Errorf("%s: the record names no measure; name one", base.File.Path)
	}
	var err error
	if c.Rule, err = c.Rule.Filled(); err != nil {
		return fmt.Errorf("decision of %s: %w", base.Label, err)
	}
	if run.Decision == nil {
		explore("no [decision] was fixed before the runs")
	}
	for _, t := range treatments {
		if t.File.Run.Hashes.Decision != run.Hashes.Decision {
			explore("the rule of %s is another than that of the base", t.Label)
		}
	}
	if given == nil {
		return nil
	}
	rule, err := given.Filled()
	if err != nil {
		return err
	}
	was, err := c.Rule.Hash()
	if err != nil {
		return err
	}
	is, err := rule.Hash()
	if err != nil {
		return err
	}
	if was != is {
		explore("the rule was changed for this comparison")
	}
	c.Rule = rule
	return nil
}

// admit refuses a treatment that cannot be compared, before any number.
func (c *Comparison) admit(base, t Side, x *Treatment, o Options) ([]Mismatch, Pairs, error) {
	refuse := func(format string, args ...any) error {
		return &Incomparable{Base: base.Label, Treatment: t.Label, Reasons: []string{fmt.Sprintf(format, args...)}}
	}
	differ, err := Comparable(base, t, o.Vary)
	if err != nil {
		return nil, Pairs{}, err
	}
	refused, notes, without := across(o.Breaks, base.File.Run, t.File.Run, c.Rule.Primary, o.After)
	if refused != "" {
		return nil, Pairs{}, refuse("%s", refused)
	}
	x.Notes, x.without = notes, without
	pairs, err := Pair(base.File, t.File)
	if err != nil {
		return nil, pairs, refuse("%v", err)
	}
	if t.Digest() == base.Digest() {
		return nil, pairs, refuse("they are one record; name another run")
	}
	for _, s := range []Side{base, t} {
		if s.File.State == record.Complete {
			continue
		}
		c.Partial = true
		if !o.Partial {
			return nil, pairs, refuse("the record of %s is %s: %s; with --partial its finished cases are compared", s.Label, s.File.State, s.File.Detail)
		}
	}
	switch {
	case len(pairs.List) == 0:
		return nil, pairs, refuse("no case of %d is a pair%s", pairs.Planned, someOf(pairs))
	case pairs.Overlap() < LeastOverlap && !o.Partial:
		return nil, pairs, refuse("%d of %d cases are pairs, under %.0f %%%s; with --partial they are compared all the same",
			len(pairs.List), pairs.Planned, 100*LeastOverlap, someOf(pairs))
	case pairs.Overlap() < LeastOverlap:
		c.Partial = true
	}
	for _, stage := range o.Control {
		moved, err := controlMoved(stage, pairs)
		if err != nil {
			return nil, pairs, refuse("control %s: %v", stage, err)
		}
		if len(moved) > 0 {
			return nil, pairs, refuse("control %s moved in %d of %d cases, for instance %q: more than the declared change differs",
				stage, len(moved), len(pairs.List), moved[:min(3, len(moved))])
		}
	}
	return differ, pairs, nil
}

// someOf names a few cases that are not paired.
func someOf(p Pairs) string {
	s := ""
	for _, side := range []struct {
		name string
		list []LeftOut
	}{{"only in the base", p.OnlyBase}, {"only in the treatment", p.OnlyTreated}, {"in neither", p.Neither}} {
		if n := len(side.list); n > 0 {
			s += fmt.Sprintf("; %d %s, for instance %s", n, side.name, side.list[0].Case)
		}
	}
	return s
}

// controlMoved lists the cases in which a stage did not return the same list.
func controlMoved(stage string, pairs Pairs) ([]string, error) {
	var moved []string
	for _, c := range pairs.List {
		for i, t := range c.Treatment {
			b := c.Base[min(i, len(c.Base)-1)]
			if b.Outcome.State != record.Scored || t.Outcome.State != record.Scored {
				if b.Outcome.State != t.Outcome.State {
					moved = append(moved, c.Case)
				}
				continue
			}
			x, ok := b.Stage(stage)
			y, also := t.Stage(stage)
			if !ok || !also {
				return nil, fmt.Errorf("case %s does not report it; name a stage of both runs", c.Case)
			}
			if x.State != y.State || !sameEntries(x.Entries, y.Entries) {
				moved = append(moved, c.Case)
			}
		}
	}
	return slices.Compact(moved), nil
}

// changed lists the channels of the keys that differ; none when some key works
// through no channel that a probe sees.
func changed(differ [][]Mismatch) []string {
	var out []string
	for _, ms := range differ {
		for _, m := range ms {
			names := Channels(m.Key)
			if len(names) == 0 && m.Key != IngestSources {
				return nil
			}
			for _, n := range names {
				if !slices.Contains(out, n) {
					out = append(out, n)
				}
			}
		}
	}
	return out
}

func subject(s Side) Subject {
	run := s.File.Run
	out := Subject{Label: s.Label, Arm: run.Arm, Mode: run.Mode, Record: s.File.Path, Commit: run.Context.Commit, Dirty: run.Context.DirtyFiles}
	if s.File.Verdict != nil {
		out.Use, out.UseWhy = s.File.Verdict.Use, s.File.Verdict.UseWhy
	}
	out.Load = run.Context.Load
	if s.File.End != nil && s.File.End.Load != "" {
		out.Load += " -> " + s.File.End.Load
	}
	return out
}

// decide corrects over the family and gives every treatment its verdict.
func (c *Comparison) decide(sides []Side, o Options) error {
	var members []Member
	at := make([]int, len(c.Treatments))
	isFloor := make([]bool, len(c.Treatments))
	for _, m := range o.Family {
		if m.Measure == c.Rule.Primary {
			members = with(members, m)
		}
	}
	c.Family = slices.Clone(members)
	for i, t := range c.Treatments {
		isFloor[i] = slices.ContainsFunc(o.AA, func(s Side) bool { return s.Digest() == sides[i].Digest() })
		if isFloor[i] || t.noChange {
			at[i] = -1
			continue
		}
		members = with(members, t.member)
	}
	var ps []float64
	for _, m := range members {
		ps = append(ps, m.P)
	}
	var adjusted []float64
	var significant []bool
	if len(ps) > 0 {
		var err error
		if adjusted, significant, err = stat.Decide(stat.Correction(c.Rule.Correction), ps, c.Rule.Q); err != nil {
			return err
		}
	}
	for i, t := range c.Treatments {
		if err := t.detectable(c.Rule, len(members)); err != nil {
			return err
		}
		t.Adjusted = t.P
		if at[i] >= 0 {
			k := slices.IndexFunc(members, t.member.same)
			t.Adjusted, t.Significant, t.FamilySize = adjusted[k], significant[k], len(members)
		}
		t.Verdict, t.Star = Judge(Facts{
			IsFloor: isFloor[i], Floor: c.Floor, Mean: t.Primary.Mean, Attribution: t.Attribution, Significant: t.Significant,
		})
		t.speak(c)
		t.gate(c.Rule)
		t.recommend(c.Rule)
		t.Sentences = Sentences(c, t)
	}
	return Verify(c)
}

// sameSources reports whether both runs are known to be of the same sources
// under the same configuration.
func sameSources(base, t Side) bool {
	return base.Folder != nil && t.Folder != nil && base.Folder.Tree != "" && base.Folder.Tree == t.Folder.Tree &&
		len(base.File.Run.Config) > 0 && base.File.Run.Hashes.Treatment == t.File.Run.Hashes.Treatment
}

// known refuses a channel that has no probe and that no row speaks of: a
// misspelt name would pass for one whose hand does not show.
func known(channels []string, base Side, treatments []Side) error {
	for _, name := range channels {
		if _, ok := ProbeOf(name); ok {
			continue
		}
		told := func(s Side) bool {
			return slices.ContainsFunc(s.File.Rows, func(r record.Row) bool {
				return slices.ContainsFunc(r.Channels, func(c record.Channel) bool { return c.Name == name })
			})
		}
		if !told(base) && !slices.ContainsFunc(treatments, told) {
			var names []string
			for _, p := range Probes() {
				names = append(names, p.Channel)
			}
			return fmt.Errorf("channel %q: no row speaks of it and there is no touch probe of that name; want one of %s, or one that the rows tell of", name, strings.Join(names, ", "))
		}
	}
	return nil
}
