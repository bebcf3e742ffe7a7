package rank

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Tied is a ranking with ties: groups of ids, best first; the ids of a group
// share their rank.
type Tied [][]string

// Untied makes a group of each id.
func Untied(ids []string) Tied {
	t := make(Tied, len(ids))
	for i := range ids {
		t[i] = ids[i : i+1 : i+1]
	}
	return t
}

// Ties groups the neighbours of a ranking that have the same score. A ranking
// without scores has no ties.
func (r Ranking) Ties() Tied {
	var t Tied
	for i, id := range r.ids {
		if i > 0 && r.scores != nil && r.scores[i] == r.scores[i-1] {
			t[len(t)-1] = append(t[len(t)-1], id)
			continue
		}
		t = append(t, []string{id})
	}
	return t
}

// IDs lists the ids, group after group.
func (t Tied) IDs() []string { return slices.Concat(t...) }

// Top keeps the groups that hold the first k ids. A group that the cut would
// split stays whole: which of its ids come first is not known.
func (t Tied) Top(k int) Tied {
	n := 0
	for i, g := range t {
		if n >= k {
			return t[:i]
		}
		n += len(g)
	}
	return t
}

// String writes the ranking as ParseTied reads it.
func (t Tied) String() string {
	parts := make([]string, len(t))
	for i, g := range t {
		parts[i] = strings.Join(g, " ")
		if len(g) > 1 {
			parts[i] = "(" + parts[i] + ")"
		}
	}
	return strings.Join(parts, " ")
}

// ParseTied reads "a (b c) d": ids separated by ASCII white space, the ids of a tie
// group in parentheses. Ids hold no parentheses, and groups do not nest.
func ParseTied(s string) (Tied, error) {
	var t Tied
	inside := false
	for _, word := range asciiFields(strings.NewReplacer("(", " ( ", ")", " ) ").Replace(s)) {
		switch {
		case word == "(" && inside:
			return nil, fmt.Errorf("ranking %q: a group opens inside a group", s)
		case word == "(":
			inside = true
			t = append(t, nil)
		case word == ")" && !inside:
			return nil, fmt.Errorf("ranking %q: a group closes that is not open", s)
		case word == ")" && len(t[len(t)-1]) == 0:
			return nil, fmt.Errorf("ranking %q: a group is empty", s)
		case word == ")":
			inside = false
		case inside:
			t[len(t)-1] = append(t[len(t)-1], word)
		default:
			t = append(t, []string{word})
		}
	}
	if inside {
		return nil, fmt.Errorf("ranking %q: a group is not closed", s)
	}
	if err := checkIDs(t.IDs()); err != nil {
		return nil, fmt.Errorf("ranking %q %w", s, err)
	}
	return t, nil
}

// asciiFields splits at ASCII white space only: an id may hold U+00A0.
func asciiFields(s string) []string {
	return strings.FieldsFunc(s, func(c rune) bool { return c == ' ' || '\t' <= c && c <= '\r' })
}

// maxTiedLine bounds a line of ReadTied.
const maxTiedLine = 16 << 20

// ReadTied reads a ranking from lines: one id on each, or the ids of a tie
// group separated by blanks. Blank lines are skipped; name stands for the file
// in errors. A NUL byte is refused: no text has one, and packed files do.
// Nothing comes with an error.
func ReadTied(name string, r io.Reader) (Tied, error) {
	var t Tied
	first := make(map[string]int)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxTiedLine)
	n := 0
	for lines.Scan() {
		n++
		text := lines.Text()
		if n == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		if strings.ContainsRune(text, 0) {
			return nil, fmt.Errorf("%s:%d: a NUL byte: want a text file with one id a line, not packed", name, n)
		}
		group := asciiFields(text)
		if len(group) == 0 {
			continue
		}
		for _, id := range group {
			if at, ok := first[id]; ok {
				return nil, fmt.Errorf("%s:%d: id %q is on line %d already: each id may occur once", name, n, id, at)
			}
			first[id] = n
		}
		t = append(t, group)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, n+1, err)
	}
	return t, nil
}
