package gate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// took gives the rows latencies of so many milliseconds, in turn.
func took(rows []record.Row, ms ...int64) []record.Row {
	for i := range rows {
		rows[i].Micros = 1000 * ms[i*len(ms)/len(rows)]
	}
	return rows
}

func unfit(rows []record.Row, from int) []record.Row {
	for i := range rows[from:] {
		rows[from+i].Unfit = true
	}
	return rows
}

func TestLatencyGate(t *testing.T) {
	p95 := gate.Spec{Latency: "p95", Ceiling: p(50), Blocking: true}
	advisory := gate.Spec{Latency: "p95", Ceiling: p(50)}
	for _, tc := range []struct {
		name     string
		spec     gate.Spec
		rows     []record.Row
		unusable string
		verdict  string
		value    *float64
		reason   string
	}{
		{"fast enough", p95, took(several(20, 1), 50), "", gate.Pass, p(50), ""},
		{"too slow", p95, took(several(20, 1), 10, 60), "", gate.Regressed, p(60), "p95 60.0 ms is above the ceiling 50.0 ms"},
		{"too slow and advisory", advisory, took(several(20, 1), 10, 60), "", gate.NotApplicable, p(60), "advisory (regressed): p95 60.0 ms"},
		{"too few calls", p95, took(several(9, 1), 60), "", gate.CouldNotMeasure, nil, "9 latencies measured, at least 10 needed"},
		{"fewer than the suite asks", gate.Spec{Latency: "p95", Ceiling: p(50), Blocking: true, Min: 30}, took(several(20, 1), 60), "", gate.CouldNotMeasure, nil, "at least 30 needed"},
		{"calls beside an abandoned one do not count", p95, unfit(took(several(20, 1), 10, 60), 10), "", gate.Pass, p(10), ""},
		{"failed calls do not count", p95, append(took(several(20, 1), 10), failed("x")), "", gate.Pass, p(10), ""},
		{"unusable", p95, took(several(20, 1), 10), "they drift", gate.CouldNotMeasure, nil, "latencies: they drift"},
		{"unusable and advisory", advisory, took(several(20, 1), 10), "they drift", gate.NotApplicable, nil, "advisory (could-not-measure): latencies: they drift"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.NoError(t, tc.spec.Validate())
			g := gate.EvaluateLatency(tc.spec, tc.rows, tc.unusable)
			assert.Equal(t, tc.verdict, g.Verdict)
			assert.Equal(t, tc.value, g.Value)
			assert.Contains(t, g.Reason, tc.reason)
		})
	}
}

func TestUnusableLatency(t *testing.T) {
	limit := record.Plausible{LatencyDrift: 0.5}
	for _, tc := range []struct {
		name string
		run  record.Run
		rows []record.Row
		want string // part; empty for usable
	}{
		{"steady", record.Run{Limits: limit}, took(several(100, 1), 10), ""},
		{"a machine that turned busy", record.Run{Limits: limit}, took(several(100, 1), 10, 10, 10, 10, 40), "fifths of the run took 10.00 to 40.00 ms a call, 150% from the mean 16.00 ms, at most 50%"},
		{"no limit", record.Run{}, took(several(100, 1), 10, 10, 10, 10, 40), ""},
		{"within the limit", record.Run{Limits: limit}, took(several(100, 1), 10, 10, 10, 10, 14), ""},
		{"too few calls to tell", record.Run{Limits: limit}, took(several(49, 1), 10, 40), ""},
		{"side by side", record.Run{Workers: 4}, took(several(100, 1), 10), "4 cases ran at a time"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := gate.UnusableLatency(tc.run, tc.rows)
			if tc.want == "" {
				assert.Empty(t, got)
				return
			}
			assert.Contains(t, got, tc.want)
		})
	}
}

// TestCertainty: the interval decides, and one that holds the threshold
// decides nothing.
func TestCertainty(t *testing.T) {
	noisy := append(several(10, 0.2), several(10, 0.8)...) // mean .5, 95 % interval about [.37, .63]
	for _, tc := range []struct {
		name    string
		spec    gate.Spec
		verdict string
		reason  string
	}{
		{"clear of the floor", gate.Spec{Measure: "AP", Floor: p(.3), Certainty: true}, gate.Pass, ""},
		{"clearly below the floor", gate.Spec{Measure: "AP", Floor: p(.7), Certainty: true}, gate.Regressed, "below the floor"},
		{"the floor inside the interval, the point above", gate.Spec{Measure: "AP", Floor: p(.49), Certainty: true}, gate.CouldNotMeasure, "inconclusive: the interval"},
		{"the floor inside the interval, the point below", gate.Spec{Measure: "AP", Floor: p(.51), Certainty: true}, gate.CouldNotMeasure, "inconclusive: the interval"},
		{"the ceiling inside the interval", gate.Spec{Measure: "AP", Ceiling: p(.51), Certainty: true}, gate.CouldNotMeasure, "holds the ceiling 0.5100"},
		{"not asked for", gate.Spec{Measure: "AP", Floor: p(.49)}, gate.Pass, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.NoError(t, tc.spec.Validate())
			g := gate.Evaluate(tc.spec, noisy)
			assert.Equal(t, tc.verdict, g.Verdict)
			assert.Contains(t, g.Reason, tc.reason)
			assert.Equal(t, tc.spec.Certainty, g.Lo != nil && g.Hi != nil, "the interval is in the record")
			assert.Equal(t, g, gate.Evaluate(tc.spec, noisy), "the same rows give the same interval")
		})
	}
	one := gate.Evaluate(gate.Spec{Measure: "AP", Floor: p(.3), Certainty: true}, several(1, 1))
	assert.Equal(t, gate.CouldNotMeasure, one.Verdict)
}
