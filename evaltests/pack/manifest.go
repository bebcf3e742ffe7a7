package pack

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// ManifestFile is the name of the file that makes a folder a pack.
const ManifestFile = "pack.toml"

// Manifest is pack.toml: what a pack is and where its content comes from.
type Manifest struct {
	Name        string   `toml:"name"`        // lower-case, digits, dashes: also the folder below EVAL_PACKS
	Version     string   `toml:"version"`     // of this pack, not of its source
	Description string   `toml:"description"` //
	Licence     string   `toml:"licence"`     // of the content
	Source      string   `toml:"source"`      // where the content comes from
	Language    string   `toml:"language"`    // BCP 47, for instance "en"
	Unit        string   `toml:"unit"`        // "document" or "chunk": what gold ids name and k counts
	Format      string   `toml:"format"`      // a loader: see Formats
	Strata      []string `toml:"strata"`      // the strata its cases may carry
	Role        string   `toml:"role"`        // "guard" (nothing obvious broke) or "benchmark"
	Authored    string   `toml:"authored"`    // "self" or "external"
	Selection   string   `toml:"selection"`   // which part of the source was taken, by what rule
	Split       string   `toml:"split"`       // which set of the source, where the format has several
	External    bool     `toml:"external"`    // content lies in EVAL_PACKS/<name>, not beside pack.toml
	Folder      string   `toml:"folder"`      // below EVAL_PACKS instead of name, where packs share content
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
	if key, err := m.validate(); err != nil {
		line := 1 // where a key that is missing would stand
		if at := strict.TOMLLines(data, key); len(at) > 0 {
			line = at[0]
		}
		return Manifest{}, fmt.Errorf("%s:%d: %w", path, line, err)
	}
	return m, nil
}

// validate returns the key that is wrong, and why.
func (m Manifest) validate() (string, error) {
	switch {
	case !packName.MatchString(m.Name):
		return "name", fmt.Errorf("name %q: want lower-case letters, digits and dashes", m.Name)
	case m.Version == "":
		return "version", errors.New("version is missing: say which edition of the pack this is")
	case m.Unit != "document" && m.Unit != "chunk":
		return "unit", fmt.Errorf("unit %q: want document or chunk", m.Unit)
	case !slices.Contains(Formats(), m.Format):
		return "format", fmt.Errorf("format %q: no such loader; have %v", m.Format, Formats())
	case m.Role != "guard" && m.Role != "benchmark":
		return "role", fmt.Errorf("role %q: want guard or benchmark", m.Role)
	case m.Authored != "self" && m.Authored != "external":
		return "authored", fmt.Errorf("authored %q: want self or external", m.Authored)
	case m.Split != "" && !slices.Contains(loaders[m.Format].splits, m.Split):
		return "split", fmt.Errorf("split %q: format %s has %v", m.Split, m.Format, loaders[m.Format].splits)
	case m.Folder != "" && !m.External:
		return "folder", fmt.Errorf("folder %q: only for a pack with external = true", m.Folder)
	case m.Folder != "" && !packName.MatchString(m.Folder):
		return "folder", fmt.Errorf("folder %q: want lower-case letters, digits and dashes", m.Folder)
	}
	return "", nil
}

// folder is where an external pack lies below EVAL_PACKS.
func (m Manifest) folder() string { return cmp.Or(m.Folder, m.Name) }

// isPack reports whether dir holds a pack.toml.
func isPack(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, ManifestFile))
	return err == nil
}
