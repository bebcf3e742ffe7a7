package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Tokenizer cuts texts into the token ids of BERT's kind of model: uncased
// WordPiece. It is what embedders and cross-encoders of a folder share, and is
// the same whatever backend runs the model.
type Tokenizer struct {
	words         wordPieces
	cls, sep, unk int
	limit         int
}

// NewTokenizer reads the text of a tokenizer.json file. It refuses any other
// kind of tokenizer than uncased WordPiece, since its texts would have to be
// cleaned in another way.
//
// What the file says on truncation, padding and special tokens is not used: a
// text is never cut here, never padded, and holds no special token, so "[SEP]"
// in a text is punctuation and a word. See [Tokenizer.Single] and
// [Tokenizer.Pair].
func NewTokenizer(config []byte) (*Tokenizer, error) {
	var file map[string]json.RawMessage
	var c struct {
		Truncation *struct {
			MaxLength int `json:"max_length"`
		} `json:"truncation"`
		Normalizer *struct {
			Type         string `json:"type"`
			CleanText    bool   `json:"clean_text"`
			Ideographs   bool   `json:"handle_chinese_chars"`
			StripAccents *bool  `json:"strip_accents"`
			Lowercase    bool   `json:"lowercase"`
		} `json:"normalizer"`
		PreTokenizer *struct {
			Type string `json:"type"`
		} `json:"pre_tokenizer"`
		Model struct {
			Type       string         `json:"type"`
			Vocabulary map[string]int `json:"vocab"`
			Unknown    string         `json:"unk_token"`
			MaxWord    int            `json:"max_input_chars_per_word"`
		} `json:"model"`
	}
	if err := errors.Join(json.Unmarshal(config, &file), json.Unmarshal(config, &c)); err != nil {
		return nil, fmt.Errorf("tokenizer.json: %w", err)
	}
	n := c.Normalizer
	switch {
	case c.Model.Type != "WordPiece" && c.Model.Type != "":
		return nil, fmt.Errorf("tokenizer.json: a model of type %s; want WordPiece", c.Model.Type)
	case n == nil || n.Type != "BertNormalizer" || !n.CleanText || !n.Ideographs || !n.Lowercase || (n.StripAccents != nil && !*n.StripAccents):
		return nil, fmt.Errorf("tokenizer.json: another normalizer than that of uncased BERT (cleaned, lower case, no accents)")
	case c.PreTokenizer == nil || c.PreTokenizer.Type != "BertPreTokenizer":
		return nil, fmt.Errorf("tokenizer.json: another pre-tokenizer than BertPreTokenizer")
	case c.Model.MaxWord != maxWord:
		return nil, fmt.Errorf("tokenizer.json: max_input_chars_per_word %d; want %d", c.Model.MaxWord, maxWord)
	}
	t := &Tokenizer{}
	for token, id := range map[string]*int{"[CLS]": &t.cls, "[SEP]": &t.sep, c.Model.Unknown: &t.unk} {
		at, ok := c.Model.Vocabulary[token]
		if !ok {
			return nil, fmt.Errorf("tokenizer.json: the vocabulary has no %q", token)
		}
		*id = at
	}
	if c.Truncation != nil {
		t.limit = c.Truncation.MaxLength
	}
	// The pure-Go tokenizer panics on strip_accents true; texts come to it
	// without accents anyway.
	for key, value := range map[string]string{
		"truncation": "null", "padding": "null", "added_tokens": "[]", "post_processor": "null", "decoder": "null",
		"normalizer": `{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true}`,
	} {
		file[key] = json.RawMessage(value)
	}
	private, err := json.Marshal(file)
	if err != nil {
		return nil, fmt.Errorf("tokenizer.json: %w", err)
	}
	if t.words, err = newTokenizer(private); err != nil {
		return nil, fmt.Errorf("tokenizer.json: %w", err)
	}
	return t, nil
}

// Limit is where the file would truncate, special tokens included; 0 if it
// does not say.
func (t *Tokenizer) Limit() int { return t.limit }

// IDs are the tokens of a text in order, all of them, without special tokens.
func (t *Tokenizer) IDs(ctx context.Context, text string) ([]int, error) {
	return t.words.ids(ctx, text)
}

// Known tells whether any of the ids is a token of the vocabulary.
func (t *Tokenizer) Known(ids []int) bool {
	return slices.ContainsFunc(ids, func(id int) bool { return id != t.unk })
}

// Single is [CLS] text [SEP], of at most limit tokens. The text is cut at its
// end, and the final [SEP] kept: hugot's own cut loses it, which moves a
// vector by as much as .003 in cosine.
func (t *Tokenizer) Single(text []int, limit int) []int {
	text = text[:min(len(text), limit-2)]
	return slices.Concat([]int{t.cls}, text, []int{t.sep})
}

// Pair is [CLS] question [SEP] passage [SEP], of at most limit tokens, and the
// type of each: 1 for the passage and the [SEP] after it. The passage is cut
// first; the question only where it would take more than half.
func (t *Tokenizer) Pair(question, passage []int, limit int) (ids, types []int) {
	if room := limit - 3; len(question)+len(passage) > room {
		question = question[:min(len(question), max(room/2, room-len(passage)))]
		passage = passage[:min(len(passage), room-len(question))]
	}
	ids = slices.Concat([]int{t.cls}, question, []int{t.sep}, passage, []int{t.sep})
	types = make([]int, len(ids))
	for i := len(question) + 2; i < len(ids); i++ {
		types[i] = 1
	}
	return ids, types
}
