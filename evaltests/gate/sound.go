package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/rank"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// unsound says why the verdict that a record carries cannot be believed;
// empty when it can.
func unsound(folder *record.Folder, f *record.File) string {
	switch {
	case f.State != record.Complete:
		return fmt.Sprintf("record is %s: %s", f.State, f.Detail)
	case f.Run.Nonce != folder.Nonce:
		return fmt.Sprintf("record is of another run (nonce %.8s, this run is %.8s)", f.Run.Nonce, folder.Nonce)
	case f.Verdict == nil:
		return "record has no verdict line"
	case !slices.Contains([]string{PASS, REGRESSED, CNM, NotRun}, f.Verdict.Verdict):
		return fmt.Sprintf("record has the verdict %q; want one of %s, %s, %s, %s", f.Verdict.Verdict, PASS, REGRESSED, CNM, NotRun)
	}
	for _, check := range []func(*record.Folder, *record.File) string{strayRows, notRun, lostGates, wrongMeasures, disagreement, undecided} {
		if why := check(folder, f); why != "" {
			return why
		}
	}
	return ""
}

// strayRows finds rows that were not planned or are of another suite, and a
// plan that holds a case twice.
func strayRows(_ *record.Folder, f *record.File) string {
	planned := map[string]bool{}
	for _, id := range f.Run.Plan {
		if planned[id] {
			return fmt.Sprintf("the plan holds case %s twice", id)
		}
		planned[id] = true
	}
	for _, r := range f.Rows {
		switch {
		case r.Suite != f.Run.Suite || r.Arm != f.Run.Arm:
			return fmt.Sprintf("row of case %s is of %s/%s, the record of %s/%s", r.Case, r.Suite, r.Arm, f.Run.Suite, f.Run.Arm)
		case !planned[r.Case]:
			return fmt.Sprintf("row of case %s, which was not planned", r.Case)
		}
	}
	return ""
}

// notRun holds a suite that says it was not run to having run nothing.
func notRun(_ *record.Folder, f *record.File) string {
	if (f.Verdict.Verdict == NotRun) != (f.Run.NotRun != "") {
		return fmt.Sprintf("verdict is %s, and the reason for not running is %q", f.Verdict.Verdict, f.Run.NotRun)
	}
	if f.Run.NotRun != "" && len(f.Run.Plan)+len(f.Rows)+len(f.Gates) > 0 {
		return fmt.Sprintf("verdict is %s although %d cases were planned and %d have rows", NotRun, len(f.Run.Plan), len(f.Rows))
	}
	return ""
}

// lostGates finds gates that the suite declared and the record does not hold.
// A partial run, or one whose pack was not there, evaluates none.
func lostGates(_ *record.Folder, f *record.File) string {
	if f.Verdict.Verdict != PASS && f.Verdict.Verdict != REGRESSED {
		return ""
	}
	declared := f.Run.Gates
	if f.Run.Contract != nil && f.Run.Shard == "" {
		declared = append(slices.Clone(declared), ContractGate)
	}
	for _, name := range declared {
		if !slices.ContainsFunc(f.Gates, func(g record.Gate) bool { return g.Name == name }) {
			return fmt.Sprintf("the suite declares gate %s, and the record holds no result of it", name)
		}
	}
	return ""
}

// wrongMeasures computes the measures of the final ranking once more from the
// row's own ranking and gold.
func wrongMeasures(_ *record.Folder, f *record.File) string {
	ms, err := metric.ParseAll(f.Run.Measures)
	if err != nil {
		return fmt.Sprintf("measures of the run: %v", err)
	}
	for _, r := range f.Rows {
		if r.Outcome.State != record.Scored || !r.Ranked() {
			continue
		}
		ids, _, _ := record.Documents(r.Ranking)
		ranking, err := rank.New(ids, nil)
		if err != nil {
			return fmt.Sprintf("case %s: %v", r.Case, err)
		}
		values, err := metric.EvalAll(ms, metric.Grades(r.Gold), ranking)
		if err != nil {
			return fmt.Sprintf("case %s: %v", r.Case, err)
		}
		for i, m := range ms {
			got, ok := r.Measures[m.String()]
			if !ok {
				return fmt.Sprintf("case %s: no %s in the row", r.Case, m)
			}
			if got != values[i] {
				return fmt.Sprintf("case %s: the record says %s is %v, its ranking and gold give %v", r.Case, m, got, values[i])
			}
		}
	}
	return ""
}

// disagreement computes gates and counts once more from the rows: a stored
// value that the evidence does not support is no evidence.
func disagreement(_ *record.Folder, f *record.File) string {
	again := All(f.Run, f.Rows)
	for i, g := range f.Gates {
		if i < len(again) {
			if why := otherwise(g, again[i]); why != "" {
				return fmt.Sprintf("gate %s: %s", g.Name, why)
			}
			continue
		}
		if why := unsupported(g, f.Cases()); why != "" {
			return fmt.Sprintf("gate %s: %s", g.Name, why)
		}
	}
	got := f.Counts()
	for _, s := range record.States() {
		if got[s] != f.Verdict.Outcomes[s] {
			return fmt.Sprintf("verdict counts %d cases %s, the rows hold %d", f.Verdict.Outcomes[s], s, got[s])
		}
	}
	return ""
}

// otherwise compares a gate with the one that the record's rows and thresholds
// give.
func otherwise(g, again record.Gate) string {
	switch {
	case g.Name != again.Name:
		return fmt.Sprintf("the suite declares %s in its place", again.Name)
	case !equal(again.Value, g.Value) || again.Denominator != g.Denominator:
		return fmt.Sprintf("the record says %v over %d, its rows give %v over %d", number(g.Value), g.Denominator, number(again.Value), again.Denominator)
	case g.Verdict != again.Verdict:
		return fmt.Sprintf("the record says %s, its rows say %s", g.Verdict, again.Verdict)
	case !equal(g.Floor, again.Floor) || !equal(g.Ceiling, again.Ceiling):
		return "its thresholds are not those that the suite declares"
	}
	return ""
}

// unsupported checks a gate whose specification the record does not hold: one
// of another part of the instrument, or of a record from before they were kept.
func unsupported(g record.Gate, rows []record.Row) string {
	if g.Measure == "" && g.Count == "" {
		// Drift and its like rest on more than the rows.
		if g.Verdict == Pass && g.Value != nil && g.Floor != nil && *g.Value < *g.Floor {
			return fmt.Sprintf("the record says pass although %v is below the floor %v", *g.Value, *g.Floor)
		}
		return ""
	}
	if g.Verdict == CouldNotMeasure && g.Value == nil {
		return ""
	}
	again := Evaluate(Spec{
		Measure: g.Measure, Count: g.Count, Stage: g.Stage, Stratum: g.Stratum, Floor: g.Floor, Ceiling: g.Ceiling, Target: g.Target,
	}, rows)
	if !equal(again.Value, g.Value) || again.Denominator != g.Denominator {
		return fmt.Sprintf("the record says %v over %d, its rows give %v over %d", number(g.Value), g.Denominator, number(again.Value), again.Denominator)
	}
	// The least denominator is not in the record, so the stored verdict may be
	// more careful than the one computed here, never less.
	if g.Verdict != CouldNotMeasure && g.Verdict != again.Verdict {
		return fmt.Sprintf("the record says %s, its rows say %s", g.Verdict, again.Verdict)
	}
	return ""
}

// undecided finds a verdict that does not follow from the record's own gates
// and outcomes. Could-not-measure may rest on more than they say.
func undecided(folder *record.Folder, f *record.File) string {
	if v := f.Verdict.Verdict; v != PASS && v != REGRESSED {
		return ""
	}
	again := Decide(FactsOf(f.Run, f.Rows, f.Gates, folder.Started))
	if again.Verdict == f.Verdict.Verdict {
		return ""
	}
	return fmt.Sprintf("verdict is %s, its rows and gates say %s: %s", f.Verdict.Verdict, again.Verdict, strings.Join(again.Reasons, "; "))
}

func equal(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func number(v *float64) any {
	if v == nil {
		return "nothing"
	}
	return *v
}
