package pack

import "testing"

func FuzzLongMemEval(f *testing.F) {
	fuzzFixture(f, "longmemeval", "longmemeval_s.json", `[]`, `[null]`, `[{"question_id":"","question_type":"x","question":"y","question_date":"2023/01/01","haystack_dates":[],"haystack_sessions":[]}]`)
}

func FuzzContested(f *testing.F) {
	fuzzFixture(f, "longmemeval", ContestedFile, "", "[[case]]", "case = [{id=\"m2\",reason=\"x\",source=\"y\"}]")
}

func FuzzQASPER(f *testing.F) {
	fuzzFixture(f, "qasper", "papers.json", `{}`, `{"a":null}`, `{"a":{"title":"","abstract":"","full_text":[null],"qas":[null]}}`)
}

func FuzzTRECTopics(f *testing.F) {
	fuzzFixture(f, "trec-one", "topics.x", "<top>", "<top></top>", "<top>\n<num> 1 <title> x </top>", "</top>", "<title>", "<TOP>\n<NUM>1</NUM>\n<TITLE>x</TITLE>\n</TOP>")
}

func FuzzTRECText(f *testing.F) {
	fuzzFixture(f, "trec-one", "documents.sgml", "<DOC>", "<DOC></DOC>", "<DOC><DOCNO>1</DOC>", "<DOC><DOCNO>1</DOCNO><TEXT></DOC>", "<doc><docno>d</docno>x</doc>", "<DOC><DOCNO>1</DOCNO><TITLE><TEXT></TITLE></TEXT></DOC>")
}

func FuzzTRECQrels(f *testing.F) {
	fuzzFixture(f, "trec-one", "qrels", "1 0 d 1", "1 0 d", "1 0 d 99999999999999999999", "1 0 d 1\n1 0 d 1")
}

func FuzzCorpusJSON(f *testing.F) {
	fuzzFixture(f, "folder-one", corpusFile, `{}`, `{"questions":[null]}`, `{"questions":[{"question":"x","documents":["../a"]}],"docTypeGroundTruth":[{}],"probeGroundTruth":[{}]}`)
}

func FuzzEvalJSONL(f *testing.F) {
	fuzzFixture(f, "jsonl", "eval.jsonl", "//", "/ /", "{}", "\n\n", `{"id":"","query":"","groundTruthChunkIds":[""]}`)
}

func FuzzCases(f *testing.F) {
	fuzzFixture(f, "cases", "bread.toml", "", "[[case]]", "[[case]]\nid=\"a\"\nquery=\"b\"\n[[case.seed]]\ntext=\"x\"\ngrade=1", "case = []")
}

func FuzzFixtureManifest(f *testing.F) {
	fuzzFixture(f, "manifest-one", fixtureManifest, `{}`, `{"cases":[]}`, `{"pool":["/etc/passwd"],"cases":[]}`, `{"pool":["../x"],"cases":[]}`, `{"pool":[""],"cases":[null]}`)
}

func FuzzSMARTRelations(f *testing.F) {
	fuzzFixture(f, "smart-cisi", "CISI.REL", "1 1", "1 1 0 0", "1 0 1 1", "1 1 1 1", "1e9 1", "-1 1", "NaN 1", "1 1 0 0.5")
}

func FuzzCaseLines(f *testing.F) {
	fuzzFixture(f, "own", "cases.jsonl", `{"id":"q1","assertions":["x"]}`, `{"id":"q1","assertions":7}`, `{"id":"q1","evidence":[null]}`)
}
