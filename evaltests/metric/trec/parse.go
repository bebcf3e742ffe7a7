package trec

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// errStrict says that a line is not what the fast reader takes. The readers of
// lines.go then find the place and the words, or accept what is rare.
var errStrict = errors.New("malformed line")

// group is consecutive lines of one question. Its slices are reused.
type group struct {
	question []byte
	ids      [][]byte
	scores   []float64
}

// eachGroup calls f for each group of lines in a piece of a run. The ids that
// f sees point into the piece. The last tag is returned.
func eachGroup(p piece, g *group, f func(*group) error) (tag []byte, err error) {
	buf := p.data[:len(p.data)+slack]
	n := len(p.data)
	g.question, g.ids, g.scores = nil, g.ids[:0], g.scores[:0]
	for i := 0; i < n; {
		line := i
		// Most lines start at once with the question of the line before.
		if q := len(g.question); q == 0 || !sameField(buf[i:], g.question) {
			for i < n && blank(buf[i]) {
				if buf[i] == '\n' {
					if i-line > maxLine {
						return nil, errStrict
					}
					line = i + 1
				}
				i++
			}
			if i-line > maxLine {
				return nil, errStrict
			}
			if i >= n {
				break
			}
			if buf[i] == '#' {
				for buf[i] != '\n' {
					i++
				}
				if i-line > maxLine {
					return nil, errStrict
				}
				i++
				continue
			}
			end := fieldEnd(buf, i)
			if string(buf[i:end]) != string(g.question) {
				if len(g.ids) > 0 {
					if err := f(g); err != nil {
						return nil, err
					}
				}
				g.question, g.ids, g.scores = buf[i:end:end], g.ids[:0], g.scores[:0]
			}
			i = end
		} else {
			i += q
		}
		// Q0.
		i = fieldStart(buf, i)
		if buf[i] == '\n' {
			return nil, errStrict
		}
		i = fieldStart(buf, fieldEnd(buf, i))
		if buf[i] == '\n' {
			return nil, errStrict
		}
		start := i
		i = fieldEnd(buf, i)
		g.ids = append(g.ids, buf[start:i:i])
		// Rank.
		i = fieldStart(buf, i)
		if buf[i] == '\n' {
			return nil, errStrict
		}
		i = fieldStart(buf, fieldEnd(buf, i))
		score, end, ok := number(buf, i)
		if !ok {
			return nil, errStrict
		}
		g.scores = append(g.scores, score)
		i = fieldStart(buf, end)
		if buf[i] == '\n' {
			return nil, errStrict
		}
		end = fieldEnd(buf, i)
		tag = buf[i:end]
		for i = end; buf[i] != '\n'; i++ {
		}
		if i-line > maxLine {
			return nil, errStrict
		}
		i++
	}
	if len(g.ids) > 0 {
		return tag, f(g)
	}
	return tag, nil
}

// sameField reports whether b starts with the field and a blank.
func sameField(b, field []byte) bool {
	n := len(field)
	return len(b) > n && blank(b[n]) && b[n] != '\n' && string(b[:n]) == string(field)
}

// fieldStart skips blanks, but stays on a line end.
func fieldStart(buf []byte, i int) int {
	for buf[i] != '\n' && blank(buf[i]) {
		i++
	}
	return i
}

// fieldEnd is the place of the first blank from i, looking at eight bytes at a
// time for one below 0x21.
func fieldEnd(buf []byte, i int) int {
	for {
		x := binary.LittleEndian.Uint64(buf[i:])
		low := (x - 0x2121212121212121) & ^x & 0x8080808080808080
		if low == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(low) >> 3
		if blank(buf[i]) {
			return i
		}
		i++ // some other control character, which may be part of an id
	}
}

// powers of ten that a float64 holds exactly.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// number reads the decimal number at i and gives the end of its field. Where
// the digits fit in 53 bits, one exact division rounds correctly; anything
// else is left to parseScore.
func number(buf []byte, i int) (x float64, end int, ok bool) {
	start := i
	negative := buf[i] == '-'
	if negative || buf[i] == '+' {
		i++
	}
	var digits uint64
	first := i
	for buf[i]-'0' < 10 {
		digits = digits*10 + uint64(buf[i]-'0')
		i++
	}
	count, fraction := i-first, 0
	if buf[i] == '.' {
		i++
		first = i
		for buf[i]-'0' < 10 {
			digits = digits*10 + uint64(buf[i]-'0')
			i++
		}
		fraction = i - first
		count += fraction
	}
	if count == 0 || count > 18 || digits >= 1<<53 || !blank(buf[i]) {
		end = fieldEnd(buf, start)
		x, err := parseScore(buf[start:end])
		return x, end, err == nil
	}
	x = float64(digits) / powers[fraction]
	if negative {
		x = -x
	}
	return x, i, true
}
