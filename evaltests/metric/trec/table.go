package trec

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
)

// table finds, for the documents of one question, the gold's grade and whether
// a document came before, in one probe. Open addressing; entries of earlier
// questions are told apart by their generation, so nothing is cleared.
type table struct {
	slots      []slot
	mask       uint64
	generation uint32
}

type slot struct {
	hash       uint64
	generation uint32
	ref        int32 // a hit's index; or ^index of a judgement that no hit has met
}

// reset makes room for n documents of the next question.
func (t *table) reset(n int) {
	size := 1 << bits.Len(uint(2*n))
	if size > len(t.slots) {
		t.slots = make([]slot, size)
		t.generation = 0
	}
	t.mask = uint64(size - 1)
	t.generation++
	if t.generation == 0 { // after four billion questions
		clear(t.slots)
		t.generation = 1
	}
}

// insertGold enters a judgement. Documents of the gold differ, so nothing is
// compared.
func (t *table) insertGold(h uint64, index int) {
	at := h & t.mask
	for t.slots[at].generation == t.generation {
		at = (at + 1) & t.mask
	}
	t.slots[at] = slot{h, t.generation, ^int32(index)}
}

// visit looks up hit i: its grade, and whether an earlier hit is the same
// document.
func (t *table) visit(i int, ids [][]byte, g *gold) (grade int, again bool) {
	id := ids[i]
	h := hash(id)
	for at := h & t.mask; ; at = (at + 1) & t.mask {
		s := &t.slots[at]
		if s.generation != t.generation {
			*s = slot{h, t.generation, int32(i)}
			return metric.Absent, false
		}
		if s.hash != h {
			continue
		}
		if s.ref >= 0 {
			if string(ids[s.ref]) == string(id) {
				return 0, true
			}
			continue
		}
		if g.ids[^s.ref] == string(id) {
			grade = max(g.grades[^s.ref], metric.Unjudged)
			s.ref = int32(i)
			return grade, false
		}
	}
}

// repeats reports whether a gold has a document twice.
func (t *table) repeats(g *gold) bool {
	t.reset(len(g.ids))
	for i, h := range g.hashes {
		for at := h & t.mask; ; at = (at + 1) & t.mask {
			s := &t.slots[at]
			if s.generation != t.generation {
				*s = slot{h, t.generation, int32(i)}
				break
			}
			if s.hash == h && g.ids[s.ref] == g.ids[i] {
				return true
			}
		}
	}
	return false
}

// hashSeed differs in every process, so that no file can be made to collide.
// Results never depend on it.
var hashSeed = rand.Uint64()

// hash multiplies and folds eight bytes at a time, as wyhash does.
func hash(b []byte) uint64 {
	const k0, k1 = 0xa0761d6478bd642f, 0xe7037ed1a0b428db
	h := hashSeed ^ uint64(len(b))*k0
	for len(b) > 8 {
		h = fold(h^binary.LittleEndian.Uint64(b), k1)
		b = b[8:]
	}
	var tail uint64
	switch n := len(b); {
	case n >= 4:
		tail = uint64(binary.LittleEndian.Uint32(b))<<32 | uint64(binary.LittleEndian.Uint32(b[n-4:]))
	case n > 0:
		tail = uint64(b[0])<<16 | uint64(b[n/2])<<8 | uint64(b[n-1])
	}
	return fold(h^tail, k0^hashSeed)
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
