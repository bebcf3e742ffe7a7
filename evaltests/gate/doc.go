// Package gate turns measured rows into verdicts.
//
// It decides whether a value is below its floor (regressed), at or above it
// (pass), or could not be measured: the denominator is under its minimum, a
// stage was never reported, cases were refused. It refuses a gate without a
// threshold, one over a measure that is unbounded or has no better direction,
// an inventory that names no suite, and a record whose stored values, outcomes
// or verdict do not follow from its own rows.
//
// A failed or timed-out case counts as the worst value. If a gate fails only
// because of timeouts, nobody knows what the engine would have answered: that
// is could-not-measure, not regressed.
package gate
