package stat

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// Stream is a source of random numbers that belongs to one comparison. It is a
// value without state: resample i always sees the same numbers, whichever core
// draws it and whatever was drawn before, so adding a comparison never changes
// the interval of another.
type Stream struct{ key uint64 }

// NewStream derives a stream from the run's seed and the id of a comparison,
// for which the digests of the two records serve. Another id, or another order
// of its parts, is another stream.
func NewStream(seed uint64, id ...string) Stream {
	h := sha256.New()
	var word [8]byte
	put := func(x uint64) {
		binary.LittleEndian.PutUint64(word[:], x)
		h.Write(word[:])
	}
	put(seed)
	for _, part := range id {
		put(uint64(len(part))) // so that ("ab", "c") is not ("a", "bc")
		h.Write([]byte(part))
	}
	return Stream{binary.LittleEndian.Uint64(h.Sum(nil))}
}

// source is a wyrand generator: one addition and one wide multiplication for
// 64 bits.
type source uint64

// resample is the source of the i-th resample. The two rounds of mixing put
// neighbouring resamples far apart on the generator's cycle.
func (s Stream) resample(i int) source {
	return source(mix(mix(s.key+uint64(i)) ^ s.key))
}

// mix is the finaliser of splitmix64 (Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (s *source) next() uint64 {
	*s += 0xa0761d6478bd642f
	hi, lo := bits.Mul64(uint64(*s), uint64(*s)^0xe7037ed1a0b428db)
	return hi ^ lo
}
