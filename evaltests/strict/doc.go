// Package strict decodes hand-written files without forgiving anything: an
// unknown key, a value of the wrong type or a second value of a key is an
// error that starts with file:line, because a threshold with a misspelt name
// is a threshold that does not exist.
package strict
