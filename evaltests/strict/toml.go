package strict

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// TOMLFile decodes the file at path into v, refusing unknown keys.
func TOMLFile(path string, v any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return TOML(path, data, v)
}

// TOML decodes data into v, refusing unknown keys and keys that differ from
// the documented ones in upper and lower case. Errors start with name:line.
// A UTF-8 byte order mark and CRLF line ends are accepted.
func TOML(name string, data []byte, v any) error {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	meta, err := toml.Decode(string(data), v)
	if err != nil {
		var parse toml.ParseError
		if errors.As(err, &parse) {
			return fmt.Errorf("%s:%d: %s", name, parse.Position.Line, parse.Message)
		}
		line, message := wrongType(data, err)
		return fmt.Errorf("%s:%d: %s", name, line, message)
	}
	unknown := map[string]bool{}
	for _, key := range meta.Undecoded() {
		unknown[key.String()] = true
	}
	for _, key := range meta.Keys() {
		if !knownKey(reflect.TypeOf(v), key) {
			unknown[key.String()] = true
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	var found []string
	located := map[string]bool{}
	for _, k := range tomlKeys(data) {
		if key := k.key.String(); unknown[key] {
			located[key] = true
			found = append(found, fmt.Sprintf("%s:%d: unknown key %q", name, k.line, key))
		}
	}
	// A key that is written with escapes is not met by the walk over the text.
	for _, key := range slices.Sorted(maps.Keys(unknown)) {
		if !located[key] {
			found = append(found, fmt.Sprintf("%s:1: unknown key %q", name, key))
		}
	}
	return fmt.Errorf("%s; remove it or correct its spelling", strings.Join(found, "; "))
}

var typeError = regexp.MustCompile(`(?s)^toml: (?:line (\d+) )?\(last key "(.*)"\): (incompatible types: TOML value has type (\S+); .*|.*)$`)

// wrongType takes the decoder's message on a value of the wrong type apart.
// The decoder gives it as text only, and where an array of tables sets the key
// several times it always names the last: the value at fault is the first of
// the type that it complains about.
func wrongType(data []byte, err error) (int, string) {
	m := typeError.FindStringSubmatch(err.Error())
	if m == nil {
		return 1, err.Error()
	}
	line, _ := strconv.Atoi(m[1])
	var lines []int
	var key toml.Key
	for _, k := range tomlKeys(data) {
		if k.key.String() == m[2] {
			lines, key = append(lines, k.line), k.key
		}
	}
	var doc map[string]any
	if _, err := toml.Decode(string(data), &doc); err == nil && len(lines) > 0 {
		if values := valuesAt(doc, key); len(values) == len(lines) {
			i := slices.IndexFunc(values, func(v any) bool {
				return strings.ReplaceAll(fmt.Sprintf("%T", v), "interface {}", "any") == m[4]
			})
			if i >= 0 {
				line = lines[i]
			}
		}
	}
	return max(line, 1), fmt.Sprintf("key %q: %s", m[2], m[3])
}

// valuesAt lists the values of a key in the order of the document.
func valuesAt(v any, key toml.Key) []any {
	if len(key) == 0 {
		return []any{v}
	}
	switch v := v.(type) {
	case map[string]any:
		if below, ok := v[key[0]]; ok {
			return valuesAt(below, key[1:])
		}
	case []map[string]any:
		var all []any
		for _, table := range v {
			all = append(all, valuesAt(table, key)...)
		}
		return all
	}
	return nil
}
