package sweep

import "github.com/touchstone-eval/touchstone/evaltests/record"

// Replay fuses two lists of documents.
func Replay(vector, lexical []string, v, l float64, k int) []record.Entry {
	entries := func(ids []string) (es []record.Entry) {
		for _, id := range ids {
			es = append(es, record.Entry{Doc: id})
		}
		return es
	}
	return replay(lists{vector: entries(vector), lexical: entries(lexical)}, Settings{Vector: v, Lexical: l, K: k})
}
