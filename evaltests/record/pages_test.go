package record_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

func TestDocumentsOfPages(t *testing.T) {
	page := func(id string, covers ...string) record.Entry { return record.Entry{Doc: id, Covers: covers} }
	for _, tc := range []struct {
		name    string
		entries []record.Entry
		want    []string
		blind   []string
	}{
		{"a page takes the ranks of its documents", []record.Entry{{Doc: "a"}, page("p", "b", "c"), {Doc: "d"}}, []string{"a", "b", "c", "d"}, []string{"a", "p", "d"}},
		{"a document ranked before its page", []record.Entry{{Doc: "b"}, page("p", "b", "c")}, []string{"b", "c"}, []string{"b", "p"}},
		{"and after it", []record.Entry{page("p", "b", "c"), {Doc: "c"}, {Doc: "d"}}, []string{"b", "c", "d"}, []string{"p", "c", "d"}},
		{"two pages of one document", []record.Entry{page("p", "a"), page("q", "a", "b")}, []string{"a", "b"}, []string{"p", "q"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ids, scores, _ := record.Documents(tc.entries)
			assert.Equal(t, tc.want, ids)
			assert.Len(t, scores, len(ids))
			blind, _, _ := record.Documents(record.Blind(tc.entries))
			assert.Equal(t, tc.blind, blind)
			assert.True(t, record.Pages(tc.entries), "they are left as they were")
		})
	}
}

func TestPagesValidate(t *testing.T) {
	known := func(id string) bool { return id != "p" && id != "foreign" }
	for _, tc := range []struct {
		name  string
		entry record.Entry
		err   string
	}{
		{"sound", record.Entry{Doc: "p", Covers: []string{"a", "b"}}, ""},
		{"covers nothing", record.Entry{Doc: "p", Covers: []string{}}, `page "p" at rank 1: it covers no document`},
		{"covers one twice", record.Entry{Doc: "p", Covers: []string{"a", "a"}}, `it covers "a"`},
		{"covers an empty id", record.Entry{Doc: "p", Covers: []string{""}}, `it covers ""`},
		{"covers what is not in the corpus", record.Entry{Doc: "p", Covers: []string{"foreign"}}, "1 ids are not in the corpus"},
		{"has the id of a document", record.Entry{Doc: "a", Covers: []string{"b"}}, `page "a" at rank 1 has the id of a document`},
		{"is no document", record.Entry{Doc: "p"}, "1 ids are not in the corpus"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := record.Observation{Ranking: []record.Entry{tc.entry}}.Validate(known)
			if tc.err == "" {
				require.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, tc.err)
		})
	}
}

func TestRequireCoverage(t *testing.T) {
	pages := []record.Entry{{Doc: "p", Covers: []string{"a"}}}
	for name, o := range map[string]record.Observation{
		"in the ranking": {Ranking: pages}, "in a stage": {Stages: []record.Stage{{Name: "pages", Entries: pages}}},
	} {
		outcome, refused := o.RequireCoverage(false)
		assert.True(t, refused, name)
		assert.Equal(t, record.Refused, outcome.State)
		assert.Contains(t, outcome.Action, "pages = true under [coverage]")
		_, refused = o.RequireCoverage(true)
		assert.False(t, refused, name)
	}
	_, refused := record.Observation{Ranking: []record.Entry{{Doc: "a"}}}.RequireCoverage(false)
	assert.False(t, refused)
}
