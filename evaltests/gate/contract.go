package gate

import (
	"fmt"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// ContractGate is the name of the gate of a pack that has a contract: each of
// the run's stores was held to it before a question was asked.
const ContractGate = "contract"

// Contract is that gate, from the run line alone.
func Contract(c record.Contract) record.Gate {
	g := record.Gate{Name: ContractGate, Denominator: c.Held, Planned: c.Stores, Verdict: Pass}
	switch {
	case c.NotApplicable != "":
		g.Verdict, g.Reason = NotApplicable, c.NotApplicable
	case c.Held < c.Stores || c.Stores == 0:
		g.Verdict, g.Action = CouldNotMeasure, c.Action
		g.Reason = fmt.Sprintf("contract %s: %d of %d stores: %s", c.Variant, c.Stores-c.Held, c.Stores, c.Reason)
	}
	return g
}
