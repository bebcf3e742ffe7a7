package evaltests_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

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
