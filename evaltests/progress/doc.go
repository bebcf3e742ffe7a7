// Package progress keeps a line for each run that somebody wants to remember:
// goldens/<suite>/progress.jsonl, committed beside the goldens.
//
// It decides what such a line says (figures with their denominators, the
// hashes that tell what was asked of what, how far the figures carry) and
// which lines make one series. A series is broken, with the reason, where the
// question hash or the first measure changes and where a measurement break
// lies between.
//
// It refuses a record that was edited, a second line of one record, a line
// without a note, and a file with a line that says something else than this
// package would. It computes no difference of two lines: whether a difference
// is real is what package compare decides.
package progress
