package evaltests_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// counting is an adopter's subject that counts what it searches, and has no
// fingerprint and no ingest of its own.
type counting struct {
	list  []evaltests.Substrate
	err   error
	panic bool
}

func (counting) Search(context.Context, pack.Question) (record.Observation, error) {
	return found("d0", "d1", "d2")
}

func (c counting) Substrates(context.Context) ([]evaltests.Substrate, error) {
	if c.panic {
		panic("no connection")
	}
	return c.list, c.err
}

// TestSubstratesOfASubject: what is not known to be there is not measured. The
// pack of evaluate has three documents.
func TestSubstratesOfASubject(t *testing.T) {
	count := func(name string, counted, enumerated int) evaltests.Substrate {
		return evaltests.Substrate{Name: name, Counted: counted, Enumerated: enumerated}
	}
	documents := count("documents", 3, 3)
	for _, tc := range []struct {
		name    string
		subject counting
		reason  string // empty: it is measured
	}{
		{"sound", counting{list: []evaltests.Substrate{documents, count("vectors", 7, 7)}}, ""},
		{"an optional one that is empty", counting{list: []evaltests.Substrate{documents, {Name: "dates", Optional: true}}}, ""},
		{"empty", counting{list: []evaltests.Substrate{documents, count("vectors", 0, 0)}}, "substrate vectors: 0 entries (needs > 0)"},
		{"disagree", counting{list: []evaltests.Substrate{documents, count("vectors", 7, 6)}}, "substrate vectors: counted 7, enumerated 6"},
		{"one way finds nothing", counting{list: []evaltests.Substrate{documents, count("vectors", 7, 0)}}, "counted 7, enumerated 0"},
		{"an optional one that disagrees", counting{list: []evaltests.Substrate{documents, {Name: "dates", Counted: 2, Optional: true}}}, "substrate dates: counted 2, enumerated 0"},
		{"unknown", counting{list: []evaltests.Substrate{documents, {Name: "vectors", Counted: 7, Enumerated: 7, Err: errors.New("no such table")}}}, "substrate vectors: count unknown: no such table"},
		{"minus one twice", counting{list: []evaltests.Substrate{documents, count("vectors", -1, -1)}}, "substrate vectors: count unknown: counted -1, enumerated -1"},
		{"without a name", counting{list: []evaltests.Substrate{documents, count("", 3, 3)}}, "a substrate without a name"},
		{"fewer documents than the pack", counting{list: []evaltests.Substrate{count("documents", 2, 2)}}, "substrate documents: 2 entries, the pack has 3"},
		{"documents of no account", counting{list: []evaltests.Substrate{{Name: "documents", Optional: true}}}, "substrate documents: 0 entries, the pack has 3"},
		{"none reported", counting{}, "substrates are unknown: the subject reports none"},
		{"an error", counting{list: []evaltests.Substrate{documents}, err: errors.New("connection refused")}, "substrates are unknown: connection refused"},
		{"a panic", counting{panic: true}, "substrates are unknown: panic: no connection"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			run := evaluate(t, tc.subject, nil)
			if tc.reason == "" {
				assert.Equal(t, 3, run.Verdict.Outcomes[record.Scored], "%v", run.Verdict.Reasons)
				assert.Empty(t, run.Line.Hashes.SeedKey, "nobody told what the store depends on")
				return
			}
			assert.Equal(t, gate.CNM, run.Verdict.Verdict)
			assert.Equal(t, 3, run.Verdict.Outcomes[record.Refused])
			assert.Contains(t, strings.Join(run.Verdict.Reasons, "\n"), tc.reason)
			for _, r := range run.Rows {
				assert.NotEmpty(t, r.Outcome.Action, "a refusal says what to do")
			}
		})
	}
}
