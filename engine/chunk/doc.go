// Package chunk cuts a document into passages, the units that the engine
// indexes and ranks.
//
// It decides where a passage ends: at a paragraph border if one fits, else at
// a sentence border, else between words. A passage is always a verbatim piece
// of the document, given by byte offsets, so a citation can be checked.
//
// It also decides how a passage is called. [ID] and [ParseID] are inverse to
// each other for every document id, including ids that contain '#'.
//
// It refuses settings that cannot make progress (see [Config.Validate]).
package chunk
