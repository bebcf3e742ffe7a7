// Package sweep says which setting of an engine is worth having: the fusion
// weight, replayed from one record without running anything ([Fusion]); the size
// of the reranker's pool and the reranker itself ([Pool]); one verdict for each
// suite and arm ([NewMatrix]).
//
// It decides a curve with intervals, which weight or arm can be told from the
// current one after correction for all that were tried, which arms another one
// dominates in quality and latency, and whether an axis is firm, directional or
// not resolvable. "No weight is distinguishable from the current one" is a normal
// answer.
//
// It refuses, before any figure, a replay that does not reproduce the recorded
// fusion position by position ([UncalibratedError]), arms that differ in more
// than the swept keys, a corpus too small for the pools ([ShapeError]), and a
// choice of cases by their outcome ([SelectionError]).
package sweep
