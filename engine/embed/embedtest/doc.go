// Package embedtest provides a cheap, deterministic embedder for tests of code
// that takes an [embed.Embedder], above all under the race detector, where a
// real model is some fifty times slower.
//
// It decides nothing about quality: texts that share words are near, others
// are not. It refuses a dimension below one, by panicking, since that is a
// mistake in the test.
package embedtest
