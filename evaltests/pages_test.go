package evaltests_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/seed"
)

// pageArm returns a document and then a page of two.
type pageArm struct{}

func (pageArm) Search(context.Context, pack.Question) (record.Observation, error) {
	return record.Observation{Ranking: []record.Entry{{Doc: "d0"}, {Doc: "page", Covers: []string{"d1", "d2"}}, {Doc: "d3"}}}, nil
}

// TestReturnedPages: recall, nDCG and RR are those of the documents that a
// page covers; blind they are kept beside, and a pack without coverage refuses
// pages rather than score them as misses.
func TestReturnedPages(t *testing.T) {
	p := &pack.Pack{Manifest: pack.Manifest{Name: "pages", Version: "1", Unit: "document"}}
	for i := range 5 {
		p.Documents = append(p.Documents, pack.Document{ID: fmt.Sprintf("d%d", i), Text: "text"})
	}
	p.Cases = []pack.Case{{
		Question: pack.Question{ID: "q", Text: "q"}, Stratum: "all", Gold: pack.Gold{Answerable: true, Grades: map[string]int{"d1": 1, "d2": 1}},
	}}
	run := func(c *seed.Contract) *evaltests.Run {
		s, err := evaltests.NewSuite(p, evaltests.Env{Tier: "smoke"})
		require.NoError(t, err)
		s.Contract = c
		folder, err := record.NewFolder(t.TempDir(), ".", "test", nil)
		require.NoError(t, err)
		r, err := evaltests.Evaluate(t.Context(), s.In(folder), pageArm{})
		require.NoError(t, err)
		files, err := record.ReadAll(folder.Dir)
		require.NoError(t, err)
		judged := gate.Judge(folder, files, nil, "smoke", record.Class())
		require.Len(t, judged.Suites, 1)
		assert.Equal(t, r.Verdict.Verdict, judged.Suites[0].Verdict, "the record says the same: %v", judged.Suites[0].Reasons)
		return r
	}
	covered := run(&seed.Contract{Variant: "v", Coverage: seed.Coverage{Pages: true}})
	require.Equal(t, gate.PASS, covered.Verdict.Verdict, "%v", covered.Verdict.Reasons)
	row := covered.Rows[0]
	assert.Equal(t, 1.0, row.Measures["R@5"])
	assert.Equal(t, .5, row.Measures["RR@10"])
	assert.InDelta(t, (1/1.5849625+1/2.0)/(1+1/1.5849625), row.Measures["nDCG@10"], 1e-6, "the page takes ranks 2 and 3")
	assert.Equal(t, 0.0, row.Blind["R@5"])
	assert.Equal(t, 0.0, row.Blind["RR@10"])
	assert.Equal(t, 0.0, row.Blind["nDCG@10"])

	for _, c := range []*seed.Contract{nil, {Variant: "v"}} {
		refused := run(c)
		assert.Equal(t, gate.CNM, refused.Verdict.Verdict)
		assert.Equal(t, record.Refused, refused.Rows[0].Outcome.State)
		assert.Contains(t, refused.Rows[0].Outcome.Reason, "the pack has no coverage")
	}
}
