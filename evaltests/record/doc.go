// Package record holds the evidence of a run: one JSONL file for each suite
// invocation, in one folder a run.
//
// It decides what a row says (outcome, ranking at every stage, measures,
// latency), how a run is identified (hashes over what was asked, of whom, on
// what), and whether a file is complete, truncated or edited. It refuses a
// second row of the same identity, a score that is not finite, and an outcome
// without a reason where one is due.
//
// Everything that people read (tables, Markdown, JSON) is computed from these
// files and from nothing else.
package record
