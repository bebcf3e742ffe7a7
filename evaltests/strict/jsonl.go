package strict

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Lines calls f for each line of r that is not blank, with its number counted
// from 1. A line may be of any length; a UTF-8 byte order mark is stripped;
// text that is not UTF-8 is refused, since JSON would replace the bytes
// silently.
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
		if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 {
			if !utf8.Valid(trimmed) {
				return fmt.Errorf("%s:%d: not valid UTF-8", name, n)
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

// JSON decodes exactly one JSON value into v. With known set, a field that v
// does not have is refused.
func JSON(text []byte, v any, known bool) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	if known {
		dec.DisallowUnknownFields()
	}
	if err := dec.Decode(v); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("not JSON: the value ends too early: %s", excerpt(text))
		}
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return fmt.Errorf("not JSON: %v: %s", syntax, excerpt(text))
		}
		return err
	}
	if dec.More() {
		return fmt.Errorf("more than one JSON value on the line: %s", excerpt(text))
	}
	return nil
}

func excerpt(text []byte) string {
	const most = 60
	if r := []rune(string(text)); len(r) > most {
		return fmt.Sprintf("%q...", string(r[:most]))
	}
	return fmt.Sprintf("%q", text)
}
