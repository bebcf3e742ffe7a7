package pack_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

func TestLimitKeepsEachCasesGold(t *testing.T) {
	var corpus strings.Builder
	for i := range 40 {
		fmt.Fprintf(&corpus, "{\"_id\":\"d%d\",\"text\":\"x\"}\n", i)
	}
	p := load(t, edited(t, "beir", map[string]string{
		"corpus.jsonl":  corpus.String(),
		"queries.jsonl": "{\"_id\":\"q1\",\"text\":\"a\"}\n{\"_id\":\"q2\",\"text\":\"b\"}\n",
		"qrels.tsv":     "q1\td3\t1\nq1\td39\t0\nq2\td7\t2\n",
		"cases.jsonl":   gone,
	}))
	whole, err := p.Digest()
	require.NoError(t, err)
	ids := func(p *pack.Pack) (out []string) {
		for _, d := range p.Documents {
			out = append(out, d.ID)
		}
		return out
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 50).Draw(t, "n")
		k := rapid.IntRange(1, 2).Draw(t, "cases")
		got, err := p.Limit(p.Cases[:k], n)
		require.NoError(t, err)
		own := []string{"d3", "d39", "d7"}[:k+1]
		assert.Subset(t, ids(got), own)
		assert.Len(t, got.Documents, min(40, max(n, len(own))))
		if content, err := got.Digest(); err != nil || content != whole {
			t.Fatalf("digest %s, %v: the pack is the same", content, err)
		}
		more, err := p.Limit(p.Cases[:k], n+1)
		require.NoError(t, err)
		assert.Subset(t, ids(more), ids(got), "a larger pool holds the smaller")
	})
}

// The limit is for each group: a conversation's store is its own.
func TestLimitOfGroups(t *testing.T) {
	p := load(t, "testdata/locomo")
	got, err := p.Limit(p.Cases[:1], 2)
	require.NoError(t, err)
	n := map[string]int{}
	for _, d := range got.Documents {
		n[d.Group]++
	}
	assert.Equal(t, map[string]int{"talk-1": 2, "talk-2": 1}, n)
}

func TestReferenceUnequal(t *testing.T) {
	p := load(t, "testdata/scifact")
	r := pack.Reference{Measure: "nDCG@10", Value: .6, Output: "ranking", Split: "validation", Unit: "document", Source: "x"}
	assert.Empty(t, r.Unequal(p))
	for _, tc := range []struct {
		change func(r *pack.Reference)
		want   string
	}{
		{func(r *pack.Reference) { r.Output = "answer" }, "it is of answer, this of a ranking"},
		{func(r *pack.Reference) { r.Split = "train" }, "it is of split train, this of validation"},
		{func(r *pack.Reference) { r.Unit = "chunk" }, "its unit is chunk, here document"},
	} {
		other := r
		tc.change(&other)
		assert.Equal(t, tc.want, other.Unequal(p))
	}
}
