package golden

import (
	"encoding/json"
	"strconv"
	"strings"
)

// canonicalLine reads a case as encode writes it, an order of magnitude faster
// than a JSON decoder does. It is false for any other line, valid or not:
// strict.JSON has the last word on those. What it accepts, strict.JSON would
// read alike.
func canonicalLine(line string) (Case, bool) {
	var c Case
	if strings.ContainsRune(line, '\\') {
		return c, false // an escape
	}
	rest, ok := strings.CutPrefix(line, `{"case":`)
	if !ok {
		return c, false
	}
	if c.Key, rest, ok = quoted(rest); !ok {
		return c, false
	}
	if after, staged := strings.CutPrefix(rest, `,"stage":`); staged {
		if c.Stage, rest, ok = quoted(after); !ok {
			return c, false
		}
	}
	if rest, ok = strings.CutPrefix(rest, `,"digest":`); !ok {
		return c, false
	}
	if c.Digest, rest, ok = quoted(rest); !ok {
		return c, false
	}
	if rest, ok = strings.CutPrefix(rest, `,"ids":[`); !ok {
		return c, false
	}
	c.IDs = make([]string, 0, strings.Count(rest, `","`)+1)
	for !strings.HasPrefix(rest, "]") {
		if len(c.IDs) > 0 {
			if rest, ok = strings.CutPrefix(rest, ","); !ok {
				return c, false
			}
		}
		var id string
		if id, rest, ok = quoted(rest); !ok {
			return c, false
		}
		c.IDs = append(c.IDs, id)
	}
	if rest, ok = strings.CutPrefix(rest, `],"scores":[`); !ok {
		return c, false
	}
	numbers, ok := strings.CutSuffix(rest, "]}")
	if !ok {
		return c, false
	}
	c.Scores = make([]float64, 0, len(c.IDs))
	for len(numbers) > 0 {
		n, more, comma := strings.Cut(numbers, ",")
		x, err := strconv.ParseFloat(n, 64)
		if err != nil || !json.Valid([]byte(n)) || comma && more == "" {
			return c, false
		}
		c.Scores = append(c.Scores, x)
		numbers = more
	}
	return c, true
}

// quoted is the string that s starts with, which holds no escape, and what
// follows it.
func quoted(s string) (text, rest string, ok bool) {
	if s == "" || s[0] != '"' {
		return "", "", false
	}
	end := strings.IndexByte(s[1:], '"')
	if end < 0 {
		return "", "", false
	}
	text = s[1 : 1+end]
	for i := range len(text) {
		if text[i] < 0x20 {
			return "", "", false
		}
	}
	return text, s[end+2:], true
}
