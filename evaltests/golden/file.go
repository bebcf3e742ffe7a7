package golden

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/digest"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// Names of the files of a golden folder.
const (
	CurrentFile = "current.jsonl"
	AnchorFile  = "anchor.jsonl"
	LedgerFile  = "ledger.jsonl"
)

// formatVersion is the format of the golden files and ledgers written here.
// Format 1 knew neither pack, models nor stages; it is still read.
const formatVersion = 2

// readable refuses a format that this tool does not know.
func readable(v int) error {
	if v < 1 || v > formatVersion {
		return fmt.Errorf("format %d; this tool reads 1 to %d", v, formatVersion)
	}
	return nil
}

// Header is the first line of a golden file.
type Header struct {
	V         int               `json:"v"`
	Suite     string            `json:"suite"`
	K         int               `json:"k"`
	Treatment string            `json:"treatment"`        // hash of the engine's effective configuration
	Seed      string            `json:"seed,omitempty"`   // key of the store: models, chunking, schema
	Pack      string            `json:"pack,omitempty"`   // digest of documents, questions and gold
	Models    map[string]string `json:"models,omitempty"` // name@digest, by the key of the configuration
	Class     string            `json:"class"`            // platform class it was made on
	Tool      string            `json:"tool"`
	By        string            `json:"blessed_by,omitempty"`
	Why       string            `json:"why"`
	When      string            `json:"when"` // RFC 3339
	Commit    string            `json:"commit,omitempty"`
}

// Case is a blessed ranking: of a stage, or the final one.
type Case struct {
	Key    string    `json:"case"`
	Stage  string    `json:"stage,omitempty"` // empty: the final ranking
	Digest string    `json:"digest"`          // of the question and its gold
	IDs    []string  `json:"ids"`
	Scores []float64 `json:"scores"`
}

// slot is the place of a ranking in a golden.
type slot struct{ key, stage string }

func (c Case) slot() slot { return slot{c.Key, c.Stage} }

func (s slot) compare(t slot) int {
	return cmp.Or(cmp.Compare(s.key, t.key), cmp.Compare(s.stage, t.stage))
}

func (s slot) String() string {
	if s.stage == "" {
		return s.key
	}
	return s.key + "/" + s.stage
}

// File is a golden file: cases by key and stage, in byte order.
type File struct {
	Header Header
	Cases  []Case
	Digest string // SHA-256 of the file as read or written
}

// ErrMissing is what Read returns, wrapped, when there is no such file.
var ErrMissing = errors.New("golden missing")

// Read reads a golden file strictly.
func Read(path string) (*File, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, ErrMissing)
	}
	if err != nil {
		return nil, err
	}
	f := &File{Digest: digest.Bytes(data)}
	first := true
	var last slot
	err = strict.Lines(path, bytes.NewReader(data), func(_ int, text []byte) error {
		if first {
			first = false
			if err := strict.JSON(text, &f.Header, true); err != nil {
				return err
			}
			return readable(f.Header.V)
		}
		c, ok := canonicalLine(string(text))
		if !ok {
			c = Case{}
			if err := strict.JSON(text, &c, true); err != nil {
				return err
			}
		}
		if c.Key == "" || c.slot().compare(last) <= 0 {
			return fmt.Errorf("case %q after %q; want each case once, in byte order", c.slot(), last)
		}
		last = c.slot()
		if len(c.IDs) != len(c.Scores) {
			return fmt.Errorf("case %q: %d ids and %d scores", c.Key, len(c.IDs), len(c.Scores))
		}
		f.Cases = append(f.Cases, c)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if first {
		return nil, fmt.Errorf("%s:1: no header", path)
	}
	return f, nil
}

// encode is the canonical form of f, so that a diff of two files is readable
// as rank moves. It sets f.Digest.
func (f *File) encode() ([]byte, error) {
	slices.SortFunc(f.Cases, func(a, b Case) int { return a.slot().compare(b.slot()) })
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(f.Header); err != nil {
		return nil, err
	}
	for _, c := range f.Cases {
		if err := enc.Encode(c); err != nil {
			return nil, err
		}
	}
	f.Digest = digest.Bytes(buf.Bytes())
	return buf.Bytes(), nil
}

// writeFile writes data to path by a temporary file and a rename.
func writeFile(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.Write(data); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	if err := os.Chmod(tmp.Name(), 0o644); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// FromRecord makes the golden of a recorded run: the first k documents of the
// final ranking of each scored case, and of the named stages, and beyond k the
// rest of the tie group that crosses it.
func FromRecord(f *record.File, k int, stages ...string) *File {
	g := &File{Header: headerOf(f.Run, k)}
	for _, r := range repeat(f.Rows, 0) { // the others are equal, or nothing is blessed
		g.Cases = append(g.Cases, casesOf(r, k, stages)...)
	}
	return g
}

func headerOf(run record.Run, k int) Header {
	return Header{
		V: formatVersion, Suite: run.Suite, K: k, Treatment: run.Hashes.Treatment, Seed: cmp.Or(run.Hashes.Store, run.Hashes.SeedKey),
		Pack: run.Pack.Digest, Models: modelsOf(run.Config),
		Class: run.Identity.Class, Tool: run.Identity.Tool, Commit: run.Context.Commit,
	}
}

// model finds name@digest in a value of a configuration.
var model = regexp.MustCompile(`\S+@[0-9a-f]{12,64}\b`)

// modelsOf are the values of a configuration that name content by its digest.
func modelsOf(config map[string]record.Set) map[string]string {
	models := map[string]string{}
	for key, v := range config {
		if m := model.FindString(v.Value); m != "" {
			models[key] = m
		}
	}
	if len(models) == 0 {
		return nil
	}
	return models
}

// casesOf are the rankings of a row that a golden keeps; none unless the case
// was scored, and of a stage none unless it was executed.
func casesOf(r record.Row, k int, stages []string) []Case {
	if r.Outcome.State != record.Scored {
		return nil
	}
	cases := []Case{caseOf(r, "", r.Ranking, k)}
	for _, name := range stages {
		if s, ok := r.Stage(name); ok && s.State == record.Executed {
			cases = append(cases, caseOf(r, name, s.Entries, k))
		}
	}
	return cases
}

func caseOf(r record.Row, stage string, entries []record.Entry, k int) Case {
	ids, scores, _ := record.Documents(entries)
	// The groups are those that Check will form, so that it finds whole the one
	// that crosses k.
	cut := 0
	for _, size := range tieGroups(scores, DefaultEpsilon) {
		if cut >= k {
			break
		}
		cut += size
	}
	return Case{
		Key: r.Case, Stage: stage, Digest: r.Digest,
		IDs: append([]string{}, ids[:cut]...), Scores: append([]float64{}, scores[:cut]...),
	}
}
