package selftest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Keys of what a comparison can turn red.
const (
	KeyRefused      = "refused"      // the runs are not comparable
	KeyTables       = "tables"       // a table or a sentence that the cases do not give
	KeyFloor        = "floor"        // NO-FLOOR
	KeyNoise        = "noise floor"  // NOISE-FLOOR
	KeyDirection    = "direction"    // WRONG-DIR
	KeyAttribution  = "attribution"  // UNATTRIBUTED
	KeySignificance = "significance" // WEAK
	KeyAA           = "A/A"          // an A/A run moved
	KeyStratum      = "stratum"      // a stratum is worse
	KeyLoss         = "loss"         // the gate is red
	KeyTimeouts     = "timeouts"     // the gate could not be measured
	KeySuspect      = "suspect"      // an arm that equals its base
)

// ComparisonKeys lists them.
func ComparisonKeys() []string {
	return []string{
		KeyRefused, KeyTables, KeyRecord, KeyFloor, KeyNoise, KeyDirection, KeyAttribution, KeySignificance, KeyAA, KeyStratum, KeyLoss,
		KeyTimeouts, KeySuspect,
	}
}

// ComparisonMutant is one fault injected into a comparison that would
// otherwise find a real, attributed effect: SIGNAL.
type ComparisonMutant struct {
	Name  string
	Red   []string // keys it must turn red, sorted
	Says  []string
	Apply func(*ComparisonTrial)
}

// ComparisonTrial is what such a mutant works on.
type ComparisonTrial struct {
	Base, Treatment compare.Side
	AA              compare.Side // a run of the base's treatment
	Options         compare.Options
	After           func(*compare.Comparison) // edits what was found before it is shown
}

// cases of the comparison that the mutants work on: in most the reranker puts
// the relevant document one rank higher.
const (
	comparedCases = 120
	rareCases     = 30 // of them in the stratum "rare"
)

// NewComparisonTrial is a base, a treatment whose reranker helps in a third of
// the cases, and a second run of the base.
func NewComparisonTrial() *ComparisonTrial {
	base, treated := make([]int, comparedCases), make([]int, comparedCases)
	for i := range base {
		base[i] = 2 + i%3
		treated[i] = base[i]
		if i%3 == 0 {
			treated[i]--
		}
	}
	t := &ComparisonTrial{
		Base:      comparedRun("base", "none", base, base),
		AA:        comparedRun("aa", "none", base, base),
		Treatment: comparedRun("treatment", "judge", base, treated),
	}
	t.Options = compare.Options{Vary: []string{"judge"}, Control: []string{"lexical"}, AA: []compare.Side{t.AA}}
	return t
}

// comparedRun is a complete record: the relevant document of case i leaves the
// lexical arm at rank `before` and the reranker at rank `after`.
func comparedRun(label, judge string, before, after []int) compare.Side {
	f := &record.File{Path: label, State: record.Complete, End: &record.End{SHA256: label}}
	f.Run = record.Run{
		Suite: "toy", Arm: "base", Mode: "default", Headline: []string{"RR@10"}, Measures: []string{"RR@10"}, Unit: "document",
		Config:   map[string]record.Set{"judge": {Value: judge}},
		Hashes:   record.Hashes{Question: "question", SeedKey: "seed"},
		Identity: record.CurrentIdentity(), Context: record.Context{Commit: "now"},
	}
	for i := range before {
		id := fmt.Sprintf("q%03d", i)
		f.Run.Plan = append(f.Run.Plan, id)
		f.Rows = append(f.Rows, comparedRow(id, stratumOf(i), before[i], after[i]))
	}
	seal(f)
	return compare.Side{Label: label, File: f}
}

// seal gives a record the hash of its configuration, as a run does.
func seal(f *record.File) {
	f.Run.Hashes.Treatment, _ = record.TreatmentHash(f.Run.Config) // strings always have one
}

func stratumOf(i int) string {
	if i >= comparedCases-rareCases {
		return "rare"
	}
	return "common"
}

func comparedRow(id, stratum string, before, after int) record.Row {
	stage := func(name string, at int) record.Stage {
		return record.Stage{Name: name, State: record.Executed, Entries: goldAt(at)}
	}
	return record.Row{
		Suite: "toy", Arm: "base", Mode: "default", Case: id, Question: "where is " + id + "?", Stratum: stratum, Digest: "digest of " + id,
		Gold: map[string]int{"gold": 1}, Answer: true, Outcome: record.Outcome{State: record.Scored}, Ranking: goldAt(after),
		Stages:   []record.Stage{stage("lexical", before), stage("candidates", before), stage("rerank", after)},
		Channels: []record.Channel{{Name: record.ChannelLexical, Fired: true, Contributed: true}},
	}
}

// goldAt is a list with the relevant document at a rank.
func goldAt(at int) []record.Entry {
	var out []record.Entry
	for i := 1; i <= 12; i++ {
		doc := fmt.Sprintf("d%02d", i)
		if i == at {
			doc = "gold"
		}
		out = append(out, record.Entry{Doc: doc, Score: float64(-i)})
	}
	return out
}

// TryComparison applies a mutant and compares.
func TryComparison(m ComparisonMutant) (red, text []string, err error) {
	t := NewComparisonTrial()
	if m.Apply != nil {
		m.Apply(t)
	}
	c, err := compare.Compare(t.Base, []compare.Side{t.Treatment}, t.Options)
	var refused *compare.Incomparable
	switch {
	case errors.As(err, &refused):
		return []string{KeyRefused}, []string{err.Error()}, nil
	case err != nil:
		return []string{KeyRecord}, []string{err.Error()}, nil
	}
	if t.After != nil {
		t.After(c)
	}
	if err := compare.Verify(c); err != nil {
		return []string{KeyTables}, []string{err.Error()}, nil
	}
	x := c.Treatments[0]
	text = slices.Concat(x.Sentences, x.Notes, c.Floor.Notes, []string{x.GateWhy})
	for _, k := range []struct {
		key string
		on  bool
	}{
		{KeyFloor, x.Verdict == compare.NoFloor}, {KeyNoise, x.Verdict == compare.NoiseFloor}, {KeyDirection, x.Verdict == compare.WrongDir},
		{KeyAttribution, x.Verdict == compare.Unattributed}, {KeySignificance, x.Verdict == compare.Weak},
		{KeyLoss, x.Gate == compare.GateRegressed}, {KeyTimeouts, x.Gate == compare.GateCNM},
		{KeyAA, slices.ContainsFunc(c.Floor.Runs, func(r compare.AARun) bool { return r.Moved > 0 })},
		{KeyStratum, slices.ContainsFunc(x.Strata, func(s compare.Stratum) bool { return s.Word == "worse" })},
		{KeySuspect, slices.ContainsFunc(x.Notes, func(n string) bool { return strings.HasPrefix(n, "SUSPECT") })},
	} {
		if k.on {
			red = append(red, k.key)
		}
	}
	slices.Sort(red)
	return red, text, nil
}

// ComparisonCatalogue lists the mutants of a comparison.
func ComparisonCatalogue() []ComparisonMutant {
	return []ComparisonMutant{
		{Name: "unpaired ids", Red: []string{KeyRefused}, Says: []string{"no case of 240 is a pair"}, Apply: func(t *ComparisonTrial) {
			for i := range t.Treatment.File.Rows {
				r := &t.Treatment.File.Rows[i]
				r.Case = "other-" + r.Case
				t.Treatment.File.Run.Plan[i] = r.Case
			}
		}},
		{Name: "a tenth of the cases missing", Red: []string{KeyRefused}, Says: []string{"108 of 120 cases are pairs", "q108"}, Apply: func(t *ComparisonTrial) {
			t.Treatment.File.Rows = t.Treatment.File.Rows[:108]
		}},
		{Name: "changed config", Red: []string{KeyRefused}, Says: []string{"depth (none -> 7), which was not declared", "--vary depth"}, Apply: func(t *ComparisonTrial) {
			t.Treatment.File.Run.Config["depth"] = record.Set{Value: "7"}
			seal(t.Treatment.File)
		}},
		{Name: "a configuration edited to hide a second change", Red: []string{KeyRefused}, Says: []string{"was edited: its configuration has the hash"}, Apply: func(t *ComparisonTrial) {
			t.Treatment.File.Run.Config["depth"] = record.Set{Value: "7"}
			seal(t.Treatment.File)
			delete(t.Treatment.File.Run.Config, "depth")
		}},
		{Name: "one side without a configuration", Red: []string{KeyRefused}, Says: []string{"treatment does not tell its configuration"}, Apply: func(t *ComparisonTrial) {
			t.Treatment.File.Run.Config = nil
			seal(t.Treatment.File)
		}},
		{Name: "a change that did not reach the subject", Red: []string{KeyRefused}, Says: []string{"key judge was declared and is equal"}, Apply: func(t *ComparisonTrial) {
			t.Treatment.File.Run.Config["judge"] = record.Set{Value: "none"}
			seal(t.Treatment.File)
		}},
		{Name: "other questions", Red: []string{KeyRefused}, Says: []string{"question hash"}, Apply: func(t *ComparisonTrial) {
			t.Treatment.File.Run.Hashes.Question = "other"
		}},
		{Name: "another store", Red: []string{KeyRefused}, Says: []string{"seed key (seed -> other) differs"}, Apply: func(t *ComparisonTrial) {
			t.Treatment.File.Run.Hashes.SeedKey = "other"
		}},
		{Name: "another platform", Red: []string{KeyRefused}, Says: []string{"platform class"}, Apply: func(t *ComparisonTrial) {
			t.Treatment.File.Run.Identity.Class = "plan9/mips"
		}},
		{Name: "control moved", Red: []string{KeyRefused}, Says: []string{"control lexical moved in 1 of 120 cases"}, Apply: func(t *ComparisonTrial) {
			t.Treatment.File.Rows[5].Stages[0].Entries = goldAt(9)
		}},
		{Name: "a measurement break between the runs", Red: []string{KeyRefused}, Says: []string{"a measurement break lies between them"}, Apply: func(t *ComparisonTrial) {
			t.Base.File.Run.Context.Commit = "before"
			t.Options.Breaks = []compare.Break{{V: 1, Defect: "gold was swapped", FirstSound: "now"}}
			t.Options.After = func(_, commit string) (bool, error) { return commit == "now", nil }
		}},
		{Name: "record truncated", Red: []string{KeyRefused}, Says: []string{"is truncated"}, Apply: func(t *ComparisonTrial) {
			t.Treatment.File.State = record.Truncated
		}},
		{Name: "a measure that the ranking does not give", Red: []string{KeyRecord}, Says: []string{"its ranking and gold give"}, Apply: func(t *ComparisonTrial) {
			t.Treatment.File.Rows[1].Measures = map[string]float64{"RR@10": 0.9}
		}},
		{Name: "no A/A run", Red: []string{KeyFloor}, Says: []string{"a floor needs 2"}, Apply: func(t *ComparisonTrial) { t.Options.AA = nil }},
		{Name: "A/A of another treatment", Red: []string{KeyFloor}, Says: []string{"is no A/A run of the base: judge (none -> other)"}, Apply: func(t *ComparisonTrial) {
			t.AA.File.Run.Config["judge"] = record.Set{Value: "other"}
			seal(t.AA.File)
		}},
		{Name: "A/A with real change", Red: []string{KeyAA, KeyNoise}, Says: []string{"WARNING: aa moved 40 cases although nothing was changed"}, Apply: func(t *ComparisonTrial) {
			t.AA.File.Rows = slices.Clone(t.Treatment.File.Rows)
			again := *t.AA.File
			again.End = &record.End{SHA256: "aa2"}
			t.Options.AA = append(t.Options.AA, compare.Side{Label: "aa2", File: &again})
		}},
		{Name: "a change for the worse", Red: []string{KeyDirection, KeyLoss, KeyStratum}, Says: []string{"the mean fell"}, Apply: func(t *ComparisonTrial) {
			t.Base.File.Rows, t.Treatment.File.Rows = t.Treatment.File.Rows, t.Base.File.Rows
			t.AA.File.Rows = t.Base.File.Rows
		}},
		{Name: "effect on one stratum only", Red: []string{KeyStratum}, Says: []string{"SIGNAL"}, Apply: func(t *ComparisonTrial) {
			for i := comparedCases - rareCases; i < comparedCases; i++ { // what helps the common ones harms the rare ones
				t.Treatment.File.Rows[i] = comparedRow(fmt.Sprintf("q%03d", i), "rare", 2+i%3, 3+i%3)
			}
		}},
		{Name: "an effect that the reranker had no hand in", Red: []string{KeyAttribution}, Says: []string{"rerank touched 0 of 40 moved cases"}, Apply: func(t *ComparisonTrial) {
			for _, side := range []compare.Side{t.Base, t.Treatment} {
				for i := range side.File.Rows {
					s := side.File.Rows[i].Stages
					s[2].Entries = s[1].Entries
				}
			}
		}},
		{Name: "three cases better by chance", Red: []string{KeySignificance}, Says: []string{"not significant", "smallest detectable difference"}, Apply: func(t *ComparisonTrial) {
			copy(t.Treatment.File.Rows[9:], t.Base.File.Rows[9:])
		}},
		{Name: "significance by 50 noise arms", Red: []string{KeySignificance}, Says: []string{"over a family of 51 (bh): not significant"}, Apply: func(t *ComparisonTrial) {
			copy(t.Treatment.File.Rows[20:], t.Base.File.Rows[20:]) // seven of seven: p = .016, as one of fifty arms has
			for i := range 50 {
				t.Options.Family = append(t.Options.Family, compare.Member{
					V: 1, Treatment: fmt.Sprint("noise ", i), Measure: "RR@10", P: (float64(i) + 1) / 51,
				})
			}
		}},
		{Name: "a loss that timeouts alone make", Red: []string{KeyDirection, KeyStratum, KeyTimeouts}, Says: []string{"timeouts as the worst value, not without them"}, Apply: func(t *ComparisonTrial) {
			t.Treatment.File.Rows = slices.Clone(t.Base.File.Rows)
			for i := range 30 {
				r := &t.Treatment.File.Rows[i]
				r.Outcome = record.Outcome{State: record.TimedOut, Reason: "late"}
				r.Ranking, r.Stages = nil, nil
			}
			t.Options.Control, t.Options.Channels = nil, []string{record.ChannelRerank}
		}},
		{Name: "an arm that equals its base", Red: []string{KeyNoise, KeySuspect}, Says: []string{"SUSPECT: every ranking equals the base's"}, Apply: func(t *ComparisonTrial) {
			t.Treatment.File.Rows = t.Base.File.Rows
		}},
		{Name: "a table and its sentence disagree", Red: []string{KeyTables}, Says: []string{"a sentence says"}, Apply: func(t *ComparisonTrial) {
			t.After = func(c *compare.Comparison) {
				c.Treatments[0].Sentences[0] = "44 cases are better, 4 are worse and 72 are equal: net +40."
			}
		}},
		{Name: "a verdict that its figures do not give", Red: []string{KeyTables}, Says: []string{"the verdict is SIGNAL, its figures give"}, Apply: func(t *ComparisonTrial) {
			t.Options.AA = nil
			t.After = func(c *compare.Comparison) { c.Treatments[0].Verdict = compare.Signal }
		}},
		{Name: "a recommendation against the verdict", Red: []string{KeyTables}, Says: []string{"contradicts"}, Apply: func(t *ComparisonTrial) {
			t.After = func(c *compare.Comparison) { c.Treatments[0].Advice = compare.KeepOff }
		}},
		{Name: "benign: nothing injected", Says: []string{"SIGNAL"}},
		{Name: "benign: a default given explicitly", Apply: func(t *ComparisonTrial) {
			t.Base.File.Run.Config["judge"] = record.Set{Value: "none", Default: true}
		}},
		{Name: "benign: rows in another order", Apply: func(t *ComparisonTrial) { slices.Reverse(t.Treatment.File.Rows) }},
		{Name: "benign: scores doubled", Apply: func(t *ComparisonTrial) {
			for _, r := range t.Treatment.File.Rows {
				for i := range r.Ranking {
					r.Ranking[i].Score *= 2
				}
			}
		}},
		{Name: "benign: three cases refused, and named", Apply: func(t *ComparisonTrial) {
			for i := 1; i < 4; i++ {
				t.Treatment.File.Rows[7*i+1].Outcome = record.Outcome{State: record.Refused, Reason: "no model"}
			}
		}},
	}
}
