// Package golden answers one question: has a change moved rankings that
// nobody meant to move?
//
// A suite's golden is a file of blessed rankings (goldens/<suite>/
// current.jsonl). [Check] holds one live list to its golden by rank-biased
// overlap, forgiving the order of tied scores; [CheckSuite] does it for a
// whole suite, and coverage is part of it: a case that could not be compared
// is never counted as unmoved. [Blessing.Accept] replaces a golden
// deliberately, with a reason, from a recorded run whose labelled gates are
// green, and adds a line to the ledger.
//
// It refuses a golden that was edited by hand (its digest is not that of the
// last ledger line), one of another depth, and a blessing without a reason,
// from other sources than those in the checkout, or while a labelled gate is
// red. Drift is not correctness: only the labelled gates say which of two
// rankings is better.
package golden
