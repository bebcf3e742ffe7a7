// Package embed turns text into vectors. The default model is part of the
// binary, so no search needs a download or a network.
//
// It decides what a text's vector is: how the text is cleaned, cut into tokens
// and pooled. It refuses to work after Close, and gives up between groups of
// texts when the context ends; a single bad text fails alone, in its own
// Vector. Texts are data: nothing in them is read as a special token.
//
// [OpenModel] opens a full model of a folder, in pure Go or with ONNX Runtime.
// [Probe] holds any embedder to what its model should return.
package embed
