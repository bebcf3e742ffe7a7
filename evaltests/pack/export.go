package pack

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Export writes a loaded pack to dir as an own pack: corpus.jsonl,
// queries.jsonl, qrels.tsv, cases.jsonl, pack.toml and the lock. What is
// loaded from there has the same documents and cases. The folder must not
// exist, or be empty. Field and type truths have no place in that form; a pack
// that has them is refused.
func (p *Pack) Export(dir, name string) (Lock, error) {
	if !packName.MatchString(name) {
		return Lock{}, fmt.Errorf("name %q: want lower-case letters, digits and dashes", name)
	}
	if len(p.Fields)+len(p.Types) > 0 {
		return Lock{}, fmt.Errorf("pack %s: %d field and %d type truths have no place in an own pack; use the folder as it is, with --pack",
			p.Manifest.Name, len(p.Fields), len(p.Types))
	}
	if old, err := os.ReadDir(dir); err == nil && len(old) > 0 {
		return Lock{}, fmt.Errorf("%s: not empty; give a new folder", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Lock{}, err
	}
	for file, write := range map[string]func(io.Writer) error{
		"corpus.jsonl": p.writeCorpus, "queries.jsonl": p.writeQueries, "qrels.tsv": p.writeQrels, "cases.jsonl": p.writeCases,
		ContestedFile: p.writeContested,
	} {
		if file == ContestedFile && !slices.ContainsFunc(p.Cases, func(k Case) bool { return k.Contested != "" }) {
			continue
		}
		if err := writeFile(filepath.Join(dir, file), write); err != nil {
			return Lock{}, err
		}
	}
	m := p.Manifest
	m.Name, m.Format, m.External, m.Folder, m.Split = name, "beir", false, "", ""
	if m.Source == "" {
		m.Source = "imported from a folder in the format " + p.Manifest.Format
	}
	if err := m.Write(dir); err != nil {
		return Lock{}, err
	}
	again, err := Load(dir, Options{})
	if err != nil {
		return Lock{}, fmt.Errorf("what was written cannot be read: %w", err)
	}
	lock, err := again.Lock()
	if err != nil {
		return Lock{}, err
	}
	return lock, lock.Write(dir)
}

// Write writes pack.toml.
func (m Manifest) Write(dir string) error {
	var b bytes.Buffer
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s = %s\n", key, tomlString(value))
		}
	}
	line("name", m.Name)
	line("version", m.Version)
	line("description", m.Description)
	line("licence", m.Licence)
	line("source", m.Source)
	line("language", m.Language)
	line("unit", m.Unit)
	line("format", m.Format)
	if len(m.Strata) > 0 {
		var quoted []string
		for _, s := range m.Strata {
			quoted = append(quoted, tomlString(s))
		}
		fmt.Fprintf(&b, "strata = [%s]\n", strings.Join(quoted, ", "))
	}
	line("role", m.Role)
	line("authored", m.Authored)
	line("selection", m.Selection)
	line("split", m.Split)
	if g := m.Generator; g != nil {
		fmt.Fprintf(&b, "\n[generator]\ntemplate = %s\nsha256 = %s\nseed = %d\n", tomlString(g.Template), tomlString(g.SHA256), g.Seed)
	}
	if _, err := parseManifest(ManifestFile, b.Bytes()); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, ManifestFile), b.Bytes(), 0o644)
}

// tomlString is a basic string: JSON's escapes are TOML's, but for DEL.
func tomlString(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return `""`
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\u007f`)
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<18)
	return errors.Join(write(w), w.Flush(), f.Close())
}

func lines[T any](w io.Writer, n int, line func(i int) (T, error)) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i := range n {
		v, err := line(i)
		if err != nil {
			return err
		}
		if err := enc.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

func (p *Pack) writeCorpus(w io.Writer) error {
	type line struct {
		ID    string            `json:"_id"`
		Title string            `json:"title,omitempty"`
		Text  string            `json:"text"`
		Group string            `json:"group,omitempty"`
		Date  string            `json:"date,omitempty"`
		Meta  map[string]string `json:"metadata,omitempty"`
	}
	return lines(w, len(p.Documents), func(i int) (line, error) {
		d := p.Documents[i]
		return line{d.ID, d.Title, d.Text, d.Group, d.Date, d.Meta}, nil
	})
}

func (p *Pack) writeQueries(w io.Writer) error {
	type line struct {
		ID   string `json:"_id"`
		Text string `json:"text"`
	}
	return lines(w, len(p.Cases), func(i int) (line, error) {
		return line{p.Cases[i].Question.ID, p.Cases[i].Question.Text}, nil
	})
}

func (p *Pack) writeCases(w io.Writer) error {
	return lines(w, len(p.Cases), func(i int) (caseLine, error) {
		k := p.Cases[i]
		if k.Stratum == "all" && !slices.Contains(p.Manifest.Strata, "all") {
			k.Stratum = ""
		}
		return lineOf(k)
	})
}

func (p *Pack) writeQrels(w io.Writer) error {
	if _, err := io.WriteString(w, "query-id\tcorpus-id\tscore\n"); err != nil {
		return err
	}
	for _, k := range p.Cases {
		for _, id := range sorted(k.Gold.Grades) {
			for _, part := range []string{k.Question.ID, id} {
				if part != strings.TrimSpace(part) || strings.ContainsAny(part, "\t\r\n") {
					return fmt.Errorf("id %q: a tab, a line end or an outer blank cannot stand in qrels.tsv", part)
				}
			}
			if _, err := fmt.Fprintf(w, "%s\t%s\t%d\n", k.Question.ID, id, k.Gold.Grades[id]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Pack) writeContested(w io.Writer) error {
	for _, k := range p.Cases {
		if k.Contested == "" {
			continue
		}
		reason, source := contestedParts(k.Contested)
		if _, err := fmt.Fprintf(w, "[[case]]\nid = %s\nreason = %s\nsource = %s\n\n", tomlString(k.Question.ID), tomlString(reason), tomlString(source)); err != nil {
			return err
		}
	}
	return nil
}

// contestedParts takes "reason (source)" apart at the parenthesis that the
// last one closes: both may hold parentheses of their own.
func contestedParts(text string) (reason, source string) {
	open := 0
	for i := len(text) - 1; i > 0; i-- {
		switch text[i] {
		case ')':
			open++
		case '(':
			open--
		}
		if open == 0 && text[i-1] == ' ' {
			return text[:i-1], text[i+1 : len(text)-1]
		}
	}
	reason, source, _ = strings.Cut(strings.TrimSuffix(text, ")"), " (")
	return reason, source
}

// String is the manifest in one line, as lists of packs show it.
func (m Manifest) String() string {
	return fmt.Sprintf("%s %s (%s, %s, authored %s, unit %s)", m.Name, strconv.Quote(m.Version), m.Format, m.Role, m.Authored, m.Unit)
}
