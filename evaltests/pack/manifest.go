package pack

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// ManifestFile is the name of the file that makes a folder a pack.
const ManifestFile = "pack.toml"

// Manifest is pack.toml: what a pack is and where its content comes from.
type Manifest struct {
	Name        string     `toml:"name"`        // lower-case, digits, dashes: also the folder below EVAL_PACKS
	Version     string     `toml:"version"`     // of this pack, not of its source
	Description string     `toml:"description"` //
	Licence     string     `toml:"licence"`     // of the content
	Source      string     `toml:"source"`      // where the content comes from
	Language    string     `toml:"language"`    // BCP 47, for instance "en"
	Unit        string     `toml:"unit"`        // "document" or "chunk": what gold ids name and k counts
	Format      string     `toml:"format"`      // a loader: see Formats
	Strata      []string   `toml:"strata"`      // the strata its cases may carry
	Role        string     `toml:"role"`        // "guard" (nothing obvious broke) or "benchmark"
	Authored    string     `toml:"authored"`    // "self" or "external"
	Selection   string     `toml:"selection"`   // which part of the source was taken, by what rule
	Split       string     `toml:"split"`       // which set of the source, where the format has several
	Generator   *Generator `toml:"generator"`   // what made the content, if a program did
	External    bool       `toml:"external"`    // content lies in EVAL_PACKS/<name>, not beside pack.toml
	Folder      string     `toml:"folder"`      // below EVAL_PACKS instead of name, where packs share content
}

// Generator says how a generated pack can be made again.
type Generator struct {
	Template string `toml:"template"`
	SHA256   string `toml:"sha256"` // of the template
	Seed     int64  `toml:"seed"`
}

var packName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*$`)

// ReadManifest reads dir/pack.toml strictly: an unknown key is an error with
// file:line.
func ReadManifest(dir string) (Manifest, error) {
	path := filepath.Join(dir, ManifestFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return Manifest{}, err
	}
	return parseManifest(path, data)
}

func parseManifest(path string, data []byte) (Manifest, error) {
	var m Manifest
	if err := strict.TOML(path, data, &m); err != nil {
		return Manifest{}, err
	}
	var problems []string
	for _, p := range m.problems() {
		line := 1 // where a key that is missing would stand
		if at := strict.TOMLLines(data, p.key); len(at) > 0 {
			line = at[0]
		}
		problems = append(problems, fmt.Sprintf("%s:%d: %s", path, line, p.text))
	}
	if len(problems) > 0 {
		return Manifest{}, errors.New(strings.Join(problems, "\n"))
	}
	return m, nil
}

type keyProblem struct{ key, text string }

// problems lists all keys that are wrong, and why.
func (m Manifest) problems() []keyProblem {
	var out []keyProblem
	say := func(wrong bool, key, format string, args ...any) {
		if wrong {
			out = append(out, keyProblem{key, fmt.Sprintf(format, args...)})
		}
	}
	say(!packName.MatchString(m.Name), "name", "name %q: want lower-case letters, digits and dashes", m.Name)
	say(m.Version == "", "version", "version is missing: say which edition of the pack this is")
	say(m.Unit != "document" && m.Unit != "chunk", "unit", "unit %q: want document or chunk", m.Unit)
	known := slices.Contains(Formats(), m.Format)
	say(!known, "format", "format %q: no such loader; have %v", m.Format, Formats())
	say(m.Role != "guard" && m.Role != "benchmark", "role", "role %q: want guard or benchmark", m.Role)
	say(m.Authored != "self" && m.Authored != "external", "authored", "authored %q: want self or external", m.Authored)
	if known {
		splits := loaders[m.Format].splits
		say(m.Split != "" && !slices.Contains(splits, m.Split), "split", "split %q: format %s has %v", m.Split, m.Format, splits)
	}
	switch {
	case m.Folder != "" && !m.External:
		say(true, "folder", "folder %q: only for a pack with external = true", m.Folder)
	case m.Folder != "":
		say(!packName.MatchString(m.Folder), "folder", "folder %q: want lower-case letters, digits and dashes", m.Folder)
	}
	return out
}

// folder is where an external pack lies below EVAL_PACKS.
func (m Manifest) folder() string { return cmp.Or(m.Folder, m.Name) }

// isPack reports whether dir holds a pack.toml.
func isPack(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, ManifestFile))
	return err == nil
}
