package pack_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

func TestCollectionsRefuse(t *testing.T) {
	const (
		chat   = "longmemeval_s.json"
		papers = "papers.json"
		topics = "topics.401-403"
		doc    = "documents/a.sgml"
		corpus = "corpus.json"
		bread  = "bread.toml"
		plan   = "manifest.json"
	)
	for _, tc := range []struct {
		name, fixture, file, old, new string
		want                          string // the whole error after the folder
	}{
		{"longmemeval: dates and sessions differ", "longmemeval", chat, `"2023/05/20 (Sat) 02:21", `, ``, chat + `:2: question "m1" has 1 haystack_dates for 2 haystack_sessions`},
		{"longmemeval: date that is none", "longmemeval", chat, `2023/05/30 (Tue) 23:40`, `May 30`, chat + `:2: question_date of question "m1": found "May 30", want a time like "2023/05/30 (Tue) 23:40"`},
		{"longmemeval: session date that is none", "longmemeval", chat, `2023/05/21 (Sun) 10:00`, ``, chat + `:2: haystack_dates[1] of question "m1": found "", want a time like "2023/05/30 (Tue) 23:40"`},
		{"longmemeval: turn without content", "longmemeval", chat, `"role": "assistant", "content"`, `"role": "assistant", "text"`, chat + `:2: haystack_sessions[0][1] of question "m1": want a value for content`},
		{"longmemeval: has_answer that is a string", "longmemeval", chat, `"has_answer": true`, `"has_answer": "yes"`, chat + `:2: key "haystack_sessions.has_answer": found a JSON string, want true or false`},
		{"longmemeval: no answer", "longmemeval", chat, `"answer": "rye",`, ``, chat + `:2: question "m1": want a value for answer`},
		{"longmemeval: no type", "longmemeval", chat, `"question_type": "multi-session", `, ``, chat + `:24: want a value for question_type`},
		{"longmemeval: question twice", "longmemeval", chat, `"question_id": "m2"`, `"question_id": "m1"`, chat + `:24: document id "ca0df2c95aa144c1/s0/t0" was given before, at DIR/` + chat + `:2; ids must be unique`},
		{"contested: no such case", "longmemeval", "contested.toml", `"m2"`, `"m9"`, `contested.toml:1: case "m9" is not in the pack`},
		{"contested: no reason", "longmemeval", "contested.toml", `"the key counts the loaves of two days"`, `""`, `contested.toml:1: case "m2": want a reason and a source: what is wrong with the key, and who found it`},
		{"contested: unknown key", "longmemeval", "contested.toml", `reason =`, `why =`, `contested.toml:3: unknown key "case.why"; remove it or correct its spelling`},

		{"qasper: question twice", "qasper", papers, `"question_id": "a2"`, `"question_id": "a1"`, papers + `:14: case id "a1" was given before, at DIR/` + papers + `:10; ids must be unique`},
		{"qasper: answer without a judgement", "qasper", papers, `"unanswerable": false, "extractive_spans": ["for`, `"extractive_spans": ["for`, papers + `:10: answers[0] of question "a1": want a value for unanswerable`},
		{"qasper: answer without an annotator", "qasper", papers, `"worker_id": "w1", `, ``, papers + `:10: answers[0] of question "a1": want a value for worker_id`},
		{"qasper: no questions", "qasper", papers, `"full_text": [], "qas": []`, `"full_text": []`, papers + `:38: paper 2001.2: no key "qas"`},
		{"qasper: no abstract", "qasper", papers, `"abstract": "Ovens are hot.", `, ``, papers + `:38: paper "2001.2": want a value for abstract`},

		{"trec: column missing", "trec", "qrels.txt", `401 0 FT1-1 2`, `401 FT1-1 2`, `qrels.txt:1: found 3 columns, want 4 (topic, iteration, document, grade): "401 FT1-1 2"`},
		{"trec: grade that is none", "trec", "qrels.txt", `401 0 FT1-1 2`, `401 0 FT1-1 high`, `qrels.txt:1: grade "high" is not an integer`},
		{"trec: document that is not there", "trec", "qrels.txt", `FT1-1`, `FT9`, `qrels.txt:1: gold id "FT9" of question "401" is not in the corpus`},
		{"trec: judged twice", "trec", "qrels.txt", `402 0 FT1-2 -1`, `401 1 FT1-2 0`, `qrels.txt:3: question "401" judges document "FT1-2" twice (0 and 0)`},
		{"trec: topic that is not there", "trec", "qrels.txt", `402 0 FT1-2 -1`, `409 0 FT1-2 1`, `qrels.txt:3: gold for question "409", which is not among the questions`},
		{"trec: topic without a number", "trec", topics, `<num> Number: 401`, `<num> Number:`, topics + `:14: the topic that starts at DIR/` + topics + `:1 has no <num>`},
		{"trec: topic without a title", "trec", topics, "<title> Unjudged\n", "", topics + `:25: topic 403, which starts at DIR/` + topics + `:22, has no <title>`},
		{"trec: topic in a topic", "trec", topics, "</top>\n\n<top>\n<num> Number: 402", "<top>\n<num> Number: 402", topics + `:14: <top> inside the topic that starts at DIR/` + topics + `:1`},
		{"trec: topic not closed", "trec", topics, "<desc> Description: x\n</top>", "<desc> Description: x", topics + `:22: the topic is not closed; want </top>`},
		{"trec: text before a topic", "trec", topics, "<top>\n\n<num> Number: 401", "words\n<top>\n\n<num> Number: 401", topics + `:1: text outside a topic: "words"; want <top> first`},
		{"trec: title twice", "trec", topics, "<title> AT&amp;T mills </title>", "<title> a\n<title> b", topics + `:19: <title> is there twice in the topic that starts at DIR/` + topics + `:16`},
		{"trec: document without a number", "trec", doc, `<DOCNO> FT1-1 </DOCNO>`, ``, doc + `:10: the document that starts at DIR/` + doc + `:1 has no <DOCNO>`},
		{"trec: document not closed", "trec", doc, `</DOC>`, ``, doc + `:1: the document is not closed; want </DOC>`},
		{"trec: document in a document", "trec", doc, `<DATE>920101</DATE>`, `<DOC>`, doc + `:4: <DOC> inside the document that starts at DIR/` + doc + `:1`},
		{"trec: text outside a document", "trec", doc, `</DOC>`, "</DOC>\nleft over", doc + `:11: text outside a document: "left over"; want <DOC> first`},
		{"trec: headline not closed", "trec", doc, `</HEADLINE>`, ``, doc + `:5: tag TEXT in the wrong place of the document that starts at DIR/` + doc + `:1`},
		{"trec: document twice", "trec", doc, `FT1-1`, `FT1-2`, `documents/b.sgml:1: document id "FT1-2" was given before, at DIR/` + doc + `:1; ids must be unique`},
		{"trec: topics.tsv without a tab", "trec-jsonl", "topics.tsv", "7\twhat", "7 what", `topics.tsv:1: want an id and a text, separated by one tab: "7 what is rye"`},
		{"trec: two texts", "trec-jsonl", "documents.jsonl", `"title": "Mills"`, `"contents": "Mills"`, `documents.jsonl:2: text and contents are both given; which one holds is anybody's guess`},
		{"trec: no id", "trec-jsonl", "documents.jsonl", `"id": "d1", `, ``, `documents.jsonl:1: want an object with the strings id and contents (or text)`},

		{"folder: unknown key", "folder", corpus, `"negative": true`, `"negativ": true`, corpus + `:7: unknown field "negativ"`},
		{"folder: unknown key of the corpus", "folder", corpus, `"generator"`, `"generators"`, corpus + `:13: unknown key "generators"`},
		{"folder: document that is not there", "folder", corpus, `"letters/order 1.txt"]`, `"letters/order 2.txt"]`, corpus + `:6: documents of question "q1": file "letters/order 2.txt" is not among the documents`},
		{"folder: negative with documents", "folder", corpus, `"negative": true`, `"negative": true, "documents": ["offer.md"]`, corpus + `:7: question "cake" is negative, but names documents`},
		{"folder: type that is empty", "folder", corpus, `"document": "order 1.txt"`, `"document": "order 1.txt", "expected": ""`, corpus + `:11: expected of "letters/order_1.txt" is empty; leave the key out if it must stay untyped`},
		{"folder: type twice", "folder", corpus, `{"document": "order 1.txt"}`, `{"document": "offer.md"}`, corpus + `:11: type of "offer.md" is given twice`},
		{"folder: field without a value", "folder", corpus, `, "expected": "3.00"`, ``, corpus + `:10: want a value for expected`},
		{"folder: not UTF-8", "folder", "offer.md", "Rye", "R\xffe", `offer.md: not valid UTF-8`},

		{"jsonl: line that is no case", "jsonl", "eval.jsonl", "  // in between", "in between", `eval.jsonl:4: not JSON: invalid character 'i' looking for beginning of value: "in between"`},
		{"jsonl: line cut short", "jsonl", "eval.jsonl", `"shouldAbstain":true}`, `"shouldAbst`, `eval.jsonl:5: not JSON: the value ends too early: "{\"id\":\"e2\",\"query\":\"Who swims?\",\"expectedAnswer\":\"\",\"categor"...`},
		{"jsonl: unknown key", "jsonl", "eval.jsonl", `"shouldAbstain":true`, `"shouldabstain2":true`, `eval.jsonl:5: unknown field "shouldabstain2"`},
		{"jsonl: no gold", "jsonl", "eval.jsonl", `"groundTruthChunkIds":["cellar.txt","oven.md"]`, `"groundTruthChunkIds":[]`, `eval.jsonl:6: want groundTruthChunkIds or expectedCitations, or shouldAbstain`},
		{"jsonl: citation that is not there", "jsonl", "eval.jsonl", `["oven.md"],`, `["stove.md"],`, `eval.jsonl:3: expectedCitations of "e1": file "stove.md" is not among the documents`},
		{"jsonl: abstains with an answer", "jsonl", "eval.jsonl", `"expectedAnswer":"","category":"abstention"`, `"expectedAnswer":"Tom","category":"abstention"`, `eval.jsonl:5: case "e2" should abstain, but has the answer "Tom"`},

		{"cases: unknown key", "cases", bread, `empty_set`, `emptyset`, bread + `:30: unknown key "case.emptyset"; remove it or correct its spelling`},
		{"cases: grade out of range", "cases", bread, `grade = 3`, `grade = 4`, bread + `:2: case "bread": seed[0]: want a grade of 0 to 3`},
		{"cases: seed without a grade", "cases", bread, "grade = 1\n", "", bread + `:2: case "bread": seed[1]: want a grade of 0 to 3`},
		{"cases: negative seed with a grade", "cases", bread, `text = "Rye bread keeps for a year."`, "text = \"x\"\ngrade = 0", bread + `:2: case "bread": negative[0]: a negative seed has no grade`},
		{"cases: empty set with a right answer", "cases", bread, "grade = 0", "grade = 2", bread + `:27: case "nothing": seed[0] has grade 2, but empty_set says that nothing is right`},
		{"cases: seed without text", "cases", bread, `text = "Rye bread keeps for a year."`, `text = " "`, bread + `:2: case "bread": negative[0]: want a value for text`},
		{"cases: seed twice", "cases", bread, `id = "old"`, `id = "rye"`, bread + `:2: document id "bread/rye" was given before, at DIR/` + bread + `:2; ids must be unique`},
		{"cases: nothing right", "cases", bread, `empty_set = true`, ``, bread + `:27: question "nothing" has no relevant document and is not marked unanswerable`},
		{"cases: not TOML", "cases", bread, `query = "who flies?"`, `query = who flies?`, bread + `:29: expected value but found "who" instead`},

		{"manifest: behaviour unknown", "manifest", plan, `"expected_behavior": "abstain"`, `"expected_behavior": "decline"`, plan + `:12: expected_behavior "decline" of "c3": want answer or abstain`},
		{"manifest: source that is not there", "manifest", plan, `"filename": "mill.md"`, `"filename": "hill.md"`, plan + `:6: sources of "c1": file "hill.md" is not among the documents`},
		{"manifest: input that is not there", "manifest", plan, `"somewhere/else/files/b.md"`, `"somewhere/else/files/x.md"`, plan + `:9: file "somewhere/else/files/x.md" is not in the pack`},
		{"manifest: file outside", "manifest", plan, `"files/mill.md"`, `"../files/mill.md"`, plan + `:4: file "../files/mill.md" leaves the pack`},
		{"manifest: pattern that is none", "manifest", plan, `(?i)two\\s+sacks`, `(?i)two(`, plan + ":6: expected_answer_patterns[0]: error parsing regexp: missing closing ): `(?i)two(`"},
		{"manifest: abstains with a pattern", "manifest", plan, `"expected_answer_patterns": [], "expected_source": {"filename": "gone.md"`, `"expected_answer_patterns": ["x"], "expected_source": {"filename": "gone.md"`, plan + `:12: case "c3" should abstain, but has answer patterns`},
		{"manifest: source without a licence", "manifest", plan, `"license": "as this repository", `, ``, plan + `:3: want a value for license`},
		{"manifest: no cases", "manifest", plan, `"cases": [`, `"case": [`, plan + `:1: no key "cases"`},

		{"smart: relation of five columns", "smart-med", "MED.REL", "1 0 1 1", "1 0 1 1 1", `MED.REL:1: want question and document, then nothing or 0 and 0; or question, 0, document and grade: "1 0 1 1 1"`},
		{"smart: relation that is none", "smart-med", "MED.REL", "1 0 1 1", "1 0 one 1", `MED.REL:1: column 3 is "one", want a number`},
		{"smart: relation that may be either", "smart-med", "MED.REL", "1 0 1 1", "1 0 0 0", `MED.REL:1: want question and document, then nothing or 0 and 0; or question, 0, document and grade: "1 0 0 0"`},
		{"smart: no such question", "smart-cisi", "CISI.REL", "     1      1", "     9      1", `CISI.REL:1: gold for question "9", which is not among the questions`},
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

func TestCollectionsRefuseFolders(t *testing.T) {
	for _, tc := range []struct {
		name, fixture string
		files         map[string]string
		want          string
	}{
		{"no questions", "folder", map[string]string{"corpus.json": "\n{\"name\": \"x\"}"}, "/corpus.json:2: no questions; want at least one"},
		{"two topics files", "trec", map[string]string{"topics.2": ""}, ": found 2 files named topics*, want one"},
		{"no qrels", "trec", map[string]string{"qrels.txt": gone}, ": found 0 files named qrels*, want one"},
		{"two case files", "jsonl", map[string]string{"more.jsonl": ""}, ": found 2 files *.jsonl beside corpus.jsonl, want one"},
		{"two JSON files", "qasper", map[string]string{"more.json": "{}"}, ": found 2 JSON files, want qasper.json or exactly one"},
		{"no case file", "cases", map[string]string{"bread.toml": gone}, ": found no *.toml with cases"},
		{"two collections", "smart-med", map[string]string{"CISI.ALL": ""}, ": found 2 files of documents [CISI.ALL MED.ALL], want one of cran.all.1400, .all"},
		{"picture among the documents", "folder", map[string]string{"scan.pdf": "%PDF"}, "/scan.pdf: not a text file (.txt, .text, .md, .markdown, .csv, .tsv, .html, .rst); convert it, or leave it out of the folder"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := edited(t, tc.fixture, tc.files)
			p, err := pack.Load(dir, pack.Options{})
			require.EqualError(t, err, dir+tc.want)
			assert.Nil(t, p)
		})
	}
}

func TestCollectionsTakeTheTextOfTheSource(t *testing.T) {
	load := func(name string) *pack.Pack {
		p, err := pack.Load(filepath.Join("testdata", name), pack.Options{})
		require.NoError(t, err)
		return p
	}
	p := load("longmemeval")
	assert.Equal(t, "assistant: Rye keeps well ☕.", p.Documents[1].Text)
	for _, d := range p.Documents {
		assert.NotContains(t, d.ID+d.Group, "abs", "an id must not tell that there is no answer")
		assert.NotContains(t, d.ID, "answer_")
	}

	p = load("qasper")
	assert.Equal(t, "We let dough rest.\n\nMethod\n\nThe dough rests for a night.\n\nIt is rye dough.", p.Documents[0].Text)

	p = load("trec")
	assert.Equal(t, pack.Document{ID: "FT1-1", Title: "Rye & wheat", Text: "Rye bread is baked\nhot.\nIt keeps."}, p.Documents[0])
	assert.Equal(t, pack.Document{ID: "FT1-2", Text: "A mill without a text element."}, p.Documents[1])
	assert.Equal(t, "Rye bread in ovens", p.Cases[0].Question.Text)
	assert.Equal(t, "AT&T mills", p.Cases[1].Question.Text)
	assert.Equal(t, "How is rye bread baked?", load("trec-description").Cases[0].Question.Text)

	p = load("trec-jsonl")
	assert.Equal(t, pack.Question{ID: "8", Text: "who mills ☕"}, p.Cases[1].Question)

	p = load("folder")
	assert.Equal(t, "An offer", p.Documents[1].Title)
	assert.Equal(t, "To the mill of Ottery: two sacks.\n", p.Documents[0].Text)

	p = load("smart-cisi")
	assert.Equal(t, "how old are mills", p.Cases[1].Question.Text, "without its title")
}

// Every own pack form has its raw folder: a format is told by a file, or given.
func TestFormatsAreToldByTheirFiles(t *testing.T) {
	for fixture, format := range map[string]string{
		"folder": "folder", "manifest": "manifest", "locomo": "locomo", "longmemeval": "longmemeval", "hotpotqa": "hotpotqa", "own": "beir",
	} {
		t.Run(fixture, func(t *testing.T) {
			dir := edited(t, fixture, nil)
			_ = os.Remove(filepath.Join(dir, "pack.toml"))
			p, err := pack.Load(dir, pack.Options{})
			require.NoError(t, err)
			assert.Equal(t, format, p.Manifest.Format)
		})
	}
}
