package gate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

func TestContract(t *testing.T) {
	for _, tc := range []struct {
		name          string
		contract      record.Contract
		verdict, says string
	}{
		{"held", record.Contract{Stores: 3, Held: 3}, gate.Pass, ""},
		{"one is not", record.Contract{Variant: "v", Stores: 3, Held: 2, Reason: "no dates", Action: "reseed"}, gate.CouldNotMeasure, "contract v: 1 of 3 stores: no dates"},
		{"no store", record.Contract{}, gate.CouldNotMeasure, "0 of 0 stores"},
		{"cannot be told", record.Contract{Stores: 1, NotApplicable: "not surveyed"}, gate.NotApplicable, "not surveyed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := gate.Contract(tc.contract)
			assert.Equal(t, tc.verdict, g.Verdict)
			assert.Contains(t, g.Reason, tc.says)
			assert.Equal(t, tc.contract.Action, g.Action)
			all := gate.All(record.Run{Contract: &tc.contract}, nil)
			assert.Equal(t, []record.Gate{g}, all, "it is among the gates of a record")
		})
	}
	assert.Empty(t, gate.All(record.Run{}, nil))
}
