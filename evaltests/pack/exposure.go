package pack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// ExposureFile counts, beside pack.toml, how often each case was used for
// tuning: a case that was looked at while choosing a setting no longer tells
// how the setting does on questions nobody looked at.
const ExposureFile = "exposure.jsonl"

// Use is one use of cases for tuning: a line of ExposureFile.
type Use struct {
	Why   string   `json:"why"`           // what was chosen by them
	Run   string   `json:"run,omitempty"` // the run, if it was one
	Cases []string `json:"cases"`
}

// Exposure is what is known of the uses of a pack.
type Exposure struct{ times map[string]int }

// Times is how often a case was used.
func (e Exposure) Times(id string) int { return e.times[id] }

// Cases is how many cases were used at all.
func (e Exposure) Cases() int { return len(e.times) }

// Most is how often the case was used that was used most.
func (e Exposure) Most() int {
	most := 0
	for _, n := range e.times {
		most = max(most, n)
	}
	return most
}

// Beyond lists the cases that were used more than limit times, in the order of
// the pack.
func (e Exposure) Beyond(cases []Case, limit int) []string {
	var out []string
	for _, k := range cases {
		if e.times[k.Question.ID] > limit {
			out = append(out, k.Question.ID)
		}
	}
	return out
}

// ReadExposure reads dir/exposure.jsonl; without the file no case was used.
func ReadExposure(dir string) (Exposure, error) {
	e, _, err := readUses(dir)
	return e, err
}

func readUses(dir string) (Exposure, map[string]bool, error) {
	e, runs := Exposure{map[string]int{}}, map[string]bool{}
	path := filepath.Join(dir, ExposureFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return e, runs, nil
	}
	if err != nil {
		return e, runs, err
	}
	defer f.Close()
	err = strict.Lines(path, f, func(_ int, text []byte) error {
		var u Use
		if err := strict.JSON(text, &u, true); err != nil {
			return err
		}
		if strings.TrimSpace(u.Why) == "" || len(u.Cases) == 0 {
			return errors.New("want why, and at least one case")
		}
		if u.Run != "" {
			runs[u.Run] = true
		}
		for _, id := range distinct(u.Cases) {
			e.times[id]++
		}
		return nil
	})
	return e, runs, err
}

// Expose notes a use in the pack's folder. A run counts once.
func (p *Pack) Expose(u Use) error {
	if strings.TrimSpace(u.Why) == "" || len(u.Cases) == 0 {
		return errors.New("want what was chosen, and at least one case")
	}
	for _, id := range u.Cases {
		if _, ok := p.caseAt[id]; !ok {
			return fmt.Errorf("pack %s has no case %q", p.Manifest.Name, id)
		}
	}
	_, runs, err := readUses(p.Dir)
	if err != nil {
		return err
	}
	if u.Run != "" && runs[u.Run] {
		return fmt.Errorf("run %s is counted already", u.Run)
	}
	return appendLine(filepath.Join(p.Dir, ExposureFile), u)
}

func appendLine(path string, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}
