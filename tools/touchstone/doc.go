// Command touchstone runs evaluation suites and keeps their contract: exit
// code 0 for PASS, 1 for REGRESSED, 2 for COULD-NOT-MEASURE or a refusal, 64
// for bad usage. Results go to standard output, messages to standard error.
//
// The exit codes are those of the built binary and of `go tool touchstone`;
// `go run` turns every failure into 1, and make turns it into 2.
package main
