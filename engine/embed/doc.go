// Package embed turns text into vectors. The default model is part of the
// binary, so no search needs a download or a network.
package embed
