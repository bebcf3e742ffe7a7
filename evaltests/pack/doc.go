// Package pack loads corpora with questions and gold, and pins them by
// content.
//
// It decides what a pack says: its documents, its cases and their grades, in
// one canonical form whatever the format on disk. It refuses, with file:line,
// what it cannot read for certain: a line that is not JSON, a document or case
// id given twice, a gold id that is not in the corpus, an unknown key in
// pack.toml. It never returns part of a pack.
//
// Formats of public sets keep what their sources say. Where a source gives its
// passages no ids, they get one by content; ids in the order of the questions
// would tell a subject where the gold is. A question that a source marks as
// without an answer is a case with answerable false and nothing relevant; the
// passage that it was asked about has grade 0.
//
// What a source got wrong without being unreadable is kept in [Pack.Defects];
// [Lint] looks for what is likely wrong with a key. A case that contested.toml
// lists, or that nobody judged, stays in the plan with the reason why it is in
// no ranking measure. Gold of an own pack changes by [Pack.Rekey] alone, which
// refuses any other change beside it.
//
// A pack whose content lies elsewhere (EVAL_PACKS) and is not there is not
// broken: [Load] returns a [*NotHereError], which callers report as "not run".
package pack
