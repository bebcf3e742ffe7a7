// Package trec reads and writes qrels and runs in TREC's formats, puts results
// in a named order, and measures a run file against a qrels file with
// trec_eval's measures and those of package metric.
//
// It decides how lines are read, how tied scores are ordered, which questions
// enter the mean, and what each of trec_eval's names means. Values equal
// trec_eval's within 1e-12: the order Trec is that of version 10.0, Trec9 that
// of 9.0.8.
//
// It refuses, with file, line and the offending text, what trec_eval guesses
// at: a wrong number of columns, a grade that is not a whole number, a score
// that is not a finite decimal number, a document given twice for a question,
// an empty file, and files that share no question. It departs from trec_eval
// on purpose in these refusals and in the following: a UTF-8 byte order mark
// is stripped, comment lines (first character #) and blank lines are accepted
// everywhere, and a question without results counts 0 unless asked otherwise.
// Where trec_eval prints a value that is not a number, for a question none of
// whose hits is judged under -J, the value is 0; where it sorts custom gains
// that are fractions wrongly, they are sorted right.
//
// These measures of trec_eval are left out: G, Rndcg, ndcg_rel, Rprec_mult,
// relative_P and set_relative_P, which are experimental and unused, and 10.0's
// rbp and rbp_resid, which it computes wrongly; RBP of package metric is right.
//
// After an error nothing is returned: there are no partial results.
package trec
