package gate

import (
	"time"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// All computes the gates that a run line declares with their thresholds, in
// its order, over all rows of the run, repeats among them, and that of the
// pack's contract.
func All(run record.Run, rows []record.Row) []record.Gate {
	cases, unusable := record.Average(rows, run.Repeats), UnusableLatency(run, rows)
	var out []record.Gate
	for _, spec := range run.Specs {
		if spec.Latency != "" {
			out = append(out, EvaluateLatency(Spec(spec), rows, unusable))
			continue
		}
		out = append(out, Evaluate(Spec(spec), cases))
	}
	if run.Contract != nil {
		out = append(out, Contract(*run.Contract))
	}
	return out
}

// FactsOf are the facts that a record holds, for [Decide].
func FactsOf(run record.Run, rows []record.Row, gates []record.Gate, today time.Time) Facts {
	return Facts{
		Plan: run.Plan, Rows: record.Average(rows, run.Repeats), Gates: gates, Require: run.Require, Waivers: run.Waivers,
		Today: today, Tier: run.Tier, Shard: run.Shard, Whole: len(run.Whole), LeftOut: len(run.LeftOut) > 0,
		Dirty: run.Context.DirtyFiles != 0, Proof: record.ProofOf(run, rows), MinMicros: run.Limits.MinMicros,
		Latency: UnusableLatency(run, rows),
	}
}
