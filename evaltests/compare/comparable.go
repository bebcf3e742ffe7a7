package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Mismatch is one key in which two runs differ.
type Mismatch struct {
	Key       string `json:"key"`
	Base      string `json:"base"`
	Treatment string `json:"treatment"`
}

func (m Mismatch) String() string {
	return fmt.Sprintf("%s (%s -> %s)", m.Key, orNone(m.Base), orNone(m.Treatment))
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// Incomparable says why two runs are not compared. No number was computed.
type Incomparable struct {
	Base, Treatment string // labels
	Reasons         []string
	Keys            []Mismatch // that differ and were not declared
}

func (e *Incomparable) Error() string {
	return fmt.Sprintf("%s and %s cannot be compared: %s", e.Base, e.Treatment, strings.Join(e.Reasons, "; "))
}

// ingestKeys are the keys of the configuration that change what is stored.
var ingestKeys = []string{"embedder", "chunk.max_words", "chunk.overlap"}

// isIngest tells keys that may change the store: those of the engine, and
// whatever a subject names with the prefix "ingest.".
func isIngest(key string) bool {
	return slices.Contains(ingestKeys, key) || strings.HasPrefix(key, "ingest.") || strings.HasPrefix(key, "chunk.")
}

// IngestSources is the key to declare when the code that fills the store was
// changed and no setting was: the seed key differs and the configuration does
// not.
const IngestSources = "ingest.sources"

// Differences lists the keys of the effective configuration in which two runs
// differ, by name. A default given explicitly is no difference.
func Differences(base, treatment record.Run) []Mismatch {
	keys := map[string]bool{}
	for _, c := range []map[string]record.Set{base.Config, treatment.Config} {
		for k := range c {
			keys[k] = true
		}
	}
	var out []Mismatch
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		b, inBase := base.Config[k]
		t, inTreatment := treatment.Config[k]
		if inBase != inTreatment || b.Value != t.Value {
			out = append(out, Mismatch{k, b.Value, t.Value})
		}
	}
	return out
}

// Comparable refuses two runs that do not answer the same questions under the
// same circumstances: they may differ in the declared keys and in nothing else.
// What differs is returned.
func Comparable(base, treatment Side, vary []string) ([]Mismatch, error) {
	b, t := base.File.Run, treatment.File.Run
	e := &Incomparable{Base: base.Label, Treatment: treatment.Label}
	because := func(format string, args ...any) { e.Reasons = append(e.Reasons, fmt.Sprintf(format, args...)) }
	differ := func(key, b, t string) {
		if b != t {
			e.Keys = append(e.Keys, Mismatch{key, b, t})
			because("%s differs", Mismatch{key, short(b), short(t)})
		}
	}
	for _, s := range []Side{base, treatment} {
		if s.File.State == record.Tampered {
			because("%s is tampered with: %s", s.File.Path, s.File.Detail)
		}
		for _, why := range contradicted(s.File.Run) {
			because("%s was edited: %s", s.File.Path, why)
		}
		if s.File.Run.Hashes.Question == "" {
			because("%s has no question hash: its suite was not measured", s.File.Path)
		}
	}
	differ("suite", b.Suite, t.Suite)
	differ("question hash", b.Hashes.Question, t.Hashes.Question)
	if last := len(e.Keys) - 1; last >= 0 && e.Keys[last].Key == "question hash" {
		if why := otherQuestions(b, t); why != "" {
			e.Reasons[len(e.Reasons)-1] += ": " + why
		}
	}
	differ("mode", b.Mode, t.Mode)
	differ("platform class", b.Identity.Class, t.Identity.Class)
	found := Differences(b, t)
	if (len(b.Config) == 0) != (len(t.Config) == 0) {
		silent := base
		if len(b.Config) > 0 {
			silent = treatment
		}
		because("%s does not tell its configuration, so what differs is not known; give its subject a Fingerprint method and run it again", silent.Label)
		return nil, e
	}
	for _, m := range found {
		if !slices.Contains(vary, m.Key) {
			e.Keys = append(e.Keys, m)
			because("configuration differs in %s, which was not declared; declare it with --vary %s, or run both alike", m, m.Key)
		}
	}
	if len(found) == 0 && b.Hashes.Treatment != t.Hashes.Treatment {
		differ("treatment hash", b.Hashes.Treatment, t.Hashes.Treatment)
	}
	if b.Hashes.SeedKey != t.Hashes.SeedKey {
		seed := Mismatch{"seed key", short(b.Hashes.SeedKey), short(t.Hashes.SeedKey)}
		declared := slices.ContainsFunc(found, func(m Mismatch) bool { return isIngest(m.Key) }) || slices.Contains(vary, IngestSources)
		switch {
		case !declared:
			e.Keys = append(e.Keys, seed)
			because("%s differs: the stores were not made alike, and no key that changes the store was declared; if the sources that fill it were changed, declare --vary %s", seed, IngestSources)
		case strings.HasPrefix(b.Unit, "chunk"):
			because("%s differs and the suite ranks chunks, whose ids do not survive another ingest; measure documents", seed)
		}
		if len(found) == 0 || slices.Contains(vary, IngestSources) {
			found = append(found, Mismatch{IngestSources, short(b.Hashes.SeedKey), short(t.Hashes.SeedKey)})
		}
	}
	if len(e.Reasons) > 0 {
		return nil, e
	}
	return found, nil
}

// undeclared refuses declared keys in which no treatment differs from the base:
// an arm that was meant to be another and is not measures as "no effect".
func undeclared(vary []string, base Side, treatments []Side, found [][]Mismatch) error {
	for _, key := range vary {
		if !slices.ContainsFunc(found, func(ms []Mismatch) bool {
			return slices.ContainsFunc(ms, func(m Mismatch) bool { return m.Key == key })
		}) {
			return &Incomparable{Base: base.Label, Treatment: treatments[0].Label, Keys: []Mismatch{{Key: key}},
				Reasons: []string{fmt.Sprintf("key %s was declared and is equal in all of them; the change did not reach the subject, or the key is misspelt", key)}}
		}
	}
	return nil
}

// short abbreviates a digest for people.
func short(s string) string {
	if len(s) == 64 {
		return s[:12]
	}
	return s
}

// contradicted names the hashes of a run line that are not those of what the
// line holds: who edits a configuration or a rule and seals the record again
// leaves them.
func contradicted(run record.Run) []string {
	var out []string
	check := func(what, said string, made func() (string, error)) {
		if is, err := made(); err != nil || is != said {
			out = append(out, fmt.Sprintf("its %s has the hash %s, the record says %s", what, short(is), short(said)))
		}
	}
	if len(run.Config) > 0 {
		check("configuration", run.Hashes.Treatment, func() (string, error) { return record.TreatmentHash(run.Config) })
	}
	if run.Decision != nil && run.Hashes.Decision != "" {
		check("decision", run.Hashes.Decision, run.Decision.Hash)
	}
	return out
}

// otherQuestions says how two question hashes come to differ, as far as the run
// lines tell.
func otherQuestions(b, t record.Run) string {
	switch {
	case b.Pack.Digest != t.Pack.Digest:
		return fmt.Sprintf("the packs differ (%s %s -> %s %s)", b.Pack.Name, short(b.Pack.Digest), t.Pack.Name, short(t.Pack.Digest))
	case len(b.Plan) != len(t.Plan):
		return fmt.Sprintf("%d cases were planned in the base and %d in the treatment; run both with the same tier and limit", len(b.Plan), len(t.Plan))
	case !slices.Equal(b.Plan, t.Plan):
		return "other cases were planned; run both with the same tier and limit"
	case b.Runner != t.Runner || b.Scope != t.Scope:
		return fmt.Sprintf("runner and scope differ (%s, %s -> %s, %s)", b.Runner, b.Scope, t.Runner, t.Scope)
	}
	return ""
}
