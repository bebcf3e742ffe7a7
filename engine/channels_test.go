package engine_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/chunk"
	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
	"github.com/touchstone-eval/touchstone/engine/fuse"
)

// written is a set of documents and questions that shows what one channel
// does.
type written struct {
	docs          []engine.Document
	helps, silent []asked
}

type asked struct {
	Text    string
	AsOf    string `json:"as_of"`
	Gold    []string
	Skipped *string // of a silent question: the reason; nil if any
}

func readSet(t testing.TB, name string) written {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "channels", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	var set written
	for _, f := range archive.Files {
		id, isDocument := strings.CutPrefix(f.Name, "documents/")
		switch {
		case isDocument:
			head, text, _ := strings.Cut("\n"+string(f.Data), "\n\n")
			d := engine.Document{ID: id, Text: strings.TrimSuffix(text, "\n")}
			for line := range strings.Lines(strings.TrimPrefix(head, "\n")) {
				key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
				field, ok := map[string]*string{"title": &d.Title, "date": &d.Date, "source": &d.Source}[key]
				if !ok {
					t.Fatalf("%s: %s: header %q", name, id, line)
				}
				*field = value
			}
			set.docs = append(set.docs, d)
		case f.Name == "helps":
			set.helps = readQuestions(t, f.Data)
		case f.Name == "silent":
			set.silent = readQuestions(t, f.Data)
		default:
			t.Fatalf("%s: file %s", name, f.Name)
		}
	}
	if len(set.docs) < 12 || len(set.silent) < 6 {
		t.Fatalf("%s: %d documents, %d silent questions", name, len(set.docs), len(set.silent))
	}
	return set
}

func readQuestions(t testing.TB, lines []byte) (out []asked) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(string(lines)))
	decoder.DisallowUnknownFields()
	for decoder.More() {
		var q asked
		if err := decoder.Decode(&q); err != nil {
			t.Fatal(err)
		}
		out = append(out, q)
	}
	return out
}

var on = engine.ChannelSetting{On: true}

// both pins the weights of the arms, so that what the channels do does not
// depend on how the default is tuned.
var both = fuse.Weights{Vector: 1, Lexical: 1}

// alone switches one channel on.
var alone = map[string]engine.Channels{
	"graph": {Graph: on}, "temporal": {Temporal: on}, "pages": {Pages: on}, "episodes": {Episodes: on},
}

var allChannels = engine.Channels{Graph: on, Temporal: on, Pages: on, Episodes: on}

func withChannels(t testing.TB, docs []engine.Document, c engine.Channels) *engine.Engine {
	t.Helper()
	e := open(t, t.TempDir(), engine.Config{Weights: both, Embedder: embedtest.New(256), Channels: c})
	ingest(t, e, docs...)
	return e
}

func channelOf(t testing.TB, r *engine.Result, name string) engine.Channel {
	t.Helper()
	i := slices.IndexFunc(r.Channels, func(c engine.Channel) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no channel %s", name)
	}
	return r.Channels[i]
}

func ask(t testing.TB, e *engine.Engine, q asked, k int) *engine.Result {
	t.Helper()
	return search(t, e, engine.Query{Text: q.Text, AsOf: q.AsOf, K: k, Unit: engine.UnitDocument})
}

// timeless are the stages without their times.
func timeless(r *engine.Result) []engine.Stage {
	stages := slices.Clone(r.Stages)
	for i := range stages {
		stages[i].Latency = 0
	}
	return stages
}

// TestChannelsHelp: on the questions that need it each channel makes the
// ranking better, and never one of them worse.
func TestChannelsHelp(t *testing.T) {
	for name, channels := range alone {
		t.Run(name, func(t *testing.T) {
			set := readSet(t, name)
			off, on := withChannels(t, set.docs, engine.Channels{}), withChannels(t, set.docs, channels)
			var before, after float64
			for _, q := range set.helps {
				gold := map[string]bool{}
				for _, id := range q.Gold {
					gold[id] = true
				}
				plain, r := ask(t, off, q, 10), ask(t, on, q, 10)
				a, b := ndcg10(plain.Hits, gold), ndcg10(r.Hits, gold)
				t.Logf("%.3f > %.3f %s: %v > %v", a, b, q.Text, documents(plain.Hits)[:4], documents(r.Hits)[:4])
				if b < a {
					t.Errorf("%q: nDCG@10 falls from %.3f to %.3f", q.Text, a, b)
				}
				if c := channelOf(t, r, name); !c.Fired || !c.Contributed || c.Skipped != "" {
					t.Errorf("%q: %s fired %v, contributed %v, skipped %q", q.Text, c.Name, c.Fired, c.Contributed, c.Skipped)
				}
				before, after = before+a, after+b
			}
			n := float64(len(set.helps))
			t.Logf("nDCG@10 %.3f off, %.3f on, %d questions", before/n, after/n, len(set.helps))
			if len(set.helps) < 6 || after/n < before/n+.05 {
				t.Errorf("nDCG@10 %.3f off, %.3f on, over %d questions: want a gain of at least .05", before/n, after/n, len(set.helps))
			}
		})
	}
}

// TestChannelsStaySilent: on questions that do not need it a channel changes
// nothing, and says that it did not.
func TestChannelsStaySilent(t *testing.T) {
	for name, channels := range alone {
		t.Run(name, func(t *testing.T) {
			set := readSet(t, name)
			off, on := withChannels(t, set.docs, engine.Channels{}), withChannels(t, set.docs, channels)
			for _, q := range set.silent {
				plain, r := ask(t, off, q, 10), ask(t, on, q, 10)
				if diff := cmp.Diff(timeless(plain), timeless(r)); diff != "" {
					t.Errorf("%q: %v become %v (-off +on):\n%.600s", q.Text, documents(plain.Hits), documents(r.Hits), diff)
				}
				c := channelOf(t, r, name)
				if c.Fired || c.Contributed || len(c.Hits) > 0 || q.Skipped != nil && c.Skipped != *q.Skipped {
					t.Errorf("%q: %+v", q.Text, c)
				}
				if c := channelOf(t, plain, name); c.Skipped != "off" || c.Fired || c.Contributed {
					t.Errorf("off, but %+v", c)
				}
			}
		})
	}
}

// TestNoSubstrate: a channel that is on over documents that give it nothing
// names what is missing.
func TestNoSubstrate(t *testing.T) {
	set := readSet(t, "plain")
	off, on := withChannels(t, set.docs, engine.Channels{}), withChannels(t, set.docs, allChannels)
	for _, q := range set.silent {
		plain, r := ask(t, off, q, 10), ask(t, on, q, 10)
		if diff := cmp.Diff(timeless(plain), timeless(r)); diff != "" {
			t.Errorf("%q (-off +on):\n%.600s", q.Text, diff)
		}
		for name, substrate := range map[string]string{"graph": "links", "temporal": "event_dates", "pages": "pages", "episodes": "episodes"} {
			if c := channelOf(t, r, name); c.Fired || c.Skipped != "no substrate: "+substrate+" is empty" {
				t.Errorf("%q: %+v", q.Text, c)
			}
		}
	}
	for _, s := range on.Substrates(t.Context()) {
		enrichment := slices.Contains([]string{"links", "event_dates", "pages", "page_sources", "episodes"}, s.Name)
		if enrichment && (!s.Needed || s.Count != (engine.Tally{}) || s.Enumerated != (engine.Tally{})) {
			t.Errorf("%+v, want a needed substrate of 0", s)
		}
	}
	for _, s := range off.Substrates(t.Context()) {
		if base := slices.Contains([]string{"documents", "chunks", "lexical", "vectors"}, s.Name); s.Needed != base {
			t.Errorf("channels off: %s needed %v", s.Name, s.Needed)
		}
	}
}

// TestNothingAsked: without a seed the neighbourhood channels have nowhere to
// start.
func TestNothingAsked(t *testing.T) {
	for name, want := range map[string]string{"graph": "no seed hit", "episodes": "no seed hit", "temporal": "question holds no date", "pages": "question holds no term to look up"} {
		e := withChannels(t, readSet(t, name).docs, alone[name])
		r := search(t, e, engine.Query{Text: "", K: 5})
		if c := channelOf(t, r, name); c.Skipped != want || c.Fired {
			t.Errorf("%+v, want it skipped: %s", c, want)
		}
	}
}

// TestChannelSubstrates: the sets hold what their channels work on, by both
// counts.
func TestChannelSubstrates(t *testing.T) {
	for name, want := range map[string]map[string]int{
		"graph":    {"links": 8, "entities": 6},
		"temporal": {"event_dates": 12},
		"pages":    {"pages": 6, "page_sources": 15},
		"episodes": {"episodes": 6},
	} {
		e := withChannels(t, readSet(t, name).docs, alone[name])
		got := substrates(t, e)
		for substrate, n := range want {
			if got[substrate] != n {
				t.Errorf("%s: %d %s, want %d", name, got[substrate], substrate, n)
			}
		}
	}
}

// TestChannelsOffIgnoreEnrichment: what enrichment left in the store decides
// nothing as long as no channel is on, and a store that lost all of it ranks
// the same.
func TestChannelsOffIgnoreEnrichment(t *testing.T) {
	var docs []engine.Document
	var all []asked
	for _, name := range []string{"graph", "temporal", "pages", "episodes", "plain"} {
		set := readSet(t, name)
		docs, all = append(docs, set.docs...), append(append(all, set.helps...), set.silent...)
	}
	dir := t.TempDir()
	cfg := engine.Config{Weights: both, Embedder: embedtest.New(256)}
	e := open(t, dir, cfg)
	ingest(t, e, docs...)
	answers := func(e *engine.Engine) (out [][]engine.Stage) {
		for _, q := range all {
			out = append(out, timeless(ask(t, e, q, 20)))
		}
		return out
	}
	want := answers(e)
	shut(t, e)
	alter(t, dir, `DELETE FROM document_references; DELETE FROM sections; DELETE FROM mentions;
		DELETE FROM names; DELETE FROM event_dates; DELETE FROM moments`)
	e = open(t, dir, cfg)
	if n := substrates(t, e)["event_dates"]; n != 0 {
		t.Fatalf("%d dates left: the test would show nothing", n)
	}
	firstDifference(t, want, answers(e))
}

// TestBrokenSubstrateFailsTheSearch: an error is never an empty channel, and
// never a count of 0.
func TestBrokenSubstrateFailsTheSearch(t *testing.T) {
	for name, table := range map[string]string{"graph": "names", "temporal": "event_dates", "pages": "sections", "episodes": "moments"} {
		t.Run(name, func(t *testing.T) {
			set := readSet(t, name)
			dir := t.TempDir()
			e := open(t, dir, engine.Config{Weights: both, Embedder: embedtest.New(256), Channels: alone[name]})
			ingest(t, e, set.docs...)
			shut(t, e)
			alter(t, dir, `PRAGMA foreign_keys = 0; DROP TABLE `+table)
			e = open(t, dir, engine.Config{Weights: both, Embedder: embedtest.New(256), Channels: alone[name]})
			defer shut(t, e)
			_, err := e.Search(t.Context(), engine.Query{Text: set.helps[0].Text, K: 5})
			if err == nil || !strings.Contains(err.Error(), name+" arm") {
				t.Errorf("error %v, want that of the channel", err)
			}
			unknown := 0
			for _, s := range e.Substrates(t.Context()) {
				if s.Needed && !(s.Count.Known() && s.Enumerated.Known()) {
					unknown++
				}
			}
			if unknown == 0 {
				t.Error("every count is known")
			}
		})
	}
}

// TestChannelsObeyFilters: a channel brings in no document that the filters
// leave out.
func TestChannelsObeyFilters(t *testing.T) {
	set := readSet(t, "graph")
	for i := range set.docs {
		set.docs[i].Meta = map[string]string{"even": []string{"yes", "no"}[i%2]}
	}
	e := withChannels(t, set.docs, allChannels)
	allowed := map[string]bool{}
	for i, d := range set.docs {
		allowed[d.ID] = i%2 == 0
	}
	for _, q := range set.helps {
		r := search(t, e, engine.Query{Text: q.Text, K: 20, Filters: map[string]string{"even": "yes"}})
		for _, c := range r.Channels {
			for _, h := range append(c.Hits, r.Hits...) {
				if !allowed[h.DocumentID] {
					t.Errorf("%q: %s is not allowed", q.Text, h.DocumentID)
				}
			}
		}
	}
}

// TestFusionWithChannelsReplays: what is recorded is enough to fuse again, to
// the bit.
func TestFusionWithChannelsReplays(t *testing.T) {
	set := readSet(t, "graph")
	cfg := engine.Config{Weights: both, Embedder: embedtest.New(256), Channels: engine.Channels{
		Graph: engine.ChannelSetting{On: true, Weight: .7}, Episodes: engine.ChannelSetting{On: true, Weight: .3}}}
	e := open(t, t.TempDir(), cfg)
	ingest(t, e, set.docs...)
	for _, q := range set.helps {
		r := search(t, e, engine.Query{Text: q.Text, K: 5, Explain: true})
		score := map[string]float64{}
		add := func(hits []engine.Hit, weight float64) {
			for i, h := range hits {
				score[h.ChunkID] += weight / float64(60+i+1)
			}
		}
		add(stage(t, r, engine.StageVector).Hits, 1)
		add(stage(t, r, engine.StageLexical).Hits, 1)
		add(channelOf(t, r, "graph").Hits, .7)
		fused := stage(t, r, engine.StageFusion)
		if len(fused.Hits) != len(score) || fused.Total != len(score) {
			t.Errorf("%q: %d fused, %d replayed", q.Text, len(fused.Hits), len(score))
		}
		for _, h := range fused.Hits {
			if h.Score != score[h.ChunkID] {
				t.Errorf("%q: %s has %v, replayed %v", q.Text, h.ChunkID, h.Score, score[h.ChunkID])
			}
		}
		if !slices.ContainsFunc(r.Hits, func(h engine.Hit) bool { return strings.Contains(h.Explain, ", graph rank ") }) {
			t.Errorf("%q: no hit is explained by the graph", q.Text)
		}
	}
}

func TestWrittenSetsAreWhole(t *testing.T) {
	files, err := os.ReadDir(filepath.Join("testdata", "channels"))
	if err != nil || len(files) != len(alone)+1 {
		t.Errorf("%d files, %v, want one a channel and plain", len(files), err)
	}
	for name := range alone {
		set := readSet(t, name)
		ids := map[string]bool{}
		for _, d := range set.docs {
			ids[d.ID] = true
		}
		for _, q := range set.helps {
			for _, id := range q.Gold {
				if !ids[id] {
					t.Errorf("%s: %q: no document %s", name, q.Text, id)
				}
			}
			if len(q.Gold) == 0 {
				t.Errorf("%s: %q has no gold", name, q.Text)
			}
		}
	}
}

// TestChannelOrders: within a channel the closer document comes first, though
// its id and the arms say otherwise.
func TestChannelOrders(t *testing.T) {
	at := func(id, time, text string) engine.Document {
		return engine.Document{ID: id, Date: "2024-05-01 " + time, Text: text}
	}
	for _, tc := range []struct {
		name, channel, question, want string
		docs                          []engine.Document
	}{
		{"a day within before a quarter around", "temporal", "delivery on 12 March 2024", "day quarter", []engine.Document{
			{ID: "quarter", Text: "delivery, delivery in Q1 2024"}, {ID: "day", Text: "It was 2024-03-12."}}},
		{"equal days by the arms' order", "temporal", "delivery on 12 March 2024", "z a b", []engine.Document{
			{ID: "a", Text: "It was 2024-03-12."}, {ID: "b", Text: "It was 2024-03-12."}, {ID: "z", Text: "delivery of 2024-03-12"}}},
		{"the better seed's neighbour first", "graph", "alpha beacon", "z b", []engine.Document{
			{ID: "first", Text: "alpha beacon [[z]]"}, {ID: "second", Text: "alpha harbour [[b]]"}, {ID: "b", Text: "x"}, {ID: "z", Text: "y"}}},
		{"a reference before a shared name", "graph", "alpha", "z a", []engine.Document{
			{ID: "seed", Text: "alpha Maria Lopez [[z]]"}, {ID: "a", Text: "Maria Lopez"}, {ID: "z", Text: "y"}}},
		{"two reasons before one", "graph", "alpha", "z a", []engine.Document{
			{ID: "seed", Text: "alpha [[a]] [[z]] Maria Lopez"}, {ID: "a", Text: "x"}, {ID: "z", Text: "Maria Lopez"}}},
		{"nearest in the episode first", "episodes", "alpha", "y z a b", []engine.Document{
			at("b", "08:00", "x"), at("z", "09:00", "x"), at("seed", "10:00", "alpha"), at("y", "11:00", "x"), at("a", "12:00", "x")}},
		{"the better page first", "pages", "alpha beacon", "z a", []engine.Document{
			{ID: "a", Text: "# One\nalpha harbour"}, {ID: "z", Text: "# Two\nalpha beacon"}}},
		{"three pages, equal ones by title", "pages", "alpha", "d b c", []engine.Document{
			{ID: "a", Text: "# Zinc\nalpha"}, {ID: "b", Text: "# Iron\nalpha"}, {ID: "c", Text: "# Lead\nalpha"}, {ID: "d", Text: "# Gold\nalpha"}}},
		{"sections before references", "pages", "alpha", "z a", []engine.Document{
			{ID: "z", Text: "# One\nalpha [[a]]"}, {ID: "a", Text: "x"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := open(t, t.TempDir(), engine.Config{Weights: fuse.Weights{Lexical: 1}, Channels: alone[tc.channel]})
			ingest(t, e, tc.docs...)
			for range 20 { // the order of a map must not show
				c := channelOf(t, search(t, e, engine.Query{Text: tc.question, K: 10}), tc.channel)
				if got := strings.Join(documents(c.Hits), " "); got != tc.want {
					t.Fatalf("%s, want %s: %+v", got, tc.want, c)
				}
			}
		})
	}
}

// TestChannelPassages: a channel names the passage that holds what it found;
// of a document as a whole the one that the arms rank best, else the first.
func TestChannelPassages(t *testing.T) {
	cfg := engine.Config{Weights: fuse.Weights{Lexical: 1}, Chunk: chunk.Config{MaxWords: 5}, Channels: allChannels}
	e := open(t, t.TempDir(), cfg)
	ingest(t, e,
		engine.Document{ID: "event", Text: "Nothing of note happened here. It rained on 2024-03-12."},
		engine.Document{ID: "titled", Title: "Minutes of 2024-06-01", Text: "Nothing of note happened here. They spoke of the beacon."},
		engine.Document{ID: "page", Text: "Nothing of note happened here.\n\n# Lanterns\nThey burn."},
		engine.Document{ID: "seed", Text: "See the harbour, [[page]] [[event]]."},
		engine.Document{ID: "empty", Title: "", Text: " "},
	)
	for _, tc := range []struct{ channel, question, want string }{
		{"temporal", "12 March 2024", "event#1"},
		{"temporal", "nothing of note happened in Q1 2024", "event#1"},
		{"temporal", "the beacon on 1 June 2024", "titled#1"},
		{"temporal", "what was it yesterday", "titled#0"},
		{"pages", "lanterns", "page#1"},
		{"graph", "the harbour", "event#0 page#0"},
		{"graph", "the harbour where it rained", "seed#0 event#1 page#0"},
	} {
		c := channelOf(t, search(t, e, engine.Query{Text: tc.question, K: 10, AsOf: "2024-06-02"}), tc.channel)
		if got := strings.Join(chunks(c.Hits), " "); got != tc.want {
			t.Errorf("%s, %q: %s, want %s", tc.channel, tc.question, got, tc.want)
		}
	}
}

func TestChannelsAreCutAtDepth(t *testing.T) {
	set := readSet(t, "temporal")
	for depth, want := range map[int]int{1: 1, 3: 3, 100: 8} {
		e := open(t, t.TempDir(), engine.Config{Weights: both, Embedder: embedtest.New(256), Channels: alone["temporal"], Depth: depth})
		ingest(t, e, set.docs...)
		c := channelOf(t, search(t, e, engine.Query{Text: "between Q1 2024 and Q2 2024", K: 20}), "temporal")
		if len(c.Hits) != want {
			t.Errorf("depth %d: %d hits, want %d", depth, len(c.Hits), want)
		}
	}
}
