package strict

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// blanks are what may surround the text of a line. No-break spaces and their
// kin are text.
const blanks = " \t\r\n"

// Lines calls f for each line of r that is not blank, with its number counted
// from 1. A line may be of any length; a UTF-8 byte order mark is stripped;
// text that is not UTF-8 is refused, since JSON would replace the bytes
// silently, and so is a NUL byte.
func Lines(name string, r io.Reader, f func(line int, text []byte) error) error {
	br := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		text, err := br.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
		if n == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		if trimmed := bytes.Trim(text, blanks); len(trimmed) > 0 {
			if !utf8.Valid(trimmed) {
				return fmt.Errorf("%s:%d: not valid UTF-8", name, n)
			}
			if bytes.IndexByte(trimmed, 0) >= 0 {
				return fmt.Errorf("%s:%d: holds a NUL byte: not text, or in another encoding than UTF-8", name, n)
			}
			if ferr := f(n, trimmed); ferr != nil {
				return fmt.Errorf("%s:%d: %w", name, n, ferr)
			}
		}
		if err != nil {
			return nil
		}
	}
}

// JSON decodes exactly one JSON value into v. It refuses what encoding/json
// forgives: anything after the value, a key that an object gives twice, an
// escape of half a character, and,
// where v points to a struct, any value but an object and a key that differs
// from a field's in upper and lower case. With known set, a field that v does
// not have is refused too.
func JSON(text []byte, v any, known bool) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	if known {
		dec.DisallowUnknownFields()
	}
	if err := dec.Decode(v); err != nil {
		return readable(err, text)
	}
	if rest := bytes.Trim(text[dec.InputOffset():], blanks); len(rest) > 0 {
		return fmt.Errorf("more than one JSON value: %s follows the first", excerpt(rest))
	}
	t := reflect.TypeOf(v)
	isStruct := t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct
	if isStruct && bytes.HasPrefix(bytes.Trim(text, blanks), []byte("null")) {
		return errors.New("found null, want a JSON object")
	}
	walk := &jsonWalk{text: text}
	keys, err := walk.value()
	if err == nil {
		err = walk.lone
	}
	if err != nil || !isStruct {
		return err
	}
	for _, key := range keys {
		if name, ok := misspelt(t.Elem(), key); ok {
			return fmt.Errorf("key %q: want %q, in lower and upper case as here", key, name)
		}
	}
	return nil
}

// readable says in terms of the file what the decoder says in terms of Go.
func readable(err error, text []byte) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("not JSON: the value ends too early: %s", excerpt(text))
	case errors.As(err, &syntax):
		return fmt.Errorf("not JSON: %v: %s", syntax, excerpt(text))
	case errors.As(err, &kind):
		if kind.Field == "" {
			return fmt.Errorf("found a JSON %s, want %s: %s", kind.Value, kindName(kind.Type), excerpt(text))
		}
		return fmt.Errorf("key %q: found a JSON %s, want %s", kind.Field, kind.Value, kindName(kind.Type))
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "an integer that fits " + t.String()
}

// misspelt finds the field that encoding/json takes for key although it is
// spelt in another case.
func misspelt(t reflect.Type, key string) (string, bool) {
	close := ""
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" || name == "-":
		case name == key:
			return "", false
		case strings.EqualFold(name, key):
			close = name
		}
	}
	return close, close != ""
}

// jsonWalk walks over one valid JSON value and looks for keys given twice, of
// which encoding/json would silently take the last.
type jsonWalk struct {
	text []byte
	at   int
	lone error // the first escape that is half a character
}

// value steps over a value and returns its keys if it is an object.
func (w *jsonWalk) value() ([]string, error) {
	w.blank()
	switch w.text[w.at] {
	case '{':
		return w.object()
	case '[':
		for w.at++; ; {
			w.blank()
			switch w.text[w.at] {
			case ']':
				w.at++
				return nil, nil
			case ',':
				w.at++
			default:
				if _, err := w.value(); err != nil {
					return nil, err
				}
			}
		}
	case '"':
		w.str()
	default:
		for w.at < len(w.text) && bytes.IndexByte([]byte(",]} \t\r\n"), w.text[w.at]) < 0 {
			w.at++
		}
	}
	return nil, nil
}

func (w *jsonWalk) object() ([]string, error) {
	var keys []string
	seen := map[string]bool{}
	for w.at++; ; {
		w.blank()
		switch w.text[w.at] {
		case '}':
			w.at++
			return keys, nil
		case ',':
			w.at++
			continue
		}
		key := w.str()
		if seen[key] {
			return nil, fmt.Errorf("key %q is given twice; which one holds is anybody's guess", key)
		}
		seen[key] = true
		keys = append(keys, key)
		w.blank()
		w.at++ // the colon
		if _, err := w.value(); err != nil {
			return nil, err
		}
	}
}

func (w *jsonWalk) blank() {
	for w.at < len(w.text) && strings.IndexByte(blanks, w.text[w.at]) >= 0 {
		w.at++
	}
}

// str steps over a string and returns its value.
func (w *jsonWalk) str() string {
	start := w.at
	escaped := false
	for w.at++; w.text[w.at] != '"'; w.at++ {
		if w.text[w.at] == '\\' {
			escaped = true
			w.at++
		}
	}
	w.at++
	raw := w.text[start:w.at]
	if escaped {
		if half := loneSurrogate(raw); half != "" && w.lone == nil {
			w.lone = fmt.Errorf("the escape %s is half of a character, which would be read as U+FFFD: %s", half, excerpt(raw))
		}
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return s
		}
	}
	return string(raw[1 : len(raw)-1])
}

// loneSurrogate finds an escape of half a character without its other half.
// encoding/json takes it for U+FFFD, so that different texts become one.
func loneSurrogate(raw []byte) string {
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		r, ok := escapedUnit(raw[i-1:])
		if !ok || !utf16.IsSurrogate(r) {
			continue
		}
		if low, ok := escapedUnit(raw[i+5:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
			i += 10
			continue
		}
		return string(raw[i-1 : i+5])
	}
	return ""
}

// escapedUnit reads \uXXXX.
func escapedUnit(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(n), err == nil
}

func excerpt(text []byte) string {
	const most = 60
	if r := []rune(string(text)); len(r) > most {
		return fmt.Sprintf("%q...", string(r[:most]))
	}
	return fmt.Sprintf("%q", text)
}
