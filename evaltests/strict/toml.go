package strict

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sort"
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

// TOML decodes data into v, refusing unknown keys. Errors start with
// name:line.
func TOML(name string, data []byte, v any) error {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	meta, err := toml.Decode(string(data), v)
	if err != nil {
		var parse toml.ParseError
		if errors.As(err, &parse) {
			return fmt.Errorf("%s:%d: %s", name, parse.Position.Line, parse.Message)
		}
		return fmt.Errorf("%s:1: %w", name, err)
	}
	unknown := meta.Undecoded()
	if len(unknown) == 0 {
		return nil
	}
	var found []string
	for _, key := range unknown {
		found = append(found, fmt.Sprintf("%s:%d: unknown key %q", name, keyLine(data, key), key.String()))
	}
	sort.Strings(found)
	return fmt.Errorf("%s; remove it or correct its spelling", strings.Join(found, "; "))
}

// keyLine finds the line that sets a key. BurntSushi/toml v1.6 reports
// undecoded keys without positions, so the file is read once more: the last
// element of the key at the start of a line, below the table that its prefix
// names. Line 1 when the form is unusual (an inline table).
func keyLine(data []byte, key toml.Key) int {
	want, table := key[len(key)-1], strings.Join(key[:len(key)-1], ".")
	current, fallback := "", 1
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			current = strings.TrimSpace(strings.Trim(strings.SplitN(line, "#", 2)[0], "[] \t"))
			if current == key.String() {
				return i + 1
			}
			continue
		}
		name, _, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		name = strings.Trim(strings.TrimSpace(name), `"'`)
		switch {
		case name == want && current == table:
			return i + 1
		case name == want || strings.Contains(line, want):
			if fallback == 1 {
				fallback = i + 1
			}
		}
	}
	return fallback
}
