package golden_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/golden"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

func anchoring(dir, reason string) golden.Anchoring {
	return golden.Anchoring{Dir: dir, Tree: tree, Reason: reason, When: time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC), Place: &golden.Place{}}
}

// copied is a golden folder that goes its own way from here.
func copied(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "s")
	require.NoError(t, os.CopyFS(to, os.DirFS(dir)))
	return to
}

// Two branches bless, and a merge brings both lines together. Whichever golden
// it kept, nobody measured both changes, and the second accept heals the fork.
func TestForkAndMerge(t *testing.T) {
	base := rows(20, entries(12))
	ours := blessed(t, base)
	theirs := copied(t, ours)
	_, err := whole(moved(base, 0)).blessing(t, ours, "branch one").Accept()
	require.NoError(t, err)
	_, err = whole(moved(base, 1)).blessing(t, theirs, "branch two").Accept()
	require.NoError(t, err)
	line := func(dir string) string {
		lines := strings.SplitAfter(read(t, dir, golden.LedgerFile), "\n")
		return lines[1]
	}
	first := strings.SplitAfter(read(t, ours, golden.LedgerFile), "\n")[0]
	both := moved(base, 0, 1)
	for name, ledger := range map[string]string{"ours first": first + line(ours) + line(theirs), "theirs first": first + line(theirs) + line(ours)} {
		for kept, current := range map[string]string{"ours": read(t, ours, golden.CurrentFile), "theirs": read(t, theirs, golden.CurrentFile)} {
			t.Run(name+", kept "+kept, func(t *testing.T) {
				dir := copied(t, ours)
				put(t, dir, golden.LedgerFile, ledger)
				put(t, dir, golden.CurrentFile, current)
				res := check(t, dir, runLine(both), both)
				assert.Equal(t, golden.NoMeasure, res.Verdict)
				assert.Contains(t, res.Reasons[0], "the ledger forks")
				_, err := golden.ReadChain(dir)
				require.ErrorContains(t, err, "accept again")

				g, err := whole(both).blessing(t, dir, "both").Accept()
				require.NoError(t, err)
				assert.Equal(t, golden.Pass, check(t, dir, runLine(both), both).Verdict)
				chain, err := golden.ReadChain(dir)
				require.NoError(t, err)
				assert.Len(t, chain.Path, 2)
				assert.Equal(t, g.Digest, chain.Path[1].After)
				assert.Len(t, chain.Entries[3].Merged, 1)
			})
		}
	}
}

func TestChainRefuses(t *testing.T) {
	base := rows(20, entries(12))
	for _, tc := range []struct {
		name  string
		spoil func(t *testing.T, dir string)
		want  string
	}{
		{"a golden edited by hand", func(t *testing.T, dir string) {
			put(t, dir, golden.CurrentFile, strings.Replace(read(t, dir, golden.CurrentFile), `"d4","d5"`, `"d5","d4"`, 1))
		}, "edited since it was blessed"},
		{"an earlier golden", func(t *testing.T, dir string) {
			put(t, dir, golden.CurrentFile, read(t, dir, golden.AnchorFile))
		}, "is the golden of an earlier blessing (2026-01-02T03:04:05Z: the first)"},
		{"an anchor moved by hand", func(t *testing.T, dir string) {
			put(t, dir, golden.AnchorFile, read(t, dir, golden.CurrentFile))
		}, "the anchor moves by `touchstone golden anchor` only"},
		{"a line taken out", func(t *testing.T, dir string) {
			lines := strings.SplitAfter(read(t, dir, golden.LedgerFile), "\n")
			put(t, dir, golden.LedgerFile, lines[0]+lines[2])
		}, "a ledger line is missing"},
		{"the first line taken out", func(t *testing.T, dir string) {
			lines := strings.SplitAfter(read(t, dir, golden.LedgerFile), "\n")
			put(t, dir, golden.LedgerFile, lines[1]+lines[2])
		}, "is not that of the first blessing"},
		{"no ledger", func(t *testing.T, dir string) { put(t, dir, golden.LedgerFile, "") }, "no ledger line vouches"},
		{"conflict marks", func(t *testing.T, dir string) {
			put(t, dir, golden.LedgerFile, "<<<<<<< ours\n"+read(t, dir, golden.LedgerFile))
		}, "keep the lines of both sides"},
		{"a kind of line that is not known", func(t *testing.T, dir string) {
			put(t, dir, golden.LedgerFile, strings.Replace(read(t, dir, golden.LedgerFile), `"kind":"accept"`, `"kind":"amend"`, 1))
		}, `kind "amend"; want accept or anchor`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := blessed(t, base)
			for _, live := range [][]record.Row{moved(base, 0), moved(base, 0, 1)} {
				_, err := whole(live).blessing(t, dir, "a step").Accept()
				require.NoError(t, err)
			}
			_, err := golden.ReadChain(dir)
			require.NoError(t, err)
			tc.spoil(t, dir)
			_, err = golden.ReadChain(dir)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

// What stood where a blessing found it stays on record.
func TestLedgerNotesWhatItReplaced(t *testing.T) {
	base := rows(3, entries(12))
	dir := blessed(t, base)
	put(t, dir, golden.CurrentFile, strings.Replace(read(t, dir, golden.CurrentFile), `"d4","d5"`, `"d5","d4"`, 1))
	_, err := whole(base).blessing(t, dir, "back").Accept()
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(dir, golden.CurrentFile)))
	_, err = whole(base).blessing(t, dir, "and again").Accept()
	require.NoError(t, err)
	chain, err := golden.ReadChain(dir)
	require.NoError(t, err)
	assert.Len(t, chain.Entries[1].Found, 64)
	assert.Equal(t, "missing", chain.Entries[2].Found)
	assert.Len(t, chain.Path, 2, "the path is whole all the same")
}

func TestAnchor(t *testing.T) {
	base := rows(20, entries(12))
	dir := blessed(t, base)
	_, err := anchoring(dir, "why not").Move()
	require.ErrorContains(t, err, "the anchor is the current golden already")

	far := slices.Clone(base)
	far[0].Ranking = swapped(swapped(swapped(far[0].Ranking, 2), 3), 2)
	far[0].Ranking = swapped(swapped(far[0].Ranking, 4), 3)
	_, err = whole(far).blessing(t, dir, "far").Accept()
	require.NoError(t, err)
	require.Equal(t, golden.Regressed, check(t, dir, runLine(far), far).Verdict)
	assert.Contains(t, check(t, dir, runLine(far), far).Action, "touchstone golden anchor s")

	_, err = anchoring(dir, " ").Move()
	require.ErrorContains(t, err, "no reason was given")
	a := anchoring(dir, "x")
	a.Place = &golden.Place{CI: true}
	_, err = a.Move()
	require.ErrorContains(t, err, "CI never writes goldens")

	creep, err := anchoring(dir, "release").Move()
	require.NoError(t, err)
	assert.Equal(t, 1, creep.Drifted)
	assert.Contains(t, creep.String(), "1 of 20 cases moved, 1 beyond the anchor's floors")
	assert.Equal(t, read(t, dir, golden.CurrentFile), read(t, dir, golden.AnchorFile))
	assert.Equal(t, golden.Pass, check(t, dir, runLine(far), far).Verdict)
	chain, err := golden.ReadChain(dir)
	require.NoError(t, err)
	assert.Empty(t, chain.Path)
	assert.Equal(t, "anchor", chain.Entries[2].Kind)

	// And blessings go on from it.
	further := slices.Clone(far)
	further[1].Ranking = swapped(further[1].Ranking, 3)
	_, err = whole(further).blessing(t, dir, "on").Accept()
	require.NoError(t, err)
	chain, err = golden.ReadChain(dir)
	require.NoError(t, err)
	assert.Len(t, chain.Path, 1)

	// A lost anchor is made anew by the same act, and says so.
	require.NoError(t, os.Remove(filepath.Join(dir, golden.AnchorFile)))
	creep, err = anchoring(dir, "lost").Move()
	require.NoError(t, err)
	assert.Contains(t, creep.String(), "creep unknown")
	_, err = golden.ReadChain(dir)
	require.NoError(t, err)

	put(t, dir, golden.CurrentFile, strings.Replace(read(t, dir, golden.CurrentFile), `"d8","d9"`, `"d9","d8"`, 1))
	_, err = anchoring(dir, "an edited golden").Move()
	require.ErrorContains(t, err, "edited since it was blessed")
}

// Eight blessings, each of which the check calls benign, add up to more than
// the anchor allows: the eighth run is red, and stays so when blessed.
func TestEightBenignBlessingsTripTheAnchor(t *testing.T) {
	base := rows(20, entries(12))
	dir := blessed(t, base)
	live := slices.Clone(base)
	for step := 1; step <= 8; step++ {
		es := slices.Clone(live[0].Ranking)
		if step == 1 { // the eleventh comes in for the tenth,
			es[9].Doc, es[10].Doc = es[10].Doc, es[9].Doc
		} else { // and climbs a rank a blessing
			es = swapped(es, 11-step)
		}
		live[0].Ranking = es
		res := check(t, dir, runLine(live), live)
		require.Len(t, res.Cases, 1)
		assert.Equal(t, golden.Benign, res.Cases[0].Current.State, "step %d looks benign", step)
		if step < 8 {
			require.Equal(t, golden.Pass, res.Verdict, "step %d: %v", step, res.Reasons)
		} else {
			require.Equal(t, golden.Regressed, res.Verdict)
			assert.Equal(t, "drift(anchor)", res.Cases[0].Says())
		}
		_, err := whole(live).blessing(t, dir, "a small step").Accept()
		require.NoError(t, err)
	}
	res := check(t, dir, runLine(live), live)
	assert.Equal(t, golden.Regressed, res.Verdict)
	assert.Contains(t, res.Action, "each blessing was small, together they are not")
}

func TestOrphans(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a", "b", "beside", "left"} {
		require.NoError(t, os.Mkdir(filepath.Join(root, name), 0o755))
	}
	put(t, root, "README.md", "a file is no golden folder")
	put(t, filepath.Join(root, "beside"), "breaks.jsonl", "")
	put(t, filepath.Join(root, "left"), golden.LedgerFile, "")
	lost, err := golden.Orphans(root, []string{"b", "c"}, []string{"beside", "left"})
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "left"}, lost, "a suite that dropped its golden leaves an orphan, one that has breaks only does not")
	lost, err = golden.Orphans(filepath.Join(root, "none"), nil, nil)
	require.NoError(t, err)
	assert.Empty(t, lost)
}

// The goldens of this repository are sound, whatever format they are of.
func TestRepositoryGoldens(t *testing.T) {
	dirs, err := filepath.Glob("../../goldens/*/" + golden.CurrentFile)
	require.NoError(t, err)
	require.NotEmpty(t, dirs)
	for _, path := range dirs {
		_, err := golden.ReadChain(filepath.Dir(path))
		assert.NoError(t, err)
	}
}

// Format 1 knew no pack, models and stages, and is read all the same.
func TestFormatOne(t *testing.T) {
	base := rows(3, entries(12))
	dir := blessed(t, base)
	put(t, dir, "old.jsonl", strings.Replace(read(t, dir, golden.CurrentFile), `"v":2`, `"v":1`, 1))
	f, err := golden.Read(filepath.Join(dir, "old.jsonl"))
	require.NoError(t, err)
	assert.Len(t, f.Cases, 3)
}
