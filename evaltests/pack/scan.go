package pack

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/digest"
)

// Scan reads a pack as [Load] does, but keeps no documents where its format
// hands them on one by one (BEIR folders): what pinning and checking need of a
// corpus is one digest. Documents is nil then; Counts, Digest, Lock and Check
// work. The documents are written, in canonical form, to a file in the folder
// for temporary files, to be digested in the order of their ids; Close removes
// it.
//
// What is held of a document is its id, where it was read, and where its text
// lies in that file.
func Scan(dir string, o Options) (*Pack, error) {
	s, err := newScanned()
	if err != nil {
		return nil, err
	}
	p, err := read(dir, o, s)
	if err != nil || p.scanned == nil {
		return p, errors.Join(err, s.close())
	}
	return p, nil
}

// Close removes what [Scan] wrote. A loaded pack has nothing to remove.
func (p *Pack) Close() error {
	if p.scanned == nil {
		return nil
	}
	return p.scanned.close()
}

// scanned are the documents of a corpus, on disk.
type scanned struct {
	file  *os.File
	w     *bufio.Writer
	end   int64
	index []scannedDocument
}

type scannedDocument struct {
	id     string
	offset int64
	length int32
}

func newScanned() (*scanned, error) {
	f, err := os.CreateTemp("", "touchstone-scan-*")
	if err != nil {
		return nil, err
	}
	return &scanned{file: f, w: bufio.NewWriterSize(f, 1<<18)}, nil
}

func (s *scanned) close() error {
	return errors.Join(s.file.Close(), os.Remove(s.file.Name()))
}

func (s *scanned) documents() int { return len(s.index) }

func (s *scanned) add(d Document) error {
	text, err := canonicalDocument(d)
	if err != nil {
		return err
	}
	s.index = append(s.index, scannedDocument{d.ID, s.end, int32(len(text))})
	s.end += int64(len(text))
	_, err = s.w.Write(text)
	return err
}

// digest adds the documents, by id, to the rest of the content.
func (s *scanned) digest(content map[string]any) (string, error) {
	if err := s.w.Flush(); err != nil {
		return "", err
	}
	slices.SortFunc(s.index, func(a, b scannedDocument) int { return strings.Compare(a.id, b.id) })
	size := int64(2)
	for i, d := range s.index {
		size += int64(d.length)
		if i > 0 {
			size++
		}
	}
	content["documents"] = digest.Sized{N: size, Write: func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 1<<16)
		out.WriteByte('[')
		var buf []byte
		for i, d := range s.index {
			if i > 0 {
				out.WriteByte(',')
			}
			buf = slices.Grow(buf[:0], int(d.length))[:d.length]
			if _, err := s.file.ReadAt(buf, d.offset); err != nil {
				return err
			}
			out.Write(buf)
		}
		out.WriteByte(']')
		return out.Flush()
	}}
	return digest.Pairs(contentDomain, content)
}

// list is a JSON array that is written element by element.
func list(n int, element func(i int) ([]byte, error)) (any, error) {
	if n == 0 {
		return []int(nil), nil // null, as a slice without elements is
	}
	size := int64(2 + n - 1)
	for i := range n {
		text, err := element(i)
		if err != nil {
			return nil, err
		}
		size += int64(len(text))
	}
	return digest.Sized{N: size, Write: func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 1<<16)
		out.WriteByte('[')
		for i := range n {
			if i > 0 {
				out.WriteByte(',')
			}
			text, err := element(i)
			if err != nil {
				return err
			}
			out.Write(text)
		}
		out.WriteByte(']')
		return out.Flush()
	}}, nil
}

// canonicalDocument is digest.Canonical of d without its detour through maps:
// the fields in the order of their names.
func canonicalDocument(d Document) ([]byte, error) {
	var buf strings.Builder
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		Date, Group, ID string
		Meta            map[string]string
		Text, Title     string
	}{d.Date, d.Group, d.ID, d.Meta, d.Text, d.Title})
	return []byte(strings.TrimSuffix(buf.String(), "\n")), err
}
