// Package report shows a run to people and machines: terminal, Markdown, JSON.
//
// It decides nothing: every figure is computed from the record files of the
// run folder, and the verdict is that of package gate. It refuses to show a
// figure for a suite whose record cannot be believed; such a suite is named
// with the reason.
package report
