package gate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

const inventoryText = `packages = ["./..."]

[[suite]]
name = "s"
tier = "smoke"
planned = 3

[[suite]]
name = "s"
arm = "rerank"
tier = "full"
planned = 3
platforms = ["linux/amd64/v1", "darwin/arm64"]
`

func TestReadInventory(t *testing.T) {
	path := filepath.Join(t.TempDir(), gate.InventoryFile)
	read := func(text string) (gate.Inventory, error) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return gate.ReadInventory(path)
	}
	inv, err := read(inventoryText)
	require.NoError(t, err)
	assert.Equal(t, gate.Inventory{Packages: []string{"./..."}, Suites: []gate.Required{
		{Name: "s", Arm: "base", Tier: "smoke", Planned: 3},
		{Name: "s", Arm: "rerank", Tier: "full", Planned: 3, Platforms: []string{"linux/amd64/v1", "darwin/arm64"}},
	}}, inv)

	for _, tc := range []struct{ name, old, new, want string }{
		{"no suite", inventoryText[strings.Index(inventoryText, "[["):], "", ":1: no [[suite]]"},
		{"no packages", `packages = ["./..."]`, "", ":1: no packages"},
		{"a flag for a package", `"./..."`, `"./...", "-exec=rm"`, `:1: package "-exec=rm"; want a pattern`},
		{"an unknown key", "planned = 3\nplatforms", "planed = 3\nplatforms", `:12: unknown key "suite.planed"`},
		{"a wrong type", "planned = 3\nplatforms", "planned = \"3\"\nplatforms", `:12: key "suite.planned": incompatible types`},
		{"a bad name", `name = "s"` + "\narm", `name = "../s"` + "\narm", `:8: suite name "../s"`},
		{"a bad arm", `"rerank"`, `"a/b"`, `:8: suite s: arm "a/b"`},
		{"a bad tier", `"full"`, `"nightly"`, `:8: suite s: tier "nightly"; want one of [smoke full deep]`},
		{"nothing planned", "planned = 3\nplatforms", "planned = 0\nplatforms", ":8: suite s: planned = 0; want at least 1"},
		{"a suite twice", `arm = "rerank"`, `arm = "base"`, ":8: suite s/base is listed twice"},
		{"a platform that no machine has", "linux/amd64/v1", "linux/amd64", `:8: suite s: platform "linux/amd64"; want a class`},
		{"a platform with blanks", "darwin/arm64", "darwin / arm64", `:8: suite s: platform "darwin / arm64"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.Contains(t, inventoryText, tc.old)
			_, err := read(strings.Replace(inventoryText, tc.old, tc.new, 1))
			require.ErrorContains(t, err, path+tc.want)
		})
	}
	_, err = gate.ReadInventory(filepath.Join(t.TempDir(), "none.toml"))
	require.Error(t, err)

	inv, err = gate.ReadInventory("../../" + gate.InventoryFile)
	require.NoError(t, err, "the inventory of this repository")
	assert.NotEmpty(t, inv.Suites)
}

func TestInTier(t *testing.T) {
	for _, tc := range []struct {
		suite, run string
		want       bool
	}{
		{"smoke", "smoke", true}, {"smoke", "full", true}, {"smoke", "deep", true}, {"full", "smoke", false},
		{"full", "deep", true}, {"deep", "full", false}, {"x", "deep", false}, {"smoke", "x", false},
	} {
		assert.Equal(t, tc.want, gate.InTier(tc.suite, tc.run), "%s in %s", tc.suite, tc.run)
	}
}

// parts is a record before it is written; tests spoil it.
type parts struct {
	run     record.Run
	rows    []record.Row
	gates   []record.Gate
	verdict record.Verdict
}

// sound is a record that agrees with itself.
func sound() parts {
	x := parts{
		run:  record.Run{Suite: "s", Arm: "base", Tier: "smoke", Nonce: "nonce", Plan: []string{"a", "b", "c"}},
		rows: []record.Row{scored("a", .2), scored("b", .8), failed("c")},
	}
	x.decide(gate.Spec{Measure: "AP", Floor: p(.3)}, gate.Spec{Count: "failed", Ceiling: p(1)})
	return x
}

func (x *parts) decide(specs ...gate.Spec) {
	x.gates = nil
	for _, s := range specs {
		x.gates = append(x.gates, gate.Evaluate(s, x.rows))
	}
	x.verdict = gate.Decide(gate.Facts{Plan: x.run.Plan, Rows: x.rows, Gates: x.gates, Waivers: x.run.Waivers, Today: today})
}

func (x parts) write(t *testing.T, dir string) string {
	t.Helper()
	w, err := record.Create(dir, x.run.Suite)
	require.NoError(t, err)
	require.NoError(t, w.Run(x.run))
	for _, r := range x.rows {
		require.NoError(t, w.Row(r))
	}
	for _, g := range x.gates {
		require.NoError(t, w.Gate(g))
	}
	if x.verdict.Verdict != "" {
		require.NoError(t, w.Verdict(x.verdict))
	}
	require.NoError(t, w.End(record.End{}))
	return w.Path()
}

func judge(t *testing.T, dir string, inv *gate.Inventory, tier string) gate.RunVerdict {
	t.Helper()
	files, err := record.ReadAll(dir)
	require.NoError(t, err)
	return gate.Judge(&record.Folder{Nonce: "nonce", Started: today}, files, inv, tier, "linux/amd64/v1")
}

func requires(suites ...gate.Required) *gate.Inventory {
	for i := range suites {
		if suites[i].Arm == "" {
			suites[i].Arm = "base"
		}
		if suites[i].Tier == "" {
			suites[i].Tier = "smoke"
		}
	}
	return &gate.Inventory{Packages: []string{"./..."}, Suites: suites}
}

func notRunParts() parts {
	return parts{
		run:     record.Run{Suite: "s", Arm: "base", Tier: "smoke", Nonce: "nonce", NotRun: "pack not here"},
		verdict: record.Verdict{Verdict: gate.NotRun, Reasons: []string{"pack not here"}},
	}
}

func TestJudge(t *testing.T) {
	three := requires(gate.Required{Name: "s", Planned: 3})
	regressed := sound()
	regressed.decide(gate.Spec{Measure: "AP", Floor: p(.9)})
	second := sound()
	second.run.Arm = "rerank"
	for i := range second.rows {
		second.rows[i].Arm = "rerank"
	}
	limited := sound()
	limited.run.Plan, limited.rows = limited.run.Plan[:2], limited.rows[:2]
	limited.decide(gate.Spec{Measure: "AP", Floor: p(.3)})
	other := notRunParts()
	other.run.Suite = "t"
	for _, tc := range []struct {
		name    string
		records []parts
		inv     *gate.Inventory
		tier    string
		want    string
		why     string // part of some reason
	}{
		{"green", []parts{sound()}, three, "smoke", gate.PASS, ""},
		{"green, no inventory", []parts{sound()}, nil, "", gate.PASS, ""},
		{"regressed", []parts{regressed}, three, "smoke", gate.REGRESSED, "gate AP: 0.3333 is below the floor 0.9000"},
		{"no record", nil, nil, "smoke", gate.CNM, "the run holds no record"},
		{"no record of the required suite", nil, three, "smoke", gate.CNM, "the run has no record of it: was the tag eval forgotten"},
		{"another suite only", []parts{sound()}, requires(gate.Required{Name: "t", Planned: 3}), "smoke", gate.CNM, "no record of it"},
		{"another arm only", []parts{second}, three, "smoke", gate.CNM, "no record of it"},
		{"both arms", []parts{sound(), second}, requires(gate.Required{Name: "s", Planned: 3}, gate.Required{Name: "s", Arm: "rerank", Planned: 3}), "smoke", gate.PASS, ""},
		{"wrong planned count", []parts{sound()}, requires(gate.Required{Name: "s", Planned: 4}), "smoke", gate.CNM, "planned 3 cases, the inventory says 4"},
		{"more cases than the inventory knows", []parts{sound()}, requires(gate.Required{Name: "s", Planned: 2}), "smoke", gate.CNM, "planned 3 cases, the inventory says 2"},
		{"a limited run", []parts{limited}, three, "smoke", gate.CNM, "planned 2 cases, the inventory says 3"},
		{"regressed outweighs could not measure", []parts{regressed, other}, requires(gate.Required{Name: "s", Planned: 3}, gate.Required{Name: "t", Planned: 1}), "smoke", gate.REGRESSED, "the inventory requires it"},
		{"required in a later tier only", []parts{sound()}, requires(gate.Required{Name: "t", Tier: "full", Planned: 1}), "smoke", gate.CNM, "none that it lists was run"},
		{"another required in a later tier", []parts{sound()}, requires(gate.Required{Name: "s", Planned: 3}, gate.Required{Name: "t", Tier: "full", Planned: 1}), "smoke", gate.PASS, ""},
		{"required in this tier", []parts{sound()}, requires(gate.Required{Name: "t", Tier: "full", Planned: 1}), "full", gate.CNM, "no record of it"},
		{"an unknown tier requires everything", []parts{sound()}, three, "smok", gate.CNM, `tier "smok" is not known`},
		{"required on another platform", []parts{sound()}, requires(gate.Required{Name: "t", Planned: 1, Platforms: []string{"darwin/arm64"}}), "smoke", gate.CNM, "none that it lists was run"},
		{"run though required on another platform only", []parts{sound()}, requires(gate.Required{Name: "s", Planned: 3, Platforms: []string{"darwin/arm64"}}), "smoke", gate.PASS, ""},
		{"required on this platform", []parts{sound()}, requires(gate.Required{Name: "t", Planned: 1, Platforms: []string{"darwin/arm64", "linux/amd64/v1"}}), "smoke", gate.CNM, "no record of it"},
		{"not run outside the inventory", []parts{sound(), other}, three, "smoke", gate.PASS, "pack not here"},
		{"not run inside the inventory", []parts{notRunParts()}, three, "smoke", gate.CNM, "the inventory requires it"},
		{"nothing but suites that were not run", []parts{other}, nil, "smoke", gate.CNM, "no suite was run"},
		{"two records of one suite, both green", []parts{sound(), sound()}, three, "smoke", gate.PASS, ""},
		{"two records of one suite, one red", []parts{sound(), regressed}, three, "smoke", gate.REGRESSED, "gate AP"},
		{"two records of one suite, one not run", []parts{sound(), notRunParts()}, three, "smoke", gate.PASS, "pack not here"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, x := range tc.records {
				x.write(t, dir)
			}
			v := judge(t, dir, tc.inv, tc.tier)
			assert.Equal(t, tc.want, v.Verdict, "%+v", v)
			reasons := strings.Join(v.Reasons, "; ")
			for _, s := range v.Suites {
				reasons += "; " + strings.Join(s.Reasons, "; ")
				assert.False(t, s.Unsound, s.Reasons)
			}
			assert.Contains(t, reasons, tc.why)
		})
	}
}

// A record that is whole and yet not to be believed: each is could-not-measure
// and shows no figure.
func TestJudgeUnsound(t *testing.T) {
	for _, tc := range []struct {
		name  string
		spoil func(x *parts)
		want  string
	}{
		{"another nonce", func(x *parts) { x.run.Nonce = "other" }, "record is of another run (nonce other, this run is nonce)"},
		{"no verdict", func(x *parts) { x.verdict.Verdict = "" }, "record has no verdict line"},
		{"a verdict that is not known", func(x *parts) { x.verdict.Verdict = "pass" }, `record has the verdict "pass"`},
		{"an edited gate value", func(x *parts) { *x.gates[0].Value = .9 }, "gate AP: the record says 0.9 over 3, its rows give 0.3333333333333333 over 3"},
		{"an edited denominator", func(x *parts) { x.gates[0].Denominator = 30 }, "gate AP: the record says 0.3333333333333333 over 30"},
		{"an edited gate verdict", func(x *parts) {
			x.decide(gate.Spec{Measure: "AP", Floor: p(.9)})
			x.gates[0].Verdict, x.verdict.Verdict = gate.Pass, gate.PASS
		}, "gate AP: the record says pass, its rows say regressed"},
		{"a gate made not applicable", func(x *parts) {
			x.decide(gate.Spec{Measure: "AP", Floor: p(.9)})
			x.gates[0].Verdict, x.gates[0].Value, x.verdict.Verdict = gate.NotApplicable, nil, gate.PASS
		}, "gate AP: the record says nothing over 3, its rows give 0.3333333333333333 over 3"},
		{"a pass without a value", func(x *parts) { x.gates[0].Value = nil }, "gate AP: the record says nothing over 3"},
		{"an edited count", func(x *parts) {
			x.decide(gate.Spec{Count: "failed", Ceiling: p(0)})
			*x.gates[0].Value, x.gates[0].Verdict, x.verdict.Verdict = 0, gate.Pass, gate.PASS
		}, "gate count failed: the record says 0 over 3, its rows give 1 over 3"},
		{"an edited row", func(x *parts) { x.rows[0].Measures["AP"] = 1 }, "gate AP: the record says 0.3333333333333333 over 3, its rows give 0.6 over 3"},
		{"a drift below its floor that passes", func(x *parts) {
			x.gates = append(x.gates, record.Gate{Name: "drift", Verdict: gate.Pass, Value: p(.8), Floor: p(.99)})
		}, "gate drift: the record says pass although 0.8 is below the floor 0.99"},
		{"counts that the rows do not give", func(x *parts) { x.verdict.Outcomes = map[record.State]int{record.Scored: 3} }, "verdict counts 3 cases scored, the rows hold 2"},
		{"PASS beside a red gate", func(x *parts) {
			x.decide(gate.Spec{Measure: "AP", Floor: p(.9)})
			x.verdict.Verdict = gate.PASS
		}, "verdict is PASS, its rows and gates say REGRESSED: gate AP"},
		{"REGRESSED without a red gate", func(x *parts) { x.verdict.Verdict = gate.REGRESSED }, "verdict is REGRESSED, its rows and gates say PASS"},
		{"PASS although a case was not reached", func(x *parts) {
			x.run.Plan = append(x.run.Plan, "d")
			x.verdict.Outcomes[record.NotReached] = 1
		}, "verdict is PASS, its rows and gates say COULD-NOT-MEASURE: 1 planned cases were not reached"},
		{"PASS although cases were refused", func(x *parts) {
			x.rows[2] = ended("c", record.Refused, "gone")
			x.decide(gate.Spec{Measure: "AP", Floor: p(.3)})
			x.verdict.Verdict = gate.PASS
		}, "1 cases refused: gone"},
		{"PASS over no case", func(x *parts) {
			x.run.Plan, x.rows, x.gates = nil, nil, nil
			x.verdict = record.Verdict{Verdict: gate.PASS}
		}, "the plan has no case"},
		{"a row that was not planned", func(x *parts) { x.run.Plan = []string{"a", "b", "x"} }, "row of case c, which was not planned"},
		{"a row of another suite", func(x *parts) { x.rows[1].Suite = "t" }, "row of case b is of t/base, the record of s/base"},
		{"a plan with a case twice", func(x *parts) { x.run.Plan = []string{"a", "b", "c", "c"} }, "the plan holds case c twice"},
		{"not run, with rows", func(x *parts) {
			x.run.NotRun, x.verdict.Verdict = "no time", gate.NotRun
		}, "verdict is NOT-RUN although 3 cases were planned and 3 have rows"},
		{"not run, for no reason", func(x *parts) {
			x.run.Plan, x.rows, x.gates = nil, nil, nil
			x.verdict = record.Verdict{Verdict: gate.NotRun}
		}, `verdict is NOT-RUN, and the reason for not running is ""`},
		{"not run, and yet a verdict", func(x *parts) { x.run.NotRun = "no time" }, `verdict is PASS, and the reason for not running is "no time"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			x := sound()
			tc.spoil(&x)
			dir := t.TempDir()
			x.write(t, dir)
			v := judge(t, dir, nil, "smoke")
			assert.Equal(t, gate.CNM, v.Verdict)
			require.Len(t, v.Suites, 1)
			assert.Equal(t, gate.CNM, v.Suites[0].Verdict)
			assert.True(t, v.Suites[0].Unsound)
			require.Len(t, v.Suites[0].Reasons, 1)
			assert.Contains(t, v.Suites[0].Reasons[0], tc.want)
		})
	}
}

func TestJudgeDamagedFiles(t *testing.T) {
	for name, tc := range map[string]struct {
		damage func([]byte) []byte
		want   string
	}{
		"truncated":              {func(b []byte) []byte { return b[:len(b)-10] }, "record is truncated: line 8 is cut short"},
		"within its first line":  {func(b []byte) []byte { return b[:10] }, "record is truncated: no whole line"},
		"empty":                  {func([]byte) []byte { return nil }, "record is truncated: no whole line"},
		"tampered":               {func(b []byte) []byte { return []byte(strings.Replace(string(b), `"AP":0.2`, `"AP":0.9`, 1)) }, "record is tampered: line 8: end says"},
		"a row that is repeated": {func(b []byte) []byte { l := strings.SplitAfter(string(b), "\n"); return []byte(l[0] + l[1] + l[1]) }, "record is tampered: line 3"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := sound().write(t, dir)
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, tc.damage(data), 0o644))
			v := judge(t, dir, requires(gate.Required{Name: "s", Planned: 3}), "smoke")
			assert.Equal(t, gate.CNM, v.Verdict)
			assert.Equal(t, "s", v.Suites[0].Suite)
			assert.Contains(t, v.Suites[0].Reasons[0], tc.want)
			assert.True(t, v.Suites[0].Unsound)
		})
	}
}

// A stored could-not-measure may rest on more than the rows show (a minimum, a
// dead stage), so it stands.
func TestJudgeKeepsTheMoreCarefulVerdict(t *testing.T) {
	x := sound()
	x.decide(gate.Spec{Measure: "AP", Floor: p(.3), Min: 100})
	require.Equal(t, gate.CNM, x.verdict.Verdict)
	dir := t.TempDir()
	x.write(t, dir)
	v := judge(t, dir, nil, "smoke")
	assert.Equal(t, gate.CNM, v.Verdict)
	assert.False(t, v.Suites[0].Unsound)
	assert.Contains(t, v.Suites[0].Reasons[0], "at least 100 needed")
}
