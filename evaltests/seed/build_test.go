package seed_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/seed"
)

func build(t testing.TB, f *fake, r seed.Request) *seed.Seed {
	t.Helper()
	s, err := seed.Build(context.Background(), f, r)
	require.NoError(t, err)
	return s
}

// refused builds and returns the reason and action of the refusal.
func refused(t testing.TB, f *fake, r seed.Request) *seed.RefusedError {
	t.Helper()
	s, err := seed.Build(context.Background(), f, r)
	if err == nil {
		s.Close()
	}
	var e *seed.RefusedError
	require.ErrorAs(t, err, &e)
	assert.NotEmpty(t, e.Action, "a refusal says what to do")
	return e
}

func closed(t testing.TB, s *seed.Seed) string {
	t.Helper()
	require.NoError(t, s.Close())
	return s.Dir
}

func TestBuildAndReuse(t *testing.T) {
	f, r := newFake(), request(t, t.TempDir())
	r.Concurrency = 3
	first := build(t, f, r)
	assert.Equal(t, seed.ToBuild, first.Decision.Action)
	dir := closed(t, first)
	assert.True(t, strings.HasPrefix(dir, filepath.Join(r.Cache, "seeds", "toy", "all")))
	second := build(t, f, r)
	defer second.Close()
	assert.Equal(t, seed.ToReuse, second.Decision.Action)
	assert.Equal(t, 1, f.fills)
	assert.Equal(t, first.Key, second.Key)
	assert.Equal(t, []seed.Skipped{{Step: "dates", Reason: "no date", Documents: 1}}, second.Mark.Skip)
	require.NotNil(t, second.Mark.Fill)
	assert.Equal(t, 3, second.Mark.Fill.Concurrency)
	assert.Positive(t, second.Mark.Fill.Micros)
	assert.Equal(t, []string{"fill", "check", "stamp"}, []string{second.Mark.Fill.Steps[0].Name, second.Mark.Fill.Steps[1].Name, second.Mark.Fill.Steps[2].Name})
}

// TestEveryPart: another value of any part is another folder, and the former
// seed stays.
func TestEveryPart(t *testing.T) {
	cache := t.TempDir()
	first := build(t, newFake(), request(t, cache))
	defer first.Close()
	for name := range first.Parts {
		if name == seed.PartFormat {
			continue // a constant: see TestFormatIsPartOfTheKey
		}
		t.Run(name, func(t *testing.T) {
			f, r := newFake(), request(t, cache)
			switch name {
			case seed.PartPack:
				r.Digest = "other"
			case seed.PartGroup:
				r.Group = "other"
			default:
				f.parts[name] = "other"
			}
			s := build(t, f, r)
			defer s.Close()
			assert.Equal(t, seed.ToBuild, s.Decision.Action)
			assert.NotEqual(t, first.Dir, s.Dir)
			assert.Equal(t, []string{name}, first.Parts.Differ(s.Parts))
		})
	}
	again := build(t, newFake(), request(t, cache))
	defer again.Close()
	assert.Equal(t, seed.ToReuse, again.Decision.Action)
}

func TestFormatIsPartOfTheKey(t *testing.T) {
	a, err := seed.Parts{seed.PartFormat: seed.FormatVersion}.Key()
	require.NoError(t, err)
	b, err := seed.Parts{seed.PartFormat: seed.FormatVersion + "x"}.Key()
	require.NoError(t, err)
	assert.NotEqual(t, a, b)
}

func TestUnknownPart(t *testing.T) {
	f, r := newFake(), request(t, t.TempDir())
	f.parts[seed.PartModel] = ""
	assert.Contains(t, refused(t, f, r).Reason, `part "model" is empty`)
	f.parts = nil
	e := refused(t, f, r)
	assert.Contains(t, e.Reason, "no ingest fingerprint: this engine cannot tell")
	assert.Contains(t, e.Action, `runner = "ephemeral"`)
	r.Kind = seed.Ephemeral
	s := build(t, f, r)
	assert.Empty(t, s.Key)
	_, err := os.Stat(closed(t, s))
	assert.ErrorIs(t, err, os.ErrNotExist, "an ephemeral store is removed")
}

// at changes the store of a seed behind its back.
func at(t testing.TB, dir string, change func(*fakeStore)) {
	t.Helper()
	f := &fake{}
	s, err := f.read(dir)
	require.NoError(t, err)
	change(&s)
	require.NoError(t, f.write(dir, s))
}

func snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		out[path] = string(data)
		return err
	}))
	return out
}

// TestNotAsStamped: a store whose stamp or content was changed is not used,
// stays as it is, and is wiped with the flag only.
func TestNotAsStamped(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(t *testing.T, dir string)
		want   string
	}{
		{"no stamp", func(t *testing.T, dir string) { at(t, dir, func(s *fakeStore) { s.Stamp = "" }) }, "it has no stamp: its seeding was not finished"},
		{"stamp of another store", func(t *testing.T, dir string) {
			at(t, dir, func(s *fakeStore) { s.Documents = documents(3) })
		}, "the stamp was forged, or the store was changed"},
		{"a key that its parts do not give", func(t *testing.T, dir string) {
			at(t, dir, func(s *fakeStore) { s.Stamp = strings.Replace(s.Stamp, `"chunk":"c"`, `"chunk":"d"`, 1) })
		}, "is not that of its parts"},
		{"a stamp of other parts", func(t *testing.T, dir string) {
			at(t, dir, func(s *fakeStore) {
				stamp, err := seed.ParseStamp(s.Stamp)
				require.NoError(t, err)
				stamp.Parts[seed.PartChunk] = "d"
				stamp.Key, err = stamp.Parts.Key()
				require.NoError(t, err)
				s.Stamp, err = stamp.Text()
				require.NoError(t, err)
			})
		}, "its stamp is of another seed"},
		{"a stamp that is no JSON", func(t *testing.T, dir string) { at(t, dir, func(s *fakeStore) { s.Stamp = "yes" }) }, "stamp: "},
		{"a stamp with an unknown key", func(t *testing.T, dir string) {
			at(t, dir, func(s *fakeStore) { s.Stamp = strings.Replace(s.Stamp, "{", `{"trust":"me",`, 1) })
		}, "stamp: "},
		{"store gone", func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "store.json"))) }, "it has no stamp"},
		{"store cut", func(t *testing.T, dir string) { require.NoError(t, os.Truncate(filepath.Join(dir, "store.json"), 40)) }, "its stamp cannot be read"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, r := newFake(), request(t, t.TempDir())
			dir := closed(t, build(t, f, r))
			tc.change(t, dir)
			before := snapshot(t, r.Cache)
			e := refused(t, f, r)
			assert.Contains(t, e.Reason, tc.want)
			assert.Contains(t, e.Action, "EVAL_ALLOW_WIPE=1")
			assert.Equal(t, before, snapshot(t, r.Cache), "refused is untouched")

			r.Flags.AllowWipe = true
			s := build(t, f, r)
			assert.Equal(t, seed.ToWipe, s.Decision.Action)
			closed(t, s)
			s = build(t, f, r)
			assert.Equal(t, seed.ToReuse, s.Decision.Action)
			closed(t, s)
		})
	}
}

// TestNotOurs: without the mark nothing is opened for writing or wiped,
// whatever the flags.
func TestNotOurs(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"no mark":       os.Remove,
		"mark cut":      func(path string) error { return os.Truncate(path, 5) },
		"other version": func(path string) error { return os.WriteFile(path, []byte(`{"v":99,"made":"seed","of":"x"}`), 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			f, r := newFake(), request(t, t.TempDir())
			dir := closed(t, build(t, f, r))
			require.NoError(t, spoil(filepath.Join(dir, seed.MarkFile)))
			before := snapshot(t, r.Cache)
			r.Flags = seed.Flags{AllowWipe: true, MigrateStale: true, ParallelOK: true}
			assert.Contains(t, refused(t, f, r).Reason, "the store is not ours, and is neither written to nor wiped, whatever the flags")
			assert.Equal(t, before, snapshot(t, r.Cache))
		})
	}
	t.Run("a folder of somebody's where the new store would be made", func(t *testing.T) {
		f, r := newFake(), request(t, t.TempDir())
		dir := closed(t, build(t, f, r))
		require.NoError(t, os.Rename(dir, dir+".new"))
		require.NoError(t, os.Remove(filepath.Join(dir+".new", seed.MarkFile)))
		before := snapshot(t, r.Cache)
		r.Flags.AllowWipe = true
		assert.Contains(t, refused(t, f, r).Reason, "no sandbox mark")
		assert.Equal(t, before, snapshot(t, r.Cache))
	})
}

// TestMigrate: a stale seed is brought up to date in a copy, only with the
// flag, and only where tables and the code that stores are all that differs.
func TestMigrate(t *testing.T) {
	newer := func() *fake {
		f := newFake()
		f.parts[seed.PartSchema], f.parts["ingest.store"] = "2", "s2"
		return f
	}
	for _, tc := range []struct {
		name   string
		now    func() *fake
		spoil  func(*fakeStore)
		action seed.Action
	}{
		{"schema", newer, nil, seed.ToMigrate},
		{"chunker", func() *fake { f := newer(); f.parts["ingest.chunk"] = "k2"; return f }, nil, seed.ToBuild},
		{"enrichment", func() *fake { f := newer(); f.parts[seed.PartProvenance] = "e2"; return f }, nil, seed.ToBuild},
		{"model", func() *fake { f := newer(); f.parts[seed.PartModel] = "m2"; return f }, nil, seed.ToBuild},
		{"changed since", newer, func(s *fakeStore) { s.Documents = documents(9) }, seed.ToBuild},
		{"not finished", newer, func(s *fakeStore) { s.Stamp = "" }, seed.ToBuild},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := request(t, t.TempDir())
			old := closed(t, build(t, newFake(), r))
			if tc.spoil != nil {
				at(t, old, tc.spoil)
			}
			before := snapshot(t, old)
			f := tc.now()
			r.Flags.MigrateStale = true
			s := build(t, f, r)
			defer s.Close()
			assert.Equal(t, tc.action, s.Decision.Action)
			assert.Equal(t, before, snapshot(t, old), "a copy is migrated, never the store")
			got, err := f.read(s.Dir)
			require.NoError(t, err)
			assert.Equal(t, "2", got.Version)
			assert.Len(t, got.Documents, 10)
			stamp, err := seed.ParseStamp(got.Stamp)
			require.NoError(t, err)
			assert.Equal(t, s.Key, stamp.Key, "one stamp, the new one")
			if tc.action == seed.ToMigrate {
				assert.Zero(t, f.fills)
				assert.Equal(t, "migrated", s.Mark.Fill.How)
			}
		})
	}
	t.Run("without the flag", func(t *testing.T) {
		r := request(t, t.TempDir())
		closed(t, build(t, newFake(), r))
		s := build(t, newer(), r)
		defer s.Close()
		assert.Equal(t, seed.ToBuild, s.Decision.Action)
	})
	t.Run("a backfill that fails leaves no seed", func(t *testing.T) {
		r := request(t, t.TempDir())
		closed(t, build(t, newFake(), r))
		before := snapshot(t, filepath.Join(r.Cache, "seeds"))
		f := newer()
		f.fail = func(step string) error {
			if step == "backfill" {
				return errors.New("no")
			}
			return nil
		}
		r.Flags.MigrateStale = true
		_, err := seed.Build(t.Context(), f, r)
		require.ErrorContains(t, err, "no")
		for path, data := range snapshot(t, filepath.Join(r.Cache, "seeds")) {
			if data != "" { // lock files are empty
				assert.Contains(t, before, path)
			}
		}
	})
}

// TestFailures: an error at any step leaves no seed and no half of one, and
// the next build starts anew.
func TestFailures(t *testing.T) {
	for _, step := range []string{"fill", "survey", "stamp"} {
		t.Run(step, func(t *testing.T) {
			f, r := newFake(), request(t, t.TempDir())
			full := errors.New("write store.sqlite: no space left on device")
			f.fail = func(at string) error {
				if at == step {
					return full
				}
				return nil
			}
			_, err := seed.Build(t.Context(), f, r)
			require.ErrorIs(t, err, full)
			assert.True(t, strings.HasPrefix(err.Error(), "seed toy: "), err)
			for path := range snapshot(t, r.Cache) {
				assert.True(t, strings.HasSuffix(path, ".lock"), path)
			}
			f.fail = nil
			s := build(t, f, r)
			defer s.Close()
			assert.Equal(t, seed.ToBuild, s.Decision.Action)
		})
	}
}

// TestCannotBeSurveyed: a stamped store that lost a part that its content
// digest does not see is refused, and wiped with the flag only.
func TestCannotBeSurveyed(t *testing.T) {
	f, r := newFake(), request(t, t.TempDir())
	closed(t, build(t, f, r))
	lost := true
	f.fail = func(at string) error {
		if at == "survey" && lost {
			return errors.New("the lexical index must be built again")
		}
		return nil
	}
	before := snapshot(t, r.Cache)
	e := refused(t, f, r)
	assert.Contains(t, e.Reason, "the lexical index must be built again")
	assert.Contains(t, e.Action, "EVAL_ALLOW_WIPE=1")
	assert.Equal(t, before, snapshot(t, r.Cache), "refused is untouched")

	r.Flags.AllowWipe = true
	fills := f.fills
	_, err := seed.Build(t.Context(), f, r)
	require.ErrorContains(t, err, "the lexical index must be built again", "one that is made again and no better is none")
	assert.Equal(t, fills+1, f.fills)
	lost = false
	closed(t, build(t, f, r))
}

// TestContractEndsTheSeed: a fresh store that violates the contract is not
// published, and a cached one that violates a tighter contract is not used.
func TestContractEndsTheSeed(t *testing.T) {
	f, r := newFake(), request(t, t.TempDir())
	f.change = func(v *seed.Survey) { v.Duplicates = seed.Known(2) }
	r.Contract = &seed.Contract{Variant: "t", Preset: "strict"}
	_, err := seed.Build(t.Context(), f, r)
	require.ErrorContains(t, err, "contract violated: duplicates on (source, source_id): 2 (needs 0)")
	f.change = nil
	closed(t, build(t, f, r))
	eleven := 11
	r.Contract.Floor.Links = &eleven
	assert.Contains(t, refused(t, f, r).Reason, "substrate links: 10 rows (needs >= 11, the floor)")
}

// TestLocks: readers share a seed; who fills one has it alone.
func TestLocks(t *testing.T) {
	f, r := newFake(), request(t, t.TempDir())
	one, two := build(t, f, r), build(t, f, r)
	assert.Equal(t, one.Dir, two.Dir)
	// A wipe must wait for the readers.
	at(t, one.Dir, func(s *fakeStore) { s.Stamp = "" })
	r.Flags.AllowWipe = true
	e := refused(t, f, r)
	assert.Contains(t, e.Reason, "lock held: another process is using it")
	assert.Contains(t, e.Action, "EVAL_PARALLEL_OK=1")
	closed(t, one)
	closed(t, two)
	closed(t, build(t, f, r))
}

// TestTwoAtOnce: two that want the same key make one store: the second refuses,
// or waits if that is allowed.
func TestTwoAtOnce(t *testing.T) {
	f, r := newFake(), request(t, t.TempDir())
	filling, release := make(chan bool), make(chan bool)
	var once sync.Once
	f.fail = func(step string) error {
		if step == "fill" {
			once.Do(func() { close(filling) })
			<-release
		}
		return nil
	}
	done := make(chan error)
	go func() {
		s, err := seed.Build(context.Background(), f, r)
		if err == nil {
			err = s.Close()
		}
		done <- err
	}()
	<-filling
	second := newFake()
	assert.Contains(t, refused(t, second, r).Reason, "lock held: another process is filling it")
	waits := r
	waits.Flags.ParallelOK = true
	got := make(chan *seed.Seed)
	go func() {
		s, _ := seed.Build(context.Background(), second, waits)
		got <- s
	}()
	select {
	case <-got:
		t.Fatal("a store that is being filled was read")
	case <-time.After(200 * time.Millisecond):
	}
	close(release)
	require.NoError(t, <-done)
	s := <-got
	require.NotNil(t, s)
	assert.Equal(t, seed.ToReuse, s.Decision.Action)
	assert.Zero(t, second.fills)
	closed(t, s)

	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	f.parts["ingest.chunk"] = "k2"
	f.fail = func(string) error { <-ctx.Done(); return ctx.Err() }
	_, err := seed.Build(ctx, f, r)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestPlace(t *testing.T) {
	at := seed.Place("c", "toy", "../../etc", "0123456789abcdef0123")
	assert.True(t, strings.HasPrefix(at, filepath.Join("c", "seeds", "toy", "group-------etc-")), at)
	assert.NotContains(t, at, ":")
	assert.NotEqual(t, seed.Place("c", "toy", "a/b", "0123"), seed.Place("c", "toy", "a-b", "0123"), "groups stay apart")
	long := seed.Place("c", strings.Repeat("p", 300), strings.Repeat("g", 300), "0123456789abcdef0123")
	for _, part := range strings.Split(long, string(filepath.Separator)) {
		assert.Less(t, len(part), 100)
	}
}

// TestMark: the mark survives its own round trip.
func TestMark(t *testing.T) {
	dir := t.TempDir()
	m := seed.Mark{Made: "snapshot", Of: "x", Fill: &seed.Filled{Micros: 3, Concurrency: 1, How: "built"}}
	require.NoError(t, seed.WriteMark(dir, m))
	got, found, err := seed.ReadMark(dir)
	require.NoError(t, err)
	assert.True(t, found)
	m.V = got.V
	a, _ := json.Marshal(m)
	b, _ := json.Marshal(got)
	assert.JSONEq(t, string(a), string(b))
	require.NoError(t, seed.RequireMark(dir))
	assert.ErrorContains(t, seed.RequireMark(t.TempDir()), "touchstone snapshot STORE DEST")
}
