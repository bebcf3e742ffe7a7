// Package suites holds the suites of this repository, over its own engine, and
// nothing else: `touchstone eval` tests this package alone, so that a run asks
// questions and does not also test the instrument.
//
// It decides nothing. What a suite must reach stands in its suite.toml below
// fixtures/; which suites a run must contain stands in eval.inventory.toml.
// The tests carry the build tag eval: without it the package is empty, and a
// run that forgot the tag contains no suite, which is COULD-NOT-MEASURE.
package suites
