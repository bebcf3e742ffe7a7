// Package selftest verifies the verifier: it injects known faults and shows
// that the right gates turn red, and that benign changes turn none.
//
// A [Mutant] is applied to the subject, the suite or the files of a run, never
// to a gate. Each lists the set of gates it must turn red; [Try] reports the
// set that it did. The two must be equal: a fault caught by the wrong gate
// hides a gate that does not work.
//
// The mutants wrap any subject, so an adopter can inject the same faults into
// their own.
package selftest
