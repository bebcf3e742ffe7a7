package folder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/touchstone-eval/touchstone/engine"
)

// Page is what a file says. In Text a heading is a line that begins with one
// to six '#', and a block of code stands between lines of "```", whatever the
// file's own markup.
type Page struct {
	Title string // empty if the file gives none
	Date  string // as the file gives it, empty if it does not
	Text  string
}

// Plain is text without markup, its line ends made "\n".
func Plain(text string) Page { return Page{Text: strings.TrimSpace(lineEnds(text))} }

func lineEnds(text string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
}

// Document reads a file's bytes. Its title is the page's, or else the file's
// name; its date the page's if that is one, or else the day, in UTC, on which
// the file was changed.
func Document(f File, data []byte) (engine.Document, error) {
	text, err := decode(data)
	if err != nil {
		return engine.Document{}, err
	}
	parse := kinds[suffix(f.Path)]
	if parse == nil {
		return engine.Document{}, errors.New(OtherKind)
	}
	p := parse(text)
	d := engine.Document{ID: f.Path, Title: line(p.Title), Text: p.Text, Date: p.Date}
	if d.Title == "" {
		d.Title = line(strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path)))
	}
	if !isDate(d.Date) {
		d.Date = f.Mod.UTC().Format(time.DateOnly)
	}
	return d, d.Validate()
}

// decode returns the text of UTF-8 with or without a byte order mark, or of
// UTF-16 with one.
func decode(data []byte) (string, error) {
	switch {
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}):
		return decode16(data[2:], binary.LittleEndian)
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		return decode16(data[2:], binary.BigEndian)
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if at := bytes.IndexByte(data, 0); at >= 0 {
		return "", fmt.Errorf("binary: byte %d is NUL", at)
	}
	if !utf8.Valid(data) {
		at := 0
		for {
			r, n := utf8.DecodeRune(data[at:])
			if r == utf8.RuneError && n <= 1 {
				return "", fmt.Errorf("not UTF-8: byte %d is %#02x: convert the file", at, data[at])
			}
			at += n
		}
	}
	return string(data), nil
}

func decode16(data []byte, order binary.ByteOrder) (string, error) {
	if len(data)%2 != 0 {
		return "", errors.New("not UTF-16: an odd number of bytes after the byte order mark")
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	runes := utf16.Decode(units)
	for _, r := range runes {
		if r == 0 || r == utf8.RuneError {
			return "", fmt.Errorf("not UTF-16 text: it holds %U", r)
		}
	}
	return string(runes), nil
}

// line is a text in one line, without control characters.
func line(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

func isDate(text string) bool {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if _, err := time.Parse(layout, text); err == nil {
			return true
		}
	}
	return false
}
