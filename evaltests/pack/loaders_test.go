package pack_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

// The counts are those that the sources state.
func TestExternalPacksAreThePinnedOnes(t *testing.T) {
	packs := os.Getenv("EVAL_PACKS")
	for _, tc := range []struct {
		name   string
		counts pack.Counts
		strata map[string]int
	}{
		{
			"clapnq-dev", pack.Counts{Documents: 597, Cases: 600, Answerable: 300, Judgements: 600},
			map[string]int{"answerable": 300, "unanswerable": 300},
		},
		{
			"cranfield", pack.Counts{Documents: 1400, Cases: 225, Answerable: 225, Judgements: 1612},
			map[string]int{"all": 225},
		},
		{
			"hotpotqa-100", pack.Counts{Documents: 994, Cases: 100, Answerable: 100, Judgements: 200},
			map[string]int{"bridge": 83, "comparison": 17},
		},
		{
			"locomo10", pack.Counts{Documents: 5882, Cases: 1986, Answerable: 1540, Judgements: 2819},
			map[string]int{"multi-hop": 282, "temporal": 321, "open-domain": 96, "single-hop": 841, "adversarial": 446},
		},
		{
			"multihoprag-500-facts", pack.Counts{Documents: 438, Cases: 500, Answerable: 429, Judgements: 1153},
			map[string]int{"inference": 161, "comparison": 154, "temporal": 114, "null": 71},
		},
		{
			"qasper-tiny", pack.Counts{Documents: 1, Cases: 1, Answerable: 1, Judgements: 1},
			map[string]int{"free-form": 1},
		},
		{
			"scifact-train", pack.Counts{Documents: 5183, Cases: 809, Answerable: 809, Judgements: 919},
			map[string]int{"all": 809},
		},
		{
			"squad2-sample500", pack.Counts{Documents: 411, Cases: 500, Answerable: 242, Judgements: 500},
			map[string]int{"answerable": 242, "unanswerable": 258},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := pack.Load("../../fixtures/"+tc.name, pack.Options{Packs: packs})
			var absent *pack.NotHereError
			if errors.As(err, &absent) {
				t.Skip(err)
			}
			require.NoError(t, err)
			assert.Equal(t, tc.counts, p.Counts())
			strata := map[string]int{}
			for _, c := range p.Cases {
				strata[c.Stratum]++
				assert.Equal(t, c.Gold.Answerable && c.Unjudged == "", c.Gold.Relevant() > 0, c.Question.ID)
				assert.Equal(t, c.Stratum == "unanswerable" || c.Stratum == "null" || c.Stratum == "adversarial", !c.Gold.Answerable, c.Question.ID)
			}
			assert.Equal(t, tc.strata, strata)
			for _, d := range p.Documents {
				assert.NotContains(t, d.ID, " ", "TREC files cannot hold it")
			}
			require.NoError(t, p.Check())
		})
	}
}

func TestLoadersTakeTheTextOfTheSource(t *testing.T) {
	load := func(name string) *pack.Pack {
		p, err := pack.Load(filepath.Join("testdata", name), pack.Options{})
		require.NoError(t, err)
		return p
	}
	p := load("clapnq")
	assert.Equal(t, "Sourdough", p.Documents[0].Title)
	assert.Equal(t, "The dough rests for a night . It is baked at dawn . ", p.Documents[0].Text)
	assert.Equal(t, pack.Question{ID: "-12", Text: "who salts the café's soup ☕"}, p.Cases[1].Question)
	assert.NotEqual(t, p.Documents[1].ID, p.Documents[2].ID, "a trailing blank apart")

	p = load("hotpotqa")
	assert.Equal(t, pack.Document{
		ID: "Ann_Ottery_(baker)", Title: "Ann Ottery (baker)", Text: "Ann Ottery bakes. She was born in 1950.",
	}, p.Documents[0])

	p = load("squad2")
	assert.Equal(t, "Rye bread keeps for a week. It is dark.", p.Documents[0].Text)
	assert.Empty(t, p.Documents[0].Title)

	p = load("locomo")
	assert.Equal(t, "Tom: Look at mine ☕\n[image: a photo of a burnt loaf]", p.Documents[1].Text)

	p = load("locomo-observations")
	assert.Equal(t, "Ines bakes on Sundays.", p.Documents[1].Text, "the first speaker first")

	p = load("multihoprag")
	assert.Equal(t, "The Herald 2023-10-02 Rye costs two pence.", p.Documents[0].Text)
	assert.Equal(t, "2023-10-03", p.Documents[1].Date, "the day where the article appeared")

	p = load("smart")
	assert.Equal(t, "flow of dough past a rolling pin .", p.Documents[0].Title)
	assert.Equal(t, "flow of dough\npast a rolling pin .\nthe dough is rolled\nrests .", p.Documents[0].Text)
	assert.Equal(t, pack.Document{ID: "2"}, p.Documents[1], "empty in the source")
	assert.Equal(t, pack.Question{ID: "2", Text: "what heats an oven ."}, p.Cases[1].Question, "by position, not by .I 004")
}

// The ids never depend on the order of keys in the JSON objects.
func TestLoCoMoOrderIsThatOfTheSessions(t *testing.T) {
	for _, fixture := range []string{"locomo", "locomo-observations"} {
		file := map[string]string{"locomo": "locomo10.json", "locomo-observations": "talks.json"}[fixture]
		text, err := os.ReadFile(filepath.Join("testdata", fixture, file))
		require.NoError(t, err)
		var talks []map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(text, &talks))
		for _, key := range []string{"conversation", "observation"} {
			var object map[string]any
			require.NoError(t, json.Unmarshal(talks[0][key], &object))
			sorted, err := json.Marshal(object) // keys as text: session_10 before session_2
			require.NoError(t, err)
			talks[0][key] = sorted
		}
		turned, err := json.Marshal(talks)
		require.NoError(t, err)
		a, err := pack.Load(filepath.Join("testdata", fixture), pack.Options{})
		require.NoError(t, err)
		b, err := pack.Load(edited(t, fixture, map[string]string{file: string(turned)}), pack.Options{})
		require.NoError(t, err)
		assert.Equal(t, a.Documents, b.Documents)
		assert.Equal(t, a.Cases, b.Cases)
	}
}

func TestLoCoMoDefectsAreFound(t *testing.T) {
	p, err := pack.Load("../../fixtures/locomo10", pack.Options{Packs: os.Getenv("EVAL_PACKS")})
	var absent *pack.NotHereError
	if errors.As(err, &absent) {
		t.Skip(err)
	}
	require.NoError(t, err)
	about := map[string][]string{}
	for _, d := range p.Defects {
		about[d.Rule] = append(about[d.Rule], d.Case)
	}
	// Nine strings that are no dialogue id of a turn: five can be read, four not.
	assert.Equal(t, []string{"conv-26/q37", "conv-49/q31", "conv-49/q38", "conv-49/q46", "conv-50/q69"}, about["malformed-evidence"])
	assert.Equal(t, []string{"conv-42/q58", "conv-42/q88", "conv-43/q18", "conv-47/q38"}, about["unmappable-evidence"])
	assert.Equal(t, []string{"conv-26/q30", "conv-26/q46", "conv-50/q39", "conv-50/q42"}, about["no-evidence"])
	assert.Len(t, about["adversarial-with-answer"], 2)
	assert.Len(t, about["date-without-session"], 16)
}

// Ids by content do not change with the order of the file: numbers in that
// order would tell a subject which passage belongs to which question.
func TestPassageIDsDoNotFollowTheQuestions(t *testing.T) {
	file := "clapnq_dev_answerable.jsonl"
	text, err := os.ReadFile(filepath.Join("testdata/clapnq", file))
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	turned := edited(t, "clapnq", map[string]string{file: lines[2] + "\n" + lines[0] + "\n"})
	a, err := pack.Load("testdata/clapnq", pack.Options{})
	require.NoError(t, err)
	b, err := pack.Load(turned, pack.Options{})
	require.NoError(t, err)
	assert.Equal(t, a.Documents[0].ID, b.Documents[1].ID)
	for i := range a.Cases[:2] {
		assert.Equal(t, a.Cases[i].Gold, b.Cases[1-i].Gold)
	}
}

func replaceIn(t *testing.T, fixture, file, old, new string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", fixture, file))
	require.NoError(t, err)
	require.Contains(t, string(text), old)
	return map[string]string{file: strings.Replace(string(text), old, new, 1)}
}

func TestLoadersRefuse(t *testing.T) {
	const (
		clapA  = "clapnq_dev_answerable.jsonl"
		clapU  = "clapnq_dev_unanswerable.jsonl"
		hotpot = "hotpotqa_100.json"
		locomo = "locomo10.json"
		truth  = "ground_truth.json"
		asked  = "queries.json"
	)
	for _, tc := range []struct {
		name, fixture, file, old, new string
		want                          string // the whole error after the folder
	}{
		{
			"clapnq: key twice", "clapnq", clapA, `{"id":"11",`, `{"id":"11","id":"12",`,
			clapA + `:1: key "id" is given twice; which one holds is anybody's guess`,
		},
		{
			"clapnq: key in a passage twice", "clapnq", clapA, `{"title":"Soup",`, `{"title":"Soup","title":"Broth",`,
			clapA + `:3: key "title" is given twice; which one holds is anybody's guess`,
		},
		{"clapnq: no question", "clapnq", clapA, `"input":"how long does sourdough rest",`, ``, clapA + `:1: want a value for input`},
		{"clapnq: id that is a number", "clapnq", clapA, `"id":"11"`, `"id":11`, clapA + `:1: key "id": found a JSON number, want a string`},
		{
			"clapnq: key in other case", "clapnq", clapA, `{"title":"Soup",`, `{"Title":"Soup",`,
			clapA + `:3: passages[0] of question "-12": key "Title": want "title", in lower and upper case as here`,
		},
		{
			"clapnq: passage without text", "clapnq", clapU, `"text":"The cook salts it last .",`, ``,
			clapU + `:2: passages[0] of question "14": want a value for text`,
		},
		{"clapnq: no passage", "clapnq", clapU, `[{"title":"Soup","text":"The cook salts it last .","sentences":[]}]`, `[]`, clapU + `:2: question "14" has 0 passages, want 1`},
		{
			"clapnq: answer among the unanswerable", "clapnq", clapU, `{"answer":""`, `{"answer":"a baker"`,
			clapU + `:1: question "-13" has 1 answers, but stands among the unanswerable`,
		},
		{
			"clapnq: no answer among the answerable", "clapnq", clapA, `{"answer":"the cook"`, `{"answer":" "`,
			clapA + `:3: question "-12" has 0 answers, but stands among the answerable`,
		},
		{"clapnq: answer missing", "clapnq", clapA, `"answer":"the cook",`, ``, clapA + `:3: question "-12": output[0]: want a value for answer`},
		{
			"clapnq: question in both files", "clapnq", clapU, `"id":"14"`, `"id":"11"`,
			clapU + `:2: case id "11" was given before, at DIR/` + clapA + `:1; ids must be unique`,
		},

		{"hotpotqa: not an array", "hotpotqa", hotpot, "[\n  {", "{\"data\": [\n  {", hotpot + `:22: not JSON: the value ends too early`},
		{"hotpotqa: text after the array", "hotpotqa", hotpot, "\n]\n", "\n]\n\n[]\n", hotpot + `:23: more text after the JSON value: "[]\n"`},
		{"hotpotqa: comma missing", "hotpotqa", hotpot, "  },\n  {", "  }\n  {", hotpot + `:12: not JSON: invalid character '{' after array element`},
		{"hotpotqa: not UTF-8", "hotpotqa", hotpot, "Rye grows", "R\xffe grows", hotpot + `:18: not valid UTF-8`},
		{
			"hotpotqa: key twice", "hotpotqa", hotpot, `"_id": "h2",`, `"_id": "h2", "_id": "h3",`,
			hotpot + `:12: key "_id" is given twice; which one holds is anybody's guess`,
		},
		{"hotpotqa: no type", "hotpotqa", hotpot, `"type": "bridge", `, ``, hotpot + `:12: want a value for type`},
		{
			"hotpotqa: fact on another question's paragraph", "hotpotqa", hotpot, `["Rye", 0]]`, `["Flour", 0]]`,
			hotpot + `:12: supporting_facts[1] of question "h2": "Flour" is not among its paragraphs`,
		},
		{
			"hotpotqa: fact without a number", "hotpotqa", hotpot, `["Rye", 0]]`, `["Rye"]]`,
			hotpot + `:12: supporting_facts[1] of question "h2": found 1 values, want 2`,
		},
		{
			"hotpotqa: sentence that is null", "hotpotqa", hotpot, `["Rye", ["Rye grows beside the mill."]]`, `["Rye", null]`,
			hotpot + `:12: context[1] of question "h2": value 1 is null`,
		},
		{
			"hotpotqa: paragraph twice", "hotpotqa", hotpot, `["Flour", [`, `["Miller of Ottery", [`,
			hotpot + `:2: question "h1" has paragraph "Miller of Ottery" twice`,
		},
		{
			"hotpotqa: one title with two texts", "hotpotqa", hotpot, `["Flour", ["Flour is milled grain."]]`, `["Rye", ["Another."]]`,
			hotpot + `:12: document "Rye" differs from its first form, at DIR/` + hotpot + `:2`,
		},
		{
			"hotpotqa: titles equal but for blanks", "hotpotqa", hotpot, `["Flour", [`, `["Miller  of Ottery", [`,
			hotpot + `:2: document "Miller_of_Ottery" differs from its first form, at DIR/` + hotpot + `:2`,
		},
		{
			"hotpotqa: no gold", "hotpotqa", hotpot, `[["Miller of Ottery", 0], ["Rye", 0]]`, `[]`,
			hotpot + `:12: question "h2" has no relevant document and is not marked unanswerable`,
		},

		{"squad2: question lost", "squad2", asked, `"total": 3`, `"total": 4`, asked + `:1: total says 4, but queries holds 3`},
		{"squad2: no total", "squad2", asked, `, "total": 3`, ``, asked + `:1: total says nothing, but queries holds 3`},
		{"squad2: no queries", "squad2", asked, `"queries": [`, `"query": [`, asked + `:1: the file: no key "queries"`},
		{"squad2: key of one question missing", "squad2", truth, `"s2": {`, `"s9": {`, asked + `:5: question "s2" is not in ground_truth.json`},
		{
			"squad2: answer that is not there", "squad2", truth, `"last"`, `"first"`,
			truth + `:4: answer "first" of question "s3" is not in its paragraph`,
		},
		{"squad2: impossible with an answer", "squad2", truth, `[""]`, `["a week"]`, truth + `:3: question "s2" has 1 answers, but is_impossible is true`},
		{"squad2: possible without an answer", "squad2", truth, `["last"]`, `[]`, truth + `:4: question "s3" has 0 answers, but is_impossible is false`},
		{"squad2: is_impossible missing", "squad2", truth, `"is_impossible": true`, `"impossible": true`, truth + `:3: want a value for is_impossible`},
		{"squad2: id twice in the key", "squad2", truth, `"s2": {`, `"s1": {`, truth + `:1: key "s1" is given twice; which one holds is anybody's guess`},
		{"squad2: no paragraph", "squad2", asked, `"context": "Salt is added last.", `, ``, asked + `:6: want a value for context`},
		{
			"squad2: question twice", "squad2", asked, `"id": "s2"`, `"id": "s1"`,
			asked + `:5: case id "s1" was given before, at DIR/queries.json:4; ids must be unique`,
		},

		{
			"multihoprag: null with evidence", "multihoprag", asked, `"inference_query"`, `"null_query"`,
			truth + `:9: question "1" of type null_query has 1 facts as evidence`,
		},
		{
			"multihoprag: no evidence", "multihoprag", asked, `"null_query"`, `"temporal_query"`,
			truth + `:15: question "2" of type temporal_query has 0 facts as evidence`,
		},
		{
			"multihoprag: type unknown", "multihoprag", asked, `"inference_query"`, `"guess_query"`,
			asked + `:5: stratum "guess" is not among those of pack.toml [comparison inference null temporal]`,
		},
		{
			"multihoprag: day that is none", "multihoprag", truth, `2023-10-02T23:30:00+00:00`, `October 2`,
			truth + `:2: evidence_list[0] of question "0": published_at "October 2": want a time in RFC 3339`,
		},
		{
			"multihoprag: fact missing", "multihoprag", truth, `"fact": "Rye costs three pence.", `, ``,
			truth + `:2: evidence_list[1] of question "0": want a value for fact`,
		},
		{
			"multihoprag: question without a query", "multihoprag", truth, `"2": {`, `"3": {`,
			asked + `:6: question "2" is not in ground_truth.json`,
		},

		{
			"locomo: session without a date", "locomo", locomo, `"session_2_date_time"`, `"session_4_date_time"`,
			locomo + `:13: session 2 of talk-1 has no session_2_date_time`,
		},
		{
			"locomo: date that is none", "locomo", locomo, `1:56 pm on 8 January, 2024`, `8 January`,
			locomo + `:12: session_2_date_time: found "8 January", want a time like "1:56 pm on 8 May, 2023"`,
		},
		{
			"locomo: key of a conversation unknown", "locomo", locomo, `"session_3_date_time"`, `"session_03_date_time"`,
			locomo + `:17: key "session_03_date_time": want speaker_a, speaker_b, session_N or session_N_date_time`,
		},
		{
			"locomo: turn of another session", "locomo", locomo, `"dia_id": "D2:2"`, `"dia_id": "D3:2"`,
			locomo + `:15: dia_id "D3:2" of talk-1: want D2: and a number`,
		},
		{
			"locomo: turn with a leading zero", "locomo", locomo, `"dia_id": "D2:2"`, `"dia_id": "D2:02"`,
			locomo + `:15: dia_id "D2:02" of talk-1: want D2: and a number`,
		},
		{"locomo: turn twice", "locomo", locomo, `"dia_id": "D2:2"`, `"dia_id": "D2:1"`, locomo + `:15: dia_id D2:1 of talk-1 was given before`},
		{"locomo: turn without text", "locomo", locomo, `, "text": "Which colour?"`, ``, locomo + `:10: want a value for text`},
		{
			"locomo: stranger speaks", "locomo", locomo, `{"speaker": "Tom", "dia_id": "D10:1"`, `{"speaker": "Tim", "dia_id": "D10:1"`,
			locomo + `:9: speaker "Tim" of talk-1: want "Ines" or "Tom"`,
		},
		{
			"locomo: one speaker", "locomo", locomo, `"speaker_b": "Tom"`, `"speaker_b": "Ines"`,
			locomo + `:4: conversation talk-1: want two different speakers, found "Ines" and "Ines"`,
		},
		{"locomo: category unknown", "locomo", locomo, `"category": 3`, `"category": 6`, locomo + `:30: category 6: want 1 to 5`},
		{"locomo: question without answer", "locomo", locomo, `"answer": "likely yes", `, ``, locomo + `:30: want a value for answer`},
		{"locomo: answer that is a list", "locomo", locomo, `"answer": 2024`, `"answer": []`, locomo + `:28: answer: found "[]", want a string or a number`},
		{"locomo: no evidence key", "locomo", locomo, `"evidence": [], `, ``, locomo + `:30: want a value for evidence`},
		{"locomo: no conversation", "locomo", locomo, `"conversation": {
      "speaker_a": "Ines",
      "speaker_b": "Tom"`, `"talk": {
      "speaker_a": "Ines",
      "speaker_b": "Tom"`, locomo + `:2: conversation talk-1: no key "conversation"`},
		{
			"locomo: conversation twice", "locomo", locomo, `"sample_id": "talk-2"`, `"sample_id": "talk-1"`,
			locomo + `:35: conversation "talk-1" was given before, at DIR/` + locomo + `:2`,
		},
		{
			"locomo: observation of no session", "locomo-observations", "talks.json", `"session_10_observation"`, `"session_1_observation"`,
			`talks.json:19: talk-1: no key "session_10_observation"`,
		},
		{
			"locomo: observation on a stranger", "locomo-observations", "talks.json", `"Tom": [["Tom burnt`, `"Tim": [["Tom burnt`,
			`talks.json:22: session_2_observation: observations on "Tim", want "Ines" or "Tom"`,
		},
		{
			"locomo: observation without a turn", "locomo-observations", "talks.json", `["Tom got an oven.", "D10:1"]`, `["Tom got an oven."]`,
			`talks.json:20: observation: found 1 values, want 2`,
		},

		{"smart: number that is none", "smart", "cran.all.1400", ".I 2", ".I two", `cran.all.1400:17: found ".I two", want .I and a number`},
		{"smart: number twice", "smart", "cran.all.1400", ".I 3", ".I 1", `cran.all.1400:22: document id "1" was given before, at DIR/cran.all.1400:1; ids must be unique`},
		{"smart: question number twice", "smart", "cran.qry", ".I 004", ".I 001", `cran.qry:5: question .I 1 was given before, at DIR/cran.qry:1`},
		{"smart: unknown field", "smart", "cran.all.1400", ".B", ".Z", `cran.all.1400:7: field .Z: want .T, .W, or one of .A, .B, .C, .K, .N and .X`},
		{"smart: text before a field", "smart", "cran.qry", ".I 001\n.W", ".I 001", `cran.qry:2: text outside a field: "how does dough flow past"; want .T or .W first`},
		{"smart: field before a record", "smart", "cran.qry", ".I 001\n", "", `cran.qry:1: field .W before the first .I`},
		{"smart: question without text", "smart", "cran.qry", "what heats an oven .\n", "", `cran.qry:5: question "2" has no text`},
		{"smart: relevance out of range", "smart", "cranqrel", "2 3  2", "2 3  6", `cranqrel:4: relevance "6": want 1 (complete answer) to 5 (no interest), or -1`},
		{"smart: column missing", "smart", "cranqrel", "2 3  2", "2 3", `cranqrel:4: found 2 columns, want 3 (question, document, relevance): "2 3"`},
		{"smart: question by its .I", "smart", "cranqrel", "2 3  2", "4 3 2", `cranqrel:4: gold for question "4", which is not among the questions`},
		{"smart: document that is not there", "smart", "cranqrel", "1 3 4", "1 4 4", `cranqrel:2: gold id "4" of question "1" is not in the corpus`},

		{"split unknown", "scifact-train", "pack.toml", `"train"`, `"test"`, `pack.toml:5: split "test": format scifact has [validation train]`},
		{"split of a format without", "squad2", "pack.toml", `role =`, "split = \"train\"\nrole =", `pack.toml:6: split "train": format squad2 has []`},
		{"folder of a pack that is here", "squad2", "pack.toml", `role =`, "folder = \"squad\"\nrole =", `pack.toml:6: folder "squad": only for a pack with external = true`},
		{
			"folder that leaves EVAL_PACKS", "squad2", "pack.toml", `role =`, "external = true\nfolder = \"../squad\"\nrole =",
			`pack.toml:7: folder "../squad": want lower-case letters, digits and dashes`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := edited(t, tc.fixture, replaceIn(t, tc.fixture, tc.file, tc.old, tc.new))
			p, err := pack.Load(dir, pack.Options{})
			require.Error(t, err)
			assert.Nil(t, p, "nothing half-loaded")
			assert.Equal(t, dir+string(filepath.Separator)+strings.ReplaceAll(tc.want, "DIR", dir), err.Error())
		})
	}
}

// Packs that share content name its folder.
func TestExternalPackInAnotherFolder(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pack.toml"), []byte(
		"name = \"a-train\"\nversion = \"1\"\nunit = \"document\"\nformat = \"scifact\"\nsplit = \"train\"\nrole = \"guard\"\nauthored = \"self\"\nexternal = true\nfolder = \"a\"\n",
	), 0o644))
	packs := t.TempDir()
	_, err := pack.Load(dir, pack.Options{Packs: packs})
	require.EqualError(t, err, "pack a-train: not here: EVAL_PACKS has no folder a/")
	require.NoError(t, os.CopyFS(filepath.Join(packs, "a"), os.DirFS("testdata/scifact-train")))
	p, err := pack.Load(dir, pack.Options{Packs: packs})
	require.NoError(t, err)
	assert.Equal(t, []string{"5"}, p.CaseIDs(), "the training claims")
}
