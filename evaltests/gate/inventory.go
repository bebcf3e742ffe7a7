package gate

import (
	"fmt"
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// InventoryFile is the committed list of what a run must contain.
const InventoryFile = "eval.inventory.toml"

// Tiers, from quick to long. A run of a tier includes the tiers before it.
var tiers = []string{"smoke", "full", "deep"}

// Inventory is eval.inventory.toml. Without it, forgetting the build tag or
// filtering every suite away would look like success.
type Inventory struct {
	Packages []string   `toml:"packages"` // go test patterns that hold the suites
	Suites   []Required `toml:"suite"`
}

// Required is one suite that a run must contain.
type Required struct {
	Name      string   `toml:"name"`
	Arm       string   `toml:"arm"` // empty: "base"
	Tier      string   `toml:"tier"`
	Planned   int      `toml:"planned"`   // cases, exactly
	Platforms []string `toml:"platforms"` // classes on which it must run; empty: all
}

// ReadInventory reads an inventory strictly.
func ReadInventory(path string) (Inventory, error) {
	var inv Inventory
	if err := strict.TOMLFile(path, &inv); err != nil {
		return Inventory{}, err
	}
	if len(inv.Suites) == 0 {
		return Inventory{}, fmt.Errorf("%s: no [[suite]]; an inventory that requires nothing cannot fail", path)
	}
	if len(inv.Packages) == 0 {
		return Inventory{}, fmt.Errorf("%s: no packages; name the go test patterns that hold the suites", path)
	}
	seen := map[string]bool{}
	for i := range inv.Suites {
		s := &inv.Suites[i]
		if s.Arm == "" {
			s.Arm = "base"
		}
		key := s.Name + "/" + s.Arm
		switch {
		case !record.ValidSuite(s.Name):
			return Inventory{}, fmt.Errorf("%s: suite name %q; want lower-case letters, digits, dots, dashes", path, s.Name)
		case seen[key]:
			return Inventory{}, fmt.Errorf("%s: suite %s is listed twice", path, key)
		case !ValidTier(s.Tier):
			return Inventory{}, fmt.Errorf("%s: suite %s: tier %q; want one of %v", path, key, s.Tier, tiers)
		case s.Planned < 1:
			return Inventory{}, fmt.Errorf("%s: suite %s: planned = %d; want at least 1", path, key, s.Planned)
		}
		seen[key] = true
	}
	return inv, nil
}

// ValidTier reports whether tier is one of smoke, full, deep.
func ValidTier(tier string) bool { return slices.Contains(tiers, tier) }

// InTier reports whether a suite of tier suite belongs to a run of tier run.
func InTier(suite, run string) bool {
	return slices.Index(tiers, suite) >= 0 && slices.Index(tiers, suite) <= slices.Index(tiers, run)
}

// SuiteVerdict is what a run says of one suite.
type SuiteVerdict struct {
	Suite   string       `json:"suite"`
	Arm     string       `json:"arm"`
	Verdict string       `json:"verdict"`
	Reasons []string     `json:"reasons,omitempty"`
	File    *record.File `json:"-"` // nil when the inventory's suite has no record
}

// RunVerdict is what a run folder says.
type RunVerdict struct {
	Verdict string         `json:"verdict"`
	Reasons []string       `json:"reasons,omitempty"` // that concern the run as a whole
	Suites  []SuiteVerdict `json:"suites"`
}

// Judge decides a run: every record must be whole, of this run, and agree
// with itself, and the suites that inv requires for tier on class must be
// there with their planned cases. inv may be nil (a run outside an
// inventory).
func Judge(folder *record.Folder, files []*record.File, inv *Inventory, tier, class string) RunVerdict {
	var out RunVerdict
	ran := map[string]int{} // suite/arm -> most cases planned in a record of it
	found := map[string]bool{}
	for _, f := range files {
		s := SuiteVerdict{Suite: f.Run.Suite, Arm: f.Run.Arm, File: f}
		s.Verdict, s.Reasons = judgeFile(folder, f)
		key := s.Suite + "/" + s.Arm
		found[key] = true
		if s.Verdict != NotRun {
			ran[key] = max(ran[key], len(f.Run.Plan))
		}
		out.Suites = append(out.Suites, s)
	}
	if inv != nil {
		for _, want := range inv.Suites {
			if !InTier(want.Tier, tier) || len(want.Platforms) > 0 && !slices.Contains(want.Platforms, class) {
				continue
			}
			out.require(want, ran, found)
		}
	}
	if len(out.Suites) == 0 {
		out.Reasons = append(out.Reasons, "the run holds no record")
	}
	out.decide()
	return out
}

// require holds a run to one line of the inventory.
func (v *RunVerdict) require(want Required, ran map[string]int, found map[string]bool) {
	key := want.Name + "/" + want.Arm
	planned, ok := ran[key]
	switch {
	case !found[key]:
		v.Suites = append(v.Suites, SuiteVerdict{Suite: want.Name, Arm: want.Arm, Verdict: CNM, Reasons: []string{
			"the inventory requires it and the run has no record of it: was the tag eval forgotten, or everything filtered away?",
		}})
	case !ok:
		for i := range v.Suites {
			if s := &v.Suites[i]; s.Suite == want.Name && s.Arm == want.Arm {
				s.Verdict = CNM
				s.Reasons = append(s.Reasons, "the inventory requires it")
			}
		}
	case planned != want.Planned:
		for i := range v.Suites {
			if s := &v.Suites[i]; s.Suite == want.Name && s.Arm == want.Arm && s.Verdict != NotRun {
				s.Verdict = CNM
				s.Reasons = append(s.Reasons, fmt.Sprintf("planned %d cases, the inventory says %d; restore the cases, or change %s on purpose", planned, want.Planned, InventoryFile))
			}
		}
	}
}

func (v *RunVerdict) decide() {
	v.Verdict = PASS
	passed := 0
	for _, s := range v.Suites {
		switch s.Verdict {
		case PASS:
			passed++
		case REGRESSED:
			v.Verdict = REGRESSED
		case CNM:
			if v.Verdict == PASS {
				v.Verdict = CNM
			}
		}
	}
	if len(v.Reasons) > 0 || v.Verdict == PASS && passed == 0 {
		v.Verdict = CNM
	}
	if v.Verdict == CNM && passed == 0 && len(v.Reasons) == 0 && !anyVerdict(v.Suites, CNM) {
		v.Reasons = append(v.Reasons, "no suite was run")
	}
}

func anyVerdict(suites []SuiteVerdict, verdict string) bool {
	return slices.ContainsFunc(suites, func(s SuiteVerdict) bool { return s.Verdict == verdict })
}

// judgeFile gives the verdict that a record carries, if it can be believed.
func judgeFile(folder *record.Folder, f *record.File) (string, []string) {
	if f.State != record.Complete {
		return CNM, []string{fmt.Sprintf("record is %s: %s", f.State, f.Detail)}
	}
	if f.Run.Nonce != folder.Nonce {
		return CNM, []string{fmt.Sprintf("record is of another run (nonce %.8s, this run is %.8s)", f.Run.Nonce, folder.Nonce)}
	}
	if f.Verdict == nil {
		return CNM, []string{"record has no verdict line"}
	}
	// The gates are computed once more from the rows: a stored value that the
	// evidence does not support is no evidence.
	if why := disagreement(f); why != "" {
		return CNM, []string{why}
	}
	return f.Verdict.Verdict, f.Verdict.Reasons
}

func disagreement(f *record.File) string {
	for _, g := range f.Gates {
		if g.Measure == "" || g.Value == nil {
			continue
		}
		again := Evaluate(Spec{Measure: g.Measure, Stage: g.Stage, Stratum: g.Stratum, Floor: g.Floor, Ceiling: g.Ceiling, Target: g.Target}, f.Rows)
		if again.Value == nil || *again.Value != *g.Value || again.Denominator != g.Denominator {
			return fmt.Sprintf("gate %s: the record says %v over %d, its rows give %v over %d", g.Name, *g.Value, g.Denominator, deref(again.Value), again.Denominator)
		}
		if g.Verdict == Pass && again.Verdict != Pass {
			return fmt.Sprintf("gate %s: the record says pass, its rows say %s", g.Name, again.Verdict)
		}
	}
	got := f.Counts()
	for _, s := range record.States() {
		if got[s] != f.Verdict.Outcomes[s] {
			return fmt.Sprintf("verdict counts %d cases %s, the rows hold %d", f.Verdict.Outcomes[s], s, got[s])
		}
	}
	if f.Verdict.Verdict == PASS {
		for _, g := range f.Gates {
			if g.Verdict == Regressed || g.Verdict == CouldNotMeasure {
				return fmt.Sprintf("verdict is PASS although gate %s is %s", g.Name, g.Verdict)
			}
		}
		if got[record.Scored] == 0 {
			return "verdict is PASS although no case was scored"
		}
	}
	return ""
}

func deref(v *float64) any {
	if v == nil {
		return "nothing"
	}
	return *v
}
