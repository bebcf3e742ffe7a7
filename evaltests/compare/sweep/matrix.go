package sweep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
)

// Matrix is a table of suites by arms, with one verdict for each cell. A column
// is an arm in a mode; it is compared with the base of the same suite and mode.
type Matrix struct {
	Base    string      `json:"base"`
	Columns []string    `json:"columns"`
	Rows    []MatrixRow `json:"rows"`
}

// MatrixRow is one suite.
type MatrixRow struct {
	Suite   string  `json:"suite"`
	Measure string  `json:"measure"`
	Base    float64 `json:"base"` // mean of the base
	N       int     `json:"n"`
	Planned int     `json:"planned"`
	Floor   string  `json:"floor"`
	Cells   []Cell  `json:"cells"` // in the order of the columns
}

// Cell is one arm on one suite. All arms of a suite are one family.
type Cell struct {
	Column     string              `json:"column"`
	NotRun     bool                `json:"not_run,omitempty"` // there is no run of this arm on this suite
	Verdict    string              `json:"verdict,omitempty"` // of the significance protocol, in words
	Gate       string              `json:"gate,omitempty"`
	Differs    []compare.Mismatch  `json:"differs,omitempty"` // effective keys of the arm
	Mean       float64             `json:"mean"`
	Difference float64             `json:"difference"`
	Lo         float64             `json:"lo"`
	Hi         float64             `json:"hi"`
	Wins       int                 `json:"wins"`
	Losses     int                 `json:"losses"`
	Ties       int                 `json:"ties"`
	P          float64             `json:"p"`
	Adj        float64             `json:"p_adjusted"`
	Detectable *compare.Detectable `json:"detectable,omitempty"`
}

// ArmRuns are the runs of one arm, a suite each.
type ArmRuns struct {
	Name string
	Keys []string // effective keys in which it may differ from the base; none: whatever differs, and the same in every suite
	Runs []compare.Side
}

// MatrixOptions of [NewMatrix].
type MatrixOptions struct {
	AA []compare.Side // runs of the base's own treatment, for the noise floors
}

// NewMatrix compares every arm with the base on every suite. It refuses an arm
// that differs from the base in undeclared keys, in none, or in other keys on
// one suite than on another.
func NewMatrix(base []compare.Side, arms []ArmRuns, o MatrixOptions) (*Matrix, error) {
	if len(base) == 0 || len(arms) == 0 {
		return nil, fmt.Errorf("ablation: %d base runs and %d arms; want at least one of each", len(base), len(arms))
	}
	m := &Matrix{Base: base[0].File.Run.Arm}
	type place struct{ suite, mode string }
	at := map[place]compare.Side{}
	var places []place
	var modes []string
	for _, b := range base {
		p := place{b.File.Run.Suite, b.File.Run.Mode}
		if _, twice := at[p]; twice {
			return nil, fmt.Errorf("ablation: two base runs of suite %s, mode %s; give one", p.suite, p.mode)
		}
		at[p] = b
		places = append(places, p)
		if !slices.Contains(modes, p.mode) {
			modes = append(modes, p.mode)
		}
	}
	keys := map[string]string{} // of an arm, as first seen
	for _, p := range places {
		b := at[p]
		opts := compare.Options{}
		for _, a := range o.AA {
			if a.File.Run.Suite == p.suite && a.File.Run.Mode == p.mode {
				opts.AA = append(opts.AA, a)
			}
		}
		var treatments []compare.Side
		var found []string
		column := func(arm string) string {
			if len(modes) == 1 {
				return arm
			}
			return arm + " (" + p.mode + ")"
		}
		for _, a := range arms {
			if c := column(a.Name); !slices.Contains(m.Columns, c) {
				m.Columns = append(m.Columns, c)
			}
			s, ok, err := a.on(p.suite, p.mode)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
			differs, err := a.differs(b, s)
			if err != nil {
				return nil, err
			}
			if was, seen := keys[a.Name]; seen && was != strings.Join(differs, ", ") {
				return nil, fmt.Errorf("arm %s differs from the base in %s on one suite and in %s on %s; an arm is one change", a.Name, was, strings.Join(differs, ", "), p.suite)
			}
			keys[a.Name] = strings.Join(differs, ", ")
			for _, k := range differs {
				if !slices.Contains(opts.Vary, k) {
					opts.Vary = append(opts.Vary, k)
				}
			}
			treatments, found = append(treatments, s), append(found, column(a.Name))
		}
		row := MatrixRow{Suite: p.suite}
		if len(treatments) > 0 {
			c, err := compare.Compare(b, treatments, opts)
			if err != nil {
				return nil, err
			}
			row.fill(c, found)
		}
		m.Rows = append(m.Rows, row)
	}
	for i := range m.Rows {
		m.Rows[i].arrange(m.Columns)
	}
	return m, nil
}

// on is the arm's run of a suite in a mode.
func (a ArmRuns) on(suite, mode string) (compare.Side, bool, error) {
	var out []compare.Side
	for _, s := range a.Runs {
		if s.File.Run.Suite == suite && s.File.Run.Mode == mode {
			out = append(out, s)
		}
	}
	if len(out) > 1 {
		return compare.Side{}, false, fmt.Errorf("arm %s has %d runs of suite %s, mode %s; give one", a.Name, len(out), suite, mode)
	}
	if len(out) == 0 {
		return compare.Side{}, false, nil
	}
	return out[0], true, nil
}

// differs are the effective keys of the arm, all of them declared.
func (a ArmRuns) differs(base, arm compare.Side) ([]string, error) {
	vary := a.Keys
	if vary == nil {
		for _, d := range compare.Differences(base.File.Run, arm.File.Run) {
			vary = append(vary, d.Key)
		}
	}
	found, err := compare.Comparable(base, arm, vary)
	if err != nil {
		return nil, fmt.Errorf("arm %s: %w", a.Name, err)
	}
	var keys []string
	for _, d := range found {
		keys = append(keys, d.Key)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("arm %s on %s is the base itself: its effective configuration is the same", a.Name, base.File.Run.Suite)
	}
	return keys, nil
}

func (r *MatrixRow) fill(c *compare.Comparison, columns []string) {
	first := c.Treatments[0].Primary
	r.Measure, r.Base, r.N, r.Planned = first.Measure, first.Base, first.N, c.Treatments[0].Planned
	switch {
	case !c.Floor.Valid():
		r.Floor = "none: " + c.Floor.Problem
	case c.Floor.Source == compare.FloorProof:
		r.Floor = "0 by proof"
	default:
		r.Floor = fmt.Sprintf("%.4f of %d A/A runs", c.Floor.Value, len(c.Floor.Runs))
	}
	for i, t := range c.Treatments {
		f := t.Primary
		cell := Cell{
			Column: columns[i], Verdict: t.Words(), Gate: t.Gate, Differs: t.Differs, Mean: f.Treatment, Difference: f.Mean, Lo: f.Lo, Hi: f.Hi,
			Wins: f.Wins, Losses: f.Losses, Ties: f.Ties, P: t.P, Adj: t.Adjusted,
		}
		if !t.Significant {
			d := t.Detectable
			cell.Detectable = &d
		}
		r.Cells = append(r.Cells, cell)
	}
}

// arrange gives the row a cell for every column.
func (r *MatrixRow) arrange(columns []string) {
	cells := make([]Cell, len(columns))
	for i, name := range columns {
		cells[i] = Cell{Column: name, NotRun: true}
		for _, c := range r.Cells {
			if c.Column == name {
				cells[i] = c
			}
		}
	}
	r.Cells = cells
}
