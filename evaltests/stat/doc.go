// Package stat holds the statistics of the suite: exact and resampling tests
// for paired runs, intervals, corrections for many tests, power, equivalence,
// and the one percentile rule for latencies.
//
// It decides how likely a difference is to be noise, how wide an interval is,
// and what a run of a given size could have seen. All of it is pure: the same
// numbers give the same result on any number of cores, random resampling draws
// from a Stream that the caller names, and nothing reads a clock or a global
// generator.
//
// It refuses, with an error, empty samples, values that are not finite, counts
// that contradict each other, and statistics that do not exist (a t test of
// equal differences). It never answers with NaN.
package stat
