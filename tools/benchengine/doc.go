// Command benchengine times the engine on SciFact in full: build and evaluate
// with the default embedder, step by step, and searches one at a time. Beside
// it, on the same machine and in the same run, it times what a user of Python
// would put together: bm25s, and all-MiniLM-L6-v2 under ONNX Runtime.
//
// What is not there is named as not run, and is no error:
//
//   - the pack scifact, in the folder EVAL_PACKS;
//   - BENCH_PYTHON, a Python with the packages of requirements.txt;
//   - all-MiniLM-L6-v2, in EVAL_MODELS or .touchstone/models (`make models`);
//     this engine runs it only in a build with the tag ORT (`make ort`).
//
// It decides nothing: latencies on a shared machine are no gate. A side that
// is there and fails ends the command with an error, for a table that leaves
// it out would be read as a result. All sides must rank every question.
package main
