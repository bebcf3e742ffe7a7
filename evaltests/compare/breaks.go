package compare

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// BreaksFile is the name of the file of breaks in goldens/<suite>.
const BreaksFile = "breaks.jsonl"

// Break is a defect of the measurement: what was measured before its first
// sound commit says nothing about what was measured after it.
type Break struct {
	V          int      `json:"v"`
	Defect     string   `json:"defect"`
	FirstSound string   `json:"first_sound"`        // commit from which on figures are sound
	Arms       []string `json:"arms,omitempty"`     // affected; none named is all
	Stages     []string `json:"stages,omitempty"`   // affected; none named is all
	Measures   []string `json:"measures,omitempty"` // affected; none named is all
}

// ReadBreaks reads goldens/<suite>/breaks.jsonl; no file is no break.
func ReadBreaks(goldens, suite string) ([]Break, error) {
	if !record.ValidSuite(suite) {
		return nil, fmt.Errorf("suite %q: want lower-case letters, digits, dots, dashes", suite)
	}
	path := filepath.Join(goldens, suite, BreaksFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return ParseBreaks(path, data)
}

// ParseBreaks reads the lines of a file of breaks, strictly.
func ParseBreaks(name string, data []byte) ([]Break, error) {
	var out []Break
	err := strict.Lines(name, bytes.NewReader(data), func(_ int, text []byte) error {
		var b Break
		if err := strict.JSON(text, &b, true); err != nil {
			return err
		}
		switch {
		case b.V != 1:
			return fmt.Errorf("v = %d; this tool reads 1", b.V)
		case b.Defect == "":
			return errors.New("no defect; say what was wrong")
		case !isCommit(b.FirstSound):
			return fmt.Errorf("first_sound = %q; want the full id of a commit", b.FirstSound)
		}
		out = append(out, b)
		return nil
	})
	return out, err
}

func isCommit(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Affects reports whether a break concerns the final ranking of an arm by any
// of the measures.
func (b Break) Affects(arm string, measures ...string) bool {
	return b.concerns(arm, measures...) && (len(b.Stages) == 0 || slices.Contains(b.Stages, record.Final))
}

// concerns is Affects at any stage.
func (b Break) concerns(arm string, measures ...string) bool {
	in := func(list []string, names ...string) bool {
		return len(list) == 0 || slices.ContainsFunc(names, func(n string) bool { return slices.Contains(list, n) })
	}
	return in(b.Arms, arm) && in(b.Measures, measures...)
}

// Ancestry tells whether a commit is another or comes after it.
type Ancestry func(first, commit string) (bool, error)

// Sound reports whether a record was made at or after the first sound commit.
func (b Break) Sound(run record.Run, after Ancestry) (bool, error) {
	if run.Context.Commit == "" {
		return false, errors.New("the record names no commit")
	}
	if run.Context.Commit == b.FirstSound {
		return true, nil
	}
	if after == nil {
		return false, errors.New("there is no history to ask")
	}
	return after(b.FirstSound, run.Context.Commit)
}

// across says why two records lie on two sides of a break, empty when they do
// not. Who cannot tell does not compare. A break that concerns some stages
// alone keeps their figures out and nothing else.
func across(breaks []Break, base, treatment record.Run, measure string, after Ancestry) (refused string, notes, without []string) {
	for _, b := range breaks {
		if !b.concerns(base.Arm, measure) && !b.concerns(treatment.Arm, measure) {
			continue
		}
		before, err := b.Sound(base, after)
		now := false
		if err == nil {
			now, err = b.Sound(treatment, after)
		}
		final := b.Affects(base.Arm, measure) || b.Affects(treatment.Arm, measure)
		switch {
		case err != nil && final:
			return fmt.Sprintf("whether a measurement break lies between them cannot be told: %s (%v)", b.Defect, err), nil, nil
		case before != now && final:
			return fmt.Sprintf("a measurement break lies between them: %s (first sound commit %.12s)", b.Defect, b.FirstSound), nil, nil
		case err != nil || before != now:
			without = append(without, b.Stages...)
			notes = append(notes, fmt.Sprintf("a measurement break keeps out stages %s: %s", strings.Join(b.Stages, ", "), b.Defect))
		case !before:
			notes = append(notes, fmt.Sprintf("both were measured with a defect that is mended since: %s (first sound commit %.12s)", b.Defect, b.FirstSound))
		}
	}
	return "", notes, without
}
