package pack_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

// What reads well and is no sound data is refused by Load and by Scan alike.
func TestUnsoundDataIsRefused(t *testing.T) {
	dir := edited(t, "beir", nil)
	corpus, qrels := read(t, dir, "corpus.jsonl"), read(t, dir, "qrels.tsv")
	for _, tc := range []struct {
		name, fixture string
		files         map[string]string
		want          string
	}{
		{"an escape sequence in a document id", "beir", map[string]string{"corpus.jsonl": corpus + `{"_id":"d\u001b[31m","text":"x"}`}, `document id "d\x1b[31m" holds the control character '\x1b'`},
		{"a line end in a document id", "beir", map[string]string{"corpus.jsonl": corpus + `{"_id":"d\n2","text":"x"}`}, `document id "d\n2" holds the control character`},
		{"a control character in a group", "own", map[string]string{"corpus.jsonl": `{"_id":"d","text":"x","group":"g\u0000"}`}, `document "d": group "g\x00" holds the control character`},
		{
			"a control character in a case id", "beir", map[string]string{"queries.jsonl": `{"_id":"q\u0007","text":"x"}`, "cases.jsonl": gone, "qrels.tsv": "q\a\tbread\t1\n"},
			`queries.jsonl:1: case id "q\a" holds the control character`,
		},
		{"half a character", "beir", map[string]string{"corpus.jsonl": corpus + `{"_id":"d","text":"\ud83d"}`}, `the escape \ud83d is half of a character`},
		{"a grade from another column", "beir", map[string]string{"qrels.tsv": qrels + "q1\ttea\t4983\n"}, `question "q1" gives document "tea" the grade 4983; want -100 to 100`},
		{"no documents", "beir", map[string]string{"corpus.jsonl": "", "qrels.tsv": ""}, ": no documents; want at least one"},
		{"no judged question", "beir", map[string]string{"cases.jsonl": gone, "qrels.tsv": "query-id\tcorpus-id\tscore\n"}, ": no cases: no question is judged; want at least one"},
		{"judgements twice", "beir", map[string]string{"qrels/test.tsv": qrels}, "qrels.tsv: judgements that are not of a split, but qrels/test.tsv is asked for too; remove one of them"},
		{"no judgements", "beir", map[string]string{"qrels.tsv": gone}, ": found neither qrels.tsv nor qrels/test.tsv"},
		{"judgements of another split", "beir", map[string]string{"qrels.tsv": gone, "qrels/dev.tsv": qrels}, "found neither qrels.tsv nor qrels/test.tsv, but judgements of dev; name the set as split in pack.toml"},
		{"a packed corpus", "beir", map[string]string{"corpus.jsonl": gone, "corpus.jsonl.gz": "x"}, "corpus.jsonl: no such file or directory, but corpus.jsonl.gz is there; unpack it"},
		{"a NUL byte in a text file", "folder", map[string]string{"utf16.txt": "h\x00i\x00"}, "utf16.txt: holds a NUL byte"},
		{"known broken by nobody", "own", map[string]string{"cases.jsonl": `{"id":"q1","known_broken":{"reason":"x","owner":" ","until":"2030-01-01"}}`}, `cases.jsonl:1: case "q1": known_broken: want a reason and an owner`},
		{"known broken for ever", "own", map[string]string{"cases.jsonl": `{"id":"q1","known_broken":{"reason":"x","owner":"y"}}`}, `cases.jsonl:1: case "q1": known_broken: until: found "", want YYYY-MM-DD`},
		{"a blank in a DOCNO", "trec", map[string]string{"documents2.trec": "<DOC>\n<DOCNO> A 2 </DOCNO>\n</DOC>\n"}, `documents2.trec:3: <DOCNO> "A 2" of the document that starts at `},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := edited(t, tc.fixture, tc.files)
			_, err := pack.Load(dir, pack.Options{})
			require.ErrorContains(t, err, tc.want)
			assert.True(t, strings.HasPrefix(err.Error(), dir), err)
			_, err = pack.Scan(dir, pack.Options{})
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestBEIRSplits(t *testing.T) {
	dir := edited(t, "beir", nil)
	dir = edited(t, "beir", map[string]string{
		"qrels.tsv": gone, "cases.jsonl": gone, "qrels/test.tsv": "q1\tbread\t1\n", "qrels/dev.tsv": "q2\tsoup\t1\n",
		"pack.toml": read(t, dir, "pack.toml") + "\nsplit = \"dev\"\n",
	})
	p := load(t, dir)
	require.Len(t, p.Cases, 1)
	assert.Equal(t, "q2", p.Cases[0].Question.ID)
}

// A link that leaves the folder says what to do about it.
func TestLinkSaysWhatToDo(t *testing.T) {
	dir := edited(t, "beir", map[string]string{"corpus.jsonl": gone})
	outside := filepath.Join(t.TempDir(), "corpus.jsonl")
	require.NoError(t, os.WriteFile(outside, nil, 0o644))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "corpus.jsonl")))
	_, err := pack.Load(dir, pack.Options{})
	require.ErrorContains(t, err, "corpus.jsonl: a link that leaves the folder; put the file itself there")
}

// What made a folder may be told in any values.
func TestFolderGenerator(t *testing.T) {
	dir := edited(t, "folder", nil)
	var key map[string]any
	require.NoError(t, json.Unmarshal([]byte(read(t, dir, "corpus.json")), &key))
	key["generator"] = map[string]any{"seed": 7, "templates": map[string]string{"invoice": "ab"}}
	text, err := json.Marshal(key)
	require.NoError(t, err)
	replace(t, dir, "corpus.json", string(text))
	load(t, dir)
}

func TestLockEditedByHand(t *testing.T) {
	for _, tc := range []struct {
		name string
		edit func(l *pack.Lock)
		want string
	}{
		{"the size of a file", func(l *pack.Lock) { l.Files[0].Bytes++ }, "file cases.jsonl has "},
		{"a case named twice", func(l *pack.Lock) { l.Cases = append(l.Cases, l.Cases[0]) }, "the lock's list of cases is not in order, or names one twice"},
		{"cases in another order", func(l *pack.Lock) { l.Cases[0], l.Cases[1] = l.Cases[1], l.Cases[0] }, "the lock's list of cases is not in order"},
		{"a file named twice", func(l *pack.Lock) { l.Files = append(l.Files, l.Files[0]) }, "the lock's list of files is not in order, or names one twice"},
		{"an older format that pins less", func(l *pack.Lock) { l.V = 1 }, "edited by hand: format 1 pins no unit, language, role, authored and strata"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := pinned(t)
			l, err := pack.ReadLock(dir)
			require.NoError(t, err)
			tc.edit(&l)
			require.NoError(t, l.Write(dir))
			require.ErrorContains(t, load(t, dir).Check(), tc.want)
		})
	}
}

// Parentheses in a reason and a source stay where they were.
func TestContestedIsKept(t *testing.T) {
	for _, text := range []string{
		"reason = \"the key names d1 (see its table)\"\nsource = \"an audit\"", "reason = \"wrong\"\nsource = \"Foo (2020)\"",
		"reason = \"a (b) c\"\nsource = \"d (e (f))\"",
	} {
		dir := edited(t, "beir", map[string]string{pack.ContestedFile: "[[case]]\nid = \"q1\"\n" + text + "\n"})
		out := filepath.Join(t.TempDir(), "out")
		_, err := load(t, dir).Export(out, "copy")
		require.NoError(t, err)
		assert.Contains(t, read(t, out, pack.ContestedFile), text)
	}
}

// A case that is known to fail says so, also after it was written out again.
func TestKnownBrokenIsKept(t *testing.T) {
	dir := edited(t, "beir", nil)
	replace(t, dir, "cases.jsonl", strings.Replace(read(t, dir, "cases.jsonl"), `"id":"q1"`, `"id":"q1","known_broken":{"reason":"r","owner":"o","until":"2030-01-31"}`, 1))
	p := load(t, dir)
	want := &pack.KnownBroken{Reason: "r", Owner: "o", Until: "2030-01-31"}
	require.Equal(t, want, p.Cases[0].KnownBroken)
	assert.NotEqual(t, lockOf(t, edited(t, "beir", nil)).Content, lockOf(t, dir).Content, "it is part of what is pinned")
	out := filepath.Join(t.TempDir(), "out")
	_, err := p.Export(out, "copy")
	require.NoError(t, err)
	assert.Equal(t, want, load(t, out).Cases[0].KnownBroken)
	assert.False(t, want.Overdue(time.Date(2030, 1, 31, 23, 59, 59, 0, time.UTC)))
	assert.True(t, want.Overdue(time.Date(2030, 2, 1, 0, 0, 0, 0, time.UTC)))
}
