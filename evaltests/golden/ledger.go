package golden

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// Kinds of ledger line.
const (
	acceptKind = "accept" // what a line of format 1 is, which has no kind
	anchorKind = "anchor"
)

// Entry is one line of the ledger: one blessing, or one move of the anchor.
type Entry struct {
	V       int      `json:"v"`
	Kind    string   `json:"kind,omitempty"` // empty or "accept": a blessing; "anchor": the anchor was moved to the current golden
	Suite   string   `json:"suite"`
	When    string   `json:"when"`
	By      string   `json:"by,omitempty"`
	Commit  string   `json:"commit,omitempty"`
	Tree    string   `json:"tree"`
	Cases   int      `json:"cases"`             // in the golden after it
	Only    []string `json:"only,omitempty"`    // the cases it took, where it did not take all
	Allowed []string `json:"allowed,omitempty"` // rules that were lifted for it: "shrink", "ci"
	Reason  string   `json:"reason"`
	Vouched string   `json:"vouched_by"`       // digest of the labelled record
	Found   string   `json:"found,omitempty"`  // digest of the current.jsonl that it replaced, where no line vouched for that; "missing"
	Before  string   `json:"before"`           // digest that the ledger vouched for before; empty the first time
	Merged  []string `json:"merged,omitempty"` // digests of other branches' blessings that it supersedes as well
	After   string   `json:"after"`
}

func (e Entry) anchors() bool { return e.Kind == anchorKind }

// ReadLedger reads the ledger of a golden folder; a missing one is empty.
func ReadLedger(dir string) ([]Entry, error) {
	path := filepath.Join(dir, LedgerFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var entries []Entry
	err = strict.Lines(path, bytes.NewReader(data), func(_ int, text []byte) error {
		var e Entry
		if err := strict.JSON(text, &e, true); err != nil {
			return err
		}
		if err := readable(e.V); err != nil {
			return err
		}
		if e.Kind != "" && e.Kind != acceptKind && e.Kind != anchorKind {
			return fmt.Errorf("kind %q; want %s or %s", e.Kind, acceptKind, anchorKind)
		}
		entries = append(entries, e)
		return nil
	})
	return entries, err
}

// appendLedger adds a line. The file is written anew and renamed: a line that
// was cut short would make the whole ledger unreadable.
func appendLedger(dir string, e Entry) error {
	path := filepath.Join(dir, LedgerFile)
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	e.V = formatVersion
	buf := bytes.NewBuffer(data)
	if len(data) > 0 && data[len(data)-1] != '\n' {
		buf.WriteByte('\n')
	}
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return err
	}
	return writeFile(path, buf.Bytes())
}
