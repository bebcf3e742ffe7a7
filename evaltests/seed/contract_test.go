package seed_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/seed"
)

func parse(t testing.TB, text string) seed.Contract {
	t.Helper()
	c, err := seed.ParseContract("contract.toml", []byte(text))
	require.NoError(t, err)
	return c
}

func given() seed.Given {
	return seed.Given{Pack: "0123456789abcdef", Documents: 100, Unit: "document", Pool: 50, Name: "toy"}
}

// set replaces the counts of a substrate.
func set(s seed.Substrate, counted, enumerated seed.Tally) func(*seed.Survey) {
	return func(v *seed.Survey) {
		for i := range v.Counts {
			if v.Counts[i].Substrate == s {
				v.Counts[i].Counted, v.Counts[i].Enumerated = counted, enumerated
			}
		}
	}
}

func rows(s seed.Substrate, n int) func(*seed.Survey) { return set(s, seed.Known(n), seed.Known(n)) }

func without(s seed.Substrate) func(*seed.Survey) {
	return func(v *seed.Survey) {
		for i := range v.Counts {
			if v.Counts[i].Substrate == s {
				v.Counts = append(v.Counts[:i], v.Counts[i+1:]...)
				return
			}
		}
	}
}

func TestContract(t *testing.T) {
	broken := errors.New("no such table: links")
	for _, tc := range []struct {
		name     string
		contract string
		survey   func(*seed.Survey)
		given    func(*seed.Given)
		want     []string // of the violations, in order; none: it holds
	}{
		{"strict holds", `preset = "strict"`, nil, nil, nil},
		{"complete holds", `preset = "complete"`, nil, nil, nil},
		{"strict, duplicates", `preset = "strict"`, func(v *seed.Survey) { v.Duplicates = seed.Known(2) }, nil, []string{"duplicates on (source, source_id): 2 (needs 0)"}},
		{"strict, duplicates unknown", `preset = "strict"`, func(v *seed.Survey) { v.Duplicates = seed.Unknown(broken) }, nil, []string{"count unknown: no such table"}},
		{"strict, duplicates not counted", `preset = "strict"`, func(v *seed.Survey) { v.Duplicates = seed.Tally{} }, nil, []string{"count unknown: nobody counted"}},
		{"strict, duplicates let be", "preset = \"strict\"\nrequire_no_dupes = false", func(v *seed.Survey) { v.Duplicates = seed.Known(2) }, nil, nil},
		{"strict, classification", `preset = "strict"`, func(v *seed.Survey) { v.Classified = seed.Known(99) }, nil, []string{"classified documents: 99 of 100 (needs all)"}},
		{"complete does not classify", `preset = "complete"`, func(v *seed.Survey) { v.Classified = seed.Known(99) }, nil, nil},
		{"classification by its key", `require_full_classification = true`, func(v *seed.Survey) { v.Classified = seed.Unknown(broken) }, nil, []string{"classified documents: count unknown"}},
		{"complete, all three gone", `preset = "complete"`, func(v *seed.Survey) {
			rows(seed.Links, 0)(v)
			rows(seed.EventDates, 0)(v)
			rows(seed.Pages, 0)(v)
		}, nil, []string{"substrate links: 0 rows (needs >= 1, required)", "substrate event_dates: 0 rows", "substrate pages: 0 rows"}},
		{"complete, one link is presence", `preset = "complete"`, rows(seed.Links, 1), nil, nil},
		{"strict does not ask for links", `preset = "strict"`, rows(seed.Links, 0), nil, nil},
		{"required", `require = ["facts"]`, rows(seed.Facts, 0), nil, []string{"substrate facts: 0 rows (needs >= 1, required)"}},
		{"required and not reported", `require = ["facts"]`, without(seed.Facts), nil, []string{"substrate facts: count unknown: the subject does not report it"}},
		{"count fails", ``, set(seed.Links, seed.Unknown(broken), seed.Known(4)), nil, []string{"substrate links: count unknown: no such table: links"}},
		{"enumeration fails", ``, set(seed.Links, seed.Known(4), seed.Unknown(broken)), nil, []string{"count unknown: enumerate: no such table"}},
		{"counts disagree", ``, set(seed.Chunks, seed.Known(100), seed.Known(99)), nil, []string{"substrate chunks: counted 100, enumerated 99"}},
		{"a count that fails is told once", `require = ["links"]`, set(seed.Links, seed.Unknown(broken), seed.Known(4)), nil, []string{"substrate links: count unknown"}},
		{"documents missing", ``, rows(seed.Documents, 99), nil, []string{"substrate documents: 99 rows, the pack has 100", "shape: 99 documents"}},
		{"floor", "[floor]\nvectors = 101", nil, nil, []string{"vectors: 100 rows (needs >= 101, the floor)"}},
		{"floor held", "[floor]\nvectors = 100", nil, nil, nil},
		{"dates reported only", ``, func(v *seed.Survey) { v.Dated = seed.Known(0) }, nil, nil},
		{"dates below their floor", "[coverage]\ndates = 0.6", nil, nil, []string{"documents with a date: 50 of 100 (0.500), below the floor 0.6"}},
		{"dates unknown, with a floor", "[coverage]\ndates = 0.6", func(v *seed.Survey) { v.Dated = seed.Tally{} }, nil, []string{"documents with a date: count unknown"}},
		{"cues below their floor", "[coverage]\ncues = 1", func(v *seed.Survey) { v.Cued = seed.Known(99) }, nil, []string{"documents with a cue: 99 of 100"}},
		{"shape, one too few", ``, nil, func(g *seed.Given) { g.Pool = 51 }, []string{"shape: 100 documents are fewer than 2 x the largest candidate pool of 51"}},
		{"shape in chunks", "[shape]\nunits = \"chunks\"", rows(seed.Chunks, 102), func(g *seed.Given) { g.Pool = 51 }, nil},
		{"shape in chunks by the pack", ``, rows(seed.Chunks, 102), func(g *seed.Given) { g.Pool, g.Unit = 51, "chunk" }, nil},
		{"shape unknown", ``, without(seed.Documents), nil, []string{"shape: substrate documents: count unknown"}},
		{"shape off", "[shape]\noff = true", nil, func(g *seed.Given) { g.Pool = 51 }, nil},
		{"no pool", ``, nil, func(g *seed.Given) { g.Pool = 0 }, nil},
		{"a capped pool", ``, nil, func(g *seed.Given) { g.Pool, g.CapPool = 51, true }, nil},
		{"nothing to cap to", ``, rows(seed.Documents, 1), func(g *seed.Given) { g.Documents, g.CapPool = 1, true }, []string{"shape: 1 documents"}},
		{"other pack", "pack = \"ffff\"", nil, nil, []string{"pack digest is 0123456789ab, the contract is for ffff"}},
		{"this pack", "pack = \"0123456789abcdef\"", nil, nil, nil},
		{"no conformance", ``, func(v *seed.Survey) { v.Conformance = nil }, nil, []string{"embedder: the live model was not held to the stored vectors"}},
		{"no check was made", ``, func(v *seed.Survey) { v.Conformance = &seed.Conformance{} }, nil, []string{"embedder: the live model was not held"}},
		{"conformance fails", ``, func(v *seed.Survey) {
			v.Conformance.Failed = []string{"pooling: cls, the reference has mean", "unit length: 2"}
		}, nil,
			[]string{"embedder: pooling: cls", "embedder: unit length"}},
		{"no embedder", "[embedder]\noff = true", func(v *seed.Survey) { v.Conformance = nil; v.Zero = seed.Tally{} }, nil, nil},
		{"vectors without a direction", ``, func(v *seed.Survey) { v.Zero = seed.Known(2) }, nil, []string{"vectors without a direction: 2 of 100 (0.020), above the ceiling 0.01"}},
		{"some may be", "[embedder]\nmax_zero = 0.02", func(v *seed.Survey) { v.Zero = seed.Known(2) }, nil, nil},
		{"truncated reported only", ``, func(v *seed.Survey) { v.Truncated = seed.Known(90) }, nil, nil},
		{"truncated above the ceiling", "[embedder]\nmax_truncated = 0.05", func(v *seed.Survey) { v.Truncated = seed.Known(6) }, nil, []string{"truncated vectors: 6 of 100 (0.060), above the ceiling 0.05"}},
		{"mixed models", ``, func(v *seed.Survey) {
			v.Counts = append(v.Counts, seed.Count{Substrate: seed.Vectors, Model: "other", Counted: seed.Known(3), Enumerated: seed.Known(3)})
		}, nil, []string{"mixed models: 3 vectors of other beside the live model m"}},
		{"consolidated", ``, nil, func(g *seed.Given) { g.ByGroup, g.Groups = true, 3 }, []string{"a consolidated store: 3 groups merged"}},
		{"consolidated by name", ``, nil, func(g *seed.Given) { g.ByGroup, g.Groups, g.Consolidated = true, 3, "toy" }, nil},
		{"consolidated by another name", ``, nil, func(g *seed.Given) { g.ByGroup, g.Groups, g.Consolidated = true, 3, "all" }, []string{"a consolidated store"}},
		{"one group", ``, nil, func(g *seed.Given) { g.ByGroup, g.Groups = true, 1 }, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v, g := sound(100), given()
			if tc.survey != nil {
				tc.survey(&v)
			}
			if tc.given != nil {
				tc.given(&g)
			}
			got := parse(t, "variant = \"t\"\n"+tc.contract).Check(v, g).Violations
			require.Len(t, got, len(tc.want), "%q", got)
			for i, want := range tc.want {
				assert.Contains(t, got[i], want)
			}
		})
	}
}

// TestCap: a cap is reported and is half of the store.
func TestCap(t *testing.T) {
	g := given()
	g.Pool, g.CapPool = 80, true
	r := parse(t, `variant = "t"`).Check(sound(100), g)
	assert.Equal(t, 50, r.Pool)
	assert.Contains(t, strings.Join(r.Allowed, "\n"), "pool capped at 50 of 100 documents (was 80)")
	g.Pool = 50
	assert.Equal(t, 50, parse(t, `variant = "t"`).Check(sound(100), g).Pool)
}

// TestEveryViolation: all of them are shown, not the first.
func TestEveryViolation(t *testing.T) {
	err := parse(t, "variant = \"t\"\npreset = \"strict\"\npack = \"f\"\nrequire = [\"facts\"]").Check(seed.Survey{}, given()).Err()
	for _, want := range []string{"pack digest", "duplicates", "classified", "facts", "shape", "embedder", "without a direction"} {
		assert.ErrorContains(t, err, want)
	}
}

func TestParseContract(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"no variant", "preset = \"strict\"", "contract.toml:1: variant is missing"},
		{"unknown key", "variant = \"t\"\nflor = 3", `contract.toml:2: unknown key "flor"`},
		{"unknown floor", "variant = \"t\"\n[floor]\nvector = 3", `contract.toml:3: unknown key "floor.vector"`},
		{"preset", "variant = \"t\"\npreset = \"lax\"", `contract.toml:2: preset "lax"`},
		{"require", "variant = \"t\"\nrequire = [\"link\"]", `contract.toml:2: require: substrate "link": want one of [documents`},
		{"floor of nothing", "variant = \"t\"\n[floor]\nlinks = 0", "contract.toml:3: floor links = 0: want at least 1"},
		{"share", "variant = \"t\"\n[coverage]\ndates = 40", "contract.toml:3: coverage.dates = 40: want a share from 0 to 1"},
		{"share not a number", "variant = \"t\"\n[embedder]\nmax_truncated = nan", "contract.toml:3: embedder.max_truncated = NaN"},
		{"units", "variant = \"t\"\n[shape]\nunits = \"words\"", `contract.toml:3: shape units "words"`},
		{"type", "variant = 3", "contract.toml:1:"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := seed.ParseContract("contract.toml", []byte(tc.text))
			assert.ErrorContains(t, err, tc.want)
		})
	}
	dir := t.TempDir()
	_, found, err := seed.ReadContract(dir)
	require.NoError(t, err)
	assert.False(t, found)
	require.NoError(t, os.WriteFile(filepath.Join(dir, seed.ContractFile), nil, 0o644))
	_, found, err = seed.ReadContract(dir)
	assert.ErrorContains(t, err, "variant is missing", "an empty file is no absent one")
	assert.False(t, found)
}

// TestDocumented: docs/seeds.md names every key of contract.toml.
func TestDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/seeds.md")
	require.NoError(t, err)
	keys := seed.ContractKeys()
	assert.Greater(t, len(keys), 20)
	for _, key := range keys {
		table, name, ok := strings.Cut(key, ".")
		if !ok {
			name = table
		} else {
			assert.Contains(t, string(doc), "["+table+"]")
		}
		assert.Regexp(t, `(?m)^`+name+` = `, string(doc), key)
	}
}

func FuzzParseContract(f *testing.F) {
	f.Add("variant = \"t\"\npreset = \"strict\"\n[floor]\nlinks = 3")
	f.Add("variant = \"t\"\n[coverage]\ndates = nan")
	f.Add("[shape]\nunits = 'chunks'")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := seed.ParseContract("c", []byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "c:") {
				t.Errorf("%q does not start with its place", err)
			}
			return
		}
		// What is accepted can be checked, whatever the store.
		c.Check(seed.Survey{}, seed.Given{})
		if c.Variant == "" {
			t.Error("a contract without a name")
		}
	})
}

func FuzzParseStamp(f *testing.F) {
	text, err := seed.Stamp{V: 1, Key: "k", Parts: seed.Parts{"a": "b"}, Content: "c"}.Text()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(`{"v":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := seed.ParseStamp(text)
		if err != nil {
			return
		}
		if key, err := s.Parts.Key(); err != nil || key != s.Key {
			t.Errorf("accepted a key that its parts do not give: %v", err)
		}
	})
}
