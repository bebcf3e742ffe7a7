package chunk

import (
	"fmt"
	"strconv"
	"strings"
)

var (
	escapeID   = strings.NewReplacer("%", "%25", "#", "%23")
	unescapeID = strings.NewReplacer("%25", "%", "%23", "#")
)

// ID names the passage at a position (from 0) of a document: "guide#0". A '#'
// or '%' in the document id is escaped ("a#1" gives "a%231#0"), so that no two
// passages of different documents share an id. It panics on a negative
// position.
func ID(document string, ordinal int) string {
	if ordinal < 0 {
		panic(fmt.Sprintf("chunk.ID(%q, %d): the position must not be negative", document, ordinal))
	}
	return escapeID.Replace(document) + "#" + strconv.Itoa(ordinal)
}

// ParseID is the inverse of [ID]. Any other form is an error.
func ParseID(id string) (document string, ordinal int, err error) {
	escaped, number, found := strings.Cut(id, "#")
	ordinal, err = strconv.Atoi(number)
	if !found || err != nil || ordinal < 0 {
		return "", 0, fmt.Errorf("chunk id %q: want a document id, '#' and a position", id)
	}
	document = unescapeID.Replace(escaped)
	if ID(document, ordinal) != id {
		return "", 0, fmt.Errorf("chunk id %q: not in the form that chunk.ID writes (%q)", id, ID(document, ordinal))
	}
	return document, ordinal, nil
}
