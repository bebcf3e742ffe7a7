package metric

import (
	"fmt"

	"github.com/touchstone-eval/touchstone/evaltests/rank"
)

// DocumentOf names the document that a chunk belongs to; false if it belongs
// to none.
type DocumentOf func(chunk string) (document string, ok bool)

// JudgeChunks looks up a ranking of chunks whose gold is about documents. A
// document credits once, at its first chunk, for recall, RR, AP, nDCG and all
// other measures of documents; its later chunks take up their ranks and earn
// nothing. P, SetP, Judged, Unj and NumRet read the raw list, where every chunk
// of a relevant document is relevant. Cut-offs count chunks; where they must
// count documents, CollapseChunks first.
func JudgeChunks(g Grades, r rank.Ranking, documentOf DocumentOf) (Judged, error) {
	j := Judged{Ranks: make([]int, r.Len()), Raw: make([]int, r.Len()), Gold: g.gold()}
	seen := make(map[string]bool, r.Len())
	for i := range r.Len() {
		document, err := documentOf.of(r.ID(i), i)
		if err != nil {
			return Judged{}, err
		}
		j.Raw[i], j.Ranks[i] = g.at(document), Absent
		if !seen[document] {
			j.Ranks[i] = j.Raw[i]
		}
		seen[document] = true
	}
	return j, nil
}

// CollapseChunks makes the ranking of documents out of one of chunks: each
// document where its first chunk stood, with that chunk's score. The number of
// chunks that were dropped belongs into the row, since the measures are then
// about another list than the subject returned.
func CollapseChunks(r rank.Ranking, documentOf DocumentOf) (documents rank.Ranking, dropped int, err error) {
	var ids []string
	var scores []float64
	seen := make(map[string]bool, r.Len())
	for i := range r.Len() {
		document, err := documentOf.of(r.ID(i), i)
		if err != nil {
			return rank.Ranking{}, 0, err
		}
		if seen[document] {
			dropped++
			continue
		}
		seen[document] = true
		ids = append(ids, document)
		if score, ok := r.Score(i); ok {
			scores = append(scores, score)
		}
	}
	documents, err = rank.New(ids, scores)
	return documents, dropped, err
}

func (f DocumentOf) of(chunk string, i int) (string, error) {
	document, ok := f(chunk)
	if !ok {
		return "", fmt.Errorf("chunk %q at rank %d belongs to no document", chunk, i+1)
	}
	return document, nil
}
