package pack

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
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
	file   *os.File
	w      *bufio.Writer
	end    int64
	chunks [][]scannedDocument // grown without copying
	order  []int32             // by id
	places spots
}

type scannedDocument struct {
	id     string
	offset int64
	length int32
	at     spot
}

const chunk = 1 << 16

func (s *scanned) document(i int32) *scannedDocument { return &s.chunks[i/chunk][i%chunk] }

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

func (s *scanned) documents() int { return len(s.order) }

func (s *scanned) add(place string, d Document) error {
	text, err := canonicalDocument(d)
	if err != nil {
		return err
	}
	last := len(s.chunks) - 1
	if last < 0 || len(s.chunks[last]) == chunk {
		s.chunks = append(s.chunks, make([]scannedDocument, 0, chunk))
		last++
	}
	s.chunks[last] = append(s.chunks[last], scannedDocument{d.ID, s.end, int32(len(text)), s.places.spot(place)})
	s.end += int64(len(text))
	_, err = s.w.Write(text)
	return err
}

// sort orders the documents by id and refuses one that is there twice.
func (s *scanned) sort() error {
	n := 0
	for _, c := range s.chunks {
		n += len(c)
	}
	s.order = make([]int32, n)
	for i := range s.order {
		s.order[i] = int32(i)
	}
	slices.SortFunc(s.order, func(a, b int32) int {
		return cmp.Or(strings.Compare(s.document(a).id, s.document(b).id), cmp.Compare(a, b))
	})
	twice := int32(-1) // the one that is given again first
	var first int32
	for i := 1; i < n; i++ {
		a, b := s.order[i-1], s.order[i]
		if s.document(a).id == s.document(b).id && (twice < 0 || b < twice) {
			first, twice = a, b
		}
	}
	if twice >= 0 {
		return fmt.Errorf("%s: document id %q was given before, at %s; ids must be unique",
			s.places.text(s.document(twice).at), s.document(twice).id, s.places.text(s.document(first).at))
	}
	return nil
}

// find returns the id as it is held.
func (s *scanned) find(id string) (string, bool) {
	i, ok := slices.BinarySearchFunc(s.order, id, func(at int32, id string) int { return strings.Compare(s.document(at).id, id) })
	if !ok {
		return "", false
	}
	return s.document(s.order[i]).id, true
}

// digest adds the documents, by id, to the rest of the content.
func (s *scanned) digest(content map[string]any) (string, error) {
	if err := s.w.Flush(); err != nil {
		return "", err
	}
	size := int64(2)
	for i, at := range s.order {
		size += int64(s.document(at).length)
		if i > 0 {
			size++
		}
	}
	content["documents"] = digest.Sized{N: size, Write: func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 1<<16)
		out.WriteByte('[')
		var buf []byte
		for i, at := range s.order {
			d := s.document(at)
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
