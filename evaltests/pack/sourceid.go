package pack

import (
	"strings"
	"unicode"

	"github.com/touchstone-eval/touchstone/evaltests/digest"
)

// SourceID is the one rule for ids that a loader makes, so that whoever fills
// a store and whoever holds its gold cannot drift apart:
//
//   - an id that the source gives and that is unique in the pack stays as it is;
//   - one that is unique only within a conversation, a paper or a collection
//     is the parts from the widest to the narrowest, joined by "/";
//   - a passage or a scope without a usable id gets [ContentID].
//
// Runs of white space in a part become "_", since TREC files cannot hold
// blanks; "%" and "/" in a part are escaped as %25 and %2F, so that two lists
// of parts without white space never make one id.
func SourceID(parts ...string) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		p = strings.Join(strings.FieldsFunc(p, unicode.IsSpace), "_")
		out[i] = strings.NewReplacer("%", "%25", "/", "%2F").Replace(p)
	}
	return strings.Join(out, "/")
}

// ContentID is an id for what its source names not at all, or by a name that
// gives the gold away: the beginning of a digest of what it says. Numbers in
// the order of the questions would tell a subject which passage belongs to
// which question.
func ContentID(parts ...string) string {
	return digest.Bytes([]byte(strings.Join(parts, "\x00")))[:16]
}
