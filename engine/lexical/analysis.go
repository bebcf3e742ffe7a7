package lexical

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search"
	index "github.com/blevesearch/bleve_index_api"
)

// AnalyzerName is bleve's name of the analyzer.
const AnalyzerName = en.AnalyzerName

// field is the only one: a disjunction over a title and a text field loses
// .03 to .05 nDCG@10 on SciFact to bleve's coordination factor.
const field = "text"

var (
	indexMapping = newMapping()
	analyzer     = mustAnalyzer(indexMapping)
)

func newMapping() *mapping.IndexMappingImpl {
	text := mapping.NewTextFieldMapping()
	text.Analyzer = AnalyzerName
	text.Store = false
	text.IncludeInAll = false
	text.IncludeTermVectors = false
	text.DocValues = false
	document := mapping.NewDocumentStaticMapping()
	document.AddFieldMappingsAt(field, text)
	m := mapping.NewIndexMapping()
	m.DefaultMapping = document
	m.DefaultAnalyzer = AnalyzerName
	m.ScoringModel = index.BM25Scoring
	return m
}

func mustAnalyzer(m mapping.IndexMapping) analysis.Analyzer {
	a := m.AnalyzerNamed(AnalyzerName)
	if a == nil {
		panic("lexical: bleve has no analyzer " + AnalyzerName)
	}
	return a
}

// content is what is analysed of a passage.
func content(title, text string) string { return title + "\n" + text }

// Tokens returns how many terms a passage has in the index, stop words left
// out and repeated terms counted. This is BM25's length of a passage.
func Tokens(title, text string) int {
	return len(analyzer.Analyze([]byte(content(title, text))))
}

// term is a word of a question after analysis.
type term struct {
	text  string
	count int // how often the question has it
}

// terms returns a question's terms in the order of their first use.
func terms(question string) []term {
	var out []term
	at := map[string]int{}
	for _, token := range analyzer.Analyze([]byte(question)) {
		text := string(token.Term)
		i, seen := at[text]
		if !seen {
			i = len(out)
			at[text] = i
			out = append(out, term{text: text})
		}
		out[i].count++
	}
	return out
}

// Analysis describes, in one line, all that decides a score apart from the
// passages.
func Analysis() string {
	return fmt.Sprintf("bleve %s, one field, bm25 k1=%g b=%g, fixed totals", AnalyzerName, search.BM25_k1, search.BM25_b)
}

// format changes whenever an existing index would give other scores than a
// new one.
func format() string {
	sum := sha256.Sum256([]byte("1 " + Analysis()))
	return hex.EncodeToString(sum[:8])
}
