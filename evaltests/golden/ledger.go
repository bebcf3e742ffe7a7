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

// Entry is one line of the ledger: one blessing.
type Entry struct {
	V       int    `json:"v"`
	Suite   string `json:"suite"`
	When    string `json:"when"`
	Commit  string `json:"commit,omitempty"`
	Tree    string `json:"tree"`
	Cases   int    `json:"cases"` // in the golden after it
	Reason  string `json:"reason"`
	Vouched string `json:"vouched_by"` // digest of the labelled record
	Before  string `json:"before"`     // digest of current.jsonl; empty the first time
	After   string `json:"after"`
}

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
		if e.V != formatVersion {
			return fmt.Errorf("format %d; this tool reads %d", e.V, formatVersion)
		}
		entries = append(entries, e)
		return nil
	})
	return entries, err
}

// VerifyLedger refuses a golden that the last ledger line does not vouch for.
func VerifyLedger(dir string, current *File) error {
	entries, err := ReadLedger(dir)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, CurrentFile)
	if len(entries) == 0 {
		return fmt.Errorf("%s: no ledger line vouches for it", path)
	}
	if last := entries[len(entries)-1]; last.After != current.Digest {
		return fmt.Errorf("%s: edited since it was blessed: digest %.12s, the last ledger line says %.12s", path, current.Digest, last.After)
	}
	return nil
}

// verifyAnchor refuses an anchor that was never a current golden.
func verifyAnchor(dir string, entries []Entry, anchor *File) error {
	for _, e := range entries {
		if e.After == anchor.Digest {
			return nil
		}
	}
	return fmt.Errorf("%s: digest %.12s is not that of any blessing in the ledger", filepath.Join(dir, AnchorFile), anchor.Digest)
}

// appendLedger adds a line. The file is written anew and renamed: a line that
// was cut short would make the whole ledger unreadable.
func appendLedger(dir string, e Entry) error {
	path := filepath.Join(dir, LedgerFile)
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
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
