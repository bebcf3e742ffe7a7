package selftest

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/golden"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Catalogue lists the mutants, for a suite that requires the stages vector
// and lexical and has the gates nDCG@10 (floor a little under the measured
// value), count failed and count timed_out (ceiling 0), drift, and the paired
// regression of nDCG@10 against the golden, and whose pack has a strict
// contract. The subject can be surveyed, and says that all channels are on.
// release ends the calls that hang
// for good.
func Catalogue(release <-chan struct{}) []Mutant {
	const (
		ndcg, drift    = "gate nDCG@10", "gate drift"
		paired         = "gate paired nDCG@10"
		failed, timed  = "gate count failed", "gate count timed_out"
		vector         = "stage vector"
		ingestAgain    = "ingest again"
		orderWasChange = "undo the change"
	)
	retrieval := []Mutant{
		{Name: "reversed results", Verdict: gate.REGRESSED, Red: []string{drift, ndcg, paired},
			Says: []string{"below the floor", orderWasChange}, Apply: ranking(reversed)},
		{Name: "ranks 1 and 2 swapped", Verdict: gate.REGRESSED, Red: []string{drift, ndcg, paired},
			Says: []string{"first divergent rank 1"}, Apply: ranking(swapped(0, 1))},
		{Name: "ranks 2 and 3 swapped", Verdict: gate.REGRESSED, Red: []string{drift},
			Says: []string{"first divergent rank 2"}, Apply: ranking(swapped(1, 2))},
		{Name: "best hit dropped", Verdict: gate.REGRESSED, Red: []string{drift, ndcg, paired},
			Says: []string{"below the floor"}, Apply: ranking(dropFirst)},
		{Name: "cut to 3 results", Verdict: gate.REGRESSED, Red: []string{drift},
			Says: []string{"3 of 10 ids kept"}, Apply: ranking(truncated(3))},
		{Name: "an id twice", Verdict: gate.CNM, Red: []string{gate.KeyScored},
			Says: []string{"is ranked twice"}, Apply: ranking(firstTwice)},
		{Name: "ids of another namespace", Verdict: gate.CNM, Red: []string{gate.KeyScored},
			Says: []string{"ids are not in the corpus"}, Apply: ranking(foreign)},
		{Name: "scores not finite", Verdict: gate.CNM, Red: []string{gate.KeyScored},
			Says:  []string{"is not finite"},
			Apply: ranking(scored(func(i int, s float64) float64 { return s / float64(0*i) }))},
		{Name: "every question answered alike", Verdict: gate.CNM, Red: []string{gate.KeyInert},
			Says: []string{"inert: all 40 answerable questions got the same ranking", "reads the question"}, Apply: sameAnswer()},
		{Name: "nothing returned for any question", Verdict: gate.CNM, Red: []string{gate.KeyInert},
			Says: []string{"inert: not one document was returned for any of 40"}, Apply: ranking(truncated(0))},
		{Name: "dead vector arm", Verdict: gate.CNM, Red: []string{vector},
			Says: []string{"stage vector is required and was empty on every one of 40 cases", ingestAgain}, Apply: deadStage("vector")},
		{Name: "vector arm not reported", Verdict: gate.CNM, Red: []string{vector},
			Says: []string{"was not reported"}, Apply: withoutStage("vector")},
	}
	substrate := []Mutant{
		{Name: "empty index", Verdict: gate.CNM, Red: []string{gate.KeyRefused, gate.KeyScored},
			Says: []string{"substrate documents: 0 entries (needs > 0)", ingestAgain}, Apply: wrap(change{corpus: empty})},
		{Name: "count query failing", Verdict: gate.CNM, Red: []string{gate.KeyRefused, gate.KeyScored},
			Says: []string{"count unknown: no such table"}, Apply: wrap(change{substrates: uncounted})},
		{Name: "counts disagree", Verdict: gate.CNM, Red: []string{gate.KeyRefused, gate.KeyScored},
			Says: []string{"counted 121, enumerated 120"}, Apply: wrap(change{substrates: miscounted})},
	}
	runner := []Mutant{
		{Name: "error on 5 % of cases", Verdict: gate.REGRESSED, Red: []string{failed, drift, ndcg},
			Says:  []string{"2 is above the ceiling 0", "injected error"},
			Apply: every(20, func(context.Context) error { return errInjected })},
		{Name: "error on all cases", Verdict: gate.CNM, Red: []string{gate.KeyScored},
			Says: []string{"no case was scored"}, Apply: every(1, func(context.Context) error { return errInjected })},
		{Name: "panic on one case", Verdict: gate.REGRESSED, Red: []string{failed, drift, ndcg},
			Says: []string{"panic: injected", "artifacts"}, Apply: only(7, func(context.Context) error { panic("injected") })},
		{Name: "hang on one case", Verdict: gate.CNM, Red: []string{timed, drift, ndcg},
			Says: []string{"1 cases timed out", "find out what hangs"}, Apply: only(7, hang)},
		{Name: "one call never returns", Verdict: gate.CNM, Red: []string{timed, drift, ndcg},
			Says: []string{"the call was abandoned"}, Apply: only(7, stuck(release))},
		{Name: "calls never return", Verdict: gate.CNM, Red: []string{gate.KeyRefused, gate.KeyScored},
			Says: []string{"subject-stuck: 3 calls never returned", "honour its context"}, Apply: every(1, stuck(release))},
		{Name: "every case skipped", Verdict: gate.CNM, Red: []string{gate.KeyScored, gate.KeySkipped},
			Says: []string{"40 cases skipped: not today"}, Apply: every(1, func(context.Context) error { return record.Skip("not today") })},
		{Name: "one case refused", Verdict: gate.CNM, Red: []string{gate.KeyRefused},
			Says: []string{"1 cases refused: no model; run make models"}, Apply: only(7, func(context.Context) error { return record.Refuse("no model", "run make models") })},
		{Name: "suite with zero cases", Verdict: gate.CNM, Red: []string{gate.KeyPlan},
			Says: []string{"the plan has no case"}, Apply: noCases},
		{Name: "case id given twice", Verdict: gate.CNM, Red: []string{KeyLoad},
			Says: []string{"same subtest name", "rename one"}, Apply: caseTwice},
		{Name: "record truncated", Verdict: gate.CNM, Red: []string{KeyRecord},
			Says: []string{"record is truncated", "the last whole line is"}, Apply: tamper(truncate)},
		{Name: "record edited", Verdict: gate.CNM, Red: []string{KeyRecord},
			Says: []string{"record is tampered"}, Apply: tamper(edit)},
		{Name: "gates cut out of the record, its digest made to fit", Verdict: gate.CNM, Red: []string{KeyRecord},
			Says: []string{"declares gate", "holds no result of it"}, Apply: forged(withoutGates)},
		{Name: "a measure changed in the record, its digest made to fit", Verdict: gate.CNM, Red: []string{KeyRecord},
			Says: []string{"its ranking and gold give"}, Apply: forged(betterMeasure)},
	}
	oracle := []Mutant{
		{Name: "golden missing", Verdict: gate.CNM, Red: []string{drift},
			Says: []string{"no golden", "touchstone golden accept"}, Apply: removeGolden},
		{Name: "golden edited by hand", Verdict: gate.CNM, Red: []string{drift},
			Says: []string{"edited since it was blessed", "restore the golden"}, Apply: editGolden},
		{Name: "golden of another corpus", Verdict: gate.CNM, Red: []string{drift},
			Says: []string{"golden is of another corpus: its pack digest is"}, Apply: forge(func(h *golden.Header) { h.Pack = strings.Repeat("0", 64) })},
		{Name: "golden of another store", Verdict: gate.CNM, Red: []string{drift},
			Says: []string{"golden was made over another store"}, Apply: forge(func(h *golden.Header) { h.Seed = "other" })},
		{Name: "golden of another model", Verdict: gate.CNM, Red: []string{drift},
			Says:  []string{"golden was made with other models: embedder x@000000000000; this run has none"},
			Apply: forge(func(h *golden.Header) { h.Models = map[string]string{"embedder": "x@000000000000"} })},
		{Name: "golden of another depth", Verdict: gate.CNM, Red: []string{drift},
			Says: []string{"golden is of suite toy at k = 5; this is toy at k = 10"}, Apply: forge(func(h *golden.Header) { h.K = 5 })},
		otherArch(drift),
		{Name: "a case without a golden", Verdict: gate.CNM, Red: []string{drift},
			Says: []string{"1 planned cases without a golden: extra"}, Apply: extraCase},
		// A waiver lets the refusal pass, and cannot speak for the ranking.
		{Name: "a case of the golden does not answer, and is waived", Verdict: gate.CNM, Red: []string{drift},
			Says:  []string{"1 cases of the golden without a live ranking"},
			Apply: both(waive("no model"), only(7, func(context.Context) error { return record.Refuse("no model", "run make models") }))},
		{Name: "anchor moved by hand", Verdict: gate.CNM, Red: []string{drift},
			Says: []string{"the anchor moves by `touchstone golden anchor` only"}, Apply: moveAnchor},
		{Name: "anchor creep by eight benign blessings", Verdict: gate.REGRESSED, Red: []string{drift},
			Says: []string{"against anchor", "each blessing was small, together they are not"}, Apply: creep},
		{Name: "a golden that another branch blessed as well", Verdict: gate.CNM, Red: []string{drift},
			Says: []string{"the ledger forks", "bless again with a reason"}, Apply: forkLedger},
		{Name: "question changed since the blessing", Verdict: gate.CNM, Red: []string{drift},
			Says: []string{"1 cases whose question or gold changed"}, Apply: rewordCase},
	}
	benign := []Mutant{
		{Name: "benign: nothing changed", Verdict: gate.PASS},
		{Name: "benign: the subject uses its result slice again", Verdict: gate.PASS, Apply: sameSlice()},
		{Name: "benign: scores doubled", Verdict: gate.PASS,
			Apply: ranking(scored(func(_ int, s float64) float64 { return 2 * s }))},
		{Name: "benign: scores one ulp higher", Verdict: gate.PASS, Apply: ranking(scored(nextUp))},
		{Name: "benign: ranks 9 and 10 swapped in one case", Verdict: gate.PASS, Apply: swapOnce(7, 8, 9)},
	}
	return slices.Concat(retrieval, substrate, substrateMutants(), runner, runs(), oracle, benign)
}

// otherArch swaps ranks under a golden of another platform: where goldens are
// blessed that blocks like any drift, elsewhere it is told and does not.
func otherArch(drift string) Mutant {
	m := Mutant{
		Name: "golden of another platform, ranks 2 and 3 swapped", Verdict: gate.PASS,
		Says:  []string{"first divergent rank 2"},
		Apply: both(forge(func(h *golden.Header) { h.Class = "plan9/mips" }), ranking(swapped(1, 2))),
	}
	if record.Class() == golden.GateClass {
		m.Verdict, m.Red = gate.REGRESSED, []string{drift}
	} else {
		m.Says = append(m.Says, "advisory here: golden is of plan9/mips")
	}
	return m
}

func sameAnswer() func(*Trial) error {
	var first []record.Entry
	return ranking(func(es []record.Entry) []record.Entry {
		if first == nil {
			first = es
		}
		return slices.Clone(first)
	})
}

// sameSlice returns every answer in one slice, as an engine that saves
// allocations does.
func sameSlice() func(*Trial) error {
	var buf []record.Entry
	return ranking(func(es []record.Entry) []record.Entry {
		buf = append(buf[:0], es...)
		return buf
	})
}

func withoutStage(name string) func(*Trial) error {
	return wrap(change{after: func(_ int, o record.Observation) record.Observation {
		o.Stages = slices.DeleteFunc(slices.Clone(o.Stages), func(s record.Stage) bool { return s.Name == name })
		return o
	}})
}

func swapOnce(at, i, j int) func(*Trial) error {
	return wrap(change{after: func(call int, o record.Observation) record.Observation {
		if call == at {
			o.Ranking = swapped(i, j)(slices.Clone(o.Ranking))
		}
		return o
	}})
}

func waive(reason string) func(*Trial) error {
	return func(t *Trial) error {
		t.Suite.Waivers = append(t.Suite.Waivers, record.Waiver{Reason: reason, Max: 1, Until: "9999-12-31"})
		return nil
	}
}

func noCases(t *Trial) error {
	t.Suite.Cases = nil
	return nil
}

// caseTwice makes the suite anew over a pack with a case id given twice.
func caseTwice(t *Trial) error {
	p := *t.Suite.Pack
	p.Cases = append(slices.Clone(p.Cases), p.Cases[0])
	if _, err := evaltests.NewSuite(&p, evaltests.Env{Tier: "smoke"}); err != nil {
		return &loadError{err}
	}
	return nil
}

func tamper(f func(path string) error) func(*Trial) error {
	return func(t *Trial) error {
		t.After = f
		return nil
	}
}

func removeGolden(t *Trial) error { return os.Remove(in(t, golden.CurrentFile)) }

func editGolden(t *Trial) error { return edit(in(t, golden.CurrentFile)) }

func rewordCase(t *Trial) error {
	t.Suite.Cases = slices.Clone(t.Suite.Cases)
	t.Suite.Cases[3].Question.Text += " please"
	return nil
}
