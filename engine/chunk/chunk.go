package chunk

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DefaultMaxWords is the passage length that a zero [Config] stands for.
const DefaultMaxWords = 400

// Config says how long passages are. Its zero value stands for passages of up
// to [DefaultMaxWords] words without overlap.
type Config struct {
	MaxWords int // most words in a passage; 0 means DefaultMaxWords
	Overlap  int // at most so many words are repeated from the passage before; below MaxWords
}

// Effective returns c with its zero values replaced by what they stand for.
func (c Config) Effective() Config {
	if c.MaxWords == 0 {
		c.MaxWords = DefaultMaxWords
	}
	return c
}

// Validate refuses negative lengths, and an overlap that would leave no room
// for new words.
func (c Config) Validate() error {
	e := c.Effective()
	if e.MaxWords < 1 {
		return fmt.Errorf("chunk: max words %d: want at least 1", c.MaxWords)
	}
	if e.Overlap < 0 || e.Overlap >= e.MaxWords {
		return fmt.Errorf("chunk: overlap %d: want 0 to %d, below the %d words of a passage", c.Overlap, e.MaxWords-1, e.MaxWords)
	}
	return nil
}

// Chunk is one passage: text[Start:End] of the text it was cut from.
type Chunk struct {
	Ordinal    int // position among the passages of its document, from 0
	Start, End int // byte offsets, End exclusive
	Words      int // runs of non-space characters
	Text       string
}

// Split cuts text into passages. They cover every character of it but the
// space between passages, in order; a text of nothing but space has none. It
// panics if c is not valid.
func Split(text string, c Config) []Chunk {
	if err := c.Validate(); err != nil {
		panic(err)
	}
	c = c.Effective()
	units := splitUnits(text, c.MaxWords)
	var out []Chunk
	for first := 0; first < len(units); {
		end := fill(units, first, c.MaxWords)
		start, stop := units[first].start, units[end-1].end
		out = append(out, Chunk{
			Ordinal: len(out), Start: start, End: stop,
			Words: wordsIn(units[first:end]), Text: text[start:stop],
		})
		if end == len(units) {
			break
		}
		first = backUp(units, first, end, c)
	}
	return out
}

// fill returns the end of the passage that starts at units[first]. It takes
// all that fits, then gives back the part of a paragraph at the end if whole
// paragraphs fill at least half of the passage.
func fill(units []unit, first, maxWords int) int {
	words, end, border := 0, first, 0
	for end < len(units) && words+units[end].words <= maxWords {
		words += units[end].words
		end++
		if units[end-1].closesParagraph && words*2 >= maxWords {
			border = end
		}
	}
	if end < len(units) && border > 0 {
		return border
	}
	return end
}

// backUp returns where the passage after [first, end) starts: up to Overlap
// words before end, after first, and not so early that the next unit would
// not fit any more.
func backUp(units []unit, first, end int, c Config) int {
	start, words := end, 0
	for start-1 > first && words+units[start-1].words <= c.Overlap &&
		words+units[start-1].words+units[end].words <= c.MaxWords {
		start--
		words += units[start].words
	}
	return start
}

func wordsIn(units []unit) int {
	n := 0
	for _, u := range units {
		n += u.words
	}
	return n
}

// unit is a piece that is never cut again: a sentence, or a run of at most
// maxWords words of a longer one.
type unit struct {
	start, end      int
	words           int
	closesParagraph bool
}

func splitUnits(text string, maxWords int) []unit {
	var units []unit
	cur := unit{start: -1}
	flush := func(paragraph bool) {
		if cur.start >= 0 {
			cur.closesParagraph = paragraph
			units = append(units, cur)
			cur = unit{start: -1}
		} else if paragraph && len(units) > 0 {
			units[len(units)-1].closesParagraph = true
		}
	}
	for pos := 0; pos < len(text); {
		gap := pos
		for pos < len(text) {
			r, size := utf8.DecodeRuneInString(text[pos:])
			if !unicode.IsSpace(r) {
				break
			}
			pos += size
		}
		if blankLine(text[gap:pos]) {
			flush(true)
		}
		if pos == len(text) {
			break
		}
		start := pos
		for pos < len(text) {
			r, size := utf8.DecodeRuneInString(text[pos:])
			if unicode.IsSpace(r) {
				break
			}
			pos += size
		}
		if cur.words == maxWords {
			flush(false)
		}
		if cur.start < 0 {
			cur.start = start
		}
		cur.end = pos
		cur.words++
		if endsSentence(text[start:pos]) {
			flush(false)
		}
	}
	flush(true)
	return units
}

func blankLine(space string) bool { return strings.Count(space, "\n") >= 2 }

// endsSentence says whether a sentence may end with this word. It errs to the
// side of not ending one, for a border in the middle of a sentence costs more
// than a passage that is a sentence longer.
func endsSentence(word string) bool {
	word = strings.TrimRight(word, "\"')]}”’»")
	last, size := utf8.DecodeLastRuneInString(word)
	switch last {
	case '!', '?', '。', '！', '？', '؟', '…':
		return true
	case '.':
	default:
		return false
	}
	stem := strings.TrimLeft(word[:len(word)-size], "\"'([{“‘«")
	if utf8.RuneCountInString(stem) < 2 || strings.Contains(stem, ".") {
		return false // an initial ("J."), or "e.g." and "U.S."
	}
	return !abbreviations[strings.ToLower(stem)]
}

var abbreviations = map[string]bool{
	"al": true, "approx": true, "ca": true, "cf": true, "co": true, "dept": true, "dr": true,
	"ed": true, "eq": true, "etc": true, "fig": true, "figs": true, "inc": true, "jr": true,
	"ltd": true, "mr": true, "mrs": true, "ms": true, "mt": true, "no": true, "nos": true,
	"pp": true, "prof": true, "ref": true, "refs": true, "sec": true, "sr": true, "st": true,
	"vol": true, "vs": true,
}
