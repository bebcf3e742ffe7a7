package embed

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// maxWord is the tokenizer's max_input_chars_per_word: a longer word is
	// one unknown token.
	maxWord = 100
	// maxPiece bounds, in bytes, what the tokenizer gets at a time: its cost
	// grows faster than its input.
	maxPiece = 1024
)

// pieces cleans a text and cuts it where a token must end, so that the tokens
// of the pieces, put together, are those of the whole text.
//
// The tokenizer would do most of the cleaning itself, but its pure-Go form
// keeps accents (and panics when told to strip them). Here a text is decomposed
// (NFD) and loses its nonspacing marks, control characters and invalid UTF-8;
// white space becomes a blank, letters become lower case. Words over maxWord
// are cut to just above it: they stay one unknown token, at a bounded cost.
func pieces(text string, yield func(string) bool) {
	var b strings.Builder
	word := 0 // runes since the last boundary
	flush := func() bool {
		s := b.String()
		b.Reset()
		return s == "" || yield(s)
	}
	var it norm.Iter
	it.InitString(norm.NFD, text)
	for !it.Done() {
		for seg := it.Next(); len(seg) > 0; {
			r, size := utf8.DecodeRune(seg)
			seg = seg[size:]
			switch {
			case unicode.IsSpace(r):
				r, word = ' ', 0
			case r == utf8.RuneError || unicode.In(r, unicode.Mn, unicode.C):
				continue
			case isolated(r):
				word = 0
			case word > maxWord:
				continue
			default:
				word++
			}
			if word == 0 && b.Len() >= maxPiece && !flush() {
				return
			}
			b.WriteRune(unicode.ToLower(r))
		}
	}
	flush()
}

// isolated tells whether the tokenizer makes a token of its own of r, whatever
// stands beside it: punctuation, ASCII symbols and ideographs.
func isolated(r rune) bool {
	if r < utf8.RuneSelf {
		return unicode.IsPunct(r) || unicode.IsSymbol(r)
	}
	return unicode.IsPunct(r) || unicode.Is(ideographs, r)
}

// ideographs are the blocks that BERT's tokenizer sets apart.
var ideographs = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x3400, Hi: 0x4DBF, Stride: 1},
		{Lo: 0x4E00, Hi: 0x9FFF, Stride: 1},
		{Lo: 0xF900, Hi: 0xFAFF, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x20000, Hi: 0x2A6DF, Stride: 1},
		{Lo: 0x2A700, Hi: 0x2CEAF, Stride: 1},
		{Lo: 0x2F800, Hi: 0x2FA1F, Stride: 1},
	},
}
