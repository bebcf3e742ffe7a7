// Package onnx runs transformer models over token ids through hugot: in pure
// Go, or by ONNX Runtime in a build with the tag ORT (`make ort` installs what
// that needs, and prints how to build).
//
// It decides how inputs are put together. The output of an input does not
// depend on the inputs beside it: ONNX Runtime gets one input at a time, on one
// thread, and several of them run at once; the pure-Go backend gets inputs
// that are padded to one of few lengths, by their own length alone, in batches
// of a fixed size. Few lengths, because that backend compiles a graph for each
// shape and keeps it.
//
// It refuses an input that is empty or longer than was declared, and a model
// with inputs other than token ids, type ids and mask. It gives up between
// batches when the context ends, and says how far it came.
package onnx
