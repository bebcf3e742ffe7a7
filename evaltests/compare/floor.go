package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

// Where a floor comes from.
const (
	FloorProof = "proof" // the subject is deterministic
	FloorAA    = "A/A"   // measured between runs of one treatment
)

// LeastAA is how many A/A runs a measured floor needs.
const LeastAA = 2

// Floor is the mean difference that two runs of one treatment show. A
// difference within it is noise.
type Floor struct {
	Source  string             `json:"source,omitempty"` // empty: there is no valid floor
	Value   float64            `json:"value"`
	Strata  map[string]float64 `json:"strata,omitempty"` // of strata with enough cases; others fall back to Value
	Runs    []AARun            `json:"runs,omitempty"`
	Problem string             `json:"problem,omitempty"` // why there is none, with the keys
	Notes   []string           `json:"notes,omitempty"`
}

// AARun is a run of the base's treatment, and how it differs from the base.
type AARun struct {
	Label   string  `json:"label"`
	Mean    float64 `json:"mean"`
	Half    float64 `json:"half_width"` // of the 95 % interval of the mean
	Moved   int     `json:"moved"`      // cases whose value changed
	Touched int     `json:"touched"`    // of these, by a changed channel
	digest  string
}

// Valid reports whether there is a floor.
func (f Floor) Valid() bool { return f.Source != "" }

// Of is the floor of a stratum, and whether it is the aggregate's.
func (f Floor) Of(stratum string) (value float64, fallback bool) {
	if v, ok := f.Strata[stratum]; ok {
		return v, false
	}
	return f.Value, true
}

// stratumFloor is the least number of cases for which a stratum has a floor of
// its own.
const stratumFloor = 20

// NewFloor measures the floor of a base from A/A runs: the larger of the
// largest absolute mean difference and the half-width of the interval of such a
// mean, so that a noisy A/A whose moves cancel has no floor of 0. Runs that are
// not of the base's question, store or treatment are no A/A runs and are named.
// Identical rankings prove the subject deterministic, and its floor is 0; so
// does a proof that the base's own record holds.
func NewFloor(base Side, aa []Side, primary metric.Measure, channels []string) (Floor, error) {
	var f Floor
	if proof := record.ProofOf(base.File.Run, base.File.Rows); proof != nil && base.File.State == record.Complete {
		if proof.Proven {
			f.Source = FloorProof
			f.Notes = append(f.Notes, fmt.Sprintf("the rankings of all %d repeats are identical", proof.Repeats))
		} else {
			f.Problem = fmt.Sprintf("the %d repeats of the base differ in %d cases", proof.Repeats, len(proof.Differ))
		}
	}
	same := 0
	var strata map[string][]float64
	for _, s := range aa {
		if s.Digest() == base.Digest() {
			f.Notes = append(f.Notes, fmt.Sprintf("%s is the base itself and proves nothing", s.Label))
			continue
		}
		if why := notAA(base, s); why != "" {
			f.Problem = join(f.Problem, fmt.Sprintf("%s is no A/A run of the base: %s", s.Label, why))
			continue
		}
		pairs, err := Pair(base.File, s.File)
		if err != nil {
			return f, err
		}
		if pairs.Overlap() < LeastOverlap {
			f.Problem = join(f.Problem, fmt.Sprintf("%s pairs with %d of %d cases of the base", s.Label, len(pairs.List), pairs.Planned))
			continue
		}
		if base.Folder != nil && s.Folder != nil && base.Folder.Tree != s.Folder.Tree {
			f.Notes = append(f.Notes, fmt.Sprintf("%s was made from other sources than the base", s.Label))
		}
		run, diffs, err := aaRun(s, pairs, primary, channels)
		if err != nil {
			return f, err
		}
		if identical(pairs) && base.File.State == record.Complete && s.File.State == record.Complete {
			same++
		}
		if run.Moved > 0 {
			f.Notes = append(f.Notes, fmt.Sprintf("WARNING: %s moved %d cases although nothing was changed, %d of them touched by a channel under test", s.Label, run.Moved, run.Touched))
		}
		f.Runs = append(f.Runs, run)
		for name, d := range diffs {
			if strata == nil {
				strata = map[string][]float64{}
			}
			v, err := floorOf(d)
			if err != nil {
				return f, err
			}
			strata[name] = append(strata[name], v)
		}
	}
	moved := slices.ContainsFunc(f.Runs, func(r AARun) bool { return r.Moved > 0 })
	switch {
	case moved:
		// What was seen to move is not deterministic, whatever was proven.
		f.Source = ""
	case f.Source == FloorProof:
		return f, nil
	case same > 0 && same == len(f.Runs):
		f.Source = FloorProof
		f.Notes = append(f.Notes, fmt.Sprintf("the rankings of %d runs of one treatment are identical", same+1))
		return f, nil
	}
	if len(f.Runs) < LeastAA {
		f.Problem = join(f.Problem, fmt.Sprintf("%d A/A runs; a floor needs %d, or a subject whose rankings are identical when it runs twice", len(f.Runs), LeastAA))
		return f, nil
	}
	f.Source, f.Problem = FloorAA, ""
	f.Value = slices.Max(strata[""])
	delete(strata, "")
	for _, name := range slices.Sorted(maps.Keys(strata)) {
		if f.Strata == nil {
			f.Strata = map[string]float64{}
		}
		f.Strata[name] = slices.Max(strata[name])
	}
	return f, nil
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// notAA says in which keys a run differs from the base, empty when in none.
func notAA(base, s Side) string {
	b, r := base.File.Run, s.File.Run
	why := ""
	for _, m := range []Mismatch{
		{"suite", b.Suite, r.Suite}, {"mode", b.Mode, r.Mode}, {"question hash", b.Hashes.Question, r.Hashes.Question},
		{"seed key", b.Hashes.SeedKey, r.Hashes.SeedKey}, {"platform class", b.Identity.Class, r.Identity.Class},
	} {
		if m.Base != m.Treatment {
			m.Base, m.Treatment = short(m.Base), short(m.Treatment)
			why = join(why, m.String())
		}
	}
	for _, m := range Differences(b, r) {
		why = join(why, m.String())
	}
	if why == "" && b.Hashes.Treatment != r.Hashes.Treatment {
		why = "treatment hash"
	}
	if s.File.State == record.Tampered {
		why = join(why, "its record is tampered with")
	}
	return why
}

// aaRun compares an A/A run with the base. The differences come by stratum, all
// of them under "".
func aaRun(s Side, pairs Pairs, primary metric.Measure, channels []string) (AARun, map[string][]float64, error) {
	run := AARun{Label: s.Label, digest: s.Digest()}
	diffs := map[string][]float64{}
	var moved []CasePair
	for _, c := range pairs.List {
		b, err := Value(primary, record.Final, c.Base)
		if err != nil {
			return run, nil, err
		}
		t, err := Value(primary, record.Final, c.Treatment)
		if err != nil {
			return run, nil, err
		}
		d := t - b
		diffs[""] = append(diffs[""], d)
		if stratum := c.Base[0].Stratum; stratum != "" {
			diffs[stratum] = append(diffs[stratum], d)
		}
		if math.Abs(d) > Epsilon {
			moved = append(moved, c)
		}
	}
	for name, d := range diffs {
		if name != "" && len(d) < stratumFloor {
			delete(diffs, name)
		}
	}
	run.Moved = len(moved)
	run.Touched = Attribute(channels, moved).Touched
	run.Mean = mean(diffs[""])
	var err error
	run.Half, err = halfWidth(diffs[""])
	return run, diffs, err
}

// floorOf is the floor that one A/A run gives.
func floorOf(diffs []float64) (float64, error) {
	half, err := halfWidth(diffs)
	return max(math.Abs(mean(diffs)), half), err
}

// halfWidth of the 95 % interval of a mean, by t; 0 when no two differ.
func halfWidth(diffs []float64) (float64, error) {
	if len(diffs) < 2 || deviation(diffs) == 0 {
		return 0, nil
	}
	t, err := stat.PairedTTest(diffs, 0.95)
	return t.CI.HalfWidth(), err
}

// identical reports whether all rankings of all pairs are equal.
func identical(pairs Pairs) bool {
	for _, c := range pairs.List {
		for _, rows := range [][]record.Row{c.Base, c.Treatment} {
			for _, r := range rows {
				if r.Outcome.State != record.Scored || !sameEntries(r.Ranking, c.Base[0].Ranking) {
					return false
				}
			}
		}
	}
	return len(pairs.List) > 0
}

func sameEntries(a, b []record.Entry) bool {
	return slices.EqualFunc(a, b, func(x, y record.Entry) bool { return x.Doc == y.Doc && x.Chunk == y.Chunk })
}
