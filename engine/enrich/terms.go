package enrich

import (
	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/mapping"
)

var analyzer = mustAnalyzer()

func mustAnalyzer() analysis.Analyzer {
	a := mapping.NewIndexMapping().AnalyzerNamed(en.AnalyzerName)
	if a == nil {
		panic("enrich: bleve has no analyzer " + en.AnalyzerName)
	}
	return a
}

// Terms returns the words of a text as the lexical index has them: stemmed,
// lower case, without stop words, in order and with repetitions.
func Terms(text string) []string {
	tokens := analyzer.Analyze([]byte(text))
	out := make([]string, len(tokens))
	for i, t := range tokens {
		out[i] = string(t.Term)
	}
	return out
}
