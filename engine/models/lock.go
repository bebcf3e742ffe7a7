package models

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// LockVersion is the version of lock files that this package reads.
const LockVersion = 1

// Kinds of models.
const (
	Embedder = "embedder"
	Reranker = "reranker"
)

// Kinds of sources.
const (
	Local = "local" // a folder that the caller names
	Hub   = "hub"   // the Hugging Face hub
	Maven = "maven" // an artifact of a Maven repository
)

// Lock is a lock file.
type Lock struct {
	Version int     `json:"version"`
	Models  []Model `json:"models"`
}

// Model is one model of a lock.
type Model struct {
	Name      string   `json:"name"` // also its folder's
	Kind      string   `json:"kind"` // Embedder or Reranker
	License   string   `json:"license"`
	Pooling   string   `json:"pooling,omitempty"` // of an embedder
	Dim       int      `json:"dim,omitempty"`     // length of an embedder's vectors
	MaxTokens int      `json:"max_tokens"`        // longer input is cut there, special tokens included
	Files     []File   `json:"files"`
	Sources   []Source `json:"sources"` // tried in order
}

// File is one file of a model, in its folder.
type File struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"` // hex
	Size   int64  `json:"size"`   // bytes
}

// Source is a place that a model can come from.
type Source struct {
	Kind     string            `json:"kind"`
	Repo     string            `json:"repo,omitempty"`     // of the hub: owner/name
	Revision string            `json:"revision,omitempty"` // of the hub: a commit
	Artifact string            `json:"artifact,omitempty"` // of Maven: group:artifact:version
	SHA256   string            `json:"sha256,omitempty"`   // of the artifact's jar, hex
	Size     int64             `json:"size,omitempty"`     // of the artifact's jar, bytes
	Paths    map[string]string `json:"paths,omitempty"`    // where each file lies inside; its own name if it is not listed
}

// String names the source for messages.
func (s Source) String() string {
	switch s.Kind {
	case Hub:
		return "hub " + s.Repo
	case Maven:
		return "maven " + s.Artifact
	}
	return s.Kind
}

// path is where a file lies inside the source.
func (s Source) path(file string) string {
	if p := s.Paths[file]; p != "" {
		return p
	}
	return file
}

// Remote tells whether a source of the model needs no folder of the caller's.
func (m Model) Remote() bool {
	return slices.ContainsFunc(m.Sources, func(s Source) bool { return s.Kind != Local })
}

// ReadLock reads a lock file. An unknown key, a name that could leave the
// models' folder, and a digest that is none are errors.
func ReadLock(path string) (*Lock, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("models lock: %w", err)
	}
	l, err := ParseLock(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

// ParseLock is [ReadLock] of the file's bytes.
func ParseLock(data []byte) (*Lock, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var l Lock
	if err := d.Decode(&l); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("more than one JSON document; want one")
	}
	if l.Version != LockVersion {
		return nil, fmt.Errorf("version %d; want %d", l.Version, LockVersion)
	}
	seen := map[string]bool{}
	for i, m := range l.Models {
		if err := m.check(); err != nil {
			return nil, fmt.Errorf("model %d (%q): %w", i+1, m.Name, err)
		}
		if key := strings.ToLower(m.Name); seen[key] {
			return nil, fmt.Errorf("model %d (%q): the name occurs twice", i+1, m.Name)
		} else {
			seen[key] = true
		}
	}
	return &l, nil
}

// Model returns the model of a name.
func (l *Lock) Model(name string) (Model, error) {
	var names []string
	for _, m := range l.Models {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Model{}, fmt.Errorf("model %q is not in the lock; it has %s", name, strings.Join(names, ", "))
}

// validName is a file or folder name on every platform: it cannot climb out
// of its folder, and it is no hidden file.
var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

func (m Model) check() error {
	if !validName.MatchString(m.Name) {
		return fmt.Errorf("name: want letters, digits, dots, dashes, underscores")
	}
	if m.Kind != Embedder && m.Kind != Reranker {
		return fmt.Errorf("kind %q; want %s or %s", m.Kind, Embedder, Reranker)
	}
	if m.MaxTokens < 4 {
		return fmt.Errorf("max_tokens %d; want at least 4", m.MaxTokens)
	}
	if m.Kind == Embedder && (m.Dim < 1 || m.Pooling == "") {
		return fmt.Errorf("dim %d, pooling %q; an embedder needs both", m.Dim, m.Pooling)
	}
	if len(m.Files) == 0 || len(m.Sources) == 0 {
		return fmt.Errorf("%d files, %d sources; want at least one of each", len(m.Files), len(m.Sources))
	}
	seen := map[string]bool{}
	for _, f := range m.Files {
		if !validName.MatchString(f.Name) || seen[f.Name] {
			return fmt.Errorf("file %q: want a plain name that occurs once", f.Name)
		}
		seen[f.Name] = true
		if err := checkDigest(f.SHA256, f.Size); err != nil {
			return fmt.Errorf("file %s: %w", f.Name, err)
		}
	}
	for i, s := range m.Sources {
		if err := s.check(seen); err != nil {
			return fmt.Errorf("source %d: %w", i+1, err)
		}
	}
	return nil
}

func checkDigest(sum string, size int64) error {
	if b, err := hex.DecodeString(sum); err != nil || len(b) != 32 || strings.ToLower(sum) != sum {
		return fmt.Errorf("sha256 %q; want 64 lower-case hex digits", sum)
	}
	if size < 1 {
		return fmt.Errorf("size %d; want at least 1", size)
	}
	return nil
}

var (
	validRepo     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*$`)
	validRevision = regexp.MustCompile(`^[0-9a-f]{40}$`)
	validArtifact = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*:[A-Za-z0-9_-][A-Za-z0-9._-]*:[A-Za-z0-9][A-Za-z0-9._-]*$`)
)

func (s Source) check(files map[string]bool) error {
	for name, path := range s.Paths {
		if !files[name] {
			return fmt.Errorf("paths: %q is none of the model's files", name)
		}
		if !filepath.IsLocal(filepath.FromSlash(path)) {
			return fmt.Errorf("paths: %s: %q leaves the source", name, path)
		}
	}
	switch s.Kind {
	case Local:
		return nil
	case Hub:
		if !validRepo.MatchString(s.Repo) || !validRevision.MatchString(s.Revision) {
			return fmt.Errorf("repo %q at revision %q; want owner/name and a commit", s.Repo, s.Revision)
		}
		return nil
	case Maven:
		if !validArtifact.MatchString(s.Artifact) {
			return fmt.Errorf("artifact %q; want group:artifact:version", s.Artifact)
		}
		return checkDigest(s.SHA256, s.Size)
	}
	return fmt.Errorf("kind %q; want %s, %s or %s", s.Kind, Local, Hub, Maven)
}
