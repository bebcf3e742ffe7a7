package golden_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/golden"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

func TestAcceptRefuses(t *testing.T) {
	base := rows(20, entries(12))
	for _, tc := range []struct {
		name  string
		spoil func(x *recorded)
		bend  func(b *golden.Blessing)
		want  string
	}{
		{"no reason", nil, func(b *golden.Blessing) { b.Reason = " \n" }, "no reason was given"},
		{"no depth", nil, func(b *golden.Blessing) { b.K = 0 }, "no [golden] table"},
		{"a record without its end", func(x *recorded) { x.cut = true }, nil, "is truncated (no end line"},
		{"a record of another run", func(x *recorded) { x.run.Nonce = "other" }, nil, "is of another run"},
		{"another tree", nil, func(b *golden.Blessing) { b.Tree = "fedcba9876543210" }, "the run is of tree 0123456789ab, the checkout is fedcba987654"},
		{"an unknown tree", nil, func(b *golden.Blessing) { b.Tree, b.Folder.Tree = record.UnknownTree, record.UnknownTree }, "the tree id is unknown"},
		{"an empty tree", nil, func(b *golden.Blessing) { b.Tree, b.Folder.Tree = "", "" }, "the run is of tree "},
		{"another platform class", func(x *recorded) { x.run.Identity.Class = "darwin/arm64" }, nil, "the run is of darwin/arm64; goldens are blessed on linux/amd64/v1 only"},
		{"a limited run", func(x *recorded) { x.run.LeftOut = map[string]int{"all": 3} }, nil, "under a limit"},
		{"a shard", func(x *recorded) { x.run.Shard = "1/2" }, nil, "of a shard"},
		{"a failed case", func(x *recorded) { x.rows[3] = ended("q03", record.Failed) }, nil, "1 of 20 cases are failed"},
		{"a case that timed out", func(x *recorded) { x.rows[3] = ended("q03", record.TimedOut) }, nil, "1 of 20 cases are timed_out"},
		{"a refused case", func(x *recorded) { x.rows[3] = ended("q03", record.Refused) }, nil, "1 of 20 cases are refused"},
		{"a case that was not reached", func(x *recorded) { x.run.Plan = append(x.run.Plan, "late") }, nil, "1 of 21 cases are not_reached"},
		{"no case at all", func(x *recorded) { x.rows, x.run.Plan = nil, nil }, nil, "no case was scored"},
		{"a red labelled gate", func(x *recorded) {
			x.gates[0].Verdict, x.gates[0].Reason = golden.Regressed, "0.1 is below the floor"
		}, nil, `gate "AP" is regressed (0.1 is below the floor)`},
		{"no labelled gate", func(x *recorded) { x.gates = nil }, nil, "no labelled gate passed in the run"},
		{"a labelled gate that was not applicable", func(x *recorded) { x.gates[0].Verdict, x.gates[0].Value = "not-applicable", nil }, nil, "no labelled gate passed in the run"},
		{"a labelled gate that cannot fail", func(x *recorded) { x.gates[0].Floor, x.gates[0].Target = nil, ptr(.5) }, nil, "no labelled gate passed in the run"},
		{"only a count", func(x *recorded) {
			x.gates[0] = record.Gate{Name: "count failed", Count: "failed", Value: ptr(0), Ceiling: ptr(0), Verdict: golden.Pass}
		}, nil, "no labelled gate passed in the run"},
		{"a lost paired gate", func(x *recorded) {
			x.gates = append(x.gates, record.Gate{Name: "paired AP", Verdict: golden.Regressed, Reason: "significantly worse"})
		}, nil, `gate "paired AP" is regressed`},
		{"moves that cost a labelled measure", func(x *recorded) {
			for i := range x.rows {
				x.rows[i].Ranking = swapped(x.rows[i].Ranking, 1)
			}
		}, nil, "the moved cases lost significantly: AP (to depth 10) 1.0000 -> 0.5000 (-0.5000, p = 1.91e-06) over 20 cases, 0 better, 20 worse"},
		{"a CI job", nil, func(b *golden.Blessing) { b.Place = &golden.Place{CI: true, Branches: []string{"x"}, Default: "main"} }, "CI never writes goldens"},
		{"a CI job on the default branch", nil, func(b *golden.Blessing) {
			b.AllowCI, b.Place = true, &golden.Place{CI: true, Branches: []string{"main"}, Default: "main"}
		}, "this is the default branch, main"},
		{"a case that is not there", nil, func(b *golden.Blessing) { b.Only = []string{"q00", "q99"} }, `case "q99" is neither in the run nor in the golden`},
		{"some cases of another store", func(x *recorded) { x.run.Hashes.SeedKey = "other" }, func(b *golden.Blessing) { b.Only = []string{"q00"} }, "golden was made over another store"},
		{"some cases of another depth", nil, func(b *golden.Blessing) { b.Only, b.K = []string{"q00"}, 5 }, "the golden is of depth 10, the run of depth 5"},
		{"a labelled gate that could not be measured", func(x *recorded) { x.gates[0].Verdict = golden.NoMeasure }, nil, `gate "AP" is could-not-measure`},
		{"a dead stage beside green gates", func(x *recorded) {
			x.verdict = record.Verdict{Verdict: "COULD-NOT-MEASURE", Reasons: []string{"stage vector is empty"}, Keys: []string{"stage vector"}}
		}, nil, "the run is COULD-NOT-MEASURE for more than drift: stage vector is empty"},
		{"no verdict", func(x *recorded) { x.verdict.Verdict = "" }, nil, "has no verdict"},
		{"a verdict for no reason", func(x *recorded) { x.verdict = record.Verdict{Verdict: "REGRESSED"} }, nil, "for no stated reason"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := blessed(t, base)
			before := [3]string{read(t, dir, golden.CurrentFile), read(t, dir, golden.AnchorFile), read(t, dir, golden.LedgerFile)}
			x := whole(append([]record.Row{}, base...))
			if tc.spoil != nil {
				tc.spoil(&x)
			}
			b := x.blessing(t, dir, "why not")
			if tc.bend != nil {
				tc.bend(&b)
			}
			g, err := b.Accept()
			require.ErrorContains(t, err, "s: refused: ")
			require.ErrorContains(t, err, tc.want)
			assert.Nil(t, g)
			assert.Equal(t, before, [3]string{read(t, dir, golden.CurrentFile), read(t, dir, golden.AnchorFile), read(t, dir, golden.LedgerFile)})
		})
	}
}

func TestAccept(t *testing.T) {
	base := rows(20, entries(12))
	dir := filepath.Join(t.TempDir(), "goldens", "s")
	first, err := whole(base).blessing(t, dir, "the <first>").Accept()
	require.NoError(t, err)
	assert.Equal(t, read(t, dir, golden.CurrentFile), read(t, dir, golden.AnchorFile))
	assert.Contains(t, read(t, dir, golden.CurrentFile), `"why":"the <first>"`)

	moved := append([]record.Row{}, base...)
	moved[0].Ranking = swapped(moved[0].Ranking, 2)
	x := whole(moved)
	// Red for drift, and only for it: that is what a blessing is for.
	x.gates = append(x.gates, record.Gate{Name: golden.DriftGate, Verdict: golden.Regressed, Reason: "1 case drifted"})
	x.verdict = record.Verdict{Verdict: "REGRESSED", Reasons: []string{"gate drift: 1 case drifted"}, Keys: []string{"gate drift"}}
	b := x.blessing(t, dir, "ranks 2 and 3 were meant to change")
	second, err := b.Accept()
	require.NoError(t, err)
	assert.NotEqual(t, first.Digest, second.Digest)
	assert.NotEqual(t, read(t, dir, golden.CurrentFile), read(t, dir, golden.AnchorFile), "the anchor stays")

	ledger, err := golden.ReadLedger(dir)
	require.NoError(t, err)
	require.Len(t, ledger, 2)
	assert.Equal(t, golden.Entry{
		V: 2, Kind: "accept", Suite: "s", When: "2026-01-02T03:04:05Z", Tree: tree, Cases: 20, Reason: "ranks 2 and 3 were meant to change",
		Vouched: b.Record.End.SHA256, Before: first.Digest, After: second.Digest,
	}, ledger[1])
	assert.Empty(t, ledger[0].Before)
	assert.Equal(t, ledger[0].After, ledger[1].Before, "a path of digests")

	got, err := golden.Read(filepath.Join(dir, golden.CurrentFile))
	require.NoError(t, err)
	assert.Equal(t, second, got)
	assert.Equal(t, golden.Pass, check(t, dir, runLine(moved), moved).Verdict)
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, names, 3, "no temporary file and no lock stays behind")
}

func TestAcceptKeepsTheCases(t *testing.T) {
	base := rows(20, entries(12))
	dir := blessed(t, base)
	_, err := whole(base[:18]).blessing(t, dir, "two questions are gone").Accept()
	require.NoError(t, err)
	b := whole(base[:16]).blessing(t, dir, "more are gone")
	_, err = b.Accept()
	require.ErrorContains(t, err, "the golden would shrink from 18 to 16 cases")
	b.AllowShrink = true
	_, err = b.Accept()
	require.NoError(t, err)
}

func TestAcceptOnARequiredPlatform(t *testing.T) {
	x := whole(rows(3, entries(10)))
	x.run.Identity.Class = "darwin/arm64"
	b := x.blessing(t, filepath.Join(t.TempDir(), "s"), "required here")
	b.Classes = []string{"linux/amd64/v1", "darwin/arm64"}
	_, err := b.Accept()
	require.NoError(t, err)
}

// Deleting the anchor is no way to move it.
func TestAcceptDoesNotMakeTheAnchorAnew(t *testing.T) {
	base := rows(3, entries(12))
	dir := blessed(t, base)
	require.NoError(t, os.Remove(filepath.Join(dir, golden.AnchorFile)))
	_, err := whole(base).blessing(t, dir, "again").Accept()
	require.ErrorContains(t, err, "anchor.jsonl is missing although there were blessings")
}

// What cannot be written leaves no golden that passes.
func TestAcceptIsWholeOrNotVouchedFor(t *testing.T) {
	base := rows(3, entries(12))
	moved := append([]record.Row{}, base...)
	moved[0].Ranking = swapped(moved[0].Ranking, 2)
	for _, file := range []string{golden.CurrentFile, golden.LedgerFile} {
		t.Run(file, func(t *testing.T) {
			dir := blessed(t, base)
			kept := map[string]string{}
			for _, name := range []string{golden.CurrentFile, golden.AnchorFile, golden.LedgerFile} {
				kept[name] = read(t, dir, name)
			}
			// A folder in the file's place can be neither read nor replaced.
			require.NoError(t, os.Remove(filepath.Join(dir, file)))
			require.NoError(t, os.MkdirAll(filepath.Join(dir, file, "x"), 0o755))
			_, err := whole(moved).blessing(t, dir, "moved").Accept()
			require.Error(t, err)
			for name, text := range kept {
				if name != file {
					assert.Equal(t, text, read(t, dir, name))
				}
			}
			assert.NotEqual(t, golden.Pass, check(t, dir, runLine(moved), moved).Verdict)
		})
	}
	t.Run("killed before the ledger", func(t *testing.T) {
		dir := blessed(t, base)
		ledger := read(t, dir, golden.LedgerFile)
		_, err := whole(moved).blessing(t, dir, "moved").Accept()
		require.NoError(t, err)
		put(t, dir, golden.LedgerFile, ledger)
		res := check(t, dir, runLine(moved), moved)
		assert.Equal(t, golden.NoMeasure, res.Verdict)
		assert.Contains(t, res.Reasons[0], "edited since it was blessed")
		_, err = whole(moved).blessing(t, dir, "moved").Accept()
		require.NoError(t, err, "and can be blessed again")
		assert.Equal(t, golden.Pass, check(t, dir, runLine(moved), moved).Verdict)
	})
	t.Run("a ledger without its last line end", func(t *testing.T) {
		dir := blessed(t, base)
		put(t, dir, golden.LedgerFile, strings.TrimSuffix(read(t, dir, golden.LedgerFile), "\n"))
		_, err := whole(moved).blessing(t, dir, "moved").Accept()
		require.NoError(t, err)
		entries, err := golden.ReadLedger(dir)
		require.NoError(t, err)
		assert.Len(t, entries, 2)
	})
}

func TestAcceptTwoAtOnce(t *testing.T) {
	base := rows(3, entries(12))
	dir := blessed(t, base)
	lock := flock.New(dir, flock.SetFlag(os.O_RDONLY))
	locked, err := lock.TryLock()
	require.NoError(t, err)
	require.True(t, locked)
	_, err = whole(base).blessing(t, dir, "again").Accept()
	require.ErrorContains(t, err, "another blessing of "+dir+" is going on")
	require.NoError(t, lock.Unlock())

	var wg sync.WaitGroup
	for range 8 {
		b := whole(base).blessing(t, dir, "again")
		wg.Go(func() {
			if _, err := b.Accept(); err != nil {
				assert.ErrorContains(t, err, "is going on")
			}
		})
	}
	wg.Wait()
	entries, err := golden.ReadLedger(dir)
	require.NoError(t, err)
	for i := 1; i < len(entries); i++ {
		assert.Equal(t, entries[i-1].After, entries[i].Before, "no fork")
	}
	assert.Equal(t, golden.Pass, check(t, dir, runLine(base), base).Verdict)
}

func TestReadRefuses(t *testing.T) {
	dir := blessed(t, rows(2, entries(3)))
	text := read(t, dir, golden.CurrentFile)
	lines := strings.SplitAfter(text, "\n")
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", ":1: no header"},
		{"another format", strings.Replace(text, `"v":2`, `"v":3`, 1), ":1: format 3; this tool reads 1 to 2"},
		{"an unknown key", strings.Replace(text, `"case"`, `"kase"`, 1), `:2: unknown field "kase"`},
		{"a case twice", lines[0] + lines[1] + lines[1], `:3: case "q00" after "q00"`},
		{"out of order", lines[0] + lines[2] + lines[1], `:3: case "q00" after "q01"`},
		{"fewer scores than ids", strings.Replace(text, `"scores":[1,`, `"scores":[`, 1), `:2: case "q00": 3 ids and 2 scores`},
		{"NaN", strings.Replace(text, `"scores":[1,`, `"scores":[NaN,`, 1), ":2: not JSON"},
		{"a case without a key", strings.Replace(text, `"q00"`, `""`, 1), `:2: case "" after ""`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.NotEqual(t, text, tc.text)
			put(t, dir, "x.jsonl", tc.text)
			_, err := golden.Read(filepath.Join(dir, "x.jsonl"))
			require.ErrorContains(t, err, filepath.Join(dir, "x.jsonl")+tc.want)
		})
	}
	_, err := golden.Read(filepath.Join(dir, "none.jsonl"))
	require.ErrorIs(t, err, golden.ErrMissing)
}
