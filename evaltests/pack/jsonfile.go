package pack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// jsonValue is a value of a JSON file with the line on which it starts, so
// that an error deep in one long file can be found.
type jsonValue struct {
	file string
	line int
	raw  []byte
	key  string // its key, for a member of an object
}

func (v jsonValue) place() string { return fmt.Sprintf("%s:%d", v.file, v.line) }

func (v jsonValue) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", v.place(), fmt.Errorf(format, args...))
}

// openJSON reads a file that is one JSON value. Text that is not UTF-8,
// anything after the value and a key given twice at any depth are refused.
func (c *content) openJSON(file string) (jsonValue, error) {
	data, err := c.open(file)
	if err != nil {
		return jsonValue{}, err
	}
	v := jsonValue{file: c.file(file), line: 1, raw: bytes.TrimPrefix(data, []byte("\ufeff"))}
	if !utf8.Valid(v.raw) {
		v.line += bytes.Count(v.raw[:invalidAt(v.raw)], []byte("\n"))
		return jsonValue{}, v.errorf("not valid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(v.raw))
	var whole json.RawMessage
	if err := dec.Decode(&whole); err != nil {
		var syntax *json.SyntaxError
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			v.line += bytes.Count(v.raw, []byte("\n"))
			return jsonValue{}, v.errorf("not JSON: the value ends too early")
		case errors.As(err, &syntax):
			v.line += bytes.Count(v.raw[:syntax.Offset], []byte("\n"))
			return jsonValue{}, v.errorf("not JSON: %w", syntax)
		}
		return jsonValue{}, v.errorf("not JSON: %w", err)
	}
	end := dec.InputOffset()
	if rest := bytes.TrimLeft(v.raw[end:], " \t\r\n"); len(rest) > 0 {
		v.line += bytes.Count(v.raw[:len(v.raw)-len(rest)], []byte("\n"))
		return jsonValue{}, v.errorf("more text after the JSON value: %.40q", rest)
	}
	start := int(end) - len(whole)
	v.line += bytes.Count(v.raw[:start], []byte("\n"))
	v.raw = whole
	return v, v.unambiguous(0)
}

func invalidAt(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(text)
}

// unambiguous refuses a key given twice, at the line of the innermost value it
// can tell. Deeper than a few levels the line of the outer value must do: each
// level is another pass over the text.
func (v jsonValue) unambiguous(depth int) error {
	const deepest = 6
	err := strict.JSON(v.raw, new(json.RawMessage), false)
	if err == nil {
		return nil
	}
	if depth < deepest {
		inner, splitErr := v.split()
		if splitErr != nil {
			return splitErr
		}
		for _, child := range inner {
			if err := child.unambiguous(depth + 1); err != nil {
				return err
			}
		}
	}
	return v.errorf("%w", err)
}

// array returns the elements of v, which must be an array.
func (v jsonValue) array(name string) ([]jsonValue, error) {
	if v.raw[0] != '[' {
		return nil, v.errorf("%s: want a JSON array, found %.40q", name, v.raw)
	}
	return v.split()
}

// each calls f for the elements of v, which must be an array, in order.
func (v jsonValue) each(name string, f func(jsonValue) error) error {
	items, err := v.array(name)
	if err != nil {
		return err
	}
	for _, item := range items {
		if err := f(item); err != nil {
			return err
		}
	}
	return nil
}

// object returns the members of v, which must be an object, in order.
func (v jsonValue) object(name string) ([]jsonValue, error) {
	if v.raw[0] != '{' {
		return nil, v.errorf("%s: want a JSON object, found %.40q", name, v.raw)
	}
	return v.split()
}

// member returns one member of an object.
func (v jsonValue) member(name, key string) (jsonValue, error) {
	members, err := v.object(name)
	if err != nil {
		return jsonValue{}, err
	}
	for _, m := range members {
		if m.key == key {
			return m, nil
		}
	}
	return jsonValue{}, v.errorf("%s: no key %q", name, key)
}

// decode decodes v into a struct or value, by the rules of strict.JSON.
func (v jsonValue) decode(to any) error {
	if err := strict.JSON(v.raw, to, false); err != nil {
		return v.errorf("%w", err)
	}
	return nil
}

// split returns what an array or an object holds; nothing for other values.
func (v jsonValue) split() ([]jsonValue, error) {
	isObject := v.raw[0] == '{'
	if !isObject && v.raw[0] != '[' {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(v.raw))
	if _, err := dec.Token(); err != nil {
		return nil, v.errorf("not JSON: %w", err)
	}
	var out []jsonValue
	line, counted := v.line, 0
	for dec.More() {
		child := jsonValue{file: v.file}
		if isObject {
			key, err := dec.Token()
			if err != nil {
				return nil, v.errorf("not JSON: %w", err)
			}
			child.key, _ = key.(string)
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, v.errorf("not JSON: %w", err)
		}
		start := int(dec.InputOffset()) - len(raw)
		line += bytes.Count(v.raw[counted:start], []byte("\n"))
		counted = start
		child.line, child.raw = line, raw
		out = append(out, child)
	}
	return out, nil
}
