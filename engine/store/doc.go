// Package store keeps documents, their passages and the passages' vectors in
// one SQLite file. It is the truth of the engine: everything else (the lexical
// index, the vectors in memory) can be rebuilt from it.
//
// It decides what one write is: a document with its passages, vectors, skipped
// steps and what was read out of it is one transaction, and so is a deletion.
// A process that dies at any point leaves the last complete write. Every write
// advances the store's [State], which an index built from the store keeps as
// well, so that an index that missed a write is recognised.
//
// What depends on more than one document (links, the sources of a page,
// episodes) is not kept but asked for, so that it cannot depend on the order
// of the writes: see [Store.Links], [Store.PageSources] and
// [Store.EpisodeNeighbours].
//
// It refuses a file written by a newer version, or by migrations whose text
// differs from its own; a read-only store that needs a migration; document ids
// that are empty, too long, not UTF-8 or hold control characters.
package store
