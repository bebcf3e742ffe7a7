// Package strict decodes hand-written files without forgiving anything.
//
// It decides whether a text says exactly what its reader understands. It
// refuses, with file:line, an unknown key, a key spelt in another case, a
// value of the wrong type, a key given twice, text after a JSON value and
// bytes that are not UTF-8: a threshold with a misspelt name is a threshold
// that does not exist.
package strict
