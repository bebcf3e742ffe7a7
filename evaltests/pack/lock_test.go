package pack_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

func load(t *testing.T, dir string) *pack.Pack {
	t.Helper()
	p, err := pack.Load(dir, pack.Options{})
	require.NoError(t, err)
	return p
}

func lockOf(t *testing.T, dir string) pack.Lock {
	t.Helper()
	l, err := load(t, dir).Lock()
	require.NoError(t, err)
	return l
}

// pinned is a copy of the BEIR fixture with its lock.
func pinned(t *testing.T) string {
	t.Helper()
	dir := edited(t, "beir", nil)
	require.NoError(t, lockOf(t, dir).Write(dir))
	return dir
}

func replace(t *testing.T, dir, file, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
}

func read(t *testing.T, dir, file string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, file))
	require.NoError(t, err)
	return string(data)
}

func TestLockHolds(t *testing.T) {
	dir := pinned(t)
	require.NoError(t, load(t, dir).Check())
	got, err := pack.ReadLock(dir)
	require.NoError(t, err)
	assert.Equal(t, lockOf(t, dir), got)
	assert.Equal(t, []string{"q1", "q10", "q2"}, got.Cases)
}

func TestLockNamesEveryChange(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(t *testing.T, dir string)
		want   []string // each the beginning of a statement; no other statements
	}{
		{
			"a changed byte of the corpus", func(t *testing.T, dir string) {
				replace(t, dir, "corpus.jsonl", read(t, dir, "corpus.jsonl")[:1]+" "+read(t, dir, "corpus.jsonl")[1:])
			}, []string{"file corpus.jsonl changed (sha256 "},
		},
		{
			"a changed word", func(t *testing.T, dir string) {
				replace(t, dir, "queries.jsonl", read(t, dir, "queries.jsonl")[:20]+"N"+read(t, dir, "queries.jsonl")[20:])
			}, []string{"file queries.jsonl changed", "content digest is "},
		},
		{
			"a missing file", func(t *testing.T, dir string) {
				require.NoError(t, os.Remove(filepath.Join(dir, "cases.jsonl")))
				replace(t, dir, "qrels.tsv", "q1\tbread\t2\nq2\tsoup\t1\n") // q10 could not stay without it
			},
			[]string{"file cases.jsonl was pinned and is gone", "file qrels.tsv changed", "case q10 is gone", "counts are ", "content digest is "},
		},
		{
			"an added case", func(t *testing.T, dir string) {
				replace(t, dir, "queries.jsonl", read(t, dir, "queries.jsonl")+`{"_id":"q3","text":"x"}`)
				replace(t, dir, "cases.jsonl", read(t, dir, "cases.jsonl")+`{"id":"q3","answerable":false}`)
			}, []string{"file cases.jsonl changed", "file queries.jsonl changed", "case q3 is new", "counts are {Documents:5 Cases:4", "content digest"},
		},
		{
			"a changed grade", func(t *testing.T, dir string) {
				replace(t, dir, "qrels.tsv", "q1\tbread\t1\nq2\tsoup\t1\n")
			}, []string{"file qrels.tsv changed", "counts are {Documents:5 Cases:3 Answerable:2 Judgements:2}, pinned {Documents:5 Cases:3 Answerable:2 Judgements:5}", "content digest"},
		},
		{
			"pack.toml", func(t *testing.T, dir string) { replace(t, dir, "pack.toml", manifest) },
			[]string{
				`name is "k", pinned "kitchen"`, `version is "1", pinned "2"`, `source is "", pinned "written by hand"`,
				`licence is "", pinned "as this repository"`, `selection is "", pinned "everything"`, `language is "", pinned "en"`, "content digest",
			},
		},
		{
			"the lock's own case list, out of order", func(t *testing.T, dir string) {
				l, err := pack.ReadLock(dir)
				require.NoError(t, err)
				l.Cases = []string{"q2", "q1", "q7"}
				require.NoError(t, l.Write(dir))
			}, []string{"case q7 is gone", "case q10 is new"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := pinned(t)
			tc.change(t, dir)
			err := load(t, dir).Check()
			var changed *pack.ChangedError
			require.ErrorAs(t, err, &changed)
			require.Len(t, changed.Changes, len(tc.want), changed.Changes)
			for i, want := range tc.want {
				assert.Contains(t, changed.Changes[i], want)
			}
			assert.Contains(t, err.Error(), filepath.Join(dir, pack.LockFile)+": the pack is not the one that was pinned: ")
		})
	}
}

// The order and format on disk are no part of the content.
func TestDigestIsOfTheContent(t *testing.T) {
	dir := edited(t, "public", nil)
	want := lockOf(t, dir)
	replace(t, dir, "corpus.jsonl", `{"text":"","_id":"rice","title":"Rice"}`+"\n"+read(t, dir, "corpus.jsonl"))
	_, err := pack.Load(dir, pack.Options{})
	require.Error(t, err, "rice is there twice now")
	text := read(t, "testdata/public", "corpus.jsonl")
	text = text[:len(text)-len(`{"_id":"rice","title":"Rice","text":""}`+"\n")]
	replace(t, dir, "corpus.jsonl", `{"text":"","_id":"rice","title":"Rice"}`+"\r\n"+text)
	replace(t, dir, "qrels/test.tsv", "\ufeffquery-id\tcorpus-id\tscore\r\n\r\nq1\tbread\t1\r\nq10\ttea\t1")
	got := lockOf(t, dir)
	assert.Equal(t, want.Content, got.Content)
	assert.NotEqual(t, want.Files, got.Files)
}

func TestReadLockRefuses(t *testing.T) {
	dir := pinned(t)
	path := filepath.Join(dir, pack.LockFile)
	whole := read(t, dir, pack.LockFile)
	for _, tc := range []struct{ name, text, want string }{
		{"cut short", whole[:len(whole)/2], "not JSON: the value ends too early"},
		{"text after it", whole + "}", "more than one JSON value"},
		{"unknown key", `{"v":1,"extra":1}`, `unknown field "extra"`},
		{"another format", `{"v":3}`, "format 3, this tool reads 1 and 2"},
		{"no format", `{}`, "format 0, this tool reads 1 and 2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			replace(t, dir, pack.LockFile, tc.text)
			_, err := pack.ReadLock(dir)
			require.ErrorContains(t, err, path+": "+tc.want)
			require.Error(t, load(t, dir).Check())
		})
	}
	require.NoError(t, os.Remove(path))
	_, err := pack.ReadLock(dir)
	require.EqualError(t, err, path+": missing; pin the pack with `touchstone pack lock "+dir+"`")
}

func TestLockWriteIsWholeOrNothing(t *testing.T) {
	dir := pinned(t)
	before := read(t, dir, pack.LockFile)
	l := lockOf(t, dir)
	l.Name = "other"
	// The target cannot be replaced: a folder stands where the file should.
	blocked := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(blocked, pack.LockFile, "x"), 0o755))
	require.Error(t, l.Write(blocked))
	require.Error(t, l.Write(filepath.Join(dir, "none")))
	assert.Equal(t, before, read(t, dir, pack.LockFile))

	require.NoError(t, l.Write(dir))
	var got pack.Lock
	require.NoError(t, json.Unmarshal([]byte(read(t, dir, pack.LockFile)), &got))
	assert.Equal(t, l, got)
	for _, d := range []string{dir, blocked} {
		left, err := filepath.Glob(filepath.Join(d, "*.tmp"))
		require.NoError(t, err)
		assert.Empty(t, left, "no temporary file stays behind")
	}
}

// A lock of the format before pins less, and holds what it pins.
func TestLockOfTheFormatBefore(t *testing.T) {
	dir := pinned(t)
	l, err := pack.ReadLock(dir)
	require.NoError(t, err)
	l.V, l.Role, l.Authored, l.Unit, l.Language, l.Strata = 1, "", "", "", "", nil
	require.NoError(t, l.Write(dir))
	require.NoError(t, load(t, dir).Check())
	l.Version = "0"
	require.NoError(t, l.Write(dir))
	require.ErrorContains(t, load(t, dir).Check(), `version is "2", pinned "0"`)
}

func TestLockPinsWhatThePackSaysOfItself(t *testing.T) {
	for key, want := range map[string]string{
		`role = "guard"`: `role is "benchmark", pinned "guard"`, `authored = "self"`: `authored is "external", pinned "self"`,
		`unit = "document"`: `unit is "chunk", pinned "document"`, `language = "en"`: `language is "de", pinned "en"`,
		`strata = ["plain", "none"]`: `strata is "plain, none, other", pinned "plain, none"`,
	} {
		t.Run(key, func(t *testing.T) {
			dir := pinned(t)
			old := read(t, dir, "pack.toml")
			require.Contains(t, old, key)
			other := map[string]string{"guard": "benchmark", "self": "external", "document": "chunk", "en": "de", "none": `none", "other`}
			changed := key
			for from, to := range other {
				if strings.Contains(key, `"`+from+`"`) {
					changed = strings.Replace(key, `"`+from+`"`, `"`+to+`"`, 1)
				}
			}
			replace(t, dir, "pack.toml", strings.Replace(old, key, changed, 1))
			require.ErrorContains(t, load(t, dir).Check(), want)
		})
	}
}

// A scan pins what a load pins.
func TestScanIsLoadWithoutDocuments(t *testing.T) {
	for _, fixture := range []string{"beir", "own", "public", "folder", "locomo", "cases"} {
		t.Run(fixture, func(t *testing.T) {
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			dir := filepath.Join("testdata", fixture)
			p, err := pack.Scan(dir, pack.Options{})
			require.NoError(t, err)
			got, err := p.Lock()
			require.NoError(t, err)
			assert.Equal(t, lockOf(t, dir), got)
			again, err := p.Digest()
			require.NoError(t, err)
			assert.Equal(t, got.Content, again)
			require.NoError(t, p.Close())
			left, err := filepath.Glob(filepath.Join(tmp, "*"))
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
	for file, text := range map[string]string{
		"corpus.jsonl": read(t, "testdata/beir", "corpus.jsonl") + "\n" + `{"_id":"soup","text":""}` + "\n" + `{"_id":"bread","text":""}`,
		"qrels.tsv":    "q1\tnothing\t1\n",
	} {
		dir := edited(t, "beir", map[string]string{file: text})
		_, want := pack.Load(dir, pack.Options{})
		require.Error(t, want)
		_, err := pack.Scan(dir, pack.Options{})
		require.EqualError(t, err, want.Error())
	}
	dir := edited(t, "beir", map[string]string{"qrels.tsv": "q1\tbread\n"})
	_, err := pack.Scan(dir, pack.Options{})
	require.ErrorContains(t, err, "qrels.tsv:1: found 2 tab-separated columns")
}
