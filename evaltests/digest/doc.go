// Package digest gives every hash of the record one form: SHA-256 over a
// domain tag and length-prefixed, sorted pairs in canonical JSON. Two runs are
// comparable only if such digests agree, so the form is fixed by vectors in
// this package's tests and never changes within a domain version.
//
// It refuses values that JSON cannot hold, NaN and infinities first of all.
package digest
