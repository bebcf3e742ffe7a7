// Package onnxtest makes small model folders for tests: real ONNX files and
// tokenizers, so small that one can say by hand what they return.
//
// It decides nothing about quality. Its cross-encoder scores a passage by the
// sum of the weights of its words; its embedder gives each word an axis. It
// refuses a test that gives no words.
package onnxtest
