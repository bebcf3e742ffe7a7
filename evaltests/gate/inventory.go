package gate

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

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

// ReadInventory reads an inventory strictly: what it refuses, it refuses with
// file:line.
func ReadInventory(path string) (Inventory, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Inventory{}, err
	}
	return parseInventory(path, data)
}

func parseInventory(path string, data []byte) (Inventory, error) {
	var inv Inventory
	if err := strict.TOML(path, data, &inv); err != nil {
		return Inventory{}, err
	}
	if len(inv.Suites) == 0 {
		return Inventory{}, fmt.Errorf("%s:1: no [[suite]]; an inventory that requires nothing cannot fail", path)
	}
	if len(inv.Packages) == 0 {
		return Inventory{}, fmt.Errorf("%s:1: no packages; name the go test patterns that hold the suites", path)
	}
	for _, p := range inv.Packages {
		if p == "" || strings.HasPrefix(p, "-") {
			return Inventory{}, fmt.Errorf("%s:%d: package %q; want a pattern such as ./... and no flag", path, line(data, 0, "packages"), p)
		}
	}
	seen := map[string]bool{}
	for i := range inv.Suites {
		s := &inv.Suites[i]
		if s.Arm == "" {
			s.Arm = "base"
		}
		key := s.Name + "/" + s.Arm
		err := s.validate()
		if err == nil && seen[key] {
			err = fmt.Errorf("suite %s is listed twice", key)
		}
		if err != nil {
			return Inventory{}, fmt.Errorf("%s:%d: %w", path, line(data, i, "suite"), err)
		}
		seen[key] = true
	}
	return inv, nil
}

// line is that of the i-th table or key of that name.
func line(data []byte, i int, key ...string) int {
	if lines := strict.TOMLLines(data, key...); i < len(lines) {
		return lines[i]
	}
	return 1
}

// platform is a class as record.Class prints it. A class that no machine has
// would require its suite nowhere.
var platform = regexp.MustCompile(`^[a-z0-9]+/(amd64/v[1-4]|[a-z0-9]+)$`)

func (r Required) validate() error {
	switch {
	case !record.ValidSuite(r.Name):
		return fmt.Errorf("suite name %q; want lower-case letters, digits, dots, dashes", r.Name)
	case !record.ValidSuite(r.Arm):
		return fmt.Errorf("suite %s: arm %q; want lower-case letters, digits, dots, dashes", r.Name, r.Arm)
	case !ValidTier(r.Tier):
		return fmt.Errorf("suite %s: tier %q; want one of %v", r.Name, r.Tier, tiers)
	case r.Planned < 1:
		return fmt.Errorf("suite %s: planned = %d; want at least 1", r.Name, r.Planned)
	}
	for _, p := range r.Platforms {
		if !platform.MatchString(p) || strings.HasSuffix(p, "/amd64") {
			return fmt.Errorf("suite %s: platform %q; want a class such as linux/amd64/v1 or darwin/arm64", r.Name, p)
		}
	}
	return nil
}

// ValidTier reports whether tier is one of smoke, full, deep.
func ValidTier(tier string) bool { return slices.Contains(tiers, tier) }

// InTier reports whether a suite of tier suite belongs to a run of tier run.
func InTier(suite, run string) bool {
	return slices.Index(tiers, suite) >= 0 && slices.Index(tiers, suite) <= slices.Index(tiers, run)
}

// SuiteVerdict is what a run says of one suite.
type SuiteVerdict struct {
	Suite   string   `json:"suite"`
	Arm     string   `json:"arm"`
	Verdict string   `json:"verdict"`
	Reasons []string `json:"reasons,omitempty"`
	// Unsound: the record is not whole, not of this run, or contradicts
	// itself, so that none of its figures may be shown.
	Unsound bool         `json:"unsound,omitempty"`
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
		if why := unsound(folder, f); why != "" {
			s.Verdict, s.Reasons, s.Unsound = CNM, []string{why}, true
		} else {
			s.Verdict, s.Reasons = f.Verdict.Verdict, slices.Clone(f.Verdict.Reasons)
		}
		key := s.Suite + "/" + s.Arm
		found[key] = true
		if s.Verdict != NotRun {
			ran[key] = max(ran[key], len(f.Run.Plan), len(f.Run.Whole))
		}
		out.Suites = append(out.Suites, s)
	}
	if inv != nil {
		required, listed := 0, false
		for _, want := range inv.Suites {
			listed = listed || ran[want.Name+"/"+want.Arm] > 0
			if !InTier(want.Tier, tier) || len(want.Platforms) > 0 && !slices.Contains(want.Platforms, class) {
				continue
			}
			required++
			out.require(want, ran, found)
			out.requireClass(want)
		}
		if required == 0 && !listed && ValidTier(tier) {
			out.Reasons = append(out.Reasons, fmt.Sprintf("the inventory requires no suite of tier %s on %s, and none that it lists was run", tier, class))
		}
	}
	if len(out.Suites) == 0 {
		out.Reasons = append(out.Reasons, "the run holds no record")
	}
	if inv != nil && !ValidTier(tier) {
		// It would require no suite at all.
		out.Reasons = append(out.Reasons, fmt.Sprintf("tier %q is not known; want one of %v", tier, tiers))
	}
	out.decide()
	return out
}

// requireClass refuses a record that was made on another platform class than
// the inventory names: there the drift gate is advisory, and would be disarmed
// by building the tests for another processor.
func (v *RunVerdict) requireClass(want Required) {
	for i := range v.Suites {
		s := &v.Suites[i]
		if s.Suite != want.Name || s.Arm != want.Arm || s.File == nil || s.Verdict == NotRun || len(want.Platforms) == 0 {
			continue
		}
		if class := s.File.Run.Identity.Class; !slices.Contains(want.Platforms, class) {
			s.Verdict = CNM
			s.Reasons = append(s.Reasons, fmt.Sprintf("the record is of %s; the inventory requires %s", class, strings.Join(want.Platforms, ", ")))
		}
	}
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
