// Command vectors embeds texts with the default embedder: JSON strings, one a
// line, on standard input; little-endian float32 rows on standard output. It
// lets measure.py judge the model as the engine runs it.
package main
