package pack

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// fuzzFixture fuzzes one file of a fixture beside its other files.
func fuzzFixture(f *testing.F, fixture, file string, seeds ...string) {
	files := map[string]string{}
	entries, err := os.ReadDir(filepath.Join("testdata", fixture))
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join("testdata", fixture, e.Name()))
		if err != nil {
			f.Fatal(err)
		}
		files[e.Name()] = string(text)
	}
	for _, seed := range append(seeds, files[file]) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		changed := maps.Clone(files)
		changed[file] = text
		dir := fuzzFolder(t, changed)
		p, err := Load(dir, Options{})
		whole(t, dir, p, err)
	})
}

func FuzzClapNQ(f *testing.F) {
	fuzzFixture(f, "clapnq", clapnqAnswerable,
		`{"id":"1","input":"x","passages":[null],"output":[{"answer":"y"}]}`,
		`{"id":"1","input":"x","passages":[{"title":"","text":""}],"output":[null]}`)
}

func FuzzHotpotQA(f *testing.F) {
	fuzzFixture(f, "hotpotqa", hotpotFile, `[]`, `[[`, `[null]`, `[{"_id":"","supporting_facts":[[]]}]`, "\ufeff[ ] x", `[{"a":{"b":1,"b":2}}]`,
		`[{"_id":"h","question":"x","answer":"","type":"","context":[[" ",[]]],"supporting_facts":[[" ",0]]}]`)
}

func FuzzSampledQueries(f *testing.F) {
	fuzzFixture(f, "squad2", "queries.json", `{"total":0,"queries":[]}`, `{"queries":null}`, `{"total":1,"queries":[null]}`, `[]`, `{"a":[[[[[[[[{"b":1,"b":1}]]]]]]]]}`)
}

func FuzzSQuAD2(f *testing.F) {
	fuzzFixture(f, "squad2", "ground_truth.json", `{}`, `{"s1":null,"s2":[],"s3":{}}`, `{"s1":{"answers":[null],"is_impossible":true}}`)
}

func FuzzMultiHopRAG(f *testing.F) {
	fuzzFixture(f, "multihoprag", "ground_truth.json", `{}`, `{"0":{"answer":"","evidence_list":[null]}}`)
}

func FuzzLoCoMo(f *testing.F) {
	fuzzFixture(f, "locomo", locomoFile, `[]`, `[null]`, `[{"sample_id":"a","conversation":null}]`, `[{"sample_id":" ","conversation":[]}]`,
		`[{"sample_id":"a","conversation":{"speaker_a":"x","speaker_b":"y"},"qa":[{"question":"z","evidence":["D1:1"],"answer":1,"category":1}]}]`)
}

func FuzzLoCoMoObservations(f *testing.F) {
	fuzzFixture(f, "locomo-observations", "talks.json")
}

func FuzzSMART(f *testing.F) {
	fuzzFixture(f, "smart", smartDocuments, ".I", ".I -1", ".I 99999999999", ".I 1\n.W\n.I 1", ".I 1\r\n.W\r\nx\r\n", ".W", ".I 1\n.Z\n")
}

func FuzzSMARTQrels(f *testing.F) {
	fuzzFixture(f, "smart", smartQrels, "1 1 1\n1 1 1", "1 1 -1", "1 1 6", "01 1 1", "1 1 1 1")
}
