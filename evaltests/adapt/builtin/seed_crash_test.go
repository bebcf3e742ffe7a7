package builtin_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/chunk"
	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
	"github.com/touchstone-eval/touchstone/evaltests/adapt/builtin"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/seed"
)

// Variables that make the test binary a process that seeds.
const (
	seederCache = "BUILTIN_TEST_SEEDER_CACHE"
	seederLimit = "BUILTIN_TEST_SEEDER_LIMIT" // largest file in bytes: a disk that is full
	seederWaits = "BUILTIN_TEST_SEEDER_WAITS" // EVAL_PARALLEL_OK
)

func TestMain(m *testing.M) {
	if cache := os.Getenv(seederCache); cache != "" {
		os.Exit(seeder(cache))
	}
	os.Exit(m.Run())
}

// seeder makes a seed and says how that ended.
func seeder(cache string) int {
	if n, err := strconv.ParseUint(os.Getenv(seederLimit), 10, 64); err == nil {
		signal.Ignore(syscall.SIGXFSZ) // then a write past the limit is an error
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
			fmt.Println("no limit:", err)
			return 3
		}
	}
	r, err := builtin.NewRunner(crashConfig())
	if err != nil {
		fmt.Println(err)
		return 3
	}
	defer r.Close()
	fmt.Println("begin")
	q := crashRequest(cache)
	q.Flags.ParallelOK = os.Getenv(seederWaits) != ""
	s, err := r.OpenStore(context.Background(), q)
	if err != nil {
		fmt.Println(err)
		return 2
	}
	fmt.Println("made by", s.Seed().Decision.Action)
	if err := s.Close(); err != nil {
		fmt.Println(err)
		return 3
	}
	return 0
}

func crashConfig() engine.Config {
	return engine.Config{Embedder: embedtest.New(16), Chunk: chunk.Config{MaxWords: 6}, BatchSize: 4}
}

func crashRequest(cache string) seed.Request {
	var docs []pack.Document
	for i := range 150 {
		docs = append(docs, pack.Document{
			ID: fmt.Sprintf("d%03d", i), Title: fmt.Sprintf("Title %d", i),
			Text: fmt.Sprintf("Maria Lopez%c wrote letter %d on 2024-03-%02d. She sent it by the morning boat.", 'a'+i%26, i, 1+i%28),
		})
	}
	return seed.Request{
		Kind: seed.Cached, Cache: cache, Pack: "crash", Digest: "0123456789ab", Unit: "document", Documents: docs,
		Contract: &seed.Contract{Variant: "crash", Preset: "strict"}, Pool: 50,
	}
}

func seedingProcess(t *testing.T, cache string, env ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(append(os.Environ(), seederCache+"="+cache), env...)
	return cmd
}

// digestOf makes the seed here and returns what it holds.
func digestOf(t *testing.T, cache string) (digest string, action seed.Action) {
	t.Helper()
	s, err := runner(t, crashConfig()).OpenStore(t.Context(), crashRequest(cache))
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	digest, err = engine.ReadContentDigest(t.Context(), s.Seed().Dir)
	require.NoError(t, err)
	return digest, s.Seed().Decision.Action
}

// TestSeedingIsKilled: a process that is killed at any point of its seeding
// leaves nothing that is taken for a seed, or the whole of one. The next one
// needs no flag.
func TestSeedingIsKilled(t *testing.T) {
	want, _ := digestOf(t, t.TempDir())
	rng := rand.New(rand.NewPCG(6, 6))
	rounds := 10
	if testing.Short() {
		rounds = 2
	}
	killed := 0
	for round := range rounds {
		cache := t.TempDir()
		for range 2 { // the second may die while it clears up after the first
			cmd := seedingProcess(t, cache)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			lines := bufio.NewScanner(out)
			require.True(t, lines.Scan(), "it begins")
			time.Sleep(time.Duration(rng.IntN(400)) * time.Millisecond)
			require.NoError(t, cmd.Process.Kill())
			for lines.Scan() {
			}
			if cmd.Wait() != nil {
				killed++
			}
		}
		got, action := digestOf(t, cache)
		assert.Equal(t, want, got, "round %d", round)
		assert.Contains(t, []seed.Action{seed.ToBuild, seed.ToReuse}, action)
		left, err := filepath.Glob(filepath.Join(cache, "seeds", "crash", "all", "*.new"))
		require.NoError(t, err)
		assert.Empty(t, left, "what a killed process left is cleared away")
	}
	assert.Positive(t, killed, "every process ended before it was killed")
}

// TestTwoProcesses: of two that seed the same key at once one does, and the
// other refuses or waits; the seed is whole.
func TestTwoProcesses(t *testing.T) {
	want, _ := digestOf(t, t.TempDir())
	for _, waits := range []bool{false, true} {
		t.Run(fmt.Sprintf("waits %t", waits), func(t *testing.T) {
			cache := t.TempDir()
			var env []string
			if waits {
				env = append(env, seederWaits+"=1")
			}
			outputs := make(chan string, 3)
			for range 3 {
				go func() {
					out, _ := seedingProcess(t, cache, env...).CombinedOutput()
					outputs <- string(out)
				}()
			}
			built := 0
			for range 3 {
				switch out := <-outputs; {
				case strings.Contains(out, "made by build"):
					built++
				case strings.Contains(out, "made by reuse"):
				case !waits && strings.Contains(out, "lock held: another process is"):
					assert.Contains(t, out, "EVAL_PARALLEL_OK=1")
				default:
					t.Errorf("a process said: %s", out)
				}
			}
			assert.Equal(t, 1, built, "one process makes it")
			got, action := digestOf(t, cache)
			assert.Equal(t, want, got)
			assert.Equal(t, seed.ToReuse, action)
		})
	}
}

// TestFullDisk: a store that outgrows the disk is an error that names the
// file, leaves no seed, and the next process with room makes it.
func TestFullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("uses the limit of a file's size as Linux has it")
	}
	want, _ := digestOf(t, t.TempDir())
	for _, limit := range []string{"0", "4096", "65536", "300000"} {
		t.Run(limit, func(t *testing.T) {
			cache := t.TempDir()
			out, err := seedingProcess(t, cache, seederLimit+"="+limit).CombinedOutput()
			require.Error(t, err, "%s", out)
			assert.NotContains(t, string(out), "made by")
			assert.NotContains(t, string(out), "panic")
			assert.Contains(t, string(out), "seed crash: ", "it says what could not be made")
			t.Logf("%s", out)
			got, action := digestOf(t, cache)
			assert.Equal(t, want, got)
			assert.Equal(t, seed.ToBuild, action)
		})
	}
}

// TestForeignStore: a store of the engine that somebody else made is not taken
// for a seed, nor written to, nor wiped.
func TestForeignStore(t *testing.T) {
	cache := t.TempDir()
	s, err := runner(t, crashConfig()).OpenStore(t.Context(), crashRequest(cache))
	require.NoError(t, err)
	dir := s.Seed().Dir
	require.NoError(t, s.Close())
	require.NoError(t, os.RemoveAll(dir))
	e, err := engine.Open(t.Context(), dir, crashConfig())
	require.NoError(t, err)
	_, err = e.Ingest(t.Context(), engine.Document{ID: "mine", Text: "a diary"})
	require.NoError(t, err)
	require.NoError(t, e.Close())
	q := crashRequest(cache)
	q.Flags = seed.Flags{AllowWipe: true, MigrateStale: true, ParallelOK: true}
	_, err = runner(t, crashConfig()).OpenStore(t.Context(), q)
	assert.ErrorContains(t, err, "the store is not ours, and is neither written to nor wiped, whatever the flags")
	e, err = engine.Open(t.Context(), dir, crashConfig())
	require.NoError(t, err)
	defer e.Close()
	_, ok, err := engine.ReadStamp(t.Context(), dir)
	require.NoError(t, err)
	assert.False(t, ok)
	v, err := e.Survey(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1, v.Documents)
}

// TestChangedVectors: vectors that were changed behind the stamp are found
// out, although every count is what it was.
func TestChangedVectors(t *testing.T) {
	cache := t.TempDir()
	s, err := runner(t, crashConfig()).OpenStore(t.Context(), crashRequest(cache))
	require.NoError(t, err)
	dir := s.Seed().Dir
	require.NoError(t, s.Close())
	e, err := engine.Open(t.Context(), dir, crashConfig())
	require.NoError(t, err)
	d := crashRequest(cache).Documents[7]
	_, err = e.Ingest(t.Context(), engine.Document{Source: "crash", ID: d.ID, Title: d.Title, Text: strings.ToUpper(d.Text)})
	require.NoError(t, err)
	require.NoError(t, e.Close())
	_, err = runner(t, crashConfig()).OpenStore(t.Context(), crashRequest(cache))
	assert.ErrorContains(t, err, "is not what was stamped")
	assert.ErrorContains(t, err, "EVAL_ALLOW_WIPE=1")
}

// TestProducerSteps: a store of documents that have everything keeps every
// channel alive, and each channel's producer is a step of the ingest.
func TestProducerSteps(t *testing.T) {
	q := seed.Request{Kind: seed.Ephemeral, Pack: "steps", Digest: "0123456789ab", Unit: "document"}
	for i := range 4 {
		q.Documents = append(q.Documents, pack.Document{
			ID: fmt.Sprintf("note%d", i), Date: fmt.Sprintf("2024-03-10T10:%02d:00Z", i), Title: "Notes",
			Text: fmt.Sprintf("# Boats\nAda Lovelace met Charles Babbage on 2024-03-%02d, see [[note%d]].", 1+i, (i+1)%4),
		})
	}
	var cfg engine.Config
	for _, set := range []*engine.ChannelSetting{&cfg.Channels.Graph, &cfg.Channels.Temporal, &cfg.Channels.Pages, &cfg.Channels.Episodes} {
		set.On = true
	}
	s, err := runner(t, cfg).OpenStore(t.Context(), q)
	require.NoError(t, err)
	defer s.Close()
	steps := map[string]bool{}
	for _, step := range s.Seed().Mark.Fill.Steps {
		steps[step.Name] = true
	}
	for _, f := range seed.Features() {
		assert.NoError(t, seed.AssertLive(f.Channel, s.Seed().Survey), f.Channel)
		assert.True(t, steps[f.Step], "%s: no step %q among %v", f.Channel, f.Step, steps)
	}
}

// TestLive: a snapshot is opened only if its channels are live.
func TestLive(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	e, err := engine.Open(t.Context(), dir, crashConfig())
	require.NoError(t, err)
	defer e.Close()
	_, err = e.Ingest(t.Context(), engine.Document{ID: "a", Text: "nothing dated"})
	require.NoError(t, err)
	dest := filepath.Join(t.TempDir(), "copy")
	report, err := builtin.Snapshot(t.Context(), dir, dest)
	require.NoError(t, err)
	assert.Equal(t, "rebuilt", report.Lexical)
	require.NoError(t, seed.RequireMark(dest))
	s, err := builtin.Live(t.Context(), dest, crashConfig())
	require.NoError(t, err)
	assert.Equal(t, []string{"vector", "lexical"}, s.Channels())
	require.NoError(t, s.Close())
	dated := crashConfig()
	dated.Channels.Temporal.On = true
	_, err = builtin.Live(t.Context(), dest, dated)
	assert.ErrorContains(t, err, "EVAL REFUSED [temporal]: substrate event_dates: 0 rows")
}
