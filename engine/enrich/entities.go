package enrich

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Kind says what an entity looks like.
type Kind string

// The kinds of entities.
const (
	KindName       Kind = "name"       // two to five capitalised words
	KindIdentifier Kind = "identifier" // POL-358
	KindHandle     Kind = "handle"     // @name
	KindEmail      Kind = "email"
)

// Entity is something that several documents may speak of.
type Entity struct {
	Kind  Kind
	Name  string // see [Fold]
	Count int    // how often the document has it, title included
}

// Fold is the form in which names are compared: composed characters, lower
// case, words one space apart.
func Fold(text string) string {
	return strings.Join(strings.Fields(norm.NFC.String(strings.ToLower(norm.NFC.String(text)))), " ")
}

// Entities finds entities, in the order of their first use.
func Entities(text string) []Entity {
	c := collector{at: map[Entity]int{}}
	c.read(text)
	return c.list
}

func (r *Result) entities(d Document) {
	c := collector{at: map[Entity]int{}}
	c.read(d.Title)
	c.read(d.Text)
	if len(c.list) > MaxEntities {
		c.list = c.list[:MaxEntities]
		r.skip(StepEntities, "more than %d: only the first are kept", MaxEntities)
	}
	r.Entities = c.list
}

type collector struct {
	list []Entity
	at   map[Entity]int // by kind and name
	run  []string       // capitalised words side by side
}

func (c *collector) add(kind Kind, name string) {
	key := Entity{Kind: kind, Name: Fold(name)}
	i, ok := c.at[key]
	if !ok {
		i = len(c.list)
		c.at[key] = i
		c.list = append(c.list, key)
	}
	c.list[i].Count++
}

// read cuts the text at spaces and at the characters that separate names.
func (c *collector) read(text string) {
	for pos := 0; pos < len(text); {
		r, size := utf8.DecodeRuneInString(text[pos:])
		if separates(r) {
			if r != ' ' {
				c.closeRun()
			}
			pos += size
			continue
		}
		end := pos
		for end < len(text) {
			r, size := utf8.DecodeRuneInString(text[end:])
			if separates(r) {
				break
			}
			end += size
		}
		c.token(text[pos:end])
		pos = end
	}
	c.closeRun()
}

func separates(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune(",;()[]{}<>\"“”„«»/|\\#*`", r)
}

var (
	identifierRE = regexp.MustCompile(`^[A-Z][A-Z0-9]{1,9}-[0-9]{1,8}$`)
	handleRE     = regexp.MustCompile(`^@[A-Za-z0-9_]{2,30}$`)
	emailRE      = regexp.MustCompile(`^[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}$`)
)

const (
	maxTokenBytes = 320 // of the longest e-mail address
	maxWordBytes  = 40
	maxRunWords   = 5 // a longer run is a headline
)

func (c *collector) token(raw string) {
	if len(raw) > maxTokenBytes {
		c.closeRun()
		return
	}
	core := strings.TrimLeftFunc(raw, func(r rune) bool { return !inWord(r) && r != '@' })
	if core != raw {
		c.closeRun()
	}
	full := len(core)
	core = strings.TrimRightFunc(core, func(r rune) bool { return !inWord(r) && r != '_' && !unicode.IsMark(r) })
	closed := len(core) < full
	switch {
	case identifierRE.MatchString(core):
		c.closeRun()
		c.add(KindIdentifier, core)
	case handleRE.MatchString(core):
		c.closeRun()
		c.add(KindHandle, core)
	case emailRE.MatchString(core):
		c.closeRun()
		c.add(KindEmail, core)
	default:
		word, possessive := strings.CutSuffix(core, "'s")
		if !possessive {
			word, possessive = strings.CutSuffix(core, "’s")
		}
		if !capitalised(word) {
			c.closeRun()
			return
		}
		c.run = append(c.run, word)
		closed = closed || possessive
	}
	if closed {
		c.closeRun()
	}
}

// capitalised says whether a word may be part of a name.
func capitalised(word string) bool {
	if len(word) > maxWordBytes {
		return false
	}
	for i, r := range word {
		if i == 0 && !unicode.IsUpper(r) || i > 0 && !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '\'' && r != '’' && r != '-' {
			return false
		}
	}
	return utf8.RuneCountInString(word) > 1
}

// closeRun ends a run of capitalised words and keeps it if it is a name.
func (c *collector) closeRun() {
	run := c.run
	c.run = c.run[:0]
	for len(run) > 0 && common[strings.ToLower(run[0])] {
		run = run[1:]
	}
	if len(run) < 2 || len(run) > maxRunWords {
		return
	}
	name := strings.Join(run, " ")
	if name == strings.ToUpper(name) {
		return // shouted, not a name
	}
	c.add(KindName, name)
}

// common words begin sentences, not names.
var common = wordSet(`a an the this that these those and or but if in on at to of for from by with as is are was were be
	it its he she we they you i my our your his her their who what when where why how which do does did has have had can
	could will would should may might must not no yes so then there here also after before during since until while all
	any each every some most many both few one two three first last next new old see note yesterday today tomorrow
	monday tuesday wednesday thursday friday saturday sunday january february march april june july august september
	october november december`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
