package gate_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

func TestEvaluate(t *testing.T) {
	rows := func(rs ...record.Row) []record.Row { return rs }
	noStage := scored("q9", 1)
	noStage.Stages = nil
	skippedStage := scored("q9", 1)
	skippedStage.Stages = []record.Stage{{Name: "lexical", State: record.SkippedStage, Reason: "off"}}
	nan := scored("q9", math.NaN())
	noMeasure := scored("q9", 0)
	noMeasure.Measures = map[string]float64{"RR": 1}
	for _, tc := range []struct {
		name    string
		spec    gate.Spec
		rows    []record.Row
		verdict string
		value   *float64
		n, of   int
		reason  string // part of it
	}{
		{"above the floor", gate.Spec{Measure: "AP", Floor: p(.4)}, rows(scored("a", .2), scored("b", .8)), gate.Pass, p(.5), 2, 2, ""},
		{"exactly the floor", gate.Spec{Measure: "AP", Floor: p(.5)}, rows(scored("a", .2), scored("b", .8)), gate.Pass, p(.5), 2, 2, ""},
		{"below the floor", gate.Spec{Measure: "AP", Floor: p(.51)}, rows(scored("a", .2), scored("b", .8)), gate.Regressed, p(.5), 2, 2, "0.5000 is below the floor 0.5100"},
		{"below the ceiling", gate.Spec{Measure: "AP", Ceiling: p(.5)}, rows(scored("a", .2), scored("b", .8)), gate.Pass, p(.5), 2, 2, ""},
		{"above the ceiling", gate.Spec{Measure: "AP", Ceiling: p(.4)}, rows(scored("a", .5)), gate.Regressed, p(.5), 1, 1, "0.5 is above the ceiling 0.4"},
		{"target not met does not block", gate.Spec{Measure: "AP", Target: p(.9)}, rows(scored("a", .5)), gate.Pass, p(.5), 1, 1, ""},
		{"failed is the worst value", gate.Spec{Measure: "AP", Floor: p(.5)}, rows(scored("a", .8), failed("b")), gate.Regressed, p(.4), 2, 2, "0.4000 is below"},
		{"refused leaves the mean, not the plan", gate.Spec{Measure: "AP", Floor: p(.5)}, rows(scored("a", .8), ended("b", record.Refused, "x"), ended("c", record.Skipped, "x")), gate.Pass, p(.8), 1, 3, ""},
		{"unanswerable is excluded", gate.Spec{Measure: "AP", Floor: p(.5)}, rows(scored("a", .8), unanswerable("b")), gate.Pass, p(.8), 1, 1, ""},
		{"only unanswerable", gate.Spec{Measure: "AP", Floor: p(.5)}, rows(unanswerable("b")), gate.NotApplicable, nil, 0, 0, "no answerable case"},
		{"a named stratum without cases", gate.Spec{Measure: "AP", Floor: p(.5), Stratum: "x"}, rows(scored("a", 1)), gate.CouldNotMeasure, nil, 0, 0, "no answerable case in this stratum"},
		{"a stratum", gate.Spec{Measure: "AP", Floor: p(.5), Stratum: "x"}, rows(scored("a", 1), in("x", scored("b", .2))), gate.Regressed, p(.2), 1, 1, "below"},
		{"fewer than min", gate.Spec{Measure: "AP", Floor: p(.1), Min: 3}, rows(scored("a", 1), scored("b", 1), ended("c", record.Refused, "x")), gate.CouldNotMeasure, nil, 2, 3, "2 cases measured, at least 3 needed"},
		{"exactly min", gate.Spec{Measure: "AP", Floor: p(.1), Min: 2}, rows(scored("a", 1), scored("b", 1)), gate.Pass, p(1), 2, 2, ""},
		{"nothing measured", gate.Spec{Measure: "AP", Floor: p(.1)}, rows(ended("a", record.Refused, "x")), gate.CouldNotMeasure, nil, 0, 1, "0 cases measured, at least 1 needed"},
		{"no rows", gate.Spec{Measure: "AP", Floor: p(.1)}, nil, gate.NotApplicable, nil, 0, 0, "no answerable case"},
		{"a stage", gate.Spec{Measure: "AP", Floor: p(.5), Stage: "lexical"}, rows(scored("a", .8)), gate.Regressed, p(.4), 1, 1, "below"},
		{"the final stage by name", gate.Spec{Measure: "AP", Floor: p(.5), Stage: "final"}, rows(scored("a", .8)), gate.Pass, p(.8), 1, 1, ""},
		{"a stage that a case lacks", gate.Spec{Measure: "AP", Floor: p(.1), Stage: "lexical"}, rows(scored("a", .8), noStage), gate.CouldNotMeasure, nil, 0, 0, "case q9: stage lexical was not executed"},
		{"a stage that was skipped", gate.Spec{Measure: "AP", Floor: p(.1), Stage: "lexical"}, rows(scored("a", .8), skippedStage), gate.CouldNotMeasure, nil, 0, 0, "case q9: stage lexical was not executed"},
		{"a measure that no row has", gate.Spec{Measure: "AP", Floor: p(.1)}, rows(noMeasure), gate.CouldNotMeasure, nil, 0, 0, "case q9: no AP in the row"},
		{"a measure that is not known", gate.Spec{Measure: "APP", Floor: p(.1)}, rows(scored("a", 1)), gate.CouldNotMeasure, nil, 0, 0, "APP"},
		{"NaN is no pass", gate.Spec{Measure: "AP", Floor: p(.1)}, rows(scored("a", 1), nan), gate.CouldNotMeasure, nil, 0, 0, "case q9: AP is NaN"},

		{"red only by timeouts", gate.Spec{Measure: "AP", Floor: p(.5)}, rows(scored("a", .8), timedOut("b")), gate.CouldNotMeasure, p(.4), 2, 2, "0.4000 with 1 timeouts as the worst value, 0.8000 without them"},
		{"red without timeouts too", gate.Spec{Measure: "AP", Floor: p(.9)}, rows(scored("a", .8), timedOut("b")), gate.Regressed, p(.4), 2, 2, "below"},
		{"green in spite of timeouts", gate.Spec{Measure: "AP", Floor: p(.3)}, rows(scored("a", .8), timedOut("b")), gate.Pass, p(.4), 2, 2, ""},
		{"failures are no timeouts", gate.Spec{Measure: "AP", Floor: p(.5)}, rows(scored("a", .8), failed("b")), gate.Regressed, p(.4), 2, 2, "below"},
		{"red by failures, timeouts beside them", gate.Spec{Measure: "AP", Floor: p(.5)}, rows(scored("a", .8), failed("b"), timedOut("c")), gate.Regressed, p(.8 / 3), 3, 3, "below"},
		{"all of a stratum timed out", gate.Spec{Measure: "AP", Floor: p(.5), Stratum: "x"}, rows(scored("a", .8), in("x", timedOut("b"))), gate.CouldNotMeasure, p(0), 1, 1, "all 1 cases timed out"},

		{"count within", gate.Spec{Count: "failed", Ceiling: p(1)}, rows(scored("a", 1), failed("b")), gate.Pass, p(1), 2, 2, ""},
		{"count above", gate.Spec{Count: "failed", Ceiling: p(0)}, rows(scored("a", 1), failed("b"), unanswerable("c")), gate.Regressed, p(1), 3, 3, "1 is above the ceiling 0"},
		{"count of timeouts above", gate.Spec{Count: "timed_out", Ceiling: p(0)}, rows(scored("a", 1), timedOut("b")), gate.CouldNotMeasure, p(1), 2, 2, "1 cases timed out: 1 is above the ceiling 0"},
		{"count in a stratum", gate.Spec{Count: "failed", Ceiling: p(0), Stratum: "x"}, rows(failed("a"), in("x", scored("b", 1))), gate.Pass, p(0), 1, 1, ""},
		{"count in an empty stratum", gate.Spec{Count: "failed", Ceiling: p(0), Stratum: "x"}, rows(failed("a")), gate.CouldNotMeasure, nil, 0, 0, "0 cases reached"},
		{"count of nothing", gate.Spec{Count: "failed", Ceiling: p(0)}, nil, gate.CouldNotMeasure, nil, 0, 0, "0 cases reached, at least 1 needed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := gate.Evaluate(tc.spec, tc.rows)
			assert.Equal(t, tc.verdict, g.Verdict, g.Reason)
			if tc.value == nil {
				assert.Nil(t, g.Value)
			} else {
				require.NotNil(t, g.Value)
				assert.InDelta(t, *tc.value, *g.Value, 1e-15)
			}
			assert.Equal(t, tc.n, g.Denominator)
			assert.Equal(t, tc.of, g.Planned)
			assert.Contains(t, g.Reason, tc.reason)
			if tc.verdict == gate.Regressed || tc.verdict == gate.CouldNotMeasure {
				assert.NotEmpty(t, g.Action, "a gate that is not green says what to do")
			}
		})
	}
}

func TestTargets(t *testing.T) {
	for _, tc := range []struct {
		spec gate.Spec
		met  bool
	}{
		{gate.Spec{Measure: "AP", Target: p(.5)}, true},
		{gate.Spec{Measure: "AP", Target: p(.51)}, false},
		{gate.Spec{Count: "failed", Ceiling: p(9), Target: p(1)}, true},
		{gate.Spec{Count: "failed", Ceiling: p(9), Target: p(0)}, false},
	} {
		g := gate.Evaluate(tc.spec, []record.Row{scored("a", 1), failed("b")})
		require.NotNil(t, g.TargetMet)
		assert.Equal(t, tc.met, *g.TargetMet, g.Name)
		assert.Equal(t, gate.Pass, g.Verdict, "a target never blocks")
	}
}

func TestSpecName(t *testing.T) {
	assert.Equal(t, "nDCG@10", gate.Spec{Measure: "nDCG@10", Stage: "final"}.Name())
	assert.Equal(t, "lexical nDCG@10 [paraphrase]", gate.Spec{Measure: "nDCG@10", Stage: "lexical", Stratum: "paraphrase"}.Name())
	assert.Equal(t, "count timed_out", gate.Spec{Count: "timed_out"}.Name())
}

func TestValidate(t *testing.T) {
	for _, tc := range []struct {
		name string
		spec gate.Spec
		want string // part of the error; empty for none
	}{
		{"a floor", gate.Spec{Measure: "AP", Floor: p(1)}, ""},
		{"a ceiling", gate.Spec{Measure: "AP", Ceiling: p(0)}, ""},
		{"a target alone", gate.Spec{Measure: "AP", Target: p(.5)}, ""},
		{"a count", gate.Spec{Count: "failed", Ceiling: p(0)}, ""},
		{"nothing", gate.Spec{Floor: p(.1)}, "give one of measure, count and latency"},
		{"both", gate.Spec{Measure: "AP", Count: "failed", Ceiling: p(0)}, "give one of measure, count and latency"},
		{"no threshold", gate.Spec{Measure: "AP"}, "no floor, ceiling or target"},
		{"NaN", gate.Spec{Measure: "AP", Floor: p(math.NaN())}, "not finite"},
		{"infinite target", gate.Spec{Measure: "AP", Target: p(math.Inf(-1))}, "not finite"},
		{"a floor that nothing is below", gate.Spec{Measure: "AP", Floor: p(0)}, "want above 0"},
		{"a floor that nothing reaches", gate.Spec{Measure: "AP", Floor: p(1.01)}, "at most 1"},
		{"a ceiling that nothing is above", gate.Spec{Measure: "AP", Ceiling: p(1)}, "below 1"},
		{"floor above ceiling", gate.Spec{Measure: "AP", Floor: p(.6), Ceiling: p(.5)}, "floor 0.6 is above ceiling 0.5"},
		{"negative min", gate.Spec{Measure: "AP", Floor: p(.1), Min: -1}, "min -1 is negative"},
		{"unknown measure", gate.Spec{Measure: "APP", Floor: p(.1)}, "APP"},
		{"unbounded measure", gate.Spec{Measure: "NumRet", Floor: p(.1)}, "not bounded"},
		{"count of a good state", gate.Spec{Count: "scored", Ceiling: p(0)}, "want failed or timed_out"},
		{"count without a ceiling", gate.Spec{Count: "failed", Target: p(0)}, "takes a ceiling"},
		{"count with a floor", gate.Spec{Count: "failed", Ceiling: p(1), Floor: p(1)}, "no floor"},
		{"count below nothing", gate.Spec{Count: "failed", Ceiling: p(-1)}, "want at least 0"},
		{"a latency", gate.Spec{Latency: "p95", Ceiling: p(200)}, ""},
		{"a latency that is no quantile", gate.Spec{Latency: "p42", Ceiling: p(200)}, "want p50, p95, p99 or max"},
		{"a latency with a floor", gate.Spec{Latency: "p95", Ceiling: p(200), Floor: p(.5)}, "no floor"},
		{"a latency without a ceiling", gate.Spec{Latency: "p95", Target: p(1)}, "takes a ceiling in milliseconds"},
		{"a latency and a count", gate.Spec{Latency: "p95", Count: "failed", Ceiling: p(200)}, "give one of"},
		{"blocking on a measure", gate.Spec{Measure: "AP", Floor: p(.1), Blocking: true}, "blocking is for latencies"},
		{"certainty of a count", gate.Spec{Count: "failed", Ceiling: p(0), Certainty: true}, "certainty is for measures"},
		{"certainty of a target", gate.Spec{Measure: "AP", Target: p(.5), Certainty: true}, "certainty needs a floor or a ceiling"},
		{"count of a stage", gate.Spec{Count: "failed", Ceiling: p(0), Stage: "lexical"}, "no stage"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := tc.spec.Validate()
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.want)
			require.ErrorContains(t, err, "gate ")
		})
	}
}
