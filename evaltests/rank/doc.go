// Package rank holds rankings and the measures that compare two of them:
// rank-biased overlap in all its forms, Kendall's tau-b, tau-AP, overlap and
// per-document moves.
//
// It decides what a valid ranking is, and how alike two rankings are. It
// refuses, with an error that names the offender, an empty id, a duplicate id,
// a score that is not finite, and parameters outside their domain. It knows
// nothing of relevance: that is package metric.
package rank
