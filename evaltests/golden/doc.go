// Package golden answers one question: has a change moved rankings that
// nobody meant to move?
//
// A suite's golden is a file of blessed rankings (goldens/<suite>/
// current.jsonl). [Check] holds one live list to its golden by rank-biased
// overlap, forgiving the order of tied scores; [CheckSuite] does it for a
// whole suite and the stages that it names, and coverage is part of it: a case
// that could not be compared is never counted as unmoved. [CheckLists] does it
// for rankings that no suite measured. [SuiteResult.Paired] compares a
// labelled measure of the same cases, blessed and live.
//
// [Blessing.Accept] replaces a golden deliberately, with a reason, from a
// recorded run whose labelled gates are green, and adds a line to the ledger.
// [Anchoring.Move] lets the anchor follow, [Reject] notes what must not be
// accepted, [ReadChain] verifies the history.
//
// It refuses a golden that was edited by hand (its digest is not that of the
// last ledger line), one that a merge left without a common successor, one of
// another depth, store or model, and a blessing without a reason, from other
// sources than those in the checkout, while a labelled gate is red or none is
// there, with a significant loss, or in a CI job that nobody allowed to.
// Drift is not correctness: only the labelled gates say which of two rankings
// is better.
package golden
