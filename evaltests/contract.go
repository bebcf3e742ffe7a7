package evaltests

import (
	"context"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/seed"
)

// checkContract holds a store that the subject made itself to the contract of
// the pack, and asserts its channels. Stores of a seed were held to it when
// they were made and again when they were opened.
func (x *session) checkContract(ctx context.Context) {
	if x.stores != nil || x.refuse != nil {
		return
	}
	surveyor, ok := x.subject.(Surveyor)
	if !ok {
		return
	}
	var v seed.Survey
	if err := guard(func() (err error) { v, err = surveyor.Survey(ctx); return err }); err != nil {
		x.refuseAll("the store could not be surveyed: "+err.Error(), "make the subject count what it searches")
		return
	}
	if err := x.assertLive(x.subject, v); err != nil {
		o := refusedBy(err)
		x.refuseAll(o.Reason, o.Action)
		return
	}
	c := x.suite.Contract
	if c == nil {
		return
	}
	given := seed.Given{
		Pack: x.run.Pack.Digest, Documents: len(x.suite.Pack.Documents), Unit: x.run.Unit, CapPool: x.suite.CapPool,
		Consolidated: x.suite.Consolidated, Groups: groupsOf(x.suite.Pack.Documents), ByGroup: x.suite.byGroup(), Name: x.run.Pack.Name,
	}
	if p, ok := x.subject.(interface{ Pool() int }); ok {
		given.Pool = p.Pool()
	}
	result := c.Check(v, given)
	if err := result.Err(); err != nil {
		x.refuseAll(err.Error(), "mend what fills the store, then ingest again")
		return
	}
	x.held = true
}

// noteContract says in the run line how the stores stood to the contract. A
// store that is made when its case comes counts as held here; if it is not,
// its case is refused.
func (x *session) noteContract() {
	if x.suite.Contract == nil {
		return
	}
	c := record.Contract{Variant: x.suite.Contract.Variant, Stores: 1}
	x.run.Contract = &c
	if x.stores == nil {
		switch {
		case x.held:
			c.Held = 1
		case x.refuse != nil:
			c.Reason, c.Action = x.refuse.Reason, x.refuse.Action
		default:
			c.NotApplicable = "the subject does not let its store be surveyed"
		}
		return
	}
	c.Stores = len(x.stores.order)
	var wrong []string
	for _, name := range x.stores.order {
		u := x.stores.units[name]
		if u.refuse == nil {
			c.Held++
			continue
		}
		if wrong = append(wrong, u.refuse.Reason); c.Action == "" {
			c.Action = u.refuse.Action
		}
	}
	c.Reason = strings.Join(wrong[:min(3, len(wrong))], "; ")
}

// byGroup reports whether questions are by group.
func (s *Suite) byGroup() bool {
	return slices.ContainsFunc(s.Cases, func(c pack.Case) bool { return c.Group != "" })
}

func groupsOf(documents []pack.Document) int {
	groups := map[string]bool{}
	for _, d := range documents {
		groups[d.Group] = true
	}
	return len(groups)
}
