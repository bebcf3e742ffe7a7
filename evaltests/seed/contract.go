package seed

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// ContractFile is the name of the file in a pack's folder that says what a
// store of the pack must hold.
const ContractFile = "contract.toml"

// Contract is contract.toml. Its keys are documented in docs/seeds.md.
type Contract struct {
	Variant    string   `toml:"variant"`                     // names the contract in what is printed
	Preset     string   `toml:"preset"`                      // "strict", "complete", or empty
	Pack       string   `toml:"pack"`                        // digest of the pack's content; empty: whatever pack.lock.json pins
	NoDupes    *bool    `toml:"require_no_dupes"`            // no two documents of one source and source id
	Classified *bool    `toml:"require_full_classification"` // the enrichment has read every document
	Require    []string `toml:"require"`                     // substrates that must be there
	Floor      Floors   `toml:"floor"`
	Coverage   Coverage `toml:"coverage"`
	Shape      Shape    `toml:"shape"`
	Embedder   Embedder `toml:"embedder"`
}

// Floors are the fewest rows of a substrate.
type Floors struct {
	Documents   *int `toml:"documents"`
	Chunks      *int `toml:"chunks"`
	Lexical     *int `toml:"lexical"`
	Vectors     *int `toml:"vectors"`
	Entities    *int `toml:"entities"`
	Links       *int `toml:"links"`
	EventDates  *int `toml:"event_dates"`
	Pages       *int `toml:"pages"`
	PageSources *int `toml:"page_sources"`
	Episodes    *int `toml:"episodes"`
	Facts       *int `toml:"facts"`
}

func (f Floors) by(s Substrate) *int {
	return map[Substrate]*int{
		Documents: f.Documents, Chunks: f.Chunks, Lexical: f.Lexical, Vectors: f.Vectors, Entities: f.Entities, Links: f.Links,
		EventDates: f.EventDates, Pages: f.Pages, PageSources: f.PageSources, Episodes: f.Episodes, Facts: f.Facts,
	}[s]
}

// Coverage are the least shares of documents, 0 to 1. A share without a floor
// is reported only: percentages rot.
type Coverage struct {
	Dates *float64 `toml:"dates"` // with an event date
	Cues  *float64 `toml:"cues"`  // that name something or point to another document
	Pages bool     `toml:"pages"` // a subject may return pages: they stand for the documents that they cover
}

// Shape says how large a store must be beside the candidate pools of the arms.
type Shape struct {
	Units string `toml:"units"` // "documents" or "chunks": what is counted; empty: as the pack counts
	Off   bool   `toml:"off"`   // no reranker is ever measured on this pack
}

// Embedder is what is asked of the model behind the vectors.
type Embedder struct {
	Off          bool     `toml:"off"`           // the subject has no vectors
	MaxZero      *float64 `toml:"max_zero"`      // largest share of vectors without a direction, as texts without a known word have (default .01)
	MaxTruncated *float64 `toml:"max_truncated"` // largest share of vectors whose passage the model did not read to the end; report-only if absent
}

// ShapeFactor is how many times the largest candidate pool a store must hold:
// below it a reranker's pool holds most of the corpus, and recall is full by
// construction.
const ShapeFactor = 2

const defaultMaxZero = .01

// ReadContract reads dir/contract.toml. found is false when there is none.
func ReadContract(dir string) (c Contract, found bool, err error) {
	path := filepath.Join(dir, ContractFile)
	data, err := readFile(path)
	if err != nil || data == nil {
		return Contract{}, false, err
	}
	c, err = ParseContract(path, data)
	return c, err == nil, err
}

// ParseContract decodes a contract strictly: an unknown key is an error with
// name:line.
func ParseContract(name string, data []byte) (Contract, error) {
	var c Contract
	if err := strict.TOML(name, data, &c); err != nil {
		return Contract{}, err
	}
	if key, err := c.validate(); err != nil {
		line := 1
		if at := strict.TOMLLines(data, strings.Split(key, ".")...); len(at) > 0 {
			line = at[0]
		}
		return Contract{}, fmt.Errorf("%s:%d: %w", name, line, err)
	}
	return c, nil
}

func (c Contract) validate() (key string, err error) {
	if c.Variant == "" {
		return "variant", errors.New("variant is missing: name the contract")
	}
	if !slices.Contains([]string{"", "strict", "complete"}, c.Preset) {
		return "preset", fmt.Errorf("preset %q: want strict or complete", c.Preset)
	}
	for _, name := range c.Require {
		if _, err := ParseSubstrate(name); err != nil {
			return "require", fmt.Errorf("require: %w", err)
		}
	}
	for _, s := range Substrates() {
		if f := c.Floor.by(s); f != nil && *f < 1 {
			return "floor." + s.String(), fmt.Errorf("floor %s = %d: want at least 1, or no floor", s, *f)
		}
	}
	for _, share := range []struct {
		key string
		at  *float64
	}{{"coverage.dates", c.Coverage.Dates}, {"coverage.cues", c.Coverage.Cues}, {"embedder.max_truncated", c.Embedder.MaxTruncated},
		{"embedder.max_zero", c.Embedder.MaxZero}} {
		if share.at != nil && !(*share.at >= 0 && *share.at <= 1) {
			return share.key, fmt.Errorf("%s = %v: want a share from 0 to 1", share.key, *share.at)
		}
	}
	if !slices.Contains([]string{"", "documents", "chunks"}, c.Shape.Units) {
		return "shape.units", fmt.Errorf("shape units %q: want documents or chunks", c.Shape.Units)
	}
	return "", nil
}

// ContractKeys lists the keys of contract.toml, those of tables as
// "table.key", for the documentation's test.
func ContractKeys() []string {
	var keys []string
	var walk func(prefix string, typ reflect.Type)
	walk = func(prefix string, typ reflect.Type) {
		for i := range typ.NumField() {
			f := typ.Field(i)
			tag := f.Tag.Get("toml")
			switch {
			case tag == "-":
			case f.Type.Kind() == reflect.Struct:
				walk(prefix+tag+".", f.Type)
			default:
				keys = append(keys, prefix+tag)
			}
		}
	}
	walk("", reflect.TypeOf(Contract{}))
	return keys
}

// rules are the contract with its preset filled in. What a preset asks for, a
// key of its own may take back.
func (c Contract) rules() (noDupes, classified bool, require []Substrate) {
	switch c.Preset {
	case "strict":
		noDupes, classified = true, true
	case "complete":
		noDupes, require = true, []Substrate{Links, EventDates, Pages}
	}
	if c.NoDupes != nil {
		noDupes = *c.NoDupes
	}
	if c.Classified != nil {
		classified = *c.Classified
	}
	for _, name := range c.Require {
		if s, err := ParseSubstrate(name); err == nil && !slices.Contains(require, s) {
			require = append(require, s)
		}
	}
	return noDupes, classified, require
}

// Given is what a contract is held against beside the survey.
type Given struct {
	Pack      string // digest of the pack's content
	Documents int    // that were to be stored
	Unit      string // of the pack: document or chunk
	Pool      int    // largest candidate pool of any arm; 0: there is none
	CapPool   bool   // the suite lets the pool be at most half of the store, visibly
	Groups    int    // different groups of the documents that were merged into one store
	ByGroup   bool   // the measures are by group
	Name      string // of the pack

	Consolidated string // the suite's word: the name of a pack whose groups are meant to be merged
}

// Result is what a contract says of one store.
type Result struct {
	Violations []string
	Report     []string // shares without a floor
	Allowed    []string // what the suite let pass: a capped pool, a merged store
	Pool       int      // that arms may use, after a cap
}

// Err joins the violations, each with its place, or is nil.
func (r Result) Err() error {
	if len(r.Violations) == 0 {
		return nil
	}
	return fmt.Errorf("contract violated: %s", strings.Join(r.Violations, "; "))
}

// Check holds a survey to the contract. All violations are collected.
func (c Contract) Check(v Survey, f Given) Result {
	k := checker{c: c, v: v, f: f}
	k.r.Pool = f.Pool
	if c.Pack != "" && c.Pack != f.Pack {
		k.bad("pack digest is %.12s, the contract is for %.12s", f.Pack, c.Pack)
	}
	noDupes, classified, require := c.rules()
	k.counts(require)
	if noDupes {
		k.none("duplicates on (source, source_id)", v.Duplicates, "make each source id once")
	}
	if classified {
		k.all("classified documents", v.Classified)
	}
	k.share("documents with a date", v.Dated, c.Coverage.Dates, false)
	k.share("documents with a cue", v.Cued, c.Coverage.Cues, false)
	k.shape()
	k.embedder()
	if f.ByGroup && f.Groups > 1 {
		if f.Consolidated != f.Name || f.Name == "" {
			k.bad("a consolidated store: %d groups merged, and the questions are by group; say scope = \"group\", or consolidated = %q in suite.toml (touchstone run: --scope group)", f.Groups, f.Name)
		} else {
			k.r.Allowed = append(k.r.Allowed, fmt.Sprintf("consolidated: %d groups merged, by name of the suite", f.Groups))
		}
	}
	return k.r
}

type checker struct {
	c Contract
	v Survey
	f Given
	r Result
}

func (k *checker) bad(format string, args ...any) {
	k.r.Violations = append(k.r.Violations, fmt.Sprintf(format, args...))
}

// counts checks that every count that the subject gives is known, that the
// documents are those of the pack, and what the contract requires.
func (k *checker) counts(require []Substrate) {
	for _, c := range k.v.Counts {
		rows, err := c.Rows()
		switch {
		case err != nil:
			k.bad("%v", err)
		case c.Substrate == Documents && rows != k.f.Documents:
			k.bad("substrate documents: %d rows, the pack has %d", rows, k.f.Documents)
		case c.Substrate == Vectors && k.v.Model != "" && c.Model != "" && c.Model != k.v.Model && rows > 0:
			k.bad("mixed models: %d vectors of %s beside the live model %s", rows, c.Model, k.v.Model)
		}
	}
	for _, s := range Substrates() {
		least, why := 0, ""
		if slices.Contains(require, s) {
			least, why = 1, "required"
		}
		if f := k.c.Floor.by(s); f != nil {
			least, why = *f, "the floor"
		}
		if least == 0 {
			continue
		}
		rows, err := k.v.Of(s)
		switch {
		case err != nil && !k.reported(s):
			k.bad("%v", err)
		case err == nil && rows < least:
			k.bad("substrate %s: %d rows (needs >= %d, %s)", s, rows, least, why)
		}
	}
}

func (k *checker) reported(s Substrate) bool {
	return slices.ContainsFunc(k.v.Counts, func(c Count) bool { return c.Substrate == s })
}

func (k *checker) none(what string, t Tally, action string) {
	switch n, err := t.Value(); {
	case err != nil:
		k.bad("%s: count unknown: %v", what, err)
	case n > 0:
		k.bad("%s: %d (needs 0); %s", what, n, action)
	}
}

func (k *checker) all(what string, t Tally) {
	switch n, err := t.Value(); {
	case err != nil:
		k.bad("%s: count unknown: %v", what, err)
	case n != k.f.Documents:
		k.bad("%s: %d of %d (needs all)", what, n, k.f.Documents)
	}
}

// share checks a share of the documents, or of the vectors, against its bound.
func (k *checker) share(what string, t Tally, bound *float64, ceiling bool) {
	n, err := t.Value()
	if err != nil {
		if bound != nil {
			k.bad("%s: count unknown: %v", what, err)
		}
		return
	}
	of := k.f.Documents
	if ceiling {
		if of, err = k.v.Of(Vectors); err != nil {
			if bound != nil {
				k.bad("%s: %v", what, err)
			}
			return
		}
	}
	got := float64(n) / math.Max(float64(of), 1)
	text := fmt.Sprintf("%s: %d of %d (%.3f)", what, n, of, got)
	switch {
	case bound == nil:
		k.r.Report = append(k.r.Report, text)
	case ceiling && got > *bound:
		k.bad("%s, above the ceiling %v", text, *bound)
	case !ceiling && got < *bound:
		k.bad("%s, below the floor %v", text, *bound)
	}
}

func (k *checker) shape() {
	if k.c.Shape.Off || k.f.Pool == 0 {
		return
	}
	unit := Documents
	if k.c.Shape.Units == "chunks" || k.c.Shape.Units == "" && k.f.Unit == "chunk" {
		unit = Chunks
	}
	units, err := k.v.Of(unit)
	switch {
	case err != nil:
		k.bad("shape: %v", err)
	case units >= ShapeFactor*k.f.Pool:
	case k.f.CapPool && units >= ShapeFactor:
		k.r.Pool = units / ShapeFactor
		k.r.Allowed = append(k.r.Allowed, fmt.Sprintf("pool capped at %d of %d %s (was %d)", k.r.Pool, units, unit, k.f.Pool))
	default:
		k.bad("shape: %d %s are fewer than %d x the largest candidate pool of %d; use a larger corpus, or say cap_pool = true in suite.toml",
			units, unit, ShapeFactor, k.f.Pool)
	}
}

func (k *checker) embedder() {
	if k.c.Embedder.Off {
		return
	}
	most := defaultMaxZero
	if k.c.Embedder.MaxZero != nil {
		most = *k.c.Embedder.MaxZero
	}
	k.share("vectors without a direction", k.v.Zero, &most, true)
	k.share("truncated vectors", k.v.Truncated, k.c.Embedder.MaxTruncated, true)
	switch m := k.v.Conformance; {
	case m == nil || m.Checks == 0:
		k.bad("embedder: the live model was not held to the stored vectors")
	default:
		for _, failed := range m.Failed {
			k.bad("embedder: %s", failed)
		}
	}
}
