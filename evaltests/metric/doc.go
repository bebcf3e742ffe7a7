// Package metric computes ranking measures from the grades of one question and
// a ranking. Measures are named as ir_measures names them, for example nDCG@10,
// nDCG(dcg='exp-log2')@10, P(rel=2)@5, AP, RR or Judged@10.
//
// It decides what a measure name means, how a question scores, and how the
// scores of many questions combine. Definitions follow trec_eval, to the last
// digits where it has the measure; the ideal gain always comes from all gold,
// never from what was retrieved, so that surfacing a buried gold document can
// not lower a score.
//
// It refuses, with an error, an unknown or malformed measure (near names are
// listed), a grade that a measure has no meaning for, and the mean of nothing.
// No value is ever NaN or infinite: a question without relevant documents, or
// without results, scores 0. Which questions enter a mean is the caller's
// decision.
package metric
