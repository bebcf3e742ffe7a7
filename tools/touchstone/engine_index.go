package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/engine/folder"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

func engineIndexCommand() *cobra.Command {
	var (
		o        engineOptions
		maxBytes int64
		asJSON   bool
	)
	c := &cobra.Command{
		Use:   "index DIR",
		Short: "Read the Markdown, text and HTML of a folder into its index",
		Long: `Read the Markdown, text and HTML of a folder into its index. Files that have
not changed are not read again; documents whose file is gone are removed. Other
kinds of files, and what is binary, too large or not UTF-8, are left out and
named. Ctrl-C stops between two documents: the next run goes on from there.`,
		Example: "  touchstone engine index ~/notes\n  touchstone engine index docs --store /tmp/docs-index --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if maxBytes < 1 {
				return usage("engine index: --max-bytes %d; want at least 1", maxBytes)
			}
			x, err := o.open(cmd.Context(), args[0], false, maxBytes)
			if err != nil {
				return err
			}
			p := newProgress(cmd.ErrOrStderr(), isTerminal(cmd.ErrOrStderr()), time.Now)
			r, err := x.Sync(cmd.Context(), p.show)
			p.end()
			err = errors.Join(err, x.Close())
			if errors.Is(err, context.Canceled) {
				err = fmt.Errorf("engine index: stopped after %d documents of %d files found; the index is consistent, and the next run goes on from here", r.New+r.Changed+r.Unchanged, p.last.AllFiles)
			}
			if asJSON {
				return refused(errors.Join(err, report.JSON(cmd.OutOrStdout(), r)))
			}
			showSkips(cmd.ErrOrStderr(), r)
			showCounts(cmd.OutOrStdout(), r)
			return refused(err)
		},
	}
	o.flags(c)
	c.Flags().Int64Var(&maxBytes, "max-bytes", folder.DefaultMaxBytes, "leave out files that are larger")
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document, which names every file left out")
	return c
}

func showCounts(w io.Writer, r folder.Report) {
	for _, n := range []struct {
		name  string
		value int
	}{
		{"new", r.New}, {"changed", r.Changed}, {"unchanged", r.Unchanged}, {"removed", r.Removed}, {"skipped", len(r.Skips)}, {"documents", r.Documents},
	} {
		fmt.Fprintf(w, "%s\t%d\n", n.name, n.value)
	}
}

// namedSkips is how many files are named one by one.
const namedSkips = 20

// showSkips names what was left out. Files of other kinds, of which there may
// be thousands, are counted by suffix, so that they do not bury the rest.
func showSkips(w io.Writer, r folder.Report) {
	var kinds, others []folder.Skip
	for _, s := range r.Skips {
		if s.Reason == folder.OtherKind {
			kinds = append(kinds, s)
		} else {
			others = append(others, s)
		}
	}
	for _, s := range slices.Concat(others, r.Warnings)[:min(namedSkips, len(others)+len(r.Warnings))] {
		fmt.Fprintf(w, "touchstone: %s: %s\n", harmless(s.Path), harmless(s.Reason))
	}
	if more := len(others) + len(r.Warnings) - namedSkips; more > 0 {
		fmt.Fprintf(w, "touchstone: and %d more; --json names them all\n", more)
	}
	if len(kinds) > 0 {
		var names []string
		for _, s := range kinds[:min(3, len(kinds))] {
			names = append(names, harmless(s.Path))
		}
		if len(kinds) > len(names) {
			names = append(names, "...")
		}
		fmt.Fprintf(w, "touchstone: left out %d, %s (%s): %s\n", len(kinds), folder.OtherKind, bySuffix(kinds), strings.Join(names, ", "))
	}
	if r.Truncated > 0 {
		fmt.Fprintf(w, "touchstone: the model read only the beginning of %d passages\n", r.Truncated)
	}
}

// bySuffix is such as ".go 12, .png 3", the most frequent first.
func bySuffix(skips []folder.Skip) string {
	count := map[string]int{}
	for _, s := range skips {
		suffix := harmless(path.Ext(s.Path))
		if suffix == "" {
			suffix = "no suffix"
		}
		count[suffix]++
	}
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a, b))
	})
	var parts []string
	for _, n := range names[:min(5, len(names))] {
		parts = append(parts, fmt.Sprintf("%s %d", n, count[n]))
	}
	if len(names) > len(parts) {
		parts = append(parts, "...")
	}
	return strings.Join(parts, ", ")
}

// How often progress is shown: to a person, and in a log.
const (
	everyOnTerminal = 100 * time.Millisecond
	everyInLog      = 10 * time.Second
)

// progressLine shows how far an index has come: in one line that is written over
// on a terminal, in a line now and then elsewhere.
type progressLine struct {
	w        io.Writer
	terminal bool
	now      func() time.Time
	every    time.Duration
	start    time.Time
	shown    time.Time
	width    int // of the line on the terminal
	last     folder.Progress
}

func newProgress(w io.Writer, terminal bool, now func() time.Time) *progressLine {
	p := &progressLine{w: w, terminal: terminal, now: now, every: everyInLog, start: now()}
	if terminal {
		p.every = everyOnTerminal
	}
	p.shown = p.start
	return p
}

func (p *progressLine) show(at folder.Progress) {
	p.last = at
	now := p.now()
	if now.Sub(p.shown) < p.every {
		return
	}
	p.shown = now
	text := progressText(at, now.Sub(p.start))
	if !p.terminal {
		fmt.Fprintf(p.w, "touchstone: %s\n", text)
		return
	}
	fmt.Fprintf(p.w, "\r%-*s", p.width, text)
	p.width = len(text)
}

// end clears the line on the terminal.
func (p *progressLine) end() {
	if p.terminal && p.width > 0 {
		fmt.Fprintf(p.w, "\r%*s\r", p.width, "")
	}
}

// progressText counts time by bytes, which is what reading and embedding go
// by.
func progressText(at folder.Progress, spent time.Duration) string {
	text := fmt.Sprintf("%d of %d files", at.Files, at.AllFiles)
	if s := spent.Seconds(); s > 0 {
		text += fmt.Sprintf(", %.0f files/s", float64(at.Files)/s)
	}
	if at.Bytes > 0 && at.AllBytes >= at.Bytes {
		left := spent.Seconds() * float64(at.AllBytes-at.Bytes) / float64(at.Bytes)
		text += fmt.Sprintf(", %.0f %%, about %s left", 100*float64(at.Bytes)/float64(at.AllBytes), (time.Duration(left) * time.Second).String())
	}
	return text
}
