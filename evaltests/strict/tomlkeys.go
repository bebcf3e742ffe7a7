package strict

import (
	"reflect"
	"strings"

	"github.com/BurntSushi/toml"
)

// TOMLLines lists the lines, counted from 1, on which a valid TOML document
// sets a key or opens a table of that name, in the order of the document. A
// caller who refuses a value can so say where it stands; an array of tables
// gives one line for each table.
func TOMLLines(data []byte, key ...string) []int {
	want := toml.Key(key).String()
	var lines []int
	for _, k := range tomlKeys(data) {
		if k.key.String() == want {
			lines = append(lines, k.line)
		}
	}
	return lines
}

type locatedKey struct {
	key  toml.Key
	line int
}

// tomlKeys finds every key of a valid TOML document with its line.
// BurntSushi/toml v1.6 tells keys without positions, so the text is walked
// once more; what is no key (strings, arrays, comments) is only stepped over.
// On a document that is not valid the result is arbitrary, but it ends.
func tomlKeys(data []byte) []locatedKey {
	w := &keyWalk{text: string(data), line: 1}
	var table toml.Key
	for w.skip(" \t\r\n"); w.at < len(w.text); w.skip(" \t\r\n") {
		before := w.at
		if w.text[w.at] == '[' {
			w.skip("[")
			table = w.found(nil)
			w.skip("] \t")
		} else {
			w.pair(table)
		}
		if w.at == before {
			w.at++
		}
	}
	return w.keys
}

type keyWalk struct {
	text string
	at   int
	line int
	keys []locatedKey
}

// skip steps over the given characters and over comments.
func (w *keyWalk) skip(chars string) {
	for w.at < len(w.text) {
		switch c := w.text[w.at]; {
		case c == '#':
			for w.at < len(w.text) && w.text[w.at] != '\n' {
				w.at++
			}
		case strings.IndexByte(chars, c) < 0:
			return
		default:
			if c == '\n' {
				w.line++
			}
			w.at++
		}
	}
}

// found reads a key, dotted or not, and notes it below table.
func (w *keyWalk) found(table toml.Key) toml.Key {
	key := append(toml.Key{}, table...)
	line := w.line
	for {
		w.skip(" \t")
		start := w.at
		if w.at < len(w.text) && (w.text[w.at] == '"' || w.text[w.at] == '\'') {
			w.str()
			// Escapes in keys are so rare that the raw text will do.
			key = append(key, strings.Trim(w.text[start:w.at], `"'`))
		} else {
			for w.at < len(w.text) && strings.IndexByte(" \t\r\n.=[]{},#\"'", w.text[w.at]) < 0 {
				w.at++
			}
			key = append(key, w.text[start:w.at])
		}
		w.skip(" \t")
		if w.at >= len(w.text) || w.text[w.at] != '.' {
			break
		}
		w.at++
	}
	w.keys = append(w.keys, locatedKey{key, line})
	return key
}

// pair steps over `key = value`.
func (w *keyWalk) pair(table toml.Key) {
	key := w.found(table)
	w.skip(" \t")
	if w.at < len(w.text) && w.text[w.at] == '=' {
		w.at++
		w.skip(" \t")
		w.value(key)
	}
}

func (w *keyWalk) value(key toml.Key) {
	const blanks = " \t\r\n,"
	if w.at >= len(w.text) {
		return
	}
	switch c := w.text[w.at]; c {
	case '"', '\'':
		w.str()
	case '[', '{':
		end := byte(']')
		if c == '{' {
			end = '}'
		}
		w.at++
		for w.skip(blanks); w.at < len(w.text) && w.text[w.at] != end; w.skip(blanks) {
			before := w.at
			if c == '{' {
				w.pair(key)
			} else {
				w.value(key)
			}
			if w.at == before {
				w.at++
			}
		}
		w.at = min(w.at+1, len(w.text))
	default:
		for w.at < len(w.text) && strings.IndexByte(",]}\r\n#", w.text[w.at]) < 0 {
			w.at++
		}
	}
}

// str steps over a string of any of the four kinds.
func (w *keyWalk) str() {
	rest := w.text[w.at:]
	quote := rest[:1]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(rest, long) {
		quote = long
	}
	i := len(quote)
	for i < len(rest) && !strings.HasPrefix(rest[i:], quote) {
		if quote[0] == '"' && rest[i] == '\\' {
			i++
		}
		i++
	}
	i = min(i+len(quote), len(rest))
	// A long string may end in up to two quotes of its own.
	for len(quote) == 3 && i < len(rest) && rest[i] == quote[0] {
		i++
	}
	w.line += strings.Count(rest[:i], "\n")
	w.at += i
}

// knownKey reports whether t has a place for key, spelt exactly so. The
// decoder itself takes Floor for floor, and which of the two wins where both
// are set is up to the order of a map.
func knownKey(t reflect.Type, key toml.Key) bool {
	for _, name := range key {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
			t = t.Elem()
		}
		switch t.Kind() {
		case reflect.Struct:
			field, ok := fieldNamed(t, name)
			if !ok {
				return false
			}
			t = field
		case reflect.Map:
			t = t.Elem()
		default:
			return true // any: whatever it holds is known
		}
	}
	return true
}

func fieldNamed(t reflect.Type, name string) (reflect.Type, bool) {
	for _, f := range reflect.VisibleFields(t) {
		tag, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
		switch {
		case !f.IsExported() || tag == "-":
		case tag == name, tag == "" && strings.EqualFold(f.Name, name):
			return f.Type, true
		}
	}
	return nil, false
}
