// Command bench measures the run reader on a large generated run, alone and
// beside a trec_eval binary.
//
//	go run ./evaltests/metric/trec/bench [-questions 10000] [-hits 1000] [-dir DIR]
//
// It prints lines per second, peak memory, the share of pure reading, and, if
// the environment variable TREC_EVAL names a binary, how many times faster and
// smaller than that it is. Both measure trec_eval's official measures. Files
// are kept in DIR if it is given.
package main
