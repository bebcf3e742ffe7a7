package pack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/digest"
	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// LockFile is the name of the file that pins a pack's content.
const LockFile = "pack.lock.json"

// lockVersion is the format of LockFile.
const lockVersion = 2

// Lock is pack.lock.json: what a pack contained when it was pinned.
type Lock struct {
	V         int      `json:"v"` // 1 did not pin unit, language, role, authored and strata
	Name      string   `json:"name"`
	Version   string   `json:"version"`
	Loader    string   `json:"loader"`
	Source    string   `json:"source"`
	Licence   string   `json:"licence"`
	Selection string   `json:"selection,omitempty"`
	Unit      string   `json:"unit,omitempty"`
	Language  string   `json:"language,omitempty"`
	Role      string   `json:"role,omitempty"`
	Authored  string   `json:"authored,omitempty"`
	Strata    []string `json:"strata,omitempty"`
	Counts    Counts   `json:"counts"`
	Content   string   `json:"content"` // digest of documents, cases and gold in canonical form
	Files     []File   `json:"files"`
	Cases     []string `json:"cases"` // ids in byte order
}

// Counts of a pack.
type Counts struct {
	Documents  int `json:"documents"`
	Cases      int `json:"cases"`
	Answerable int `json:"answerable"`
	Judgements int `json:"judgements"`
}

// Counts counts what is in p.
func (p *Pack) Counts() Counts {
	n := Counts{Documents: len(p.Documents), Cases: len(p.Cases)}
	if p.scanned != nil {
		n.Documents = p.scanned.documents()
	}
	for _, k := range p.Cases {
		n.Judgements += len(k.Gold.Grades)
		if k.Gold.Answerable {
			n.Answerable++
		}
	}
	return n
}

// Digest is the digest of the canonical content: documents and cases with
// their gold, by id, whatever their order and format on disk.
func (p *Pack) Digest() (string, error) {
	if p.content != "" {
		return p.content, nil
	}
	documents := slices.Clone(p.Documents)
	sort.Slice(documents, func(i, j int) bool { return documents[i].ID < documents[j].ID })
	cases := slices.Clone(p.Cases)
	sort.Slice(cases, func(i, j int) bool { return cases[i].Question.ID < cases[j].Question.ID })
	content := map[string]any{"name": p.Manifest.Name, "unit": p.Manifest.Unit}
	var err error
	if content["cases"], err = list(len(cases), func(i int) ([]byte, error) { return digest.Canonical(cases[i]) }); err != nil {
		return "", err
	}
	if p.scanned != nil {
		return p.scanned.digest(content)
	}
	if content["documents"], err = list(len(documents), func(i int) ([]byte, error) { return canonicalDocument(documents[i]) }); err != nil {
		return "", err
	}
	if p.Fields != nil {
		content["fields"] = p.Fields
	}
	if p.Types != nil {
		content["types"] = p.Types
	}
	return digest.Pairs(contentDomain, content)
}

const contentDomain = "touchstone/pack/1"

// CaseIDs lists the ids of the cases in byte order.
func (p *Pack) CaseIDs() []string {
	ids := make([]string, len(p.Cases))
	for i, k := range p.Cases {
		ids[i] = k.Question.ID
	}
	sort.Strings(ids)
	return ids
}

// Lock pins p as it is now.
func (p *Pack) Lock() (Lock, error) {
	content, err := p.Digest()
	if err != nil {
		return Lock{}, err
	}
	return Lock{
		V: lockVersion, Name: p.Manifest.Name, Version: p.Manifest.Version, Loader: p.Loader,
		Source: p.Manifest.Source, Licence: p.Manifest.Licence, Selection: p.Manifest.Selection,
		Unit: p.Manifest.Unit, Language: p.Manifest.Language, Role: p.Manifest.Role, Authored: p.Manifest.Authored, Strata: p.Manifest.Strata,
		Counts: p.Counts(), Content: content, Files: p.Files, Cases: p.CaseIDs(),
	}, nil
}

// Write writes the lock to dir/pack.lock.json, whole or not at all.
func (l Lock) Write(dir string) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l); err != nil {
		return err
	}
	path := filepath.Join(dir, LockFile)
	tmp, err := os.CreateTemp(dir, LockFile+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.Write(buf.Bytes()); err != nil {
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

// ReadLock reads dir/pack.lock.json.
func ReadLock(dir string) (Lock, error) {
	path := filepath.Join(dir, LockFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Lock{}, fmt.Errorf("%s: missing; pin the pack with `touchstone pack lock %s`", path, dir)
	}
	if err != nil {
		return Lock{}, err
	}
	var l Lock
	if err := strict.JSON(data, &l, true); err != nil {
		return Lock{}, fmt.Errorf("%s: %w", path, err)
	}
	if l.V != lockVersion && l.V != lockVersion-1 {
		return Lock{}, fmt.Errorf("%s: format %d, this tool reads %d and %d", path, l.V, lockVersion-1, lockVersion)
	}
	if err := l.sound(); err != nil {
		return Lock{}, fmt.Errorf("%s: edited by hand: %w; pin the pack again with `touchstone pack lock %s`", path, err, dir)
	}
	return l, nil
}

// sound refuses in format 1 what only format 2 pins: it would be read by
// people, and compared with nothing.
func (l Lock) sound() error {
	if l.V == 1 && l.Unit+l.Language+l.Role+l.Authored != "" || l.V == 1 && len(l.Strata) > 0 {
		return errors.New("format 1 pins no unit, language, role, authored and strata, but they are there")
	}
	return nil
}

// ChangedError says how a pack differs from its lock.
type ChangedError struct {
	Path    string   // of the lock
	Changes []string // one statement each, files first
}

func (e *ChangedError) Error() string {
	const most = 8
	shown := e.Changes
	more := ""
	if len(shown) > most {
		more = fmt.Sprintf("; and %d more", len(shown)-most)
		shown = shown[:most]
	}
	return fmt.Sprintf("%s: the pack is not the one that was pinned: %s%s; restore it, or pin the new content with `touchstone pack lock %s`",
		e.Path, strings.Join(shown, "; "), more, filepath.Dir(e.Path))
}

// Check compares p with the lock in its folder and returns a [*ChangedError]
// that names every difference, or an error when there is no lock.
func (p *Pack) Check() error {
	want, err := ReadLock(p.Dir)
	if err != nil {
		return err
	}
	got, err := p.Lock()
	if err != nil {
		return err
	}
	if changes := want.changes(got); len(changes) > 0 {
		return &ChangedError{Path: filepath.Join(p.Dir, LockFile), Changes: changes}
	}
	return nil
}

func (l Lock) changes(got Lock) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	now := map[string]File{}
	for _, f := range got.Files {
		now[f.Path] = f
	}
	pinned := map[string]bool{}
	for _, f := range l.Files {
		pinned[f.Path] = true
		switch g, ok := now[f.Path]; {
		case !ok:
			say("file %s was pinned and is gone", f.Path)
		case g.SHA256 != f.SHA256:
			say("file %s changed (sha256 %s, pinned %s)", f.Path, digest.Abbrev(g.SHA256), digest.Abbrev(f.SHA256))
		case g.Bytes != f.Bytes:
			say("file %s has %d bytes, pinned %d", f.Path, g.Bytes, f.Bytes)
		}
	}
	for _, f := range got.Files {
		if !pinned[f.Path] {
			say("file %s is new", f.Path)
		}
	}
	if len(out) == 0 && !slices.Equal(paths(l.Files), paths(got.Files)) {
		say("the lock's list of files is not in order, or names one twice")
	}
	before := len(out)
	for _, id := range missing(l.Cases, got.Cases) {
		say("case %s is gone", id)
	}
	for _, id := range missing(got.Cases, l.Cases) {
		say("case %s is new", id)
	}
	if len(out) == before && !slices.Equal(l.Cases, got.Cases) {
		say("the lock's list of cases is not in order, or names one twice")
	}
	field := func(name, have, pinned string) {
		if have != pinned {
			say("%s is %q, pinned %q", name, have, pinned)
		}
	}
	field("name", got.Name, l.Name)
	field("version", got.Version, l.Version)
	field("loader", got.Loader, l.Loader)
	field("source", got.Source, l.Source)
	field("licence", got.Licence, l.Licence)
	field("selection", got.Selection, l.Selection)
	if l.V > 1 {
		field("unit", got.Unit, l.Unit)
		field("language", got.Language, l.Language)
		field("role", got.Role, l.Role)
		field("authored", got.Authored, l.Authored)
		field("strata", strings.Join(got.Strata, ", "), strings.Join(l.Strata, ", "))
	}
	if got.Counts != l.Counts {
		say("counts are %+v, pinned %+v", got.Counts, l.Counts)
	}
	if got.Content != l.Content {
		say("content digest is %s, pinned %s", digest.Abbrev(got.Content), digest.Abbrev(l.Content))
	}
	return out
}

func paths(files []File) []string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = f.Path
	}
	return out
}

// missing lists what of ids is not in others.
func missing(ids, others []string) []string {
	in := map[string]bool{}
	for _, id := range others {
		in[id] = true
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return in[id] })
}
