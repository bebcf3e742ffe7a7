// Package evaltests runs retrieval suites as ordinary Go tests.
//
//	//go:build eval
//
//	func TestRetrieval(t *testing.T) {
//		suite := evaltests.Load(t, "../fixtures/godoc/suite.toml")
//		run := suite.Run(t, subject) // one subtest a case
//		run.Require(t)               // the gates that suite.toml declares
//	}
//
// It decides how every planned case ended, writes the evidence as it goes,
// and gives one of three verdicts: PASS, REGRESSED, COULD-NOT-MEASURE. It
// refuses to give a green one to a suite that scored nothing, that a filter
// narrowed, whose pack is not the pinned one, or whose subject could not
// answer.
//
// [Evaluate] does the same without the testing package, for tools.
package evaltests
