package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/folder"
	"github.com/touchstone-eval/touchstone/engine/lexical"
)

func engineCommand() *cobra.Command {
	return group("engine", "Index a folder of notes, search it, serve a search page", engineIndexCommand(), engineSearchCommand(), engineServeCommand())
}

// engineOptions are the flags that all commands of the group have.
type engineOptions struct {
	store string
}

func (o *engineOptions) flags(c *cobra.Command) {
	c.Flags().StringVar(&o.store, "store", "", "folder of the store (default "+folder.StoreName+" in DIR)")
}

func (o *engineOptions) open(ctx context.Context, dir string, readOnly bool, maxBytes int64) (*folder.Index, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, usage("engine: %s: no such folder", dir)
	}
	x, err := folder.Open(ctx, dir, folder.Options{Store: o.store, MaxBytes: maxBytes, Engine: engine.Config{ReadOnly: readOnly}})
	return x, refused(advised(err, dir))
}

// advised adds what to do to an error of an index.
func advised(err error, dir string) error {
	advice := ""
	switch {
	case err == nil:
		return nil
	case errors.Is(err, folder.ErrNotIndexed), errors.Is(err, lexical.ErrStale):
		advice = fmt.Sprintf("run `touchstone engine index %s`, with --store where you gave one", dir)
	case errors.Is(err, engine.ErrInUse):
		advice = "an index, or a page that is served, is at work on it: stop that one first"
	case errors.Is(err, engine.ErrOtherModel), errors.Is(err, engine.ErrOtherChunks):
		advice = "another version made this store: remove its folder and index again"
	default:
		return err
	}
	return fmt.Errorf("%w\n%s", err, advice)
}

// harmless makes text from files harmless on a terminal: control characters,
// escape sequences among them, and those that reorder what is around them.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\u2028', r == '\u2029', r == '\ufeff':
			return '?'
		}
		return r
	}, text)
}

// isTerminal says whether a person watches w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
