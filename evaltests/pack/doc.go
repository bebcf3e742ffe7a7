// Package pack loads corpora with questions and gold, and pins them by
// content.
//
// It decides what a pack says: its documents, its cases and their grades, in
// one canonical form whatever the format on disk. It refuses, with file:line,
// what it cannot read for certain: a line that is not JSON, a document or case
// id given twice, a gold id that is not in the corpus, an unknown key in
// pack.toml. It never returns part of a pack.
//
// A pack whose content lies elsewhere (EVAL_PACKS) and is not there is not
// broken: [Load] returns a [*NotHereError], which callers report as "not run".
package pack
