package compare_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

const sound = "0123456789012345678901234567890123456789"

func TestBreaks(t *testing.T) {
	for name, tc := range map[string]struct{ line, says string }{
		"whole":             {`{"v":1,"defect":"gold","first_sound":"` + sound + `","arms":["a"],"stages":["lexical"],"measures":["AP"]}`, ""},
		"no defect":         {`{"v":1,"first_sound":"` + sound + `"}`, "breaks.jsonl:1: no defect"},
		"a short commit":    {`{"v":1,"defect":"x","first_sound":"0123"}`, `first_sound = "0123"; want the full id`},
		"not a commit":      {`{"v":1,"defect":"x","first_sound":"` + strings.Repeat("g", 40) + `"}`, "want the full id"},
		"another format":    {`{"v":2,"defect":"x","first_sound":"` + sound + `"}`, "v = 2"},
		"an unknown key":    {`{"v":1,"defect":"x","first_sound":"` + sound + `","until":"now"}`, "until"},
		"a key given twice": {`{"v":1,"v":1,"defect":"x","first_sound":"` + sound + `"}`, "breaks.jsonl:1"},
		"not JSON":          {`defect`, "breaks.jsonl:1"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "s"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "s", compare.BreaksFile), []byte(tc.line+"\n\n"), 0o644))
			got, err := compare.ReadBreaks(dir, "s")
			if tc.says != "" {
				require.ErrorContains(t, err, tc.says)
				return
			}
			require.NoError(t, err)
			assert.Len(t, got, 1)
		})
	}
	none, err := compare.ReadBreaks(t.TempDir(), "s")
	require.NoError(t, err)
	assert.Empty(t, none)
	_, err = compare.ReadBreaks(t.TempDir(), "../s")
	assert.Error(t, err)
}

func FuzzParseBreaks(f *testing.F) {
	f.Add([]byte(`{"v":1,"defect":"gold","first_sound":"` + sound + `"}`))
	f.Add([]byte("{}\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		breaks, err := compare.ParseBreaks("x", data)
		if err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "x:"), err.Error())
			return
		}
		for _, b := range breaks {
			require.NotEmpty(t, b.Defect)
			require.NotEmpty(t, b.FirstSound)
		}
	})
}

// TestBreakOfAStage: the figures of the stage are kept out, the rest is
// compared.
func TestBreakOfAStage(t *testing.T) {
	b, s := ranks("base", without, many(40, 2)...), ranks("treatment", with, many(40, 1)...)
	b.File.Run.Context.Commit, s.File.Run.Context.Commit = "before", "after"
	o := judge
	o.Breaks = []compare.Break{{Defect: "the arm was cut", FirstSound: sound, Stages: []string{"lexical"}}}
	o.After = func(_, commit string) (bool, error) { return commit == "after", nil }
	x := one(t, b, s, o)
	assert.Contains(t, x.NotRun, "lexical: kept out by a measurement break")
	assert.Contains(t, fmt.Sprint(x.Notes), "the arm was cut")
	for _, f := range x.Others {
		assert.NotEqual(t, "lexical", f.Stage)
	}
}

// sources is a folder that is the same tree in every call.
func sources(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module m\n"), 0o644))
	return dir
}

// written puts a side's record into a run folder on disk.
func written(t *testing.T, label string, dirty int, at ...int) compare.Side {
	t.Helper()
	folder, err := record.NewFolder(t.TempDir(), sources(t), "test", nil)
	require.NoError(t, err)
	s := ranks(label, without, at...)
	w, err := record.Create(folder.Dir, "s")
	require.NoError(t, err)
	run := s.File.Run
	run.Nonce, run.Context = folder.Nonce, record.Context{Commit: sound, DirtyFiles: dirty}
	require.NoError(t, w.Run(run))
	for _, r := range s.File.Rows {
		require.NoError(t, w.Row(r))
	}
	require.NoError(t, w.End(record.End{}))
	sides, err := compare.Open(folder.Dir)
	require.NoError(t, err)
	require.Len(t, sides, 1)
	return sides[0]
}

// TestFamilyOnDisk: what was compared with a base one by one is a family.
func TestFamilyOnDisk(t *testing.T) {
	base := written(t, "base", 0, many(40, 2)...)
	seen, err := compare.ReadFamily(base, "")
	require.NoError(t, err)
	require.Empty(t, seen)
	for i := range 3 {
		s := ranks(fmt.Sprint("arm", i), with, moved(many(40, 2), 0, 4+i, 1)...)
		o := judge
		o.Family, err = compare.ReadFamily(base, "")
		require.NoError(t, err)
		require.Len(t, o.Family, i)
		for range 2 { // looking twice is trying once
			c, err := compare.Compare(base, []compare.Side{s}, o)
			require.NoError(t, err)
			require.Equal(t, i+1, c.Treatments[0].FamilySize)
			require.NoError(t, c.Log(""))
			o.Family, err = compare.ReadFamily(base, "")
			require.NoError(t, err)
		}
	}
	sides, err := compare.Open(filepath.Dir(base.File.Path))
	require.NoError(t, err)
	assert.Len(t, sides, 1, "the log is no record")

	log := filepath.Join(filepath.Dir(base.File.Path), "comparisons", "s.jsonl")
	data, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.Equal(t, 3, strings.Count(string(data), "\n"))
	require.NoError(t, os.WriteFile(log, append(data, `{"v":1,"p":7}`...), 0o644))
	_, err = compare.ReadFamily(base, "")
	assert.ErrorContains(t, err, "s.jsonl:4: p = 7")
}

// TestFamilyIsFoundByTheBase: a copy of the run folder without its log, a saved
// baseline and another run of the same base have the family of the base.
func TestFamilyIsFoundByTheBase(t *testing.T) {
	store := compare.FamilyStore(t.TempDir())
	base := written(t, "base", 0, many(40, 2)...)
	c, err := compare.Compare(base, []compare.Side{ranks("arm", with, moved(many(40, 2), 0, 4, 1)...)}, judge)
	require.NoError(t, err)
	require.NoError(t, c.Log(store))

	copied := base
	file := *base.File
	file.Path = filepath.Join(t.TempDir(), filepath.Base(file.Path))
	copied.File = &file
	again := written(t, "base", 0, many(40, 2)...) // another nonce, another digest
	require.NotEqual(t, base.Digest(), again.Digest())
	later, reconfigured := again, again
	f, g := *again.File, *again.File
	f.Run.Context.Commit, g.Run.Hashes.Treatment = "a later commit", "another"
	later.File, reconfigured.File = &f, &g
	for _, tc := range []struct {
		name  string
		side  compare.Side
		store string
		want  int
	}{
		{"the base", base, store, 1},
		{"a copied folder", copied, store, 1},
		{"a copied folder without a store", copied, "", 0},
		{"the base run once more", again, store, 1},
		{"a base of another commit", later, store, 0},
		{"a base of another configuration", reconfigured, store, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			family, err := compare.ReadFamily(tc.side, tc.store)
			require.NoError(t, err)
			assert.Len(t, family, tc.want)
		})
	}
	hostile := base
	h := *base.File
	h.Run.Suite = "../../x"
	hostile.File = &h
	_, err = compare.ReadFamily(hostile, store)
	assert.ErrorContains(t, err, "cannot name a file")
}

// TestAnotherRunOfTheBase is neither a treatment nor a member of the family.
func TestAnotherRunOfTheBase(t *testing.T) {
	base, other := written(t, "base", 0, many(40, 2)...), written(t, "base", 0, many(40, 2)...)
	c, err := compare.Compare(base, []compare.Side{other}, compare.Options{})
	require.NoError(t, err)
	require.Equal(t, base.Folder.Tree, other.Folder.Tree)
	assert.Zero(t, c.Treatments[0].FamilySize)
	assert.Contains(t, fmt.Sprint(c.Treatments[0].Notes), "no member of the family")
	require.NoError(t, c.Log(""))
	family, err := compare.ReadFamily(base, "")
	require.NoError(t, err)
	assert.Empty(t, family)
	_, err = compare.Compare(base, []compare.Side{base}, compare.Options{})
	assert.ErrorContains(t, err, "they are one record")
}

func TestOpen(t *testing.T) {
	base := written(t, "base", 0, 1, 1)
	file, err := compare.Open(base.File.Path)
	require.NoError(t, err)
	assert.Equal(t, base.Digest(), file[0].Digest())
	_, err = compare.Open(t.TempDir())
	assert.ErrorContains(t, err, "no record of a suite in it")
	_, err = compare.Open(filepath.Join(t.TempDir(), "none"))
	assert.ErrorContains(t, err, "no such run")

	// Two arms of a suite in one folder are never collapsed.
	twice := []compare.Side{base, base}
	_, err = compare.Of(twice, "s")
	assert.ErrorContains(t, err, "2 records of suite s")
	_, err = compare.Of(twice, "t")
	assert.ErrorContains(t, err, "no record of suite t")
	assert.Equal(t, []string{"s"}, compare.Suites(twice))
}

func TestBaseline(t *testing.T) {
	module := t.TempDir()
	side := written(t, "base", 0, 1, 2)
	save := compare.Saving{Module: module, Name: "main", Layer: "library", Side: side, When: time.Unix(0, 0)}
	b, err := save.Save()
	require.NoError(t, err)
	require.NoError(t, b.Check())
	assert.True(t, strings.HasPrefix(b.Dir, filepath.Join(module, ".touchstone", "baselines", "main", "library", "s", "base__")), b.Dir)
	list, err := compare.Baselines(module, "main")
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, sound, list[0].Commit)

	// It is found by its name, and is the run that was saved.
	sides, err := compare.Open(compare.Locate(module, "main"))
	require.NoError(t, err)
	got, err := compare.Of(sides, "s")
	require.NoError(t, err)
	assert.Equal(t, side.Digest(), got.Digest())
	assert.Equal(t, "../main", compare.Locate(module, "../main"))

	for name, tc := range map[string]struct {
		edit func(*compare.Saving)
		says string
	}{
		"another record":     {func(s *compare.Saving) { s.Side = written(t, "other", 0, 2, 2) }, "holds another record"},
		"a changed tree":     {func(s *compare.Saving) { s.Side = written(t, "other", 2, 2, 2) }, "changes that are not committed"},
		"an unknown tree":    {func(s *compare.Saving) { s.Side = written(t, "other", -1, 2, 2) }, "changes that are not committed"},
		"a name of a path":   {func(s *compare.Saving) { s.Name = "../x" }, "want lower-case letters"},
		"no such layer":      {func(s *compare.Saving) { s.Layer = "moon" }, "want one of"},
		"a truncated one":    {func(s *compare.Saving) { f := *side.File; f.State = record.Truncated; s.Side.File = &f }, "save a whole one"},
		"one of no commit":   {func(s *compare.Saving) { f := *side.File; f.Run.Context.Commit = ""; s.Side.File = &f }, "no commit to pin it to"},
		"an arm like a path": {func(s *compare.Saving) { f := *side.File; f.Run.Arm = "../x"; s.Side.File = &f }, "cannot be names of folders"},
	} {
		t.Run(name, func(t *testing.T) {
			s := save
			tc.edit(&s)
			_, err := s.Save()
			assert.ErrorContains(t, err, tc.says)
		})
	}
	// Layers do not overwrite each other.
	other := save
	other.Layer, other.Side = "http", written(t, "other", 0, 2, 2)
	_, err = other.Save()
	require.NoError(t, err)
	list, err = compare.Baselines(module, "")
	require.NoError(t, err)
	assert.Len(t, list, 2)
	require.NoError(t, b.Check())

	path := filepath.Join(b.Dir, b.Record)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(data), "q0001", "q0002", 1)), 0o644))
	assert.ErrorContains(t, b.Check(), "tampered")
}
