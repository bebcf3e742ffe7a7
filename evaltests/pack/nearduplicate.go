package pack

import (
	"hash/fnv"
	"slices"
	"strings"
)

// near is how much of their shingles two texts share to be near-duplicates
// (Jaccard's coefficient), shingle how many words one has.
const (
	near    = 0.9
	shingle = 3
)

// MinHash over 8 bands of 4 rows finds a pair at .9 with a chance of .9998;
// what it finds is then counted exactly.
const (
	bands = 8
	rows  = 4
)

// nearDuplicates names relevant documents with a near-duplicate of another
// grade: a subject that returns the other is called wrong.
func (l *linter) nearDuplicates() {
	var ids []string
	for _, d := range l.pack.Documents {
		ids = append(ids, d.ID)
	}
	sets := map[string]map[uint64]bool{}
	of := func(id string) map[uint64]bool {
		if s, ok := sets[id]; ok {
			return s
		}
		s := shingles(l.plainDocument(id))
		sets[id] = s
		return s
	}
	buckets := map[[2]uint64][]string{}
	keys := map[string][][2]uint64{}
	for _, id := range ids {
		set := of(id)
		if len(set) == 0 {
			continue
		}
		for band := range uint64(bands) {
			h := fnv.New64a()
			for row := range uint64(rows) {
				least := ^uint64(0)
				for s := range set {
					least = min(least, mix(s, band*rows+row))
				}
				for shift := 0; shift < 64; shift += 8 {
					h.Write([]byte{byte(least >> shift)})
				}
			}
			key := [2]uint64{band, h.Sum64()}
			buckets[key] = append(buckets[key], id)
			keys[id] = append(keys[id], key)
		}
	}
	group := func(id string) string { return l.documents[id].Group }
	for _, k := range l.pack.Cases {
		for _, id := range relevant(k) {
			var twins []string
			for _, key := range keys[id] {
				for _, other := range buckets[key] {
					if other != id && k.Gold.Grades[other] <= 0 && group(other) == group(id) && !slices.Contains(twins, other) && jaccard(of(id), of(other)) >= near {
						twins = append(twins, other)
					}
				}
			}
			slices.Sort(twins)
			if len(twins) > 0 {
				l.say(k, "document %s is relevant; %s says the same and is not", id, strings.Join(twins, ", "))
			}
		}
	}
}

// shingles are digests of each run of words.
func shingles(text string) map[uint64]bool {
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil
	}
	out := map[uint64]bool{}
	for i := 0; i == 0 || i+shingle <= len(words); i++ {
		h := fnv.New64a()
		for _, w := range words[i:min(i+shingle, len(words))] {
			h.Write([]byte(w))
			h.Write([]byte{0})
		}
		out[h.Sum64()] = true
	}
	return out
}

// mix is one of a family of hash functions, by the finaliser of SplitMix64.
func mix(x, n uint64) uint64 {
	x += (n + 1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func jaccard(a, b map[uint64]bool) float64 {
	common := 0
	for s := range a {
		if b[s] {
			common++
		}
	}
	return float64(common) / float64(len(a)+len(b)-common)
}
