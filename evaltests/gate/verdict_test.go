package gate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

func TestDecide(t *testing.T) {
	pass := record.Gate{Name: "AP", Verdict: gate.Pass}
	worse := record.Gate{Name: "RR", Verdict: gate.Regressed, Reason: "0.1 is below the floor 0.2"}
	cannot := record.Gate{Name: "R@5", Verdict: gate.CouldNotMeasure, Reason: "2 cases measured"}
	na := record.Gate{Name: "drift", Verdict: gate.NotApplicable, Reason: "advisory here"}
	refused := func(n int, reason string) []record.Row {
		rows := several(20, 1)
		for i := range n {
			rows[i] = ended(rows[i].Case, record.Refused, reason)
		}
		return rows
	}
	waiver := func(reason string, most int, until string) record.Waiver {
		return record.Waiver{Reason: reason, Max: most, Until: until}
	}
	empty := several(20, 1)
	for i := range empty {
		empty[i].Stages = []record.Stage{{Name: "vector", State: record.Executed}}
	}
	nothing := several(20, 0)
	for i := range nothing {
		nothing[i].Ranking = nil
	}
	skipped := several(20, 1)
	for i := range skipped {
		skipped[i].Stages = []record.Stage{{Name: "vector", State: record.SkippedStage, Reason: "no model"}}
	}
	mixed := append(refused(2, "gone"), ended("x", record.Skipped, "gone"))
	for _, tc := range []struct {
		name  string
		facts gate.Facts // a missing plan is that of the rows
		want  string
		why   []string // parts of the reasons, in order; no other reasons
	}{
		{"green", gate.Facts{Rows: several(20, 1), Gates: []record.Gate{pass, na}}, gate.PASS, nil},
		{"regressed", gate.Facts{Rows: several(20, 1), Gates: []record.Gate{pass, worse}}, gate.REGRESSED, []string{"gate RR: 0.1 is below"}},
		{"could not measure", gate.Facts{Rows: several(20, 1), Gates: []record.Gate{pass, cannot}}, gate.CNM, []string{"gate R@5: 2 cases"}},
		{"regressed beside could not measure", gate.Facts{Rows: several(20, 1), Gates: []record.Gate{cannot, worse, cannot}}, gate.REGRESSED, []string{"gate R@5", "gate RR", "gate R@5"}},
		{"no gate", gate.Facts{Rows: several(20, 1)}, gate.PASS, []string{"no gate is declared"}},
		{"no gate and a failed case", gate.Facts{Rows: append(several(20, 1), failed("x"), timedOut("y"))}, gate.CNM, []string{"no gate judges 2 cases"}},
		{"a gate without a threshold and a failed case", gate.Facts{Rows: append(several(20, 1), failed("x")), Gates: []record.Gate{pass}}, gate.CNM, []string{"no gate judges 1 cases"}},
		{"a target and a failed case", gate.Facts{Rows: append(several(20, 1), failed("x")), Gates: []record.Gate{{Name: "RR", Measure: "RR", Target: p(.1), Verdict: gate.Pass}}}, gate.CNM, []string{"no gate judges 1 cases"}},
		{"a floor over failed cases", gate.Facts{Rows: append(several(20, 1), failed("x")), Gates: []record.Gate{{Name: "RR", Measure: "RR", Floor: p(.1), Verdict: gate.Pass}}}, gate.PASS, nil},
		{"a floor elsewhere", gate.Facts{Rows: append(several(20, 1), failed("x")), Gates: []record.Gate{{Name: "RR", Measure: "RR", Floor: p(.1), Stratum: "other", Verdict: gate.Pass}}}, gate.CNM, []string{"no gate judges 1 cases"}},
		{"a count of the other state", gate.Facts{Rows: append(several(20, 1), failed("x")), Gates: []record.Gate{{Name: "c", Count: "timed_out", Ceiling: p(0), Verdict: gate.Pass}}}, gate.CNM, []string{"no gate judges 1 cases"}},
		{"a count of failed cases", gate.Facts{Rows: append(several(20, 1), failed("x")), Gates: []record.Gate{{Name: "c", Count: "failed", Ceiling: p(1), Verdict: gate.Pass}}}, gate.PASS, nil},

		{"partial outweighs all", gate.Facts{Plan: []string{"q0", "q1"}, Rows: several(1, 1), Partial: true, Broken: []string{"x"}, Gates: []record.Gate{worse}}, gate.CNM, []string{"partial by filter: 1 of 2"}},
		{"zero cases", gate.Facts{Gates: []record.Gate{pass}}, gate.CNM, []string{"the plan has no case"}},
		{"zero cases, and why", gate.Facts{Broken: []string{"pack: changed"}}, gate.CNM, []string{"pack: changed"}},
		{"nothing scored", gate.Facts{Rows: []record.Row{failed("a"), timedOut("b")}, Gates: []record.Gate{worse}}, gate.CNM, []string{"no case was scored"}},
		{"not reached", gate.Facts{Plan: append(ids(several(20, 1)), "late"), Rows: several(20, 1), Gates: []record.Gate{worse}}, gate.CNM, []string{"1 planned cases were not reached"}},
		{"broken", gate.Facts{Rows: several(20, 1), Gates: []record.Gate{worse}, Broken: []string{"the instrument is wrong"}}, gate.CNM, []string{"the instrument is wrong"}},

		{"refused", gate.Facts{Rows: refused(2, "gone"), Gates: []record.Gate{pass}}, gate.CNM, []string{"2 cases refused: gone; do something"}},
		{"refused, for two reasons", gate.Facts{Rows: append(refused(1, "gone"), ended("x", record.Skipped, "off")), Gates: []record.Gate{pass}}, gate.CNM, []string{"1 cases refused: gone", "1 cases skipped: off"}},
		{"refused and waived", gate.Facts{Rows: refused(2, "gone"), Gates: []record.Gate{pass}, Waivers: []record.Waiver{waiver("gone", 2, "2026-04-01")}}, gate.PASS, nil},
		{"waived on its last day", gate.Facts{Rows: refused(2, "gone"), Gates: []record.Gate{pass}, Waivers: []record.Waiver{waiver("gone", 2, "2026-03-31")}}, gate.PASS, nil},
		{"waiver expired", gate.Facts{Rows: refused(2, "gone"), Gates: []record.Gate{pass}, Waivers: []record.Waiver{waiver("gone", 2, "2026-03-30")}}, gate.CNM, []string{"(its waiver ended 2026-03-30)"}},
		{"waiver exceeded", gate.Facts{Rows: refused(3, "gone"), Gates: []record.Gate{pass}, Waivers: []record.Waiver{waiver("gone", 2, "2026-04-01")}}, gate.CNM, []string{"(its waiver covers 2 of 3)"}},
		{"waiver of another reason", gate.Facts{Rows: refused(1, "gone"), Gates: []record.Gate{pass}, Waivers: []record.Waiver{waiver("gon", 2, "2026-04-01")}}, gate.CNM, []string{"1 cases refused: gone; do something (no waiver of the suite is for this reason)"}},
		{"waiver without a date", gate.Facts{Rows: refused(1, "gone"), Gates: []record.Gate{pass}, Waivers: []record.Waiver{waiver("gone", 2, "soon")}}, gate.CNM, []string{`(its waiver has no valid end date: "soon")`}},
		{"an expired waiver before a good one", gate.Facts{Rows: refused(1, "gone"), Gates: []record.Gate{pass}, Waivers: []record.Waiver{waiver("gone", 2, "2025-01-01"), waiver("gone", 1, "2026-04-01")}}, gate.PASS, nil},
		{"one waiver is not for refused and skipped each", gate.Facts{Rows: mixed, Gates: []record.Gate{pass}, Waivers: []record.Waiver{waiver("gone", 2, "2026-04-01")}}, gate.CNM, []string{"2 cases refused: gone", "1 cases skipped: gone"}},
		{"waived, and regressed", gate.Facts{Rows: refused(1, "gone"), Gates: []record.Gate{worse}, Waivers: []record.Waiver{waiver("gone", 2, "2026-04-01")}}, gate.REGRESSED, []string{"gate RR"}},
		{"everything refused and waived", gate.Facts{Rows: refused(20, "gone"), Gates: []record.Gate{pass}, Waivers: []record.Waiver{waiver("gone", 99, "2026-04-01")}}, gate.CNM, []string{"no case was scored"}},

		{"of two required stages, one alive", gate.Facts{Rows: nothing, Gates: []record.Gate{pass}, Require: []string{"lexical", "final"}}, gate.CNM, []string{"stage final is required and was empty", "inert"}},
		{"nothing returned for any question", gate.Facts{Rows: nothing, Gates: []record.Gate{worse}}, gate.CNM, []string{"inert: not one document was returned for any of 20 answerable questions"}},
		{"nothing returned for some", gate.Facts{Rows: append(nothing[1:20:20], scored("z", 1)), Gates: []record.Gate{pass}}, gate.PASS, nil},
		{"one ranking for ten questions", gate.Facts{Rows: asked(several(10, 1)), Gates: []record.Gate{worse}}, gate.CNM, []string{"inert: all 10 answerable questions got the same ranking"}},
		{"one ranking for nine questions", gate.Facts{Rows: asked(several(9, 1)), Gates: []record.Gate{pass}}, gate.PASS, nil},
		{"two rankings for ten questions", gate.Facts{Rows: asked(append(several(9, 1), alive("z"))), Gates: []record.Gate{pass}}, gate.PASS, nil},
		{"faster than a search is", gate.Facts{Rows: several(20, 1), Gates: []record.Gate{pass}, MinMicros: 500}, gate.CNM, []string{"suspect: 100 µs a case on average"}},
		{"as fast as a search is", gate.Facts{Rows: several(20, 1), Gates: []record.Gate{pass}, MinMicros: 100}, gate.PASS, nil},
		{"a shard", gate.Facts{Rows: several(20, 1), Shard: "1/2", Whole: 41}, gate.CNM, []string{"partial by shard: 1/2 is 20 of 41 planned cases"}},
		{"an empty shard", gate.Facts{Shard: "9/9", Whole: 41}, gate.CNM, []string{"partial by shard: 9/9 is 0 of 41 planned cases"}},
		{"a dead required stage", gate.Facts{Rows: empty, Gates: []record.Gate{worse}, Require: []string{"vector"}}, gate.CNM, []string{"stage vector is required and was empty on every one of 20 cases"}},
		{"a required stage that is skipped", gate.Facts{Rows: skipped, Gates: []record.Gate{pass}, Require: []string{"vector"}}, gate.CNM, []string{"stage vector is required and was skipped: no model"}},
		{"a required stage that nobody reports", gate.Facts{Rows: several(20, 1), Gates: []record.Gate{pass}, Require: []string{"vector"}}, gate.CNM, []string{"stage vector is required and was not reported by any of 20 cases"}},
		{"alive on one case is alive", gate.Facts{Rows: append(empty[:19:19], in("all", alive("z"))), Gates: []record.Gate{pass}, Require: []string{"vector"}}, gate.PASS, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.facts.Plan == nil {
				tc.facts.Plan = ids(tc.facts.Rows)
			}
			tc.facts.Today = today
			v := gate.Decide(tc.facts)
			assert.Equal(t, tc.want, v.Verdict, v.Reasons)
			if assert.Len(t, v.Reasons, len(tc.why), v.Reasons) {
				for i, why := range tc.why {
					assert.Contains(t, v.Reasons[i], why)
				}
			}
			if v.Verdict != gate.PASS {
				assert.Len(t, v.Keys, len(v.Reasons), "each reason has its key")
			}
			sum := 0
			for _, n := range v.Outcomes {
				sum += n
			}
			assert.Equal(t, len(tc.facts.Plan), sum, "the outcomes sum to the plan")
			assert.Equal(t, len(tc.facts.Plan), v.Planned)
		})
	}
}

// asked gives every row a question of its own.
func asked(rows []record.Row) []record.Row {
	for i := range rows {
		rows[i].Question = "what is " + rows[i].Case
	}
	return rows
}

func alive(id string) record.Row {
	r := scored(id, 1)
	r.Stages[0].Name = "vector"
	r.Ranking = []record.Entry{{Doc: "e"}, {Doc: "d"}}
	return r
}

func TestExitCode(t *testing.T) {
	for verdict, want := range map[string]int{gate.PASS: 0, gate.REGRESSED: 1, gate.CNM: 2, gate.NotRun: 2, "": 2, "pass": 2} {
		assert.Equal(t, want, gate.ExitCode(verdict), verdict)
	}
}
