package engine_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/chunk"
	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
)

// whole keeps an abstract in one passage, which is what published figures
// rank.
var whole = chunk.Config{MaxWords: 100_000}

type claim struct {
	id, text string
	cited    map[string]bool
}

// TestSciFactLexical holds the lexical arm to published figures: BM25 with
// stemming is at .6789 (Anserini); far from it something is broken.
func TestSciFactLexical(t *testing.T) {
	docs, claims := readSciFact(t)
	e := open(t, t.TempDir(), engine.Config{Embedder: embedtest.New(16), Chunk: whole, BatchSize: 500})
	report, err := e.Ingest(t.Context(), docs...)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d documents, %d chunks, steps %v", report.Documents, report.Chunks, report.Steps)
	sum := 0.0
	for _, c := range claims {
		r, err := e.Search(t.Context(), engine.Query{Text: c.text, K: 10})
		if err != nil {
			t.Fatalf("claim %s: %v", c.id, err)
		}
		lexical, _ := r.Stage(engine.StageLexical)
		sum += ndcg10(lexical.Hits, c.cited)
	}
	got := sum / float64(len(claims))
	t.Logf("nDCG@10 %.4f over %d claims", got, len(claims))
	if got < .66 || got > .69 {
		t.Errorf("nDCG@10 of the lexical arm is %.4f, want .66 to .69", got)
	}
}

// TestSciFactOrderAndBatches is the trap that bleve sets by itself: with its
// own average length, 141 of these 300 rankings differ between two batch
// sizes.
func TestSciFactOrderAndBatches(t *testing.T) {
	docs, claims := readSciFact(t)
	rankings := func(batch int) map[string][]engine.Hit {
		e := open(t, t.TempDir(), engine.Config{Embedder: embedtest.New(16), Chunk: whole, BatchSize: batch})
		if _, err := e.Ingest(t.Context(), docs...); err != nil {
			t.Fatal(err)
		}
		out := map[string][]engine.Hit{}
		for _, c := range claims {
			r, err := e.Search(t.Context(), engine.Query{Text: c.text, K: 10})
			if err != nil {
				t.Fatalf("claim %s: %v", c.id, err)
			}
			for _, name := range []string{engine.StageVector, engine.StageLexical, engine.StageFusion, engine.StageCandidates} {
				stage, _ := r.Stage(name)
				out[c.id+" "+name] = stage.Hits[:min(10, len(stage.Hits))]
			}
			out[c.id+" final"] = r.Hits
		}
		return out
	}
	want := rankings(500)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, batch := range []int{37, 100, 1000, len(docs)} {
		rng.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		if diff := cmp.Diff(want, rankings(batch)); diff != "" {
			t.Errorf("batches of 500 in file order and of %d in shuffled order rank differently (-500 +%d):\n%.4000s", batch, batch, diff)
		}
	}
}

func ndcg10(hits []engine.Hit, relevant map[string]bool) float64 {
	var dcg, ideal float64
	seen := map[string]bool{}
	rank := 0
	for _, h := range hits {
		if seen[h.DocumentID] {
			continue
		}
		seen[h.DocumentID] = true
		if rank++; rank > 10 {
			break
		}
		if relevant[h.DocumentID] {
			dcg += 1 / math.Log2(float64(rank)+1)
		}
	}
	for r := 1; r <= min(10, len(relevant)); r++ {
		ideal += 1 / math.Log2(float64(r)+1)
	}
	return dcg / ideal
}

func readSciFact(t *testing.T) ([]engine.Document, []claim) {
	t.Helper()
	packs := os.Getenv("EVAL_PACKS")
	if packs == "" {
		t.Skip("EVAL_PACKS is not set: it must name a folder that holds the pack scifact")
	}
	dir := filepath.Join(packs, "scifact")
	var docs []engine.Document
	for _, row := range readCSV(t, filepath.Join(dir, "corpus_train.csv")) {
		docs = append(docs, engine.Document{ID: row["doc_id"], Title: row["title"], Text: strings.Join(pythonStrings(row["abstract"]), " ")})
	}
	var claims []claim
	for _, row := range readCSV(t, filepath.Join(dir, "claims_validation.csv")) {
		i := slices.IndexFunc(claims, func(c claim) bool { return c.id == row["id"] })
		if i < 0 {
			i = len(claims)
			claims = append(claims, claim{id: row["id"], text: row["claim"], cited: map[string]bool{}})
		}
		for _, id := range strings.Fields(strings.Trim(row["cited_doc_ids"], "[]")) {
			claims[i].cited[id] = true
		}
	}
	if len(docs) != 5183 || len(claims) != 300 {
		t.Fatalf("%s: %d documents and %d claims, want 5183 and 300", dir, len(docs), len(claims))
	}
	return docs, claims
}

func readCSV(t *testing.T, path string) []map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var out []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, name := range rows[0] {
			m[name] = row[i]
		}
		out = append(out, m)
	}
	return out
}

var (
	pythonString = regexp.MustCompile(`'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"`)
	pythonEscape = regexp.MustCompile(`\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)`)
)

// pythonStrings reads the way in which numpy prints an array of strings: in
// single or double quotes, with a line break instead of commas.
func pythonStrings(text string) []string {
	var out []string
	for _, quoted := range pythonString.FindAllString(text, -1) {
		out = append(out, pythonEscape.ReplaceAllStringFunc(quoted[1:len(quoted)-1], unescape))
	}
	return out
}

func unescape(escape string) string {
	switch escape[1] {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'r':
		return "\r"
	case 'x', 'u':
		var r rune
		if _, err := fmt.Sscanf(escape[2:], "%x", &r); err == nil {
			return string(r)
		}
	}
	return escape[1:]
}
