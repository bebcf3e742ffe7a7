// Package enrich reads out of a document what its passages do not show: the
// days it tells of, the names it shares with others, the documents it points
// to, and its sections. No model is involved.
//
// It decides what counts as a date, an entity, a reference and a section, and
// under which name each is kept, so that two spellings of one thing meet. The
// same text gives the same result on every machine; what [Version] names is
// all that decides it.
//
// It refuses no text. What it cannot read it leaves out, and where it stops
// early or lacks something (a document without a date cannot tell what
// "yesterday" was) the result says so as a skipped step.
package enrich
