package gate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

func TestUse(t *testing.T) {
	proven := &record.RunTwice{Repeats: 2, Cases: 20, Proven: true}
	sound := gate.Facts{Rows: several(20, 1), Tier: "full", Proof: proven}
	for _, tc := range []struct {
		name   string
		change func(*gate.Facts)
		use    string
		why    string
	}{
		{"all there", func(*gate.Facts) {}, gate.Citable, ""},
		{"repeats of a subject that varies", func(f *gate.Facts) { f.Proof = &record.RunTwice{Repeats: 3} }, gate.Citable, "means of 3 repeats"},
		{"a handful", func(f *gate.Facts) { f.Rows = several(19, 1) }, gate.Wiring, "19 scored cases"},
		{"one run", func(f *gate.Facts) { f.Proof = nil }, gate.Direction, "not proven deterministic"},
		{"a sample", func(f *gate.Facts) { f.LeftOut = true }, gate.Direction, "a sample"},
		{"smoke", func(f *gate.Facts) { f.Tier = "smoke" }, gate.Direction, "tier smoke"},
		{"a changed tree", func(f *gate.Facts) { f.Dirty = true }, gate.Direction, "not those of a commit"},
		{"a shard", func(f *gate.Facts) { f.Shard = "1/2" }, gate.Direction, "part of the plan"},
		{"a case not reached", func(f *gate.Facts) { f.Plan = append(ids(f.Rows), "late") }, gate.Direction, "not every planned case"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := sound
			f.Plan = ids(f.Rows)
			tc.change(&f)
			if len(f.Plan) < len(f.Rows) || tc.use == gate.Wiring {
				f.Plan = ids(f.Rows)
			}
			v := gate.Decide(f)
			assert.Equal(t, tc.use, v.Use)
			assert.Contains(t, v.UseWhy, tc.why)
		})
	}
}
