package pack

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// textEndings are the names of files that are read as text.
var textEndings = []string{".txt", ".text", ".md", ".markdown", ".csv", ".tsv", ".html", ".rst"}

// notDocuments are files of a pack folder that are about the pack.
var notDocuments = []string{
	ManifestFile, LockFile, ContestedFile, ExposureFile, RekeyFile, "suite.toml", "contract.toml", "corpus.json", "manifest.json", "LICENSE", "README.md", "ids.golden",
}

// textDocuments adds the text files of the content folder and below as
// documents. Their ids are their paths. A file that cannot be read as text is
// refused: a document that is not there would only ever look like a miss.
func (c *content) textDocuments(except ...string) error {
	files, err := c.tree(func(string) bool { return true })
	if err != nil {
		return err
	}
	for _, file := range files {
		if slices.Contains(notDocuments, file) || slices.Contains(except, file) {
			continue
		}
		if _, err := c.textDocument(file, nil); err != nil {
			return err
		}
	}
	return nil
}

// textDocument adds one file. The title is its first heading, if it starts
// with one.
func (c *content) textDocument(file string, meta map[string]string) (id string, err error) {
	if !slices.Contains(textEndings, strings.ToLower(path.Ext(file))) {
		return "", fmt.Errorf("%s: not a text file (%s); convert it, or leave it out of the folder", c.file(file), strings.Join(textEndings, ", "))
	}
	data, err := c.open(file)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(data) {
		return "", fmt.Errorf("%s: not valid UTF-8", c.file(file))
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return "", fmt.Errorf("%s: holds a NUL byte: not text, or in another encoding than UTF-8", c.file(file))
	}
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
	d := Document{ID: SourceID(strings.Split(file, "/")...), Text: text, Meta: meta}
	first, _, _ := strings.Cut(strings.TrimLeft(text, " \t\n"), "\n")
	if heading := strings.TrimLeft(first, "#"); heading != first && strings.HasPrefix(heading, " ") {
		d.Title = strings.TrimSpace(heading)
	}
	return d.ID, c.addDocument(c.place(file, 1), d)
}

// named finds the document of a file that a source names by its path, by the
// end of a path that starts elsewhere, or by its name alone. It must be one.
func (c *content) named(file string) (string, error) {
	parts := strings.Split(path.Clean(file), "/")
	for i := range parts {
		id := SourceID(parts[i:]...)
		if _, ok := c.docIndex[id]; ok {
			return id, nil
		}
	}
	if len(parts) == 1 {
		var found []string
		for _, d := range c.documents {
			if strings.HasSuffix(d.ID, "/"+SourceID(file)) {
				found = append(found, d.ID)
			}
		}
		if len(found) == 1 {
			return found[0], nil
		}
		if len(found) > 1 {
			return "", fmt.Errorf("file %q may be any of %s; give its path", file, strings.Join(found, ", "))
		}
	}
	return "", fmt.Errorf("file %q is not among the documents", file)
}

// namedAll is named for a list, each document once.
func (c *content) namedAll(files []string) ([]string, error) {
	var out []string
	for _, f := range files {
		id, err := c.named(f)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, nil
}
