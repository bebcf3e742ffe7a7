package seed

import (
	"errors"
	"fmt"

	"github.com/touchstone-eval/touchstone/evaltests/digest"
	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// Stamp is the note inside a store that says what the store is. A store has
// one, written last.
type Stamp struct {
	V       int    `json:"v"`
	Key     string `json:"key"`
	Parts   Parts  `json:"parts"`
	Content string `json:"content"` // digest of all that the store held when it was stamped
}

const stampVersion = 1

// Text is the stamp as it stands in the store.
func (s Stamp) Text() (string, error) {
	text, err := digest.Canonical(s)
	return string(text), err
}

// ParseStamp reads a stamp. One whose key is not that of its parts was not
// written by this package.
func ParseStamp(text string) (Stamp, error) {
	var s Stamp
	if err := strict.JSON([]byte(text), &s, true); err != nil {
		return Stamp{}, fmt.Errorf("stamp: %w", err)
	}
	if s.V != stampVersion {
		return Stamp{}, fmt.Errorf("stamp: format %d, this tool reads %d", s.V, stampVersion)
	}
	key, err := s.Parts.Key()
	if err != nil {
		return Stamp{}, fmt.Errorf("stamp: %w", err)
	}
	if key != s.Key {
		return Stamp{}, fmt.Errorf("stamp: its key %.12s is not that of its parts, %.12s; it was forged", s.Key, key)
	}
	if s.Content == "" {
		return Stamp{}, errors.New("stamp: it does not say what the store holds")
	}
	return s, nil
}
