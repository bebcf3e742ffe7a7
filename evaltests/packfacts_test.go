package evaltests_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

// showRun writes the terminal report of a run folder.
func showRun(w io.Writer, dir string) error {
	folder, err := record.ReadFolder(dir)
	if err != nil {
		return err
	}
	files, err := record.ReadAll(dir)
	if err != nil {
		return err
	}
	r, err := report.Build(dir, "smoke", gate.Judge(folder, files, nil, "smoke", ""))
	if err != nil {
		return err
	}
	return report.Text(w, r, report.Style{All: true})
}

type fixed struct{ corpus []pack.Document }

func (f *fixed) Ingest(_ context.Context, corpus []pack.Document) error {
	f.corpus = corpus
	return nil
}

func (f *fixed) Search(context.Context, pack.Question) (record.Observation, error) {
	return record.Observation{Ranking: []record.Entry{{Doc: "a", Score: 1}}}, nil
}

// A contested case is asked, and is in no headline; it is counted and named.
func TestPackFacts(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{
		"pack.toml":      "name = \"p\"\nversion = \"1\"\nunit = \"document\"\nformat = \"beir\"\nrole = \"guard\"\nauthored = \"self\"\n",
		"corpus.jsonl":   "{\"_id\":\"a\",\"text\":\"x\"}\n{\"_id\":\"b\",\"text\":\"y\"}\n{\"_id\":\"c\",\"text\":\"z\"}\n{\"_id\":\"d\",\"text\":\"u\"}\n",
		"queries.jsonl":  "{\"_id\":\"q1\",\"text\":\"x\"}\n{\"_id\":\"q2\",\"text\":\"y\"}\n{\"_id\":\"q3\",\"text\":\"z\"}\n",
		"qrels.tsv":      "q1\ta\t1\nq2\tb\t1\n",
		"cases.jsonl":    "{\"id\":\"q1\"}\n{\"id\":\"q2\"}\n{\"id\":\"q3\",\"unjudged\":\"nobody looked\"}\n",
		"contested.toml": "[[case]]\nid = \"q2\"\nreason = \"it is a\"\nsource = \"an audit\"\n",
		"exposure.jsonl": "{\"why\":\"weights\",\"cases\":[\"q1\"]}\n{\"why\":\"pool\",\"cases\":[\"q1\",\"q2\"]}\n",
		"suite.toml": "suite = \"p\"\npack = \".\"\ntier = \"smoke\"\npool_limit = 3\nmax_exposure = 1\n" +
			"[[reference]]\nmeasure = \"nDCG@10\"\nvalue = 0.5\noutput = \"ranking\"\nsplit = \"all\"\nunit = \"document\"\nsource = \"s\"\n" +
			"[[reference]]\nmeasure = \"R@5\"\nvalue = 0.5\noutput = \"answer\"\nsplit = \"all\"\nunit = \"document\"\nsource = \"t\"\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
	}
	p, err := pack.Load(dir, pack.Options{})
	require.NoError(t, err)
	lock, err := p.Lock()
	require.NoError(t, err)
	require.NoError(t, lock.Write(dir))

	suite, err := evaltests.LoadSuite(filepath.Join(dir, "suite.toml"), evaltests.Env{Tier: "smoke"})
	require.NoError(t, err)
	folder, err := record.NewFolder(t.TempDir(), ".", "test", nil)
	require.NoError(t, err)
	subject := &fixed{}
	run, err := evaltests.Evaluate(t.Context(), suite.In(folder), subject)
	require.NoError(t, err)
	assert.Len(t, subject.corpus, 3, "the two judged documents and a distractor")
	assert.Equal(t, 3, run.Line.Pack.Documents)
	ranked := map[string]string{}
	for _, r := range run.Rows {
		ranked[r.Case] = r.Excluded
		assert.Equal(t, r.Case == "q1", r.Ranked(), r.Case)
	}
	assert.Equal(t, map[string]string{"q1": "", "q2": "contested: it is a (an audit)", "q3": "not judged: nobody looked"}, ranked)
	assert.Equal(t, &record.Exposure{Allowed: 1, Beyond: []string{"q1"}}, run.Line.Exposure)

	var out bytes.Buffer
	require.NoError(t, showRun(&out, folder.Dir))
	for _, line := range []string{
		"p: 1 contested, in no ranking measure: q2\n", "p: 1 not judged, in no ranking measure: q3\n",
		"p: pool limit 3: 3 documents, the cases' own and distractors\n", "p: 1 cases were used for tuning more than 1 times: q1\n",
		"p: reference nDCG@10 0.5 (s): here 1.0000 over 1\n", "p: reference R@5 of t is not comparable: it is of answer, this of a ranking\n",
	} {
		assert.Contains(t, out.String(), line)
	}

	assert.NotContains(t, out.String(), "known broken")

	whole, err := evaltests.LoadSuite(filepath.Join(dir, "suite.toml"), evaltests.Env{Tier: "smoke"})
	require.NoError(t, err)
	whole.PoolLimit = 4
	if whole.Pack, err = p.Limit(whole.Cases, 4); err != nil {
		t.Fatal(err)
	}
	folder, err = record.NewFolder(t.TempDir(), ".", "test", nil)
	require.NoError(t, err)
	other, err := evaltests.Evaluate(t.Context(), whole.In(folder), &fixed{})
	require.NoError(t, err)
	assert.Equal(t, run.Line.Pack.Digest, other.Line.Pack.Digest)
	assert.NotEqual(t, run.Line.Hashes.Question, other.Line.Hashes.Question, "another number of distractors is another question")
}

// A case that is known to fail is asked and counted as any other, is named
// with its owner, and is overdue from the day after its last.
func TestKnownBroken(t *testing.T) {
	measured := func(t *testing.T, mark string) (*evaltests.Run, string) {
		t.Helper()
		dir := t.TempDir()
		for file, text := range map[string]string{
			"pack.toml":     "name = \"p\"\nversion = \"1\"\nunit = \"document\"\nformat = \"beir\"\nrole = \"guard\"\nauthored = \"self\"\n",
			"corpus.jsonl":  "{\"_id\":\"a\",\"text\":\"x\"}\n{\"_id\":\"b\",\"text\":\"y\"}\n",
			"queries.jsonl": "{\"_id\":\"q1\",\"text\":\"x\"}\n{\"_id\":\"q2\",\"text\":\"y\"}\n",
			"qrels.tsv":     "q1\ta\t1\nq2\tb\t1\n",
			"cases.jsonl":   "{\"id\":\"q1\"}\n{\"id\":\"q2\"" + mark + "}\n",
		} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
		}
		p, err := pack.Load(dir, pack.Options{})
		require.NoError(t, err)
		suite, err := evaltests.NewSuite(p, evaltests.Env{Tier: "smoke"})
		require.NoError(t, err)
		folder, err := record.NewFolder(t.TempDir(), ".", "test", nil)
		require.NoError(t, err)
		folder.Started = time.Date(2030, 3, 1, 23, 59, 0, 0, time.UTC)
		run, err := evaltests.Evaluate(t.Context(), suite.In(folder), &fixed{})
		require.NoError(t, err)
		var out bytes.Buffer
		require.NoError(t, showRun(&out, folder.Dir))
		return run, out.String()
	}
	mark := func(until string) string {
		return `,"known_broken":{"reason":"no synonyms yet","owner":"search@example.org","until":"` + until + `"}`
	}
	plain, _ := measured(t, "")
	last, text := measured(t, mark("2030-03-01"))
	assert.Contains(t, text, "p: 1 known broken, asked and counted as any other: q2 (search@example.org, until 2030-03-01)\n")
	assert.NotContains(t, text, "overdue")
	assert.Equal(t, plain.Line.Plan, last.Line.Plan)
	require.Len(t, last.Rows, 2)
	for i, row := range last.Rows {
		assert.True(t, row.Ranked(), row.Case)
		assert.Equal(t, plain.Rows[i].Measures, row.Measures, "in every measure")
	}
	assert.Equal(t, []record.KnownBroken{{Case: "q2", Reason: "no synonyms yet", Owner: "search@example.org", Until: "2030-03-01"}}, last.Line.Broken)

	after, text := measured(t, mark("2030-02-28"))
	assert.True(t, after.Line.Broken[0].Overdue)
	assert.Contains(t, text, "p: known broken and overdue: q2, search@example.org was to mend it by 2030-02-28: no synonyms yet\n")
	assert.NotContains(t, text, "1 known broken, asked")
}
