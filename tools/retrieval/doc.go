// Command retrieval measures the built-in engine on the external packs and
// chooses its fusion weight: it writes the figures of docs/retrieval.md.
//
// The weight is chosen on development data only, by the rule of [Choose]; the
// test packs are then measured with lexical search alone, with equal weights
// and with the chosen weight. A case that is not scored ends the command with
// an error: a table with holes would be read as a result.
package main
