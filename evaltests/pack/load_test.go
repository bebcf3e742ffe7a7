package pack_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

var update = flag.Bool("update", false, "write the golden id lists")

// canonical is a loaded pack as text, one line an id.
func canonical(p *pack.Pack) string {
	var b strings.Builder
	fmt.Fprintf(&b, "loader %s\n", p.Loader)
	for _, d := range p.Documents {
		fmt.Fprintf(&b, "document %s: group=%q date=%q meta=%v\n", d.ID, d.Group, d.Date, d.Meta)
	}
	for _, c := range p.Cases {
		fmt.Fprintf(&b, "case %s: stratum=%s group=%q tags=%v answerable=%t expected=%v gold=%v\n",
			c.Question.ID, c.Stratum, c.Group, c.Tags, c.Gold.Answerable, c.Gold.Expected, c.Gold.Grades)
		if q := c.Question; q.AsOf != "" || q.Filters != nil {
			fmt.Fprintf(&b, "asked %s: as of %s, filters %v\n", q.ID, q.AsOf, q.Filters)
		}
		g := c.Gold
		g.Grades, g.Expected, g.Answerable = nil, nil, false
		if more, _ := json.Marshal(g); string(more) != `{"Grades":null,"Answerable":false,"Expected":null}` {
			fmt.Fprintf(&b, "gold %s: %s\n", c.Question.ID, more)
		}
		if c.Contested != "" {
			fmt.Fprintf(&b, "contested %s: %s\n", c.Question.ID, c.Contested)
		}
		if c.Unjudged != "" {
			fmt.Fprintf(&b, "unjudged %s: %s\n", c.Question.ID, c.Unjudged)
		}
	}
	for _, f := range p.Fields {
		fmt.Fprintf(&b, "field %+v\n", f)
	}
	for _, f := range p.Types {
		fmt.Fprintf(&b, "type %+v\n", f)
	}
	fmt.Fprintf(&b, "counts %+v\n", p.Counts())
	for _, d := range p.Defects {
		fmt.Fprintf(&b, "defect %s\n", d)
	}
	for _, f := range p.Files {
		fmt.Fprintf(&b, "file %s\n", f.Path)
	}
	return b.String()
}

func TestLoadGoldenIDs(t *testing.T) {
	for _, name := range []string{
		"beir", "cases", "clapnq", "folder", "folder-one", "hotpotqa", "jsonl", "locomo", "locomo-observations", "longmemeval", "manifest", "manifest-one", "multihoprag", "own",
		"public", "qasper", "scifact", "scifact-train", "smart", "smart-cisi", "smart-med", "squad2", "trec", "trec-description", "trec-one", "trec-jsonl",
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("testdata", name)
			p, err := pack.Load(dir, pack.Options{})
			require.NoError(t, err)
			if *update {
				require.NoError(t, os.WriteFile(filepath.Join(dir, "ids.golden"), []byte(canonical(p)), 0o644))
			}
			want, err := os.ReadFile(filepath.Join(dir, "ids.golden"))
			require.NoError(t, err)
			assert.Equal(t, string(want), canonical(p))
		})
	}
}

func TestLoadText(t *testing.T) {
	p, err := pack.Load("testdata/scifact", pack.Options{})
	require.NoError(t, err)
	assert.Equal(t, `Cold dough rises "slowly". It doesn't stop.`, p.Documents[0].Text)
	assert.Equal(t, "One sentence café ☕.\n", p.Documents[1].Text)
	assert.Equal(t, "Dough rises, slowly.", p.Cases[0].Question.Text)
	assert.Equal(t, pack.Manifest{
		Name: "scifact", Version: "raw", Unit: "document", Format: "scifact", Role: "benchmark", Authored: "external",
	}, p.Manifest)

	p, err = pack.Load("testdata/beir", pack.Options{})
	require.NoError(t, err)
	assert.Equal(t, "kitchen", p.Manifest.Name)
	assert.Equal(t, "Let the dough rest overnight.", p.Documents[0].Text)
	assert.Equal(t, pack.Question{ID: "q1", Text: "How long does dough rest?"}, p.Cases[0].Question)
}

// edited is a copy of a fixture with files replaced, or removed where the new
// text is gone.
func edited(t *testing.T, fixture string, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "pack")
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", fixture))))
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if text == gone {
			require.NoError(t, os.Remove(path))
			continue
		}
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

// formats are all formats, as errors list them.
const formats = "beir cases clapnq folder godoc hotpotqa jsonl locomo longmemeval manifest multihoprag qasper scifact smart squad2 trec"

const gone = "\x00gone"

const manifest = `name = "k"
version = "1"
unit = "document"
format = "beir"
role = "guard"
authored = "self"
strata = ["plain", "none"]
`

func TestLoadRefuses(t *testing.T) {
	doc := func(ids ...string) string {
		var b strings.Builder
		for _, id := range ids {
			fmt.Fprintf(&b, "{\"_id\":%q,\"text\":\"x\"}\n", id)
		}
		return b.String()
	}
	corpus := doc("bread", "soup", "a b/ç☕", "tea")
	for _, tc := range []struct {
		name, fixture string
		files         map[string]string
		want          string // the whole error after the folder
	}{
		{
			"corpus line that is not JSON", "beir",
			map[string]string{"corpus.jsonl": doc("bread") + "\n_id: soup\n"},
			`corpus.jsonl:3: not JSON: invalid character '_' looking for beginning of value: "_id: soup"`,
		},
		{
			"corpus line cut short", "beir", map[string]string{"corpus.jsonl": `{"_id":"bread","te`},
			`corpus.jsonl:1: not JSON: the value ends too early: "{\"_id\":\"bread\",\"te"`,
		},
		{
			"two values on a corpus line", "beir", map[string]string{"corpus.jsonl": `{"_id":"bread","text":""}{}`},
			`corpus.jsonl:1: more than one JSON value: "{}" follows the first`,
		},
		{
			"document without text", "beir", map[string]string{"corpus.jsonl": `{"_id":"bread","txt":"x"}`},
			"corpus.jsonl:1: want an object with the strings _id and text",
		},
		{
			"document id that is a number", "beir", map[string]string{"corpus.jsonl": `{"_id":7,"text":"x"}`},
			`corpus.jsonl:1: key "_id": found a JSON number, want a string`,
		},
		{"document id empty", "beir", map[string]string{"corpus.jsonl": doc("")}, "corpus.jsonl:1: document without an id"},
		{"corpus not UTF-8", "beir", map[string]string{"corpus.jsonl": doc("bread") + "{\"_id\":\"b\",\"text\":\"\xff\"}\n"}, "corpus.jsonl:2: not valid UTF-8"},
		{
			"document id twice", "beir", map[string]string{"corpus.jsonl": corpus + doc("soup")},
			`corpus.jsonl:5: document id "soup" was given before, at DIR/corpus.jsonl:2; ids must be unique`,
		},
		{
			"gold id that does not exist", "beir", map[string]string{"corpus.jsonl": doc("bread", "soup", "tea")},
			`qrels.tsv:5: gold id "a b/ç☕" of question "q2" is not in the corpus`,
		},
		{
			"gold for an unknown question", "beir", map[string]string{"qrels.tsv": "query-id\tcorpus-id\tscore\nq1\tbread\t1\nq9\tbread\t1\n"},
			`qrels.tsv:3: gold for question "q9", which is not among the questions`,
		},
		{
			"judged twice", "beir", map[string]string{"qrels.tsv": "q1\tbread\t1\nq1\tbread\t1\n"},
			`qrels.tsv:2: question "q1" judges document "bread" twice (1 and 1)`,
		},
		{
			"question id twice", "beir", map[string]string{"queries.jsonl": doc("q1", "q2", "q1")},
			`queries.jsonl:3: case id "q1" was given before, at DIR/queries.jsonl:1; ids must be unique`,
		},
		{
			"question without text", "beir", map[string]string{"queries.jsonl": "{\"_id\":\"q1\",\"text\":\" \"}\n" + doc("q2", "q10")},
			`cases.jsonl:1: question "q1" has no text`,
		},
		{
			"case not in queries", "beir", map[string]string{"cases.jsonl": "{\"id\":\"q1\"}\n{\"id\":\"q3\"}\n"},
			`cases.jsonl:2: case "q3" is not in queries.jsonl`,
		},
		{
			"case twice", "beir", map[string]string{"cases.jsonl": "{\"id\":\"q1\"}\n{\"id\":\"q1\"}\n"},
			`cases.jsonl:2: case id "q1" was given before, at DIR/cases.jsonl:1; ids must be unique`,
		},
		{
			"question without a case", "beir", map[string]string{"cases.jsonl": "{\"id\":\"q1\"}\n"},
			`queries.jsonl:1: question "q2" is not in cases.jsonl, which must list every question`,
		},
		{
			"unknown key in cases.jsonl", "beir", map[string]string{"cases.jsonl": `{"id":"q1","stratun":"plain"}`},
			`cases.jsonl:1: unknown field "stratun"`,
		},
		{
			"key twice in cases.jsonl", "beir", map[string]string{"cases.jsonl": `{"id":"q1","answerable":true,"answerable":false}`},
			`cases.jsonl:1: key "answerable" is given twice; which one holds is anybody's guess`,
		},
		{
			"stratum not declared", "beir", map[string]string{"cases.jsonl": "{\"id\":\"q1\",\"stratum\":\"plane\"}\n{\"id\":\"q2\"}\n{\"id\":\"q10\",\"answerable\":false}\n"},
			`cases.jsonl:1: stratum "plane" is not among those of pack.toml [plain none]`,
		},
		{
			"answerable without gold", "beir", map[string]string{"cases.jsonl": "{\"id\":\"q1\"}\n{\"id\":\"q2\"}\n{\"id\":\"q10\"}\n"},
			`cases.jsonl:3: question "q10" has no relevant document and is not marked unanswerable`,
		},
		{
			"unanswerable with gold", "beir", map[string]string{"cases.jsonl": "{\"id\":\"q1\",\"answerable\":false}\n{\"id\":\"q2\"}\n{\"id\":\"q10\",\"answerable\":false}\n"},
			`cases.jsonl:1: question "q1" is marked unanswerable but has gold`,
		},
		{
			"unjudged with gold", "beir", map[string]string{"cases.jsonl": "{\"id\":\"q1\",\"unjudged\":\"x\"}\n{\"id\":\"q2\"}\n{\"id\":\"q10\",\"answerable\":false}\n"},
			`cases.jsonl:1: question "q1" is marked unjudged but has gold`,
		},
		{
			"as_of that is no date", "own", map[string]string{"cases.jsonl": `{"id":"q1","as_of":"last year"}`},
			`cases.jsonl:1: case "q1": as_of: found "last year", want YYYY-MM-DD or a time in RFC 3339`,
		},
		{
			"date that is none", "own", map[string]string{"corpus.jsonl": `{"_id":"x","text":"y","date":"2024"}`},
			`corpus.jsonl:1: date of "x": found "2024", want YYYY-MM-DD or a time in RFC 3339`,
		},
		{
			"filter that is a number", "own", map[string]string{"cases.jsonl": `{"id":"q1","filters":{"version":1}}`},
			`cases.jsonl:1: key "filters": found a JSON number, want a string`,
		},
		{
			"pattern that is no expression", "own", map[string]string{"cases.jsonl": `{"id":"q1","patterns":["2("]}`},
			"cases.jsonl:1: case \"q1\": patterns[0]: error parsing regexp: missing closing ): `2(`",
		},
		{
			"assertion of an unknown kind", "own", map[string]string{"cases.jsonl": `{"id":"q1","assertions":{"must_contain":["2"]}}`},
			`cases.jsonl:1: case "q1": assertions: unknown field "must_contain"`,
		},
		{
			"assertions that assert nothing", "own", map[string]string{"cases.jsonl": `{"id":"q1","assertions":{}}`},
			`cases.jsonl:1: case "q1": assertions: none is given; remove the key`,
		},
		{
			"evidence without text", "own", map[string]string{"cases.jsonl": `{"id":"q1","evidence":[{"doc":"boats"}]}`},
			`cases.jsonl:1: case "q1": evidence[0]: want a value for text`,
		},
		{
			"evidence elsewhere", "own", map[string]string{"cases.jsonl": `{"id":"q1","evidence":[{"doc":"trains","text":"x"}]}` + "\n" + `{"id":"q2"}` + "\n" + `{"id":"q3","answerable":false}` + "\n" + `{"id":"q4","unjudged":"x"}`},
			`cases.jsonl:1: question "q1" has evidence in "trains", which is not in the corpus`,
		},
		{
			"source elsewhere", "own", map[string]string{"cases.jsonl": `{"id":"q1","sources":["trains"]}` + "\n" + `{"id":"q2"}` + "\n" + `{"id":"q3","answerable":false}` + "\n" + `{"id":"q4","unjudged":"x"}`},
			`cases.jsonl:1: question "q1" expects the source "trains", which is not in the corpus`,
		},
		{
			"grade that is no integer", "beir", map[string]string{"qrels.tsv": "query-id\tcorpus-id\tscore\nq1\tbread\t1.9\n"},
			`qrels.tsv:2: grade "1.9" is not an integer`,
		},
		{
			"too few columns", "beir", map[string]string{"qrels.tsv": "query-id\tcorpus-id\tscore\n\nq1\tbread\n"},
			`qrels.tsv:3: found 2 tab-separated columns, want 3 (query-id, corpus-id, score): "q1\tbread"`,
		},
		{
			"TREC columns", "beir", map[string]string{"qrels.tsv": "q1\t0\tbread\t1\n"},
			`qrels.tsv:1: found 4 tab-separated columns, want 3 (query-id, corpus-id, score): "q1\t0\tbread\t1"`,
		},
		{"no corpus", "beir", map[string]string{"corpus.jsonl": gone}, "corpus.jsonl: no such file or directory"},
		{"no queries", "beir", map[string]string{"queries.jsonl": gone}, "queries.jsonl: no such file or directory"},

		{
			"unknown key in pack.toml", "beir", map[string]string{"pack.toml": manifest + "\nlicense = \"x\"\n"},
			`pack.toml:9: unknown key "license"; remove it or correct its spelling`,
		},
		{
			"pack.toml of an unknown format", "beir", map[string]string{"pack.toml": strings.Replace(manifest, `"beir"`, `"bier"`, 1)},
			`pack.toml:4: format "bier": no such loader; have [` + formats + `]`,
		},
		{
			"pack.toml without anything", "beir", map[string]string{"pack.toml": "name = \"k\"\nrole = \"x\""},
			"pack.toml:1: version is missing: say which edition of the pack this is\n" +
				"DIR/pack.toml:1: unit \"\": want document or chunk\n" +
				"DIR/pack.toml:1: format \"\": no such loader; have [" + formats + "]\n" +
				"DIR/pack.toml:2: role \"x\": want guard or benchmark\n" +
				"DIR/pack.toml:1: authored \"\": want self or external",
		},
		{
			"pack.toml with a bad name", "beir", map[string]string{"pack.toml": strings.Replace(manifest, `"k"`, `"../k"`, 1)},
			`pack.toml:1: name "../k": want lower-case letters, digits and dashes`,
		},
		{
			"pack.toml without a version", "beir", map[string]string{"pack.toml": strings.Replace(manifest, `version = "1"`, "", 1)},
			`pack.toml:1: version is missing: say which edition of the pack this is`,
		},
		{
			"pack.toml with a bad unit", "beir", map[string]string{"pack.toml": strings.Replace(manifest, `"document"`, `"page"`, 1)},
			`pack.toml:3: unit "page": want document or chunk`,
		},
		{
			"pack.toml with a bad role", "beir", map[string]string{"pack.toml": strings.Replace(manifest, `"guard"`, `"gard"`, 1)},
			`pack.toml:5: role "gard": want guard or benchmark`,
		},
		{
			"pack.toml with a bad author", "beir", map[string]string{"pack.toml": strings.Replace(manifest, `"self"`, `"me"`, 1)},
			`pack.toml:6: authored "me": want self or external`,
		},
		{
			"CSV without a column", "scifact", map[string]string{"corpus_train.csv": "doc_id,title\n1,x\n"},
			`corpus_train.csv:1: no column "abstract" in the header [doc_id title]`,
		},
		{
			"CSV with a column twice", "scifact", map[string]string{"corpus_train.csv": "doc_id,title,abstract,title\n1,x,[],y\n"},
			`corpus_train.csv:1: column "title" is there twice in the header [doc_id title abstract title]`,
		},
		{"CSV empty", "scifact", map[string]string{"corpus_train.csv": ""}, "corpus_train.csv:1: no header: EOF"},
		{
			"CSV with a short row", "scifact", map[string]string{"corpus_train.csv": "doc_id,title,abstract\n1,\"x\ny\",[]\n2,z\n"},
			"corpus_train.csv:4: wrong number of fields",
		},
		{
			"CSV with an open quote", "scifact", map[string]string{"corpus_train.csv": "doc_id,title,abstract\n1,\"x\n"},
			`corpus_train.csv:2: extraneous or missing " in quoted-field`,
		},
		{"CSV not UTF-8", "scifact", map[string]string{"corpus_train.csv": "doc_id,title,abstract\n1,\xff,[]\n"}, "corpus_train.csv: not valid UTF-8"},
		{
			"abstract that is no list", "scifact", map[string]string{"corpus_train.csv": "doc_id,title,abstract\n1,x,[]\n2,x,words\n"},
			`corpus_train.csv:3: abstract of 2: want a bracketed list of Python strings, found "words"`,
		},
		{
			"abstract that numpy shortened", "scifact", map[string]string{"corpus_train.csv": "doc_id,title,abstract\n1,x,['a' ... 'b']\n"},
			`corpus_train.csv:2: abstract of 1: unexpected text between strings: "... 'b'"`,
		},
		{
			"SciFact document twice", "scifact", map[string]string{"corpus_train.csv": "doc_id,title,abstract\n1,x,[]\n1,x,[]\n"},
			`corpus_train.csv:3: document id "1" was given before, at DIR/corpus_train.csv:2; ids must be unique`,
		},
		{
			"claim rows that disagree", "scifact", map[string]string{"claims_validation.csv": "id,claim,cited_doc_ids\n1,x,[7]\n1,y,[7]\n"},
			"claims_validation.csv:3: claim 1 differs from its first row",
		},
		{
			"citation that is no integer", "scifact", map[string]string{"claims_validation.csv": "id,claim,cited_doc_ids\n1,x,[7 -3]\n"},
			`claims_validation.csv:2: cited_doc_ids of claim 1: "-3" is not an integer`,
		},
		{
			"claim that cites nothing", "scifact", map[string]string{"claims_validation.csv": "id,claim,cited_doc_ids\n1,x,[]\n"},
			`claims_validation.csv:2: question "1" has no relevant document and is not marked unanswerable`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := edited(t, tc.fixture, tc.files)
			p, err := pack.Load(dir, pack.Options{})
			require.Error(t, err)
			assert.Nil(t, p, "nothing half-loaded")
			assert.Equal(t, dir+string(filepath.Separator)+strings.ReplaceAll(tc.want, "DIR", dir), err.Error())
		})
	}
}

// A link that leaves the pack folder is refused wherever it stands, also in
// place of a file that may be absent: cases.jsonl out of reach is not a pack
// without cases.jsonl.
func TestLoadRefusesLinksOutOfThePack(t *testing.T) {
	for _, file := range []string{"corpus.jsonl", "queries.jsonl", "qrels.tsv", "cases.jsonl"} {
		t.Run(file, func(t *testing.T) {
			dir := edited(t, "beir", nil)
			outside := filepath.Join(t.TempDir(), "outside")
			path := filepath.Join(dir, file)
			require.NoError(t, os.Rename(path, outside))
			require.NoError(t, os.Symlink(outside, path))
			p, err := pack.Load(dir, pack.Options{})
			require.ErrorContains(t, err, path)
			assert.Nil(t, p)
		})
		t.Run(file+" to nothing", func(t *testing.T) {
			dir := edited(t, "beir", map[string]string{file: gone})
			require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, file)))
			_, err := pack.Load(dir, pack.Options{})
			require.ErrorContains(t, err, filepath.Join(dir, file))
		})
	}
	t.Run("a link inside the pack is fine", func(t *testing.T) {
		dir := edited(t, "beir", nil)
		require.NoError(t, os.Rename(filepath.Join(dir, "corpus.jsonl"), filepath.Join(dir, "c1.jsonl")))
		require.NoError(t, os.Symlink("c1.jsonl", filepath.Join(dir, "corpus.jsonl")))
		_, err := pack.Load(dir, pack.Options{})
		require.NoError(t, err)
	})
}

func TestLoadDoesNotWaitForAPipe(t *testing.T) {
	dir := edited(t, "beir", map[string]string{"corpus.jsonl": gone})
	if err := syscall.Mkfifo(filepath.Join(dir, "corpus.jsonl"), 0o600); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	_, err := pack.Load(dir, pack.Options{})
	require.ErrorContains(t, err, "corpus.jsonl: not a regular file")
}

func TestLoadFolder(t *testing.T) {
	dir := t.TempDir()
	_, err := pack.Load(filepath.Join(dir, "none"), pack.Options{})
	require.ErrorContains(t, err, "no such folder")
	_, err = pack.Load(dir, pack.Options{})
	require.ErrorContains(t, err, "its files do not tell the format; name it, one of ["+formats+"]")
	_, err = pack.Load("testdata/beir", pack.Options{Format: "scifact"})
	require.ErrorContains(t, err, "format scifact was asked for, but the pack says beir")
	_, err = pack.Load("testdata/public", pack.Options{Format: "bier"})
	require.ErrorContains(t, err, `format "bier" is not known`)
}

func TestExternalPacks(t *testing.T) {
	external := strings.Replace(manifest, `"k"`, `"kitchen"`, 1) + "external = true\n"
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pack.toml"), []byte(external), 0o644))
	packs := t.TempDir()
	file := filepath.Join(packs, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))

	var absent *pack.NotHereError
	_, err := pack.Load(dir, pack.Options{})
	require.ErrorAs(t, err, &absent)
	assert.EqualError(t, err, "pack kitchen: not here: EVAL_PACKS is not set; set it to the folder that holds kitchen/")
	_, err = pack.Load(dir, pack.Options{Packs: packs})
	require.ErrorAs(t, err, &absent)
	assert.EqualError(t, err, "pack kitchen: not here: EVAL_PACKS has no folder kitchen/")

	// Set to nothing usable is a mistake, not an absence.
	for _, bad := range []string{filepath.Join(packs, "none"), file} {
		_, err = pack.Load(dir, pack.Options{Packs: bad})
		require.EqualError(t, err, "EVAL_PACKS="+bad+": no such folder; unset it or correct it")
		assert.False(t, errors.As(err, &absent))
	}
	require.NoError(t, os.Symlink("kitchen", filepath.Join(packs, "kitchen"))) // a link to itself
	_, err = pack.Load(dir, pack.Options{Packs: packs})
	require.ErrorContains(t, err, "EVAL_PACKS="+packs)
	assert.False(t, errors.As(err, &absent))
	require.NoError(t, os.Remove(filepath.Join(packs, "kitchen")))
	require.NoError(t, os.Rename(file, filepath.Join(packs, "kitchen")))
	_, err = pack.Load(dir, pack.Options{Packs: packs})
	require.EqualError(t, err, "EVAL_PACKS="+packs+": kitchen is no folder; want the folder that holds the pack")

	require.NoError(t, os.Remove(filepath.Join(packs, "kitchen")))
	require.NoError(t, os.CopyFS(filepath.Join(packs, "kitchen"), os.DirFS("testdata/beir")))
	p, err := pack.Load(dir, pack.Options{Packs: packs})
	require.NoError(t, err)
	assert.Equal(t, dir, p.Dir)
	assert.Equal(t, filepath.Join(packs, "kitchen"), p.Content)
	assert.Len(t, p.Cases, 3)
}

// The counts are those that BEIR publishes for SciFact.
func TestSciFactIsThePinnedOne(t *testing.T) {
	packs := os.Getenv("EVAL_PACKS")
	if packs == "" {
		t.Skip("scifact: EVAL_PACKS is not set")
	}
	p, err := pack.Load("../../fixtures/scifact", pack.Options{Packs: packs})
	var absent *pack.NotHereError
	if errors.As(err, &absent) {
		t.Skip(err)
	}
	require.NoError(t, err)
	assert.Equal(t, pack.Counts{Documents: 5183, Cases: 300, Answerable: 300, Judgements: 339}, p.Counts())
	require.NoError(t, p.Check())
}
