package golden

// CanonicalLine is the fast reader of a case, for the test that holds it to
// the strict one.
var CanonicalLine = canonicalLine
