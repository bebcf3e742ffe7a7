package embed

import (
	"bytes"
	"context"
	"fmt"

	"github.com/sugarme/tokenizer"
	"github.com/sugarme/tokenizer/pretrained"
)

type wordPieces struct{ tk *tokenizer.Tokenizer }

// newTokenizer reads the text of a tokenizer.json file.
func newTokenizer(config []byte) (wordPieces, error) {
	tk, err := pretrained.FromReader(bytes.NewReader(config))
	if err != nil {
		return wordPieces{}, err
	}
	return wordPieces{tk}, nil
}

// ids returns the token ids of a text in order, without special tokens: these
// have zero rows, which a mean that is then scaled to unit length ignores.
//
// hugot's own call ends the process on a tokenizer's error, so the tokenizer
// is called here, and a panic of it becomes an error of this text.
func (w wordPieces) ids(ctx context.Context, text string) (ids []int, err error) {
	defer func() {
		if r := recover(); r != nil {
			ids, err = nil, fmt.Errorf("tokenizer panicked: %v", r)
		}
	}()
	for piece := range func(yield func(string) bool) { pieces(text, yield) } {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		enc, err := w.tk.EncodeSingle(piece, false)
		if err != nil {
			return nil, fmt.Errorf("tokenizer: %w", err)
		}
		ids = append(ids, enc.Ids...)
	}
	return ids, nil
}
