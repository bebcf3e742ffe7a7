package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

// TestMain lets the test binary stand for a Python.
func TestMain(m *testing.M) {
	if how := os.Getenv("BENCH_FAKE_PEER"); how != "" {
		if err := fakePeer(how, os.Args[1:]); err != nil {
			fmt.Fprintf(os.Stderr, "Traceback\n%v\n", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// fakePeer is called as peer.py is, and gives each question the document of
// the same number first. how changes one thing about it.
func fakePeer(how string, args []string) error {
	if len(args) != 9 {
		return fmt.Errorf("%d arguments %q", len(args), args)
	}
	if how == "fails" {
		return fmt.Errorf("ModuleNotFoundError: No module named 'bm25s'")
	}
	lines := func(path string) (ids []string, err error) {
		data, err := os.ReadFile(path)
		for l := range strings.Lines(string(data)) {
			var d struct{ ID, Text string }
			if err := json.Unmarshal([]byte(l), &d); err != nil {
				return nil, err
			}
			ids = append(ids, d.ID)
		}
		return ids, err
	}
	docs, err := lines(args[1])
	if err != nil {
		return err
	}
	asked, err := lines(args[2])
	if err != nil {
		return err
	}
	type system map[string]any
	modes := []string{"BM25"}
	if args[3] != "" {
		modes = append(modes, "dense", "hybrid")
	}
	var systems []system
	for _, mode := range modes {
		rankings, times := map[string][]string{}, []float64{}
		for i, q := range asked {
			rankings[q] = []string{docs[i], docs[(i+1)%len(docs)]}
			times = append(times, .25)
		}
		switch how {
		case "a question less":
			delete(rankings, asked[1])
		case "a document twice":
			rankings[asked[1]] = []string{docs[0], docs[0]}
		case "a strange document":
			rankings[asked[1]] = []string{"nowhere"}
		case "a time less":
			times = times[1:]
		case "a time of 0":
			times[1] = 0
		}
		systems = append(systems, system{"mode": mode, "index_seconds": 9.5, "bytes": 1000, "search_seconds": times, "rankings": rankings})
	}
	if how == "a mode less" {
		systems = systems[:len(systems)-1]
	}
	out, err := json.Marshal(map[string]any{"versions": map[string]string{"numpy": "2", "bm25s": "1"}, "systems": systems})
	if how == "half a file" {
		out = out[:len(out)/2]
	}
	if how == "no file" || err != nil {
		return err
	}
	return os.WriteFile(args[8], out, 0o600)
}

// small is a pack of which each question names its document.
func small() *pack.Pack {
	p := &pack.Pack{Manifest: pack.Manifest{Name: "small", Version: "1", Unit: "document"}}
	for i, s := range []string{"otter", "falcon", "badger", "salmon", "beetle", "willow"} {
		id := fmt.Sprintf("d%d", i)
		p.Documents = append(p.Documents, pack.Document{ID: id, Title: s, Text: "The " + s + " crosses the river at dusk."})
		p.Cases = append(p.Cases, pack.Case{
			Question: pack.Question{ID: fmt.Sprintf("q%d", i), Text: "where is the " + s + "?"}, Stratum: "all",
			Gold: pack.Gold{Answerable: true, Grades: map[string]int{id: 1}},
		})
	}
	return p
}

func newBench(t *testing.T) bench {
	return bench{pack: small(), base: t.TempDir(), modelAbsent: "not fetched", progress: io.Discard}
}

// TestBesideFakePeer runs this engine and what stands for the other side.
func TestBesideFakePeer(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	t.Setenv("BENCH_FAKE_PEER", "well")
	b := newBench(t)
	b.python = self
	f, err := b.run(t.Context())
	require.NoError(t, err)
	var names []string
	for _, s := range f.Systems {
		names = append(names, s.label()+" "+s.Mode)
		assert.Len(t, s.Search, 6, s.label())
		assert.Positive(t, s.Index, s.label())
		assert.Positive(t, s.Bytes, s.label())
		assert.InDelta(t, 1, s.NDCG, 1e-12, "%s: each question names its document", s.label())
	}
	assert.Equal(t, []string{"this engine BM25", "this engine, default dense", "this engine, default hybrid", "Python BM25"}, names)
	assert.Equal(t, "bm25s 1, numpy 2", f.Versions)
	assert.Equal(t, "11s", f.Systems[3].endToEnd().String(), "9.5 s of index and six times .25 s")

	var steps []string
	for _, s := range f.Build {
		steps = append(steps, s.Name)
	}
	assert.Subset(t, steps, []string{"read the pack", "embed", "store", "lexical", "search and evaluate, 6 questions"})
	assert.Len(t, f.NotRun, 2, "this engine with the full model, and Python with it: %q", f.NotRun)
	var out bytes.Buffer
	require.NoError(t, f.print(&out))
	assert.Contains(t, out.String(), "ratio: BM25 (the index of this engine holds the default vectors too): index ")
	assert.NotContains(t, out.String(), "ratio: dense")
}

// TestPeerIsHeldToAll: a side that is there and leaves something out is an
// error, since its table would be read as a result.
func TestPeerIsHeldToAll(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for how, want := range map[string]string{
		"well":               "",
		"fails":              "ModuleNotFoundError: No module named 'bm25s'; want a Python with tools/benchengine/requirements.txt",
		"a question less":    "python, BM25: case q1: no ranking",
		"a document twice":   "python, BM25: case q1: ",
		"a strange document": `python, BM25: case q1: document "nowhere" is not of the pack`,
		"a time less":        "python, BM25: 5 searches timed, want 6",
		"a time of 0":        "python, BM25: a time of 0 s",
		"a mode less":        `figures of ["BM25" "dense"]; want ["BM25" "dense" "hybrid"]`,
		"half a file":        "what Python wrote",
		"no file":            "out.json",
	} {
		t.Run(how, func(t *testing.T) {
			t.Setenv("BENCH_FAKE_PEER", how)
			b := newBench(t)
			b.python, b.model = self, "the fake one opens no model"
			systems, _, err := b.peers(t.Context())
			if want != "" {
				require.ErrorContains(t, err, want)
				return
			}
			require.NoError(t, err)
			require.Len(t, systems, 3)
			assert.Equal(t, []string{"", fullModel, fullModel}, []string{systems[0].Model, systems[1].Model, systems[2].Model})
		})
	}
	b := newBench(t)
	b.python = filepath.Join(t.TempDir(), "nothing")
	_, _, err = b.peers(t.Context())
	require.ErrorContains(t, err, "BENCH_PYTHON=")
}

// TestRealPeer runs peer.py itself, where there is a Python for it.
func TestRealPeer(t *testing.T) {
	b := newBench(t)
	if b.python = os.Getenv("BENCH_PYTHON"); b.python == "" {
		t.Skip("BENCH_PYTHON is not set: it must name a Python with tools/benchengine/requirements.txt")
	}
	b.pack.Cases[5].Question.Text = "what is this?" // stop words only: an empty ranking
	t.Chdir("../..")
	b.model, b.modelAbsent = findModel()
	systems, _, err := b.peers(t.Context())
	require.NoError(t, err)
	assert.InDelta(t, 5./6, systems[0].NDCG, 1e-12)
	for _, s := range systems[1:] {
		assert.GreaterOrEqual(t, s.NDCG, 5./6, s.Mode)
	}
}

func TestWhatIsNotRun(t *testing.T) {
	for _, c := range []struct {
		name, packs, limit string
		args               []string
		out, err           string
	}{
		{"no packs", "", "", nil, "not run: scifact (set EVAL_PACKS", ""},
		{"packs without it", "here", "", nil, "not run: scifact (set EVAL_PACKS", ""},
		{"a part of it", "", "10", nil, "", "EVAL_LIMIT is set"},
		{"a part of it, by name", "", "scifact=10", nil, "", "EVAL_LIMIT is set"},
		{"an argument", "", "", []string{"scifact"}, "", `argument "scifact": want none`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.packs != "" {
				c.packs = t.TempDir()
			}
			t.Setenv("EVAL_PACKS", c.packs)
			if c.limit != "" {
				t.Setenv("EVAL_LIMIT", c.limit)
			}
			var out bytes.Buffer
			err := run(t.Context(), c.args, &out, io.Discard)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			assert.Contains(t, out.String(), c.out)
		})
	}
}
