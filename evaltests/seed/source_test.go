package seed_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/seed"
)

// TestStoredAs has for each loader with data of its own here the source and id
// under which the first documents are stored. A loader that makes other ids
// breaks every golden and every seed of its packs: change this list knowingly.
func TestStoredAs(t *testing.T) {
	for _, tc := range []struct {
		dir, format string
		want        []string
	}{
		{"beir", "beir", []string{"p bread", "p soup", "p a b/ç☕"}},
		{"clapnq", "clapnq", []string{"p 674aed74daaba3e1", "p ba29c6aac6221269", "p a82619848cfa39c0"}},
		{"hotpotqa", "hotpotqa", []string{"p Ann_Ottery_(baker)", "p Miller_of_Ottery", "p Flour"}},
		{"locomo", "locomo", []string{"p/talk-1 talk-1/D2:1", "p/talk-1 talk-1/D2:2", "p/talk-1 talk-1/D10:1"}},
		{"multihoprag", "multihoprag", []string{"p faac008885b845cd", "p 018310a9b36dc756"}},
		{"scifact", "scifact", []string{"p 12", "p 7", "p 300"}},
		{"smart", "smart", []string{"p 1", "p 2", "p 3"}},
		{"squad2", "squad2", []string{"p 74449e75df7e6d1b", "p 443f269e82e22d8e"}},
		{"longmemeval", "longmemeval", []string{"p/ca0df2c95aa144c1 ca0df2c95aa144c1/s0/t0", "p/ca0df2c95aa144c1 ca0df2c95aa144c1/s0/t1", "p/ca0df2c95aa144c1 ca0df2c95aa144c1/s1/t0"}},
		{"qasper", "qasper", []string{"p 2001.1", "p 2001.2"}},
		{"trec", "trec", []string{"p FT1-1", "p FT1-2"}},
		{"manifest", "manifest", []string{"p files/mill.md", "p files/a.md", "p files/b.md"}},
		{"jsonl", "jsonl", []string{"p cellar.txt", "p oven.md"}},
		{"folder", "folder", []string{"p letters/order_1.txt", "p offer.md"}},
	} {
		t.Run(tc.dir, func(t *testing.T) {
			p, err := pack.Load("../pack/testdata/"+tc.dir, pack.Options{Format: tc.format})
			require.NoError(t, err)
			var got []string
			for _, d := range p.Documents[:min(3, len(p.Documents))] {
				source, id := seed.StoredAs("p", d)
				got = append(got, source+" "+id)
			}
			assert.Equal(t, tc.want, got)
		})
	}
	source, id := seed.StoredAs("p", pack.Document{ID: "g/1", Group: "g"})
	assert.Equal(t, []string{"p/g", "g/1"}, []string{source, id})
}
