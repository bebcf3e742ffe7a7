package gate

import (
	"fmt"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Uses of a run's figures, from least to most.
const (
	Wiring    = "wiring"    // a handful of cases: it runs
	Direction = "direction" // a sample, or one run of a subject that may vary
	Citable   = "citable"
)

// handful of cases says that things run, and nothing of how well.
const handful = 20

// use says how far the figures carry, and what is missing for more.
func use(f Facts, outcomes map[record.State]int) (string, string) {
	scored := outcomes[record.Scored]
	if scored < handful {
		return Wiring, fmt.Sprintf("%d scored cases; %d or more show a direction", scored, handful)
	}
	switch {
	case f.Partial || f.Shard != "":
		return Direction, "part of the plan"
	case f.LeftOut:
		return Direction, "a sample: a limit left cases out"
	case f.Tier != "full" && f.Tier != "deep":
		return Direction, fmt.Sprintf("tier %s; citable figures come from a full run (EVAL_TIER=full)", f.Tier)
	case outcomes[record.NotReached]+outcomes[record.Refused]+outcomes[record.Skipped] > 0:
		return Direction, "not every planned case was measured"
	case len(f.Broken) > 0:
		return Direction, "the measurement is broken"
	case f.Dirty:
		return Direction, "the sources are not those of a commit"
	case f.Proof == nil:
		return Direction, "one run of a subject that was not proven deterministic; set EVAL_REPEAT=2"
	}
	if f.Proof.Proven {
		return Citable, ""
	}
	return Citable, fmt.Sprintf("means of %d repeats; the subject is not deterministic", f.Proof.Repeats)
}
