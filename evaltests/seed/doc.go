// Package seed decides whether a store is fit to be measured, and keeps stores
// for later runs.
//
// A feature that has nothing to work on measures as "no effect". So whoever
// fills a store holds it to a [Contract] before anybody may use it, and
// whoever opens one calls [AssertLive] for each channel that is on. Counts are
// taken in two ways that must agree; one that could not be taken is unknown,
// which violates everything that needs it, and is never 0.
//
// [Build] is the one way from documents to a store. It fills the store through
// the engine's own ingest, checks it, stamps it inside itself and publishes it
// under the hash of all that it depends on ([Parts]): equal parts find it
// again, any other part makes another folder.
//
// It refuses a store without the sandbox mark (nothing of anybody else's is
// ever written to or wiped), one whose stamp is not what it should be, one
// whose content is not what was stamped, and one that another process is
// filling. It knows no database: the engine does the counting, the stamping
// and the copying ([Engine]).
package seed
