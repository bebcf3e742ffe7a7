package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/digest"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// familyVersion is the format of the lines that a base's comparisons are kept in.
const familyVersion = 1

// familyFolder is where the run folder of a base keeps what was compared with
// it. It is a folder of its own: files beside the records would be read as
// records.
const familyFolder = "comparisons"

// Member is one treatment that was compared with a base. All of them are one
// family, whether they were compared at once or one by one: fifty arms tried in
// turn do not escape the correction.
type Member struct {
	V         int     `json:"v"`
	Suite     string  `json:"suite"`
	Base      string  `json:"base"`      // digest of the base's record
	Treatment string  `json:"treatment"` // digest of the treatment's
	Label     string  `json:"label"`
	Arm       string  `json:"arm"`
	Measure   string  `json:"measure"`
	Mean      float64 `json:"mean"`
	P         float64 `json:"p"` // not adjusted
}

// familyPath is the log of a suite in the run folder of a base.
func familyPath(base Side) string {
	return filepath.Join(filepath.Dir(base.File.Path), familyFolder, base.File.Run.Suite+".jsonl")
}

// FamilyStore is where a module keeps what was compared, by what the base was:
// a copy of the base's folder, a baseline made of it, or the base run once more
// has the same family.
func FamilyStore(module string) string {
	return filepath.Join(module, ".touchstone", familyFolder)
}

// logs lists where the family of a base is kept: its run folder, and the store
// unless that is empty.
func logs(base Side, store string) ([]string, error) {
	if !record.ValidSuite(base.File.Run.Suite) {
		return nil, fmt.Errorf("%s: suite %q cannot name a file", base.File.Path, base.File.Run.Suite)
	}
	paths := []string{familyPath(base)}
	if store == "" {
		return paths, nil
	}
	key, err := sameBase(base)
	return append(paths, filepath.Join(store, base.File.Run.Suite+"-"+key+".jsonl")), err
}

// sameBase names what a base is, whichever run of it: suite, mode, questions,
// store, configuration and commit. A base of no commit is its record alone.
func sameBase(base Side) (string, error) {
	run := base.File.Run
	what := map[string]any{
		"suite": run.Suite, "mode": run.Mode, "question": run.Hashes.Question, "seed": run.Hashes.SeedKey,
		"treatment": run.Hashes.Treatment, "commit": run.Context.Commit,
	}
	if run.Context.Commit == "" {
		what["record"] = base.Digest()
	}
	key, err := digest.Pairs("touchstone/base/1", what)
	return short(key), err
}

// ReadFamily reads what was compared with a base so far, in its run folder and
// in the store of the module (empty: none), each treatment and measure once, as
// last seen.
func ReadFamily(base Side, store string) ([]Member, error) {
	paths, err := logs(base, store)
	if err != nil {
		return nil, err
	}
	var out []Member
	for i, path := range paths {
		inStore := i > 0 // the name of the file says which base; the other may lie in a copied folder
		if out, err = readFamily(out, path, func(m Member) bool { return inStore || m.Base == base.Digest() }); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func readFamily(out []Member, path string, mine func(Member) bool) ([]Member, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	err = strict.Lines(path, bytes.NewReader(data), func(_ int, text []byte) error {
		var m Member
		if err := strict.JSON(text, &m, false); err != nil {
			return err
		}
		if m.V != familyVersion {
			return fmt.Errorf("format %d; this tool reads %d", m.V, familyVersion)
		}
		if !(m.P >= 0 && m.P <= 1) {
			return fmt.Errorf("p = %v; want a probability", m.P)
		}
		if mine(m) {
			out = with(out, m)
		}
		return nil
	})
	return out, err
}

// with adds m, or puts it in the place of the same treatment and measure.
func with(ms []Member, m Member) []Member {
	if i := slices.IndexFunc(ms, m.same); i >= 0 {
		ms[i] = m
		return ms
	}
	return append(ms, m)
}

func (m Member) same(o Member) bool { return m.Treatment == o.Treatment && m.Measure == o.Measure }

// Log appends the treatments of a comparison to the log of its base, in the run
// folder and in the store (empty: none). A/A runs are no members.
func (c *Comparison) Log(store string) error {
	var lines bytes.Buffer
	for _, t := range c.Treatments {
		if t.Verdict == FloorSrc || t.noChange || slices.Contains(c.Family, t.member) {
			continue
		}
		line, err := json.Marshal(t.member)
		if err != nil {
			return err
		}
		lines.Write(append(line, '\n'))
	}
	if lines.Len() == 0 {
		return nil
	}
	paths, err := logs(c.base, store)
	for _, path := range paths {
		err = errors.Join(err, appendTo(path, lines.Bytes()))
	}
	return err
}

func appendTo(path string, lines []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(lines)
	return errors.Join(err, f.Close())
}

func newMember(c *Comparison, side Side, t *Treatment) Member {
	return Member{
		V: familyVersion, Suite: c.Suite, Base: c.base.Digest(), Treatment: side.Digest(), Label: side.Label, Arm: side.File.Run.Arm,
		Measure: c.Rule.Primary, Mean: t.Primary.Mean, P: t.P,
	}
}
