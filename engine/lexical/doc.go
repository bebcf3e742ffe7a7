// Package lexical ranks passages by BM25 over a bleve index on disk.
//
// It decides how text becomes terms (bleve's English analyzer over one field,
// title and text together) and in which order equal scores come (by id). A
// question is data: its words become term queries in code, and no character of
// it is ever read as query syntax.
//
// Rankings depend on the indexed passages alone, not on how they got into the
// index. That takes three things that bleve does not do by itself:
//
//   - The average length comes from the true totals that the caller keeps
//     ([Totals]). bleve's own figure counts distinct terms per segment, so it
//     changes with batch size and with the moment of a merge.
//   - The scores of a question's terms are added in one fixed order. bleve adds
//     them in the order of a heap, so equal passages get scores that differ in
//     the last bit, and then that bit decides instead of the id.
//   - Scores are cut to 40 significant bits, so that the last bits of a fused
//     multiply-add on another processor cannot decide an order.
//
// It refuses to open an index that was made by other analysis settings, or
// whose files do not match their checksums ([ErrStale]), for its rankings would
// be wrong without a sign of it.
package lexical
