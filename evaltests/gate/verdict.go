package gate

import (
	"fmt"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Verdicts of a suite invocation and of a run.
const (
	PASS       = "PASS"
	REGRESSED  = "REGRESSED"
	CNM        = "COULD-NOT-MEASURE"
	NotRun     = "NOT-RUN"
	exitPass   = 0
	exitWorse  = 1
	exitCannot = 2
)

// ExitCode of a verdict: 0 PASS, 1 REGRESSED, 2 anything else.
func ExitCode(verdict string) int {
	switch verdict {
	case PASS:
		return exitPass
	case REGRESSED:
		return exitWorse
	}
	return exitCannot
}

// Keys of reasons, for machines: what made a verdict other than PASS. A gate's
// key is "gate " and its name, a dead stage's "stage " and its name.
const (
	KeyPartial    = "partial"              // a filter kept cases from running
	KeyBroken     = "broken"               // the pack, the modules or the instrument itself
	KeyPlan       = "plan"                 // no case is planned
	KeyScored     = "scored"               // no case was scored
	KeyShard      = "shard"                // one of several parts of a plan
	KeyInert      = "inert"                // answers that no working subject gives
	KeyTooFast    = "too fast"             // less time a case than a search takes
	KeyNotReached = "not reached"          // planned cases without a row
	KeyNoGate     = "no gate"              // cases failed or timed out and no gate says how many may
	KeyRefused    = string(record.Refused) // refused cases that no waiver covers
	KeySkipped    = string(record.Skipped) // skipped cases that no waiver covers
)

// Facts are what a suite's verdict rests on.
type Facts struct {
	Plan    []string
	Rows    []record.Row // one a case: see record.Average
	Gates   []record.Gate
	Require []string // stages that must have returned something somewhere
	Waivers []record.Waiver
	Broken  []string // why nothing that was measured can be believed
	Partial bool     // a filter kept cases from running
	Today   time.Time

	Tier      string           // of the run
	Shard     string           // i/n: only that part of the plan was to run
	Whole     int              // cases in the plan of all shards
	LeftOut   bool             // a limit left cases out
	Dirty     bool             // the sources are not those of a commit, or nobody knows
	Proof     *record.RunTwice // nil: each case was asked once
	MinMicros int64            // a mean latency below it is no search; 0 is no limit
	Latency   string           // why the latencies mean nothing
}

// Decide gives the verdict of a suite invocation. What breaks the measurement
// as a whole (a filter, refused cases, a dead arm) outweighs every gate; a
// regression that was soundly measured outweighs another gate that could not
// be.
func Decide(f Facts) record.Verdict {
	v := record.Verdict{Verdict: PASS, Outcomes: record.Count(f.Plan, f.Rows), Planned: len(f.Plan)}
	v.Use, v.UseWhy = use(f, v.Outcomes)
	v.RunTwice, v.Latency = f.Proof, f.Latency
	because := func(key, reason string) {
		v.Keys = append(v.Keys, key)
		v.Reasons = append(v.Reasons, reason)
	}
	if f.Partial {
		v.Verdict = CNM
		because(KeyPartial, fmt.Sprintf("partial by filter: %d of %d planned cases ran, so no gate was evaluated", len(f.Rows), len(f.Plan)))
		return v
	}
	if f.Shard != "" {
		because(KeyShard, fmt.Sprintf("partial by shard: %s is %d of %d planned cases, so no gate was evaluated; join the shards with `touchstone merge RUN ... --out DIR`", f.Shard, len(f.Plan), f.Whole))
	}
	for _, reason := range f.Broken {
		because(KeyBroken, reason)
	}
	switch {
	case len(f.Plan) == 0 && len(f.Broken) == 0 && f.Whole == 0:
		because(KeyPlan, "the plan has no case; give the pack questions, or correct the limit")
	case len(f.Plan) > 0 && v.Outcomes[record.Scored] == 0:
		because(KeyScored, "no case was scored")
	}
	if n := v.Outcomes[record.NotReached]; n > 0 {
		because(KeyNotReached, fmt.Sprintf("%d planned cases were not reached; run again", n))
	}
	declined(f, because)
	deadStages(f, because)
	implausible(f, because)
	if len(v.Reasons) > 0 {
		v.Verdict = CNM
		return v
	}
	for _, g := range f.Gates {
		switch g.Verdict {
		case Regressed:
			v.Verdict = REGRESSED
		case CouldNotMeasure:
			if v.Verdict == PASS {
				v.Verdict = CNM
			}
		default:
			continue
		}
		because("gate "+g.Name, fmt.Sprintf("gate %s: %s", g.Name, g.Reason))
	}
	if n := unjudged(f); n > 0 {
		if v.Verdict == PASS {
			v.Verdict = CNM
		}
		because(KeyNoGate, fmt.Sprintf("no gate judges %d cases that failed or timed out; declare [[gate]] count = \"failed\", ceiling = 0, and the same for timed_out", n))
	}
	if len(f.Gates) == 0 && v.Verdict == PASS {
		v.Reasons = []string{"no gate is declared: every case was scored, and nothing else is claimed"}
	}
	return v
}

// unjudged counts the failed and timed-out cases that no blocking gate takes
// in: a floor over their stratum (they count as the worst value there, if they
// are answerable), or a ceiling on the count of their state.
func unjudged(f Facts) int {
	n := 0
	for _, r := range f.Rows {
		if s := r.Outcome.State; s != record.Failed && s != record.TimedOut {
			continue
		}
		judged := false
		for _, g := range f.Gates {
			if g.Stratum != "" && g.Stratum != r.Stratum || g.Verdict == NotApplicable {
				continue
			}
			judged = judged || g.Count == string(r.Outcome.State) && g.Ceiling != nil ||
				g.Measure != "" && g.Floor != nil && r.Ranked()
		}
		if !judged {
			n++
		}
	}
	return n
}

// declined names refused and skipped cases that no waiver covers.
func declined(f Facts, because func(key, reason string)) {
	type key struct {
		state  record.State
		reason string
	}
	counts := map[key]int{}
	actions := map[key]string{}
	var order []key
	for _, r := range f.Rows {
		if s := r.Outcome.State; s == record.Refused || s == record.Skipped {
			k := key{s, r.Outcome.Reason}
			if counts[k] == 0 {
				order = append(order, k)
				actions[k] = r.Outcome.Action
			}
			counts[k]++
		}
	}
	// A waiver is for a reason, whether the cases were refused or skipped.
	total := map[string]int{}
	for k, n := range counts {
		total[k.reason] += n
	}
	for _, k := range order {
		if why, ok := waived(f, k.reason, total[k.reason]); !ok {
			text := fmt.Sprintf("%d cases %s: %s", counts[k], k.state, k.reason)
			if actions[k] != "" {
				text += "; " + actions[k]
			}
			switch {
			case why != "":
				text += " (" + why + ")"
			case len(f.Waivers) > 0:
				text += " (no waiver of the suite is for this reason)"
			}
			because(string(k.state), text)
		}
	}
}

// waived reports whether some waiver covers n cases of a reason, and if not,
// why the last one for it does not.
func waived(f Facts, reason string, n int) (why string, ok bool) {
	for _, w := range f.Waivers {
		if w.Reason != reason {
			continue
		}
		last, err := time.Parse(time.DateOnly, w.Until)
		switch {
		case err != nil:
			why = fmt.Sprintf("its waiver has no valid end date: %q", w.Until)
		case !f.Today.Before(last.AddDate(0, 0, 1)):
			why = "its waiver ended " + w.Until
		case n > w.Max:
			why = fmt.Sprintf("its waiver covers %d of %d", w.Max, n)
		default:
			return "", true
		}
	}
	return why, false
}

// deadStages names required stages that returned nothing in any scored case:
// an arm without a substrate measures as "no effect".
func deadStages(f Facts, because func(key, reason string)) {
	for _, name := range f.Require {
		scored, reported, alive := 0, 0, false
		skipped := ""
		for _, r := range f.Rows {
			if r.Outcome.State != record.Scored {
				continue
			}
			scored++
			if s, ok := r.Stage(name); ok {
				reported++
				alive = alive || s.State == record.Executed && len(s.Entries) > 0
				if s.State == record.SkippedStage {
					skipped = s.Reason
				}
			}
		}
		switch {
		case alive || scored == 0:
		case reported == 0:
			because("stage "+name, fmt.Sprintf("stage %s is required and was not reported by any of %d cases; report it, or drop it from require_stages", name, scored))
		case skipped != "":
			because("stage "+name, fmt.Sprintf("stage %s is required and was skipped: %s", name, skipped))
		default:
			because("stage "+name, fmt.Sprintf("stage %s is required and was empty on every one of %d cases; check what it searches (vectors, lexical documents) and ingest again", name, scored))
		}
	}
}
