package digest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
)

// Short is the number of hex digits shown to people. Comparisons always use
// all 64.
const Short = 12

// Pairs is the SHA-256 (hex) over a domain tag, a zero byte, and the pairs
// sorted bytewise by key: each key and each value as its length (uint64, big
// endian) and its bytes, the value in canonical JSON. The length prefix keeps
// ("ab","c") and ("a","bc") apart; the tag keeps equal pairs of different
// meaning apart.
func Pairs(domain string, pairs map[string]any) (string, error) {
	h := sha256.New()
	h.Write([]byte(domain))
	h.Write([]byte{0})
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		if v, ok := pairs[key].(Sized); ok {
			writeSized(h, []byte(key))
			if err := v.write(h); err != nil {
				return "", fmt.Errorf("%s: key %q: %w", domain, key, err)
			}
			continue
		}
		value, err := Canonical(pairs[key])
		if err != nil {
			return "", fmt.Errorf("%s: key %q: %w", domain, key, err)
		}
		writeSized(h, []byte(key))
		writeSized(h, value)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Sized is a value of Pairs that is written rather than held: the canonical
// JSON of something too large for memory.
type Sized struct {
	N     int64                   // its length in bytes
	Write func(w io.Writer) error // writes exactly N bytes
}

func (s Sized) write(h hash.Hash) error {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(s.N))
	h.Write(n[:])
	c := counter{w: h}
	if err := s.Write(&c); err != nil {
		return err
	}
	if c.n != s.N {
		return fmt.Errorf("wrote %d bytes of %d", c.n, s.N)
	}
	return nil
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return c.w.Write(p)
}

func writeSized(h hash.Hash, b []byte) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(b)))
	h.Write(n[:])
	h.Write(b)
}

// Canonical is the one JSON text of a value: keys sorted, shortest floats, no
// HTML escapes, no blanks. A NaN or Inf is an error.
func Canonical(v any) ([]byte, error) {
	raw, err := marshal(v)
	if err != nil {
		return nil, err
	}
	// Struct fields come out in their written order; one pass through maps
	// sorts them. UseNumber keeps the digits of every number as they are.
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var plain any
	if err := dec.Decode(&plain); err != nil {
		return nil, err
	}
	return marshal(plain)
}

func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// Bytes is the SHA-256 (hex) of b.
func Bytes(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Abbrev shortens a digest for people.
func Abbrev(s string) string {
	if len(s) > Short {
		return s[:Short]
	}
	return s
}
