package record_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

func TestRoundTrip(t *testing.T) {
	path := write(t, t.TempDir())
	f, err := record.Read(path)
	require.NoError(t, err)
	assert.Equal(t, record.Complete, f.State, f.Detail)
	assert.Equal(t, 7, f.Lines)
	require.Len(t, f.Rows, 3)
	want := row("q1")
	want.Head = record.Head{V: record.Version, Kind: record.KindCase}
	assert.Equal(t, want, f.Rows[0])
	assert.Equal(t, "no\nline", f.Rows[1].Outcome.Reason)
	assert.Equal(t, 2.0/3, *f.Gates[0].Value)
	assert.Equal(t, "PASS", f.Verdict.Verdict)
	assert.Equal(t, 1.5, f.End.Wall)
	assert.Equal(t, map[record.State]int{record.Scored: 2, record.Failed: 1, record.NotReached: 1}, f.Counts())
	assert.Equal(t, []record.State{record.Scored, record.Failed, record.NotReached}, record.SortedStates(f.Counts()))
	assert.Contains(t, string(readBytes(t, path)), "why <q1>?", "no HTML escapes in the evidence")
}

// Cut at every byte: never complete, never an error, and the rows that are
// left are the first ones.
func TestTruncatedAtEveryByte(t *testing.T) {
	data := readBytes(t, write(t, t.TempDir()))
	whole, err := record.Read(put(t, data))
	require.NoError(t, err)
	path := put(t, data)
	for n := len(data) - 1; n >= 0; n-- {
		require.NoError(t, os.Truncate(path, int64(n)))
		f, err := record.Read(path)
		require.NoError(t, err, "cut at %d", n)
		require.Equal(t, record.Truncated, f.State, "cut at %d", n)
		require.Contains(t, f.Detail, "line", "cut at %d", n)
		require.Equal(t, "s", f.Run.Suite, "cut at %d", n)
		require.LessOrEqual(t, len(f.Rows), len(whole.Rows))
		require.Equal(t, bytes.Count(data[:n], []byte("\n")), f.Lines, "cut at %d", n)
		for i, r := range f.Rows {
			require.Equal(t, whole.Rows[i], r, "cut at %d", n)
		}
	}
}

// One flipped bit anywhere: what still reads as complete is what the digest
// does not cover, load and wall time of the end line.
func TestEveryFlippedByteIsFound(t *testing.T) {
	data := readBytes(t, write(t, t.TempDir()))
	whole, err := record.Read(put(t, data))
	require.NoError(t, err)
	path := put(t, data)
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer file.Close()
	for i := range data {
		for _, bit := range []byte{0x01, 0x20, 0x80} {
			_, err := file.WriteAt([]byte{data[i] ^ bit}, int64(i))
			require.NoError(t, err)
			f, err := record.Read(path)
			if err != nil || f.State != record.Complete {
				continue
			}
			require.True(t, f.End.Load != whole.End.Load || f.End.Wall != whole.End.Wall,
				"byte %d (%q) ^ %#x: complete with the same content", i, data[i], bit)
			f.End, f.Path = whole.End, whole.Path
			require.Equal(t, whole, f, "byte %d ^ %#x", i, bit)
		}
		_, err := file.WriteAt(data[i:i+1], int64(i))
		require.NoError(t, err)
	}
}

func TestReadTellsTamperedFromTruncated(t *testing.T) {
	data := readBytes(t, write(t, t.TempDir()))
	lines := bytes.SplitAfter(data, []byte("\n"))
	lines = lines[:len(lines)-1]
	join := func(ls ...[]byte) []byte { return bytes.Join(ls, nil) }
	for _, tc := range []struct {
		name   string
		data   []byte
		state  record.Completeness
		rows   int
		detail string
	}{
		{"a row twice", join(lines[0], lines[1], lines[1]), record.Tampered, 1, "line 3: suite=s/arm=base/mode=default/repeat=0/case=q1: second row of this identity"},
		{"a row removed", join(append(append([][]byte{}, lines[:1]...), lines[2:]...)...), record.Tampered, 2, "line 6: end says sha256"},
		{"rows exchanged", join(lines[0], lines[2], lines[1], lines[3], lines[4], lines[5], lines[6]), record.Tampered, 3, "line 7: end says sha256"},
		{"text after the end", join(data, lines[1]), record.Tampered, 3, "line 8 follows the end line"},
		{"half a line after the end", join(data, []byte("{")), record.Tampered, 3, "line 8 follows the end line"},
		{"a second run line", join(lines[0], lines[0]), record.Tampered, 0, `line 2: found a line of kind "run"`},
		{"a second verdict", join(lines[0], lines[5], lines[5]), record.Tampered, 0, "line 3: a second verdict"},
		{"not JSON", join(lines[0], []byte("x\n")), record.Tampered, 0, "line 2: not JSON"},
		{"an empty line", join(lines[0], []byte("\n"), lines[1]), record.Tampered, 0, "line 2: not JSON"},
		{"a kind that is not known", join(lines[0], []byte(`{"v":1,"kind":"note"}`+"\n")), record.Tampered, 0, `line 2: unknown kind "note"`},
		{"a later format", join(lines[0], []byte(`{"v":3,"kind":"case"}`+"\n")), record.Tampered, 0, "line 2: format 3; this tool reads up to 2"},
		{"an outcome that is not known", join(lines[0], bytes.Replace(lines[1], []byte(`"state":"scored"`), []byte(`"state":"great"`), 1)), record.Tampered, 0, `outcome "great"`},
		{"an outcome that is never written", join(lines[0], bytes.Replace(lines[1], []byte(`"state":"scored"`), []byte(`"state":"not_reached"`), 1)), record.Tampered, 0, `outcome "not_reached"`},
		{"no end line", join(lines[:6]...), record.Truncated, 3, "no end line; the last whole line is 6"},
		{"last line cut", data[:len(data)-1], record.Truncated, 3, "line 7 is cut short; the last whole line is 6"},
		{"empty", nil, record.Truncated, 0, "no whole line"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := record.Read(put(t, tc.data))
			require.NoError(t, err)
			assert.Equal(t, tc.state, f.State)
			assert.Len(t, f.Rows, tc.rows)
			assert.Contains(t, f.Detail, tc.detail)
		})
	}
	for name, text := range map[string]string{
		"row first": string(lines[1]), "not JSON": "hello\n", "later format": `{"v":3,"kind":"run"}` + "\n", "empty line": "\n" + string(data),
	} {
		_, err := record.Read(put(t, []byte(text)))
		require.ErrorContains(t, err, "s.1.1.jsonl:1: ", name)
	}
	_, err := record.Read(filepath.Join(t.TempDir(), "none.jsonl"))
	require.Error(t, err)
}

func TestWriterRefuses(t *testing.T) {
	open := func(t *testing.T) *record.Writer {
		w, err := record.Create(t.TempDir(), "s")
		require.NoError(t, err)
		require.NoError(t, w.Run(record.Run{Suite: "s", Plan: []string{"q1"}}))
		return w
	}
	t.Run("a second row of one identity", func(t *testing.T) {
		w := open(t)
		require.NoError(t, w.Row(row("q1")))
		require.EqualError(t, w.Row(row("q1")), "suite=s/arm=base/mode=default/repeat=0/case=q1: a row of this identity was written before")
		for _, other := range []func(*record.Row){
			func(r *record.Row) { r.Arm = "b" }, func(r *record.Row) { r.Mode = "deep" }, func(r *record.Row) { r.Repeat = 1 }, func(r *record.Row) { r.Case = "q2" },
		} {
			r := row("q1")
			other(&r)
			require.NoError(t, w.Row(r))
		}
	})
	for name, spoil := range map[string]func(*record.Row){
		"NaN in a measure":     func(r *record.Row) { r.Measures["AP"] = math.NaN() },
		"infinity in a score":  func(r *record.Row) { r.Ranking[0].Score = math.Inf(1) },
		"NaN in a stage":       func(r *record.Row) { r.Stages[0].Measures["AP"] = math.NaN() },
		"-infinity in a stage": func(r *record.Row) { r.Stages[0].Entries[0].Score = math.Inf(-1) },
		"no state":             func(r *record.Row) { r.Outcome.State = "" },
		"unknown state":        func(r *record.Row) { r.Outcome = record.Outcome{State: "great", Reason: "x"} },
		"not reached":          func(r *record.Row) { r.Outcome = record.Outcome{State: record.NotReached, Reason: "x"} },
		"refused, no reason":   func(r *record.Row) { r.Outcome.State = record.Refused },
		"failed, no reason":    func(r *record.Row) { r.Outcome.State = record.Failed },
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			before := readBytes(t, w.Path())
			bad := row("q1")
			spoil(&bad)
			require.ErrorContains(t, w.Row(bad), "case=q1: ")
			assert.Equal(t, before, readBytes(t, w.Path()), "nothing of it is written")
			require.NoError(t, w.Row(row("q1")), "the row can be mended and written")
		})
	}
	t.Run("lines before the run line, and a second one", func(t *testing.T) {
		w, err := record.Create(t.TempDir(), "s")
		require.NoError(t, err)
		require.ErrorContains(t, w.Row(row("q1")), "no run line yet")
		require.ErrorContains(t, w.Gate(record.Gate{}), "no run line yet")
		require.ErrorContains(t, w.End(record.End{}), "no run line yet")
		require.NoError(t, w.Run(record.Run{Suite: "s"}))
		require.ErrorContains(t, w.Run(record.Run{Suite: "s"}), "a second run line")
		nan := math.NaN()
		require.Error(t, w.Gate(record.Gate{Name: "g", Value: &nan}))
		require.NoError(t, w.End(record.End{}))
		require.ErrorContains(t, w.Row(row("q1")), "record is closed")
		require.NoError(t, w.Close(), "closing twice is fine")
		f, err := record.Read(w.Path())
		require.NoError(t, err)
		assert.Equal(t, record.Complete, f.State)
	})
	t.Run("suite names that are no file names", func(t *testing.T) {
		for _, name := range []string{"", "..", "../x", "a/b", "A", "a b", "-a", "a:b", "a\x00"} {
			_, err := record.Create(t.TempDir(), name)
			require.Error(t, err, name)
			assert.False(t, record.ValidSuite(name))
		}
	})
}

// Several writers of one suite in one folder, in one process (-count) and at
// the same time (t.Parallel), and many goroutines on each.
func TestConcurrentWriters(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	paths := make([]string, 8)
	for i := range paths {
		wg.Go(func() {
			w, err := record.Create(dir, "s")
			if !assert.NoError(t, err) {
				return
			}
			paths[i] = w.Path()
			assert.NoError(t, w.Run(record.Run{Suite: "s"}))
			var rows sync.WaitGroup
			for j := range 20 {
				rows.Go(func() { assert.NoError(t, w.Row(row(fmt.Sprintf("q%d", j)))) })
			}
			rows.Wait()
			assert.NoError(t, w.End(record.End{}))
		})
	}
	wg.Wait()
	files, err := record.ReadAll(dir)
	require.NoError(t, err)
	require.Len(t, files, len(paths))
	seen := map[string]bool{}
	for _, f := range files {
		assert.Equal(t, record.Complete, f.State, f.Detail)
		assert.Len(t, f.Rows, 20)
		assert.Regexp(t, fmt.Sprintf(`^s\.%d\.\d+\.jsonl$`, os.Getpid()), filepath.Base(f.Path))
		seen[f.Path] = true
	}
	for _, p := range paths {
		assert.True(t, seen[p], p)
	}
}

func TestReadAllGoesByNameAndTakesOnlyRecords(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "artifacts.jsonl"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.json"), []byte("{}"), 0o644))
	var want []string
	for range 3 {
		want = append(want, write(t, dir))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.1.1.jsonl"), nil, 0o644))
	files, err := record.ReadAll(dir)
	require.NoError(t, err)
	require.Len(t, files, 4)
	assert.Equal(t, "a", files[0].Run.Suite, "a record without a run line is named all the same")
	for i, p := range want {
		assert.Equal(t, p, files[i+1].Path)
	}
}

// killFolder makes the test binary a child that writes rows until it is
// killed.
const killFolder = "RECORD_TEST_KILL_FOLDER"

func TestKillLosesAtMostTheCaseInFlight(t *testing.T) {
	if dir := os.Getenv(killFolder); dir != "" {
		writeForEver(dir)
		return
	}
	for _, after := range []int{0, 1, 7} {
		t.Run(fmt.Sprintf("after %d rows", after), func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.Command(os.Args[0], "-test.run=^TestKillLosesAtMostTheCaseInFlight$")
			cmd.Env = append(os.Environ(), killFolder+"="+dir)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			acknowledged := 0
			for s := bufio.NewScanner(out); acknowledged < after && s.Scan(); {
				if strings.HasPrefix(s.Text(), "written ") {
					acknowledged++
				}
			}
			if after == 0 { // wait for the run line only
				bufio.NewReader(out).ReadString('\n')
			}
			require.NoError(t, cmd.Process.Kill())
			require.Error(t, cmd.Wait())
			files, err := record.ReadAll(dir)
			require.NoError(t, err)
			require.Len(t, files, 1)
			f := files[0]
			assert.Equal(t, record.Truncated, f.State, f.Detail)
			require.GreaterOrEqual(t, len(f.Rows), acknowledged, "every acknowledged row is there")
			for i, r := range f.Rows {
				assert.Equal(t, fmt.Sprintf("q%d", i), r.Case)
			}
			assert.Equal(t, max(0, len(f.Run.Plan)-len(f.Rows)), f.Counts()[record.NotReached])
		})
	}
}

func writeForEver(dir string) {
	w, err := record.Create(dir, "s")
	if err != nil {
		panic(err)
	}
	const planned = 1_000_000
	plan := make([]string, 1000)
	for i := range plan {
		plan[i] = fmt.Sprintf("q%d", i)
	}
	if err := w.Run(record.Run{Suite: "s", Plan: plan}); err != nil {
		panic(err)
	}
	fmt.Println("started")
	for i := range planned {
		if err := w.Row(row(fmt.Sprintf("q%d", i))); err != nil {
			panic(err)
		}
		fmt.Println("written", i)
	}
}

func TestObservationValidate(t *testing.T) {
	known := func(id string) bool { return id != "foreign" }
	entries := func(docs ...string) []record.Entry {
		var es []record.Entry
		for _, d := range docs {
			es = append(es, record.Entry{Doc: d})
		}
		return es
	}
	for _, tc := range []struct {
		name string
		obs  record.Observation
		want string
	}{
		{"empty", record.Observation{}, ""},
		{"chunks of one document", record.Observation{Ranking: []record.Entry{{Doc: "a", Chunk: "1"}, {Doc: "a", Chunk: "2"}}}, ""},
		{"empty id", record.Observation{Ranking: entries("a", "")}, "ranking: empty document id at rank 2"},
		{"channel hit twice", record.Observation{Ranking: entries("a"), Channels: []record.Channel{{Name: "graph", Hits: entries("b", "b")}}}, `channel graph: "b" is ranked twice, at 1 and 2`},
		{"document twice", record.Observation{Ranking: entries("a", "b", "a")}, `ranking: "a" is ranked twice, at 1 and 3`},
		{"not in the corpus", record.Observation{Ranking: entries("a", "foreign")}, `ranking: 1 ids are not in the corpus, for instance ["foreign"]`},
		{"NaN", record.Observation{Ranking: []record.Entry{{Doc: "a", Score: math.NaN()}}}, `ranking: score NaN of "a" at rank 1 is not finite`},
		{"stage twice", record.Observation{Stages: []record.Stage{{Name: "x", State: record.Executed}, {Name: "x", State: record.Executed}}}, `stage "x": found an empty name or one given twice`},
		{"stage without a name", record.Observation{Stages: []record.Stage{{State: record.Executed}}}, `stage ""`},
		{"stage of no state", record.Observation{Stages: []record.Stage{{Name: "x"}}}, `stage x: state ""`},
		{"stage skipped for no reason", record.Observation{Stages: []record.Stage{{Name: "x", State: record.SkippedStage}}}, "stage x: skipped without a reason"},
		{"stage with a bad entry", record.Observation{Stages: []record.Stage{{Name: "x", State: record.Executed, Entries: entries("")}}}, "stage x: empty document id"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := tc.obs.Validate(known)
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestDeclined(t *testing.T) {
	o, ok := record.Declined(fmt.Errorf("search: %w", record.Refuse("no model", "run make models")))
	require.True(t, ok)
	assert.Equal(t, record.Outcome{State: record.Refused, Reason: "no model", Action: "run make models"}, o)
	o, ok = record.Declined(record.Skip("not mine"))
	require.True(t, ok)
	assert.Equal(t, record.Skipped, o.State)
	_, ok = record.Declined(os.ErrNotExist)
	assert.False(t, ok)
	assert.EqualError(t, record.Refuse("no model", "run make models"), "refused: no model; run make models")
}

// Whatever the bytes, reading ends without a panic, and only what the writer
// wrote is complete.
func FuzzRead(f *testing.F) {
	data := readBytes(f, write(f, f.TempDir()))
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add([]byte(`{"v":1,"kind":"run","plan":null}` + "\n" + `{"v":1,"kind":"end","sha256":""}` + "\n"))
	f.Add([]byte(`{"v":1,"kind":"run"}` + "\n" + `{"v":1,"kind":"case","outcome":null}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := record.Read(put(t, data))
		if err != nil {
			if got != nil {
				t.Fatal("a file beside the error")
			}
			return
		}
		identities := map[string]bool{}
		for _, r := range got.Rows {
			if identities[r.Identity()] {
				t.Fatalf("%s twice", r.Identity())
			}
			identities[r.Identity()] = true
		}
		if (got.State == record.Complete) != (got.Detail == "") || got.State == record.Complete && got.End == nil {
			t.Fatalf("%s with detail %q", got.State, got.Detail)
		}
		got.Counts()
	})
}
