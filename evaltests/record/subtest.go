package record

import (
	"strconv"
	"strings"
	"unicode"
)

// SubtestName is what package testing makes of a subtest's name: each blank
// becomes an underscore, and what cannot be printed its escape. Case ids must
// be unique after it, and a command that reruns a case must spell it so.
func SubtestName(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			b.WriteByte('_')
		case !strconv.IsPrint(r):
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
