package golden

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"

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

// formatVersion is the format of golden files.
const formatVersion = 1

// Header is the first line of a golden file.
type Header struct {
	V         int    `json:"v"`
	Suite     string `json:"suite"`
	K         int    `json:"k"`
	Treatment string `json:"treatment"` // hash of the engine's effective configuration
	Seed      string `json:"seed,omitempty"`
	Class     string `json:"class"` // platform class it was made on
	Tool      string `json:"tool"`
	By        string `json:"blessed_by,omitempty"`
	Why       string `json:"why"`
	When      string `json:"when"` // RFC 3339
	Commit    string `json:"commit,omitempty"`
}

// Case is a blessed ranking.
type Case struct {
	Key    string    `json:"case"`
	Digest string    `json:"digest"` // of the question and its gold
	IDs    []string  `json:"ids"`
	Scores []float64 `json:"scores"`
}

// File is a golden file: cases by key, in byte order.
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
	last := ""
	err = strict.Lines(path, bytes.NewReader(data), func(_ int, text []byte) error {
		if first {
			first = false
			if err := strict.JSON(text, &f.Header, true); err != nil {
				return err
			}
			if f.Header.V != formatVersion {
				return fmt.Errorf("format %d; this tool reads %d", f.Header.V, formatVersion)
			}
			return nil
		}
		var c Case
		if err := strict.JSON(text, &c, true); err != nil {
			return err
		}
		if c.Key <= last {
			return fmt.Errorf("case %q after %q; want each case once, in byte order", c.Key, last)
		}
		last = c.Key
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
	sort.Slice(f.Cases, func(i, j int) bool { return f.Cases[i].Key < f.Cases[j].Key })
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

// FromRecord makes the golden of a recorded run: the first k documents of
// each scored case, and beyond k the rest of the tie group that crosses it.
func FromRecord(f *record.File, k int) *File {
	g := &File{Header: Header{
		V: formatVersion, Suite: f.Run.Suite, K: k, Treatment: f.Run.Hashes.Treatment, Seed: f.Run.Hashes.SeedKey,
		Class: f.Run.Identity.Class, Tool: f.Run.Identity.Tool, Commit: f.Run.Context.Commit,
	}}
	for _, r := range f.Rows {
		if r.Outcome.State != record.Scored {
			continue
		}
		ids, scores, _ := record.Documents(r.Ranking)
		// The groups are those that Check will form, so that it finds whole the
		// one that crosses k.
		cut := 0
		for _, size := range tieGroups(scores, DefaultEpsilon) {
			if cut >= k {
				break
			}
			cut += size
		}
		g.Cases = append(g.Cases, Case{
			Key: r.Case, Digest: r.Digest,
			IDs: append([]string{}, ids[:cut]...), Scores: append([]float64{}, scores[:cut]...),
		})
	}
	return g
}
