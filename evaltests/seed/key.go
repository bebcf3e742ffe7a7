package seed

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/digest"
)

// FormatVersion is the version of the folders that this package makes, and a
// part of every key.
const FormatVersion = "1"

// Names of the parts that every key has. A subject adds its own: see
// [PartSchema] and its neighbours.
const (
	PartFormat = "format" // FormatVersion
	PartPack   = "pack"   // digest of the documents that are stored
	PartGroup  = "group"  // whose documents: empty for a whole corpus
)

// Names of the parts that a subject gives. Those that start with PartIngest
// are source and libraries of the steps of its ingest.
const (
	PartSchema     = "schema"     // hash of the store's tables
	PartChunk      = "chunk"      // settings of the chunker
	PartAnalyzer   = "analyzer"   // of the lexical index
	PartModel      = "model"      // of the vectors: digest, pooling, dimension
	PartProvenance = "enrichment" // rules or models of the enrichment
	PartIngest     = "ingest."
)

// Parts are all that the content of a store depends on, by name.
type Parts map[string]string

// Key is the content address of a store: SHA-256 over its parts, hex. An empty
// value is a part that nobody could tell, and an error.
func (p Parts) Key() (string, error) {
	pairs := make(map[string]any, len(p))
	for name, value := range p {
		if value == "" && name != PartGroup {
			return "", fmt.Errorf("seed key: part %q is empty; a store with an unknown part cannot be found again", name)
		}
		pairs[name] = value
	}
	return digest.Pairs("touchstone/seed/2", pairs)
}

// Differ lists the names of the parts in which p and q differ, sorted.
func (p Parts) Differ(q Parts) []string {
	var out []string
	for name, value := range p {
		if other, ok := q[name]; !ok || other != value {
			out = append(out, name)
		}
	}
	for name := range q {
		if _, ok := p[name]; !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// With returns p with more parts.
func (p Parts) With(more Parts) Parts {
	out := maps.Clone(p)
	maps.Copy(out, more)
	return out
}

// migratable reports whether a store of the parts old may be brought up to the
// parts now by the engine's ordinary backfill: only tables and the code that
// stores may differ, the enrichment is known on both sides and equal. Whatever
// else differs would make one store pass for another.
func migratable(old, now Parts) (ok bool, why string) {
	if old[PartProvenance] == "" || now[PartProvenance] == "" {
		return false, "its enrichment is unknown"
	}
	for _, name := range old.Differ(now) {
		if name != PartSchema && name != PartIngest+"store" {
			return false, fmt.Sprintf("its %s differs", strings.TrimSuffix(name, "."))
		}
	}
	return true, ""
}
