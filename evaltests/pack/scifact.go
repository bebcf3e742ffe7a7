package pack

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// SciFact as published in CSV: corpus_train.csv (doc_id, title, abstract,
// structured) and claims_validation.csv (one row for each evidence set of a
// claim). The cases are the validation claims, which are BEIR's test split, or
// with split = "train" those of claims_train.csv, BEIR's train split; gold is
// every cited document, grade 1, as BEIR has it.
func readSciFact(c *content) error {
	err := c.eachCSV("corpus_train.csv", []string{"doc_id", "title", "abstract"}, func(place string, row []string) error {
		sentences, err := numpyStrings(row[2])
		if err != nil {
			return fmt.Errorf("%s: abstract of %s: %w", place, row[0], err)
		}
		return c.addDocument(place, Document{ID: row[0], Title: row[1], Text: strings.Join(sentences, " ")})
	})
	if err != nil {
		return err
	}
	claims := "claims_" + cmp.Or(c.manifest.Split, "validation") + ".csv"
	texts := map[string]string{}
	return c.eachCSV(claims, []string{"id", "claim", "cited_doc_ids"}, func(place string, row []string) error {
		id, text := row[0], row[1]
		cited, err := numpyInts(row[2])
		if err != nil {
			return fmt.Errorf("%s: cited_doc_ids of claim %s: %w", place, id, err)
		}
		if first, again := texts[id]; again {
			// Another evidence set of the same claim repeats claim and citations.
			if first != text+"\x00"+row[2] {
				return fmt.Errorf("%s: claim %s differs from its first row", place, id)
			}
			return nil
		}
		texts[id] = text + "\x00" + row[2]
		if err := c.addCase(place, Case{Question: Question{ID: id, Text: text}, Gold: Gold{Answerable: true}}); err != nil {
			return err
		}
		// One claim cites a document twice; the qrels are a set.
		slices.Sort(cited)
		for _, doc := range slices.Compact(cited) {
			c.addGold(place, id, doc, 1)
		}
		return nil
	})
}

// eachCSV calls f with the wanted columns of each record. The header must
// name them all.
func (c *content) eachCSV(file string, want []string, f func(place string, row []string) error) error {
	data, err := c.open(file)
	if err != nil {
		return err
	}
	if !utf8.Valid(data) {
		return fmt.Errorf("%s: not valid UTF-8", c.file(file))
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	header, err := r.Read()
	if err != nil {
		return fmt.Errorf("%s: no header: %w", c.place(file, 1), err)
	}
	at := map[string]int{}
	for i, name := range header {
		if _, twice := at[name]; twice {
			return fmt.Errorf("%s: column %q is there twice in the header %v", c.place(file, 1), name, header)
		}
		at[name] = i
	}
	for _, name := range want {
		if _, ok := at[name]; !ok {
			return fmt.Errorf("%s: no column %q in the header %v", c.place(file, 1), name, header)
		}
	}
	row := make([]string, len(want))
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			var perr *csv.ParseError
			if errors.As(err, &perr) {
				return fmt.Errorf("%s: %w", c.place(file, perr.Line), perr.Err)
			}
			return fmt.Errorf("%s: %w", c.file(file), err)
		}
		for i, name := range want {
			row[i] = record[at[name]]
		}
		line, _ := r.FieldPos(0)
		if err := f(c.place(file, line), row); err != nil {
			return err
		}
	}
}

// numpyStrings reads the printed form of a numpy array of strings:
// ['one'\n 'two' "it's three"], elements as Python writes literals, with
// blanks and no commas between them.
func numpyStrings(s string) ([]string, error) {
	inner, ok := bracketed(s)
	if !ok {
		return nil, fmt.Errorf("want a bracketed list of Python strings, found %.40q", s)
	}
	var out []string
	for i := 0; i < len(inner); {
		switch quote := inner[i]; quote {
		case ' ', '\n', '\t', '\r':
			i++
		case '\'', '"':
			if i > 0 && strings.IndexByte(" \n\t\r", inner[i-1]) < 0 {
				return nil, fmt.Errorf("no blank between two strings: %.40q", inner[i-1:])
			}
			text, next, err := pythonString(inner, i)
			if err != nil {
				return nil, err
			}
			out = append(out, text)
			i = next
		default:
			return nil, fmt.Errorf("unexpected text between strings: %.40q", inner[i:])
		}
	}
	return out, nil
}

func bracketed(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if len(s) < 2 || s[0] != '[' || s[len(s)-1] != ']' {
		return "", false
	}
	return s[1 : len(s)-1], true
}

// pythonString reads the literal that starts at s[i] and returns its value and
// the index after it.
func pythonString(s string, i int) (string, int, error) {
	quote := s[i]
	var b strings.Builder
	for j := i + 1; j < len(s); j++ {
		switch ch := s[j]; {
		case ch == quote:
			return b.String(), j + 1, nil
		case ch != '\\':
			b.WriteByte(ch)
		default:
			j++
			if j == len(s) {
				return "", 0, fmt.Errorf("string ends in a backslash: %.40q", s[i:])
			}
			n, err := pythonEscape(&b, s[j:])
			if err != nil {
				return "", 0, err
			}
			j += n - 1
		}
	}
	return "", 0, fmt.Errorf("string is not closed: %.40q", s[i:])
}

// pythonEscape writes the character of the escape that follows a backslash
// and returns how many bytes of s it took.
func pythonEscape(b *strings.Builder, s string) (int, error) {
	simple := map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v', '\\': '\\', '\'': '\'', '"': '"'}
	if v, ok := simple[s[0]]; ok {
		b.WriteByte(v)
		return 1, nil
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]]
	if digits == 0 || len(s) < 1+digits {
		return 0, fmt.Errorf("unknown escape \\%.9s", s)
	}
	v, err := strconv.ParseUint(s[1:1+digits], 16, 32)
	if err != nil {
		return 0, fmt.Errorf("unknown escape \\%.9s", s)
	}
	r := rune(v)
	if !utf8.ValidRune(r) {
		return 0, fmt.Errorf("escape \\%s is no character", s[:1+digits])
	}
	b.WriteRune(r)
	return 1 + digits, nil
}

// numpyInts reads the printed form of a numpy array of integers, "[ 3 11]",
// as strings, since that is what document ids are.
func numpyInts(s string) ([]string, error) {
	inner, ok := bracketed(s)
	if !ok {
		return nil, fmt.Errorf("want a bracketed list of integers, found %.40q", s)
	}
	fields := strings.Fields(inner)
	for _, f := range fields {
		if strings.Trim(f, "0123456789") != "" {
			return nil, fmt.Errorf("%q is not an integer", f)
		}
	}
	return fields, nil
}
