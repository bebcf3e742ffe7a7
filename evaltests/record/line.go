package record

import (
	"cmp"
	"fmt"
	"slices"
)

// Version is the format of the lines written here. Format 2 writes a list that
// equals an earlier one once.
const Version = 2

// Kinds of line.
const (
	KindRun     = "run"
	KindCase    = "case"
	KindGate    = "gate"
	KindVerdict = "verdict"
	KindEnd     = "end"
)

// Head starts every line.
type Head struct {
	V    int    `json:"v"`
	Kind string `json:"kind"`
}

// Run is the first line of a record: what was planned, asked of what, on what.
type Run struct {
	Head
	Suite      string         `json:"suite"`
	Arm        string         `json:"arm"`
	Mode       string         `json:"mode"` // how the subject is asked: "default"
	Tier       string         `json:"tier"`
	Shard      string         `json:"shard,omitempty"`   // i/n: Plan is that part of Whole
	Repeats    int            `json:"repeats,omitempty"` // how often each case is asked; 0 is once
	Workers    int            `json:"workers,omitempty"` // cases asked at a time; 0 is one
	Nonce      string         `json:"nonce"`
	Test       string         `json:"test,omitempty"`       // the Go test that ran it, for the rerun command
	Package    string         `json:"package,omitempty"`    // its import path
	NotRun     string         `json:"not_run,omitempty"`    // why nothing was planned: the content is not here, another tier
	Plan       []string       `json:"plan"`                 // case ids, in order
	Whole      []string       `json:"whole_plan,omitempty"` // of a shard: the plan of all shards
	LeftOut    map[string]int `json:"left_out,omitempty"`
	Headline   []string       `json:"headline"` // measures that reports show first
	Measures   []string       `json:"measures"` // all measures of a row
	Unit       string         `json:"unit"`     // document or chunk
	Pack       PackID         `json:"pack"`
	Gates      []string       `json:"gates,omitempty"`      // names of the gates that the suite declares
	Specs      []GateSpec     `json:"gate_specs,omitempty"` // the thresholds, so that a verdict can be computed again
	Require    []string       `json:"require_stages,omitempty"`
	Limits     Plausible      `json:"plausible,omitzero"`
	GoldenK    int            `json:"golden_k,omitempty"`        // depth of the suite's golden, 0 if it has none
	Timeout    int64          `json:"case_timeout_ms,omitempty"` // deadline of one call
	Waivers    []Waiver       `json:"waivers,omitempty"`
	Decision   *Decision      `json:"decision,omitempty"` // how a comparison with this run is read; nil: nothing was fixed before it
	References []Reference    `json:"references,omitempty"`
	Exposure   *Exposure      `json:"exposure,omitempty"`     // absent: the suite sets no limit
	Broken     []KnownBroken  `json:"known_broken,omitempty"` // the planned cases that are known to fail; they are asked and counted as any other
	PoolLimit  int            `json:"pool_limit,omitempty"`   // most documents of a store; the cases' own are all there
	Hashes     Hashes         `json:"hashes"`
	Runner     string         `json:"runner,omitempty"`   // ephemeral or cached
	Scope      string         `json:"scope,omitempty"`    // what one store holds: suite, group or case
	Contract   *Contract      `json:"contract,omitempty"` // nil: the pack has none
	Seeds      []Seed         `json:"seeds,omitempty"`    // the stores, if the subject makes them itself
	Config     map[string]Set `json:"config,omitempty"`   // effective configuration of the subject
	Identity   Identity       `json:"identity"`
	Context    Context        `json:"context"`
}

// PackID pins the pack that a run was over.
type PackID struct {
	Name      string `json:"name"`
	Version   string `json:"version"`
	Digest    string `json:"digest"`
	Role      string `json:"role"`
	Authored  string `json:"authored"`
	Documents int    `json:"documents"`
}

// Set is one value of an effective configuration.
type Set struct {
	Value   string `json:"value"`
	Default bool   `json:"default"` // false: it was given explicitly
}

// Reference is a published or measured value beside which a headline may
// stand.
type Reference struct {
	Measure string  `json:"measure"`
	Stage   string  `json:"stage,omitempty"` // empty: the final ranking
	Value   float64 `json:"value"`
	Source  string  `json:"source"`
	Unequal string  `json:"unequal,omitempty"` // why it cannot be compared
}

// Exposure says which planned cases were used for tuning more often than the
// suite allows.
type Exposure struct {
	Allowed int      `json:"allowed"`
	Beyond  []string `json:"beyond"`
}

// KnownBroken is a planned case whose failure somebody has taken on.
type KnownBroken struct {
	Case    string `json:"case"`
	Reason  string `json:"reason"`
	Owner   string `json:"owner"`
	Until   string `json:"until"`             // YYYY-MM-DD, the last day on which it is not overdue
	Overdue bool   `json:"overdue,omitempty"` // when the run was started
}

// Hashes decide what may be compared with what.
type Hashes struct {
	Question  string `json:"question"`           // pack content, gold, strata, unit, the whole plan
	Treatment string `json:"treatment"`          // effective configuration of the subject
	SeedKey   string `json:"seed_key,omitempty"` // content address of the store, if the subject has one
	Decision  string `json:"decision,omitempty"` // of the rule that was fixed before the run
	Store     string `json:"store,omitempty"`    // what the store depends on apart from code and pack: models, chunks, schema
}

// Waiver lets a suite pass although some cases were refused or skipped for a
// stated reason, up to a number and until a date.
type Waiver struct {
	Reason string `json:"reason" toml:"reason"` // the outcome's reason, exactly
	Max    int    `json:"max" toml:"max"`       // at most this many cases
	Until  string `json:"until" toml:"until"`   // YYYY-MM-DD, the last day it holds
}

// GateSpec is one [[gate]] of suite.toml: see package gate.
type GateSpec struct {
	Measure   string   `toml:"measure" json:"measure,omitempty"`     // for instance "nDCG@10"
	Stage     string   `toml:"stage" json:"stage,omitempty"`         // empty: the final ranking
	Stratum   string   `toml:"stratum" json:"stratum,omitempty"`     // empty: all
	Count     string   `toml:"count" json:"count,omitempty"`         // instead of measure: "failed" or "timed_out"
	Latency   string   `toml:"latency" json:"latency,omitempty"`     // instead of measure: "p50", "p95", "p99" or "max", in milliseconds
	Floor     *float64 `toml:"floor" json:"floor,omitempty"`         // a value below blocks
	Ceiling   *float64 `toml:"ceiling" json:"ceiling,omitempty"`     // a value above blocks
	Target    *float64 `toml:"target" json:"target,omitempty"`       // met or not met; never blocks
	Min       int      `toml:"min" json:"min,omitempty"`             // least denominator, default 1
	Certainty bool     `toml:"certainty" json:"certainty,omitempty"` // the interval decides, not the point
	Blocking  bool     `toml:"blocking" json:"blocking,omitempty"`   // of latency: it blocks, instead of being advisory
	Why       string   `toml:"why" json:"why,omitempty"`             // where the threshold comes from
}

// Plausible are the limits of what a run can be believed to be.
type Plausible struct {
	MinMicros    int64   `json:"min_case_micros,omitempty"` // a mean latency below it is no search; 0 is no limit
	LatencyDrift float64 `json:"latency_drift,omitempty"`   // share by which block means of latency may differ; 0 is no limit
}

// Row is one case: the unit of evidence.
type Row struct {
	Head
	Suite    string             `json:"suite"`
	Arm      string             `json:"arm"`
	Mode     string             `json:"mode"`
	Repeat   int                `json:"repeat"`
	Case     string             `json:"case"`
	Question string             `json:"question"`
	Stratum  string             `json:"stratum"`
	Group    string             `json:"group,omitempty"`
	Tags     []string           `json:"tags,omitempty"`
	Gold     map[string]int     `json:"gold"` // for explaining and for recomputing the measures
	Answer   bool               `json:"answerable"`
	Digest   string             `json:"digest"`             // of question and gold: the key of a golden
	Excluded string             `json:"excluded,omitempty"` // why the case enters no ranking measure, whatever its gold: its key is contested, or nobody judged it
	Outcome  Outcome            `json:"outcome"`
	Unit     string             `json:"unit,omitempty"`            // "document, collapsed" when chunks were collapsed
	Ranking  []Entry            `json:"ranking,omitempty"`         // the final order
	RankSame *Same              `json:"ranking_same_as,omitempty"` // in a file only: stands for Ranking
	Stages   []Stage            `json:"stages,omitempty"`
	Channels []Channel          `json:"channels,omitempty"`
	Measures map[string]float64 `json:"measures,omitempty"`      // of the final order; only when scored
	Blind    map[string]float64 `json:"blind,omitempty"`         // the same without what its pages cover, if it has pages: a diagnostic
	Micros   int64              `json:"micros"`                  // latency of the call
	Unfit    bool               `json:"latency_unfit,omitempty"` // a call that was abandoned may have slowed this one
	Warnings []string           `json:"warnings,omitempty"`
}

// Stage returns the named stage of the row. "final" is the ranking itself
// when the subject did not report it as a stage.
func (r Row) Stage(name string) (Stage, bool) {
	for _, s := range r.Stages {
		if s.Name == name {
			return s, true
		}
	}
	if name == Final && r.Outcome.State == Scored {
		return Stage{Name: Final, State: Executed, Entries: r.Ranking, Total: len(r.Ranking), Measures: r.Measures}, true
	}
	return Stage{}, false
}

// Ranked reports whether the row enters ranking measures: an answerable case
// with at least one relevant unit, whose key nobody contests.
func (r Row) Ranked() bool {
	if !r.Answer || r.Excluded != "" {
		return false
	}
	for _, g := range r.Gold {
		if g > 0 {
			return true
		}
	}
	return false
}

// Identity names a row: no record holds two rows of one identity.
func (r Row) Identity() string {
	return fmt.Sprintf("suite=%s/arm=%s/mode=%s/repeat=%d/case=%s", r.Suite, r.Arm, r.Mode, r.Repeat, r.Case)
}

// Gate is the result of one gate.
type Gate struct {
	Head
	Name        string   `json:"gate"`
	Measure     string   `json:"measure,omitempty"`
	Latency     string   `json:"latency,omitempty"` // instead of a measure: a quantile of the latencies, in milliseconds
	Count       string   `json:"count,omitempty"`   // instead of a measure: the state whose cases are counted
	Stage       string   `json:"stage,omitempty"`
	Stratum     string   `json:"stratum,omitempty"`
	Value       *float64 `json:"value,omitempty"` // absent when it could not be computed
	Floor       *float64 `json:"floor,omitempty"`
	Ceiling     *float64 `json:"ceiling,omitempty"`
	Target      *float64 `json:"target,omitempty"` // met or not met; never blocks
	TargetMet   *bool    `json:"target_met,omitempty"`
	Numerator   *float64 `json:"numerator,omitempty"`
	Lo          *float64 `json:"lo,omitempty"` // interval, where certainty was asked for
	Hi          *float64 `json:"hi,omitempty"`
	Denominator int      `json:"denominator"` // cases that entered the value
	Planned     int      `json:"planned"`     // cases that were planned for it
	Verdict     string   `json:"verdict"`     // pass, regressed, could-not-measure, not-applicable
	Reason      string   `json:"reason,omitempty"`
	Action      string   `json:"action,omitempty"`
	Broke       []Moved  `json:"broke,omitempty"` // cases that lost against what the run was compared with
}

// Moved is a case with the values of a gate's measure before and now.
type Moved struct {
	Case   string  `json:"case"`
	Before float64 `json:"before"`
	Now    float64 `json:"now"`
	Wrong  bool    `json:"wrong"` // something relevant was within the depth before, and is not now
}

// MostBroke is how many cases a gate names.
const MostBroke = 20

// WorstMoved puts broken cases first, then those that lost most, and keeps as
// many as a gate names.
func WorstMoved(list []Moved) []Moved {
	slices.SortStableFunc(list, func(a, b Moved) int {
		if a.Wrong != b.Wrong {
			if a.Wrong {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Now-a.Before, b.Now-b.Before)
	})
	return list[:min(len(list), MostBroke)]
}

// Verdict is the last word on a suite invocation.
type Verdict struct {
	Head
	Verdict  string        `json:"verdict"` // PASS, REGRESSED, COULD-NOT-MEASURE, NOT-RUN
	Reasons  []string      `json:"reasons,omitempty"`
	Keys     []string      `json:"keys,omitempty"` // what each reason is about: see package gate
	Outcomes map[State]int `json:"outcomes"`
	Planned  int           `json:"planned"`
	Use      string        `json:"use"` // wiring, direction or citable
	UseWhy   string        `json:"use_why,omitempty"`
	// RunTwice is what the repeats say of the subject's determinism; nil when
	// each case was asked once.
	RunTwice *RunTwice `json:"run_twice,omitempty"`
	// Latency says why the latencies of the run mean nothing; empty when they do.
	Latency string `json:"latency_unusable,omitempty"`
}

// End closes a record.
type End struct {
	Head
	SHA256 string  `json:"sha256"` // of all bytes before this line
	Load   string  `json:"load,omitempty"`
	Resume int     `json:"resumed,omitempty"` // how often the run was interrupted and taken up again
	Wall   float64 `json:"wall_seconds"`
}

// Count counts rows per state against a plan, NotReached included. Rows of
// repeated cases are averaged first: see [Average].
func Count(plan []string, rows []Row) map[State]int {
	counts := map[State]int{}
	reached := map[string]bool{}
	for _, r := range rows {
		counts[r.Outcome.State]++
		reached[r.Case] = true
	}
	for _, id := range plan {
		if !reached[id] {
			counts[NotReached]++
		}
	}
	return counts
}

// SortedStates returns the states present in counts, in reporting order.
func SortedStates(counts map[State]int) []State {
	return slices.DeleteFunc(States(), func(s State) bool { return counts[s] == 0 })
}
