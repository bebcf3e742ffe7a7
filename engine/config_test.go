package engine_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/chunk"
	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
	"github.com/touchstone-eval/touchstone/engine/fuse"
)

func TestEffective(t *testing.T) {
	def := func(v string) engine.ConfigValue { return engine.ConfigValue{Value: v, Default: true} }
	set := func(v string) engine.ConfigValue { return engine.ConfigValue{Value: v} }
	want := map[string]engine.ConfigValue{
		"chunk.max_words": def("400"), "chunk.overlap": def("0"), "depth": def("100"), "weights.vector": def("0.3"), "weights.lexical": def("1"),
		"rrf_k": def("60"), "pool_size": def("50"), "batch_size": def("100"), "concurrency": def("1"), "optional.vector": def("false"), "optional.lexical": def("false"),
		"channels.graph": def("false"), "channels.graph.weight": def("0.5"), "channels.temporal": def("false"), "channels.temporal.weight": def("0.5"),
		"channels.pages": def("false"), "channels.pages.weight": def("0.5"), "channels.episodes": def("false"), "channels.episodes.weight": def("0.5"),
		"boosts.title": def("0"), "boosts.recency": def("0"), "boosts.recency.half_days": def("30"), "boosts.source": def("none"),
		"read_only": def("false"), "embedder": def("default"), "judge": def("none"),
	}
	if diff := cmp.Diff(want, engine.Config{}.Effective()); diff != "" {
		t.Errorf("zero value (-want +got):\n%s", diff)
	}
	for name, tc := range map[string]struct {
		cfg  engine.Config
		want engine.ConfigValue
	}{
		"chunk.max_words":          {engine.Config{Chunk: chunk.Config{MaxWords: 9}}, set("9")},
		"chunk.overlap":            {engine.Config{Chunk: chunk.Config{Overlap: 3}}, set("3")},
		"depth":                    {engine.Config{Depth: 100}, set("100")}, // said, though it is the default
		"weights.vector":           {engine.Config{Weights: fuse.Weights{Lexical: 1}}, set("0")},
		"weights.lexical":          {engine.Config{Weights: fuse.Weights{Lexical: .25}}, set("0.25")},
		"rrf_k":                    {engine.Config{RRFK: 1}, set("1")},
		"pool_size":                {engine.Config{PoolSize: 7}, set("7")},
		"batch_size":               {engine.Config{BatchSize: 1}, set("1")},
		"concurrency":              {engine.Config{Concurrency: 2}, set("2")},
		"optional.vector":          {engine.Config{Optional: engine.Arms{Vector: true}}, set("true")},
		"optional.lexical":         {engine.Config{Optional: engine.Arms{Lexical: true}}, set("true")},
		"channels.graph":           {engine.Config{Channels: engine.Channels{Graph: engine.ChannelSetting{On: true}}}, set("true")},
		"channels.temporal":        {engine.Config{Channels: engine.Channels{Temporal: engine.ChannelSetting{On: true}}}, set("true")},
		"channels.pages.weight":    {engine.Config{Channels: engine.Channels{Pages: engine.ChannelSetting{Weight: .5}}}, set("0.5")},
		"channels.episodes.weight": {engine.Config{Channels: engine.Channels{Episodes: engine.ChannelSetting{Weight: 2}}}, set("2")},
		"boosts.title":             {engine.Config{Boosts: engine.Boosts{Title: .5}}, set("0.5")},
		"boosts.recency":           {engine.Config{Boosts: engine.Boosts{Recency: engine.Recency{Weight: 2}}}, set("2")},
		"boosts.recency.half_days": {engine.Config{Boosts: engine.Boosts{Recency: engine.Recency{HalfDays: 7}}}, set("7")},
		"boosts.source":            {engine.Config{Boosts: engine.Boosts{Source: map[string]float64{"wiki": 1, "chat": -.5}}}, set(`"chat"=-0.5 "wiki"=1`)},
		"read_only":                {engine.Config{ReadOnly: true}, set("true")},
		"judge":                    {engine.Config{Judge: judge(nil)}, set("test judge")},
	} {
		got := tc.cfg.Effective()
		if got[name] != tc.want {
			t.Errorf("%s = %+v, want %+v", name, got[name], tc.want)
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d settings, want all %d", name, len(got), len(want))
		}
	}
	e := open(t, t.TempDir(), engine.Config{Embedder: embedtest.New(8)})
	if got := e.Config()["embedder"]; got.Default || !strings.Contains(got.Value, "fake-8@") {
		t.Errorf("embedder of an open engine: %+v", got)
	}
	ingest(t, e, corpus(2)...)
	r := search(t, e, engine.Query{Text: "wordaa", K: 1})
	if diff := cmp.Diff(e.Config(), r.Config); diff != "" {
		t.Errorf("a result's configuration (-engine +result):\n%s", diff)
	}
	r.Config["depth"] = set("changed")
	if e.Config()["depth"].Value != "100" {
		t.Error("a caller can change the engine's own record")
	}
}

func TestConfigRefuses(t *testing.T) {
	for want, cfg := range map[string]engine.Config{
		"max words -1":     {Chunk: chunk.Config{MaxWords: -1}},
		"overlap 400":      {Chunk: chunk.Config{Overlap: 400}},
		"depth -1":         {Depth: -1},
		"rrf k -60":        {RRFK: -60},
		"pool size -1":     {PoolSize: -1},
		"batch size -1":    {BatchSize: -1},
		"vector weight -1": {Weights: fuse.Weights{Vector: -1, Lexical: 1}},
		"graph weight -1":  {Channels: engine.Channels{Graph: engine.ChannelSetting{Weight: -1}}},
		"pages weight NaN": {Channels: engine.Channels{Pages: engine.ChannelSetting{On: true, Weight: math.NaN()}}},
		"title -1":         {Boosts: engine.Boosts{Title: -1}},
		"half days NaN":    {Boosts: engine.Boosts{Recency: engine.Recency{HalfDays: math.NaN()}}},
		"weight +Inf":      {Boosts: engine.Boosts{Recency: engine.Recency{Weight: math.Inf(1)}}},
		`source "wiki" -1`: {Boosts: engine.Boosts{Source: map[string]float64{"wiki": -1}}},
		"weight NaN":       {Weights: fuse.Weights{Vector: 1, Lexical: math.NaN()}},
	} {
		dir := t.TempDir()
		if err := tryOpen(dir, cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want it to say %q", err, want)
		}
	}
}

func TestFingerprint(t *testing.T) {
	of := func(cfg engine.Config) string {
		e := open(t, t.TempDir(), cfg)
		defer shut(t, e)
		return e.Fingerprint().Hash()
	}
	base := of(engine.Config{})
	for name, cfg := range map[string]engine.Config{
		"again": {}, "weights": {Weights: fuse.Weights{Vector: .5, Lexical: 2}}, "depth": {Depth: 7}, "pool": {PoolSize: 3}, "rrf": {RRFK: 9},
		"batch": {BatchSize: 1}, "boosts": {Boosts: engine.Boosts{Title: 1}}, "channels": {Channels: engine.Channels{Graph: engine.ChannelSetting{On: true}}}, "chunk said": {Chunk: chunk.Config{MaxWords: 400}},
	} {
		if of(cfg) != base {
			t.Errorf("%s: the fingerprint differs, though an ingest leaves the same", name)
		}
	}
	for name, cfg := range map[string]engine.Config{
		"model": {Embedder: embedtest.New(8)}, "chunk": {Chunk: small}, "overlap": {Chunk: chunk.Config{Overlap: 1}},
	} {
		if of(cfg) == base {
			t.Errorf("%s: the fingerprint is the same, though an ingest leaves something else", name)
		}
	}
}
