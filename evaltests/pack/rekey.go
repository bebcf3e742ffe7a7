package pack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/digest"
	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// RekeyFile is the log, beside pack.toml, of every change of gold.
const RekeyFile = "rekey.jsonl"

// Rekeyed is a line of RekeyFile.
type Rekeyed struct {
	Case     string     `json:"case"`
	Reason   string     `json:"reason"`
	Old      Gold       `json:"old"`
	New      Gold       `json:"new"`
	Evidence []Evidence `json:"evidence,omitempty"` // what the new gold rests on: as given with the case, else the beginnings of its documents
}

// Rekey logs that the gold of one case differs between old and p, which is the
// pack as it is now, and pins p. It is the only way to change gold: anything
// else that differs, another case, a document, a question, is refused by name,
// so that a change of key is never part of another change.
func (p *Pack) Rekey(old *Pack, id, reason string) (Rekeyed, error) {
	if strings.TrimSpace(reason) == "" {
		return Rekeyed{}, errors.New("the reason is missing; say what was wrong with the key")
	}
	if p.Manifest.External {
		return Rekeyed{}, fmt.Errorf("pack %s: its gold is not ours to change; list the case in %s", p.Manifest.Name, ContestedFile)
	}
	if !isPack(p.Dir) {
		return Rekeyed{}, fmt.Errorf("%s: no %s; only the gold of a pack is logged and pinned", p.Dir, ManifestFile)
	}
	i, ok := p.caseAt[id]
	j, before := old.caseAt[id]
	if !ok || !before {
		return Rekeyed{}, fmt.Errorf("case %q is not in both the old and the new pack", id)
	}
	others, err := p.differences(old, id)
	if err != nil {
		return Rekeyed{}, err
	}
	if len(others) > 0 {
		return Rekeyed{}, fmt.Errorf("more than the gold of %s changed: %s; change one case at a time, and nothing else", id, strings.Join(others, ", "))
	}
	r := Rekeyed{Case: id, Reason: reason, Old: old.Cases[j].Gold, New: p.Cases[i].Gold}
	if same, err := equal(r.Old, r.New); err != nil || same {
		return Rekeyed{}, errors.Join(err, map[bool]error{true: fmt.Errorf("the gold of %s is as it was; change it in the pack's files first", id)}[same])
	}
	if r.Evidence = r.New.Evidence; r.Evidence == nil {
		const beginning = 200
		for _, doc := range relevant(p.Cases[i]) {
			text := []rune(p.Documents[p.docIndex[doc]].Text)
			r.Evidence = append(r.Evidence, Evidence{Document: doc, Text: string(text[:min(len(text), beginning)])})
		}
	}
	if err := p.notLogged(r); err != nil {
		return Rekeyed{}, err
	}
	lock, err := p.Lock()
	if err != nil {
		return Rekeyed{}, err
	}
	if err := appendLine(filepath.Join(p.Dir, RekeyFile), r); err != nil {
		return Rekeyed{}, err
	}
	return r, lock.Write(p.Dir)
}

// differences names what differs between two packs beside the gold of a case.
func (p *Pack) differences(old *Pack, except string) ([]string, error) {
	var out []string
	for _, key := range p.Manifest.differences(old.Manifest) {
		out = append(out, key+" of "+ManifestFile)
	}
	now, then := map[string]Case{}, map[string]Case{}
	for _, k := range p.Cases {
		now[k.Question.ID] = k
	}
	for _, k := range old.Cases {
		then[k.Question.ID] = k
	}
	for _, id := range sorted(then) {
		a, b := then[id], now[id]
		if id == except {
			a.Gold, b.Gold = Gold{}, Gold{}
		}
		switch same, err := equal(a, b); {
		case err != nil:
			return nil, err
		case !same:
			out = append(out, "case "+id)
		}
		delete(now, id)
	}
	for _, id := range sorted(now) {
		out = append(out, "case "+id)
	}
	documents := map[string]Document{}
	for _, d := range old.Documents {
		documents[d.ID] = d
	}
	for _, d := range p.Documents {
		was, known := documents[d.ID]
		if same, err := equal(was, d); err != nil {
			return nil, err
		} else if !known || !same {
			out = append(out, "document "+d.ID)
		}
		delete(documents, d.ID)
	}
	for _, id := range sorted(documents) {
		out = append(out, "document "+id)
	}
	if len(out) > 5 {
		out = append(slices.Clone(out[:5]), fmt.Sprintf("and %d more", len(out)-5))
	}
	return out, nil
}

// notLogged refuses a change that the log has already: before it is committed,
// the old gold is still that of the last commit.
func (p *Pack) notLogged(r Rekeyed) error {
	path := filepath.Join(p.Dir, RekeyFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var last *Rekeyed
	at := 0
	err = strict.Lines(path, f, func(n int, text []byte) error {
		var line Rekeyed
		if err := strict.JSON(text, &line, true); err != nil {
			return err
		}
		if line.Case == r.Case {
			last, at = &line, n
		}
		return nil
	})
	if err != nil || last == nil {
		return err
	}
	same, err := equal([]Gold{last.Old, last.New}, []Gold{r.Old, r.New})
	if err == nil && same {
		err = fmt.Errorf("%s:%d: this change of %s is logged already; commit it", path, at, r.Case)
	}
	return err
}

// differences lists the keys in which two manifests differ.
func (m Manifest) differences(old Manifest) []string {
	var out []string
	now, then := reflect.ValueOf(m), reflect.ValueOf(old)
	for i := range now.NumField() {
		if !reflect.DeepEqual(now.Field(i).Interface(), then.Field(i).Interface()) {
			out = append(out, now.Type().Field(i).Tag.Get("toml"))
		}
	}
	return out
}

func equal(a, b any) (bool, error) {
	x, err := digest.Canonical(a)
	if err != nil {
		return false, err
	}
	y, err := digest.Canonical(b)
	return string(x) == string(y), err
}
