// Package rerank puts the candidates of a search into the order of a second,
// slower judge that reads question and passage together.
//
// It decides the order: by the judge's score, higher first; equal scores keep
// the order of the candidates, so a judge that cannot tell changes nothing.
//
// [OpenModel] opens a cross-encoder of a folder as such a judge.
//
// It refuses a judge that returns another number of scores than it was given
// passages, or a score that is not a number.
package rerank
