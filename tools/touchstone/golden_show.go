package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/touchstone-eval/touchstone/evaltests/golden"
)

func goldenShowCommand() *cobra.Command {
	var o goldenOptions
	var asJSON, all bool
	c := &cobra.Command{
		Use:   "show SUITE [--run DIR]",
		Short: "Show how rankings moved, and what that did to the labelled measures",
		Long: `Show how rankings moved, and what that did to the labelled measures: of a run
against the golden, worst case first, or, without --run, of the golden against
its anchor. At most one screen unless --all is given. It decides nothing and
ends with 0.`,
		Example: "  touchstone golden show godoc --run RUN\n  touchstone golden show godoc --run RUN --all\n  touchstone golden show godoc",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd, args[0], false); err != nil {
				return err
			}
			m, err := o.moves(args[0])
			if err != nil {
				return refused(err)
			}
			if err := m.keep(o.cases); err != nil {
				return refused(err)
			}
			if asJSON {
				return refused(writeJSON(cmd.OutOrStdout(), m))
			}
			height := 0
			if !all {
				height = screen(cmd.OutOrStdout())
			}
			m.write(cmd.OutOrStdout(), height)
			return nil
		},
	}
	o.addRun(c)
	o.addCases(c, "show this case only")
	c.Flags().BoolVar(&all, "all", false, "all moved cases and ranks")
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}

// moves is what `golden show` tells.
type moves struct {
	Suite     string      `json:"suite"`
	Stage     string      `json:"stage,omitempty"`
	Head      string      `json:"summary"`
	Verdict   string      `json:"verdict,omitempty"`
	Reasons   []string    `json:"reasons,omitempty"`
	Effects   []effect    `json:"effects"` // on labelled measures, over the moved cases
	Unblessed []string    `json:"without_golden,omitempty"`
	Changed   []string    `json:"changed,omitempty"`
	Missing   []string    `json:"missing,omitempty"`
	Cases     []movedCase `json:"cases"` // worst first
	Stages    []moves     `json:"stages,omitempty"`
}

type effect struct {
	golden.Paired
	Text        string `json:"text"`
	Significant bool   `json:"significant_loss"`
}

type movedCase struct {
	Case         string        `json:"case"`
	State        string        `json:"state"`
	Against      string        `json:"against"`
	RBO          float64       `json:"rbo"`
	Floor        float64       `json:"floor"`
	N            int           `json:"n"`
	Overlap      int           `json:"overlap"`
	OverlapFloor int           `json:"overlap_floor"`
	Divergent    int           `json:"first_divergent_rank"`
	Measures     []caseMeasure `json:"measures"`
	Golden       golden.List   `json:"golden"`
	Live         golden.List   `json:"live"`
	Moves        []rankMove    `json:"moves"`
	matched      []string      // the golden's ids, ties as live has them
	gold         map[string]int
}

type caseMeasure struct {
	Measure string  `json:"measure"`
	Golden  float64 `json:"golden"`
	Live    float64 `json:"live"`
}

type rankMove struct {
	ID  string `json:"id"`
	Old int    `json:"old"` // rank from 1; 0: not in the list
	New int    `json:"new"`
}

// moves are those of a run against the golden, or of the golden against its
// anchor.
func (o *goldenOptions) moves(suite string) (moves, error) {
	if o.run != "" {
		f, res, err := o.recheck(suite)
		if err != nil {
			return moves{}, err
		}
		return movesOf(res, golden.Labelled(f)), nil
	}
	dir, err := goldenDir(suite)
	if err != nil {
		return moves{}, err
	}
	current, err := golden.Read(filepath.Join(dir, golden.CurrentFile))
	if err != nil {
		return moves{}, err
	}
	anchor, err := golden.Read(filepath.Join(dir, golden.AnchorFile))
	if err != nil {
		return moves{}, err
	}
	creep, err := golden.MeasureCreep(anchor, current)
	if err != nil {
		return moves{}, err
	}
	m := moves{Suite: suite, Head: fmt.Sprintf("%s: %s", suite, creep), Effects: []effect{}, Cases: []movedCase{}}
	for _, c := range creep.Moved {
		m.Cases = append(m.Cases, movedOf(c))
	}
	return m, nil
}

func movesOf(res golden.SuiteResult, measures []string) moves {
	m := moves{
		Suite: res.Suite, Stage: res.Stage, Head: headOf(res), Verdict: res.Verdict, Reasons: res.Reasons,
		Unblessed: res.Unblessed, Changed: res.Changed, Missing: res.Missing, Effects: []effect{}, Cases: []movedCase{},
	}
	effects, err := res.Effect(measures)
	if err != nil {
		m.Reasons = append(slices.Clone(m.Reasons), "labelled measures: "+err.Error())
	}
	for _, p := range effects {
		m.Effects = append(m.Effects, effect{p, p.String(), p.Lost()})
	}
	for _, c := range res.Cases {
		x := movedOf(c)
		for _, name := range measures {
			if c.Gold == nil {
				break
			}
			if before, after, err := res.Values(c, name); err == nil {
				x.Measures = append(x.Measures, caseMeasure{name, before, after})
			}
		}
		m.Cases = append(m.Cases, x)
	}
	for _, s := range res.Stages {
		m.Stages = append(m.Stages, movesOf(s, measures))
	}
	return m
}

func movedOf(c golden.CaseResult) movedCase {
	r, against := c.Worse()
	x := movedCase{
		Case: c.Key, State: c.Says(), Against: against.String(), RBO: r.RBO, Floor: r.Floor, N: r.N, Overlap: r.Overlap, OverlapFloor: r.OverlapFloor,
		Divergent: r.Divergent, Measures: []caseMeasure{}, Golden: c.Golden, Live: c.Live, Moves: []rankMove{}, matched: r.Matched, gold: c.Gold,
	}
	for _, v := range r.Moves {
		x.Moves = append(x.Moves, rankMove{v.ID, v.Old, v.New})
	}
	return x
}

// keep leaves the named cases only; a name that no moved case has is an error.
func (m *moves) keep(names []string) error {
	if len(names) == 0 {
		return nil
	}
	found := map[string]bool{}
	var narrow func(m *moves)
	narrow = func(m *moves) {
		m.Cases = slices.DeleteFunc(m.Cases, func(c movedCase) bool {
			keep := slices.Contains(names, c.Case)
			found[c.Case] = found[c.Case] || keep
			return !keep
		})
		for i := range m.Stages {
			narrow(&m.Stages[i])
		}
	}
	narrow(m)
	for _, name := range names {
		if !found[name] {
			return fmt.Errorf("%s: case %q did not move", m.Suite, name)
		}
	}
	return nil
}

// screen is the number of lines that a reader sees at once.
func screen(out io.Writer) int {
	const usual = 40
	if f, ok := out.(*os.File); ok {
		if _, height, err := term.GetSize(int(f.Fd())); err == nil && height > 10 {
			return height - 1
		}
	}
	return usual
}

// write prints the moves; height is the most lines, 0 for all of them.
func (m moves) write(out io.Writer, height int) {
	lines := m.lines(height)
	if height > 0 && len(lines) > height {
		lines = append(lines[:height-1], "  ... --all shows the rest")
	}
	for _, line := range lines {
		fmt.Fprintln(out, line)
	}
}

func (m moves) lines(height int) []string {
	lines := []string{m.Head}
	for _, reason := range m.Reasons {
		lines = append(lines, "  "+printable(reason))
	}
	for i, e := range m.Effects {
		if i == 0 {
			lines = append(lines, "labelled measures of the moved cases:")
		}
		mark := ""
		if e.Significant {
			mark = "  SIGNIFICANT LOSS"
		}
		lines = append(lines, "  "+e.Text+mark)
	}
	for i, c := range m.Cases {
		block := c.lines(height > 0)
		left := 0
		for _, s := range m.Stages {
			left += 1 + min(1, len(s.Cases))
		}
		if height > 0 && i > 0 && len(lines)+len(block)+left+2 > height {
			lines = append(lines, "", fmt.Sprintf("%d more moved cases; --all shows them, --case ID one of them", len(m.Cases)-i))
			break
		}
		lines = append(lines, block...)
	}
	for _, s := range m.Stages {
		rest := 0
		if height > 0 {
			rest = max(2, height-len(lines))
		}
		lines = append(lines, s.lines(rest)...)
	}
	return lines
}

// lines shows the ranks that differ, side by side. A star marks what the gold
// calls relevant.
func (c movedCase) lines(short bool) []string {
	head := fmt.Sprintf("%s  %s  RBO %.4f (floor %.4f), %d of %d ids kept (floor %d)", printable(c.Case), c.State, c.RBO, c.Floor, c.Overlap, c.N, c.OverlapFloor)
	lines := []string{"", head}
	var values []string
	for _, v := range c.Measures {
		values = append(values, fmt.Sprintf("%s %.4f -> %.4f (%+.4f)", v.Measure, v.Golden, v.Live, v.Live-v.Golden))
	}
	if len(values) > 0 {
		lines = append(lines, "  "+strings.Join(values, ", "))
	}
	old := c.matched
	if old == nil { // identical to what it is shown against
		return append(lines, "  the current golden is as live; it is the anchor that it left")
	}
	was := map[string]int{}
	for i, id := range old {
		was[id] = i + 1
	}
	is := map[string]bool{}
	for _, id := range c.Live.IDs {
		is[id] = true
	}
	const most = 10
	left := "golden"
	if c.Against == golden.Anchor.String() {
		left = c.Against
	}
	lines = append(lines, fmt.Sprintf("  rank   %-29s   %s", left, "live"))
	shown, hidden := 0, 0
	for i := range max(len(old), len(c.Live.IDs)) {
		from, to := at(old, i), at(c.Live.IDs, i)
		if from == to {
			continue
		}
		if short && shown == most {
			hidden++
			continue
		}
		shown++
		note := ""
		switch {
		case to == "":
		case was[to] == 0:
			note = "new"
		default:
			note = fmt.Sprintf("was %d", was[to])
		}
		if from != "" && !is[from] {
			note = strings.TrimPrefix(note+"; left: gone", "; ")
		}
		lines = append(lines, strings.TrimRight(fmt.Sprintf("  %4d  %s  %s  %s", i+1, c.cell(from), c.cell(to), note), " "))
	}
	if hidden > 0 {
		lines = append(lines, fmt.Sprintf("  ... %d more ranks differ", hidden))
	}
	return lines
}

func at(ids []string, i int) string {
	if i < len(ids) {
		return ids[i]
	}
	return ""
}

// cell is an id in 30 columns, after a star if it is relevant. Its end is
// kept, where ids differ most.
func (c movedCase) cell(id string) string {
	const width = 29
	mark, text := " ", []rune(printable(id))
	switch {
	case id == "":
		text = []rune("-")
	case c.gold[id] > 0:
		mark = "*"
	}
	if len(text) > width {
		text = append([]rune("…"), text[len(text)-width+1:]...)
	}
	return mark + string(text) + strings.Repeat(" ", width-len(text))
}

// printable makes hostile text harmless on a terminal.
func printable(s string) string {
	for _, r := range s {
		if !strconv.IsPrint(r) {
			q := strconv.QuoteToGraphic(s)
			return q[1 : len(q)-1]
		}
	}
	return s
}
