// Package engine is a hybrid retrieval engine in one process and one folder: a
// SQLite file with documents, passages and vectors, and a lexical index next
// to it.
//
// It decides what a search returns. The stages run in a fixed order, and each
// leaves its ranked passages in the [Result]:
//
//	vector      exact cosine against the question's vector
//	lexical     BM25
//	fusion      reciprocal rank fusion of both
//	boosted     declared boosts; without one it hands on its input
//	candidates  the passages handed to the reranker
//	rerank      the order of Config.Judge, if there is one
//	final       cut to k
//
// Ingest also reads dates, names, references and sections out of each document
// (package enrich). Four channels work on them: graph, temporal, pages and
// episodes. They are off unless [Config.Channels] switches them on, join the
// fusion as further arms, and say in [Result.Channels] whether they found
// something, whether it is among the hits, or why they did not run.
//
// Every order is total, so the same documents and question give the same
// ranking, whatever the order and size of the batches they came in.
//
// It refuses rather than guess: a folder in use by another writer; vectors of
// another model, or passages of other settings, than the ones it is opened
// with; a read-only folder whose lexical index is behind the store (otherwise
// it is built again). An arm that fails makes the search fail, unless the arm
// was declared optional: an error is never an empty list.
package engine
