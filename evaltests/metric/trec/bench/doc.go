// Command bench measures the run reader on large generated runs and the
// resampling tests on generated pairs, alone and beside other tools.
//
//	go run ./evaltests/metric/trec/bench [-questions 10000] [-hits 1000] [-dir DIR]
//
// It evaluates one run whose questions stand together and one whose lines are
// scattered, and prints lines per second, peak memory and the share of pure
// reading. Beside it, in the same run and on the same files, it times what the
// environment names:
//
//   - TREC_EVAL, a trec_eval binary: both compute its official measures, and
//     every value, also of each question, must agree to the four digits that
//     it prints;
//   - BENCH_PYTHON, a Python with the packages of requirements.txt:
//     pytrec-eval-terrier and ranx must agree in AP and nDCG@10 of each
//     question to 1e-9, ranx where equal scores leave no choice, since it does
//     not order them; NumPy must come to the same intervals and p-values but
//     for the draw.
//
// What is not named is said to be not run. A disagreement ends it with 1.
// Processes are timed whole, with their own loading and, for Python, its
// imports and compilers. Files are kept in DIR if it is given.
package main
