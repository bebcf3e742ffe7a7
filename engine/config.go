package engine

import (
	"fmt"
	"strconv"

	"github.com/touchstone-eval/touchstone/engine/chunk"
	"github.com/touchstone-eval/touchstone/engine/embed"
	"github.com/touchstone-eval/touchstone/engine/fuse"
	"github.com/touchstone-eval/touchstone/engine/rerank"
)

// The values that a zero field of [Config] stands for.
const (
	DefaultDepth     = 100
	DefaultPoolSize  = 50
	DefaultBatchSize = 100
)

// DefaultWeights are the fusion weights of a zero [Config], chosen by
// measurement on development data (docs/retrieval.md): at equal weights the
// default embedder, weaker than BM25 on most packs, costs nDCG@10.
var DefaultWeights = fuse.Weights{Vector: 0.3, Lexical: 1}

// Config says how an engine works. Its zero value is a working default.
type Config struct {
	Embedder  embed.Embedder // nil means embed.Default(); a given one is not closed by the engine
	Chunk     chunk.Config   // how documents are cut
	Depth     int            // passages that each arm hands to the fusion; 0 means DefaultDepth
	Weights   fuse.Weights   // both 0 means DefaultWeights; an arm of weight 0 is not run
	Channels  Channels       // further arms; none on by default
	RRFK      int            // k of the fusion; 0 means fuse.DefaultK
	Boosts    Boosts         // preferences applied to the fused order; none by default
	PoolSize  int            // passages handed to the reranker; 0 means DefaultPoolSize
	Judge     rerank.Judge   // nil: no reranking; not closed by the engine
	Optional  Arms           // arms whose failure a search survives
	BatchSize int            // documents embedded and indexed at once; 0 means DefaultBatchSize

	// Concurrency is how many batches an ingest cuts, enriches and embeds side
	// by side; 0 means 1. They are stored one after the other in their order,
	// so what is stored does not depend on it. Each batch that is under way is
	// held in memory.
	Concurrency int
	ReadOnly    bool // changes nothing in the folder; several may read at once
}

// Arms names arms of a search.
type Arms struct {
	Vector  bool
	Lexical bool
}

// Validate refuses settings that no search could use.
func (c Config) Validate() error {
	if err := c.Chunk.Validate(); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	for _, n := range []struct {
		name  string
		value int
	}{{"depth", c.Depth}, {"rrf k", c.RRFK}, {"pool size", c.PoolSize}, {"batch size", c.BatchSize}, {"concurrency", c.Concurrency}} {
		if n.value < 0 {
			return fmt.Errorf("config: %s %d: want at least 1, or 0 for the default", n.name, n.value)
		}
	}
	if err := c.filled().Weights.Validate(); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	if err := c.Boosts.Validate(); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	if err := c.Channels.Validate(); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	return nil
}

// filled returns c with its zero values replaced by what they stand for, the
// embedder apart.
func (c Config) filled() Config {
	c.Chunk = c.Chunk.Effective()
	c.Depth = or(c.Depth, DefaultDepth)
	c.RRFK = or(c.RRFK, fuse.DefaultK)
	c.PoolSize = or(c.PoolSize, DefaultPoolSize)
	c.Channels = c.Channels.filled()
	c.Boosts = c.Boosts.filled()
	c.BatchSize = or(c.BatchSize, DefaultBatchSize)
	c.Concurrency = or(c.Concurrency, 1)
	if c.Weights == (fuse.Weights{}) {
		c.Weights = DefaultWeights
	}
	return c
}

func or(value, otherwise int) int {
	if value == 0 {
		return otherwise
	}
	return value
}

// ConfigValue is a setting in effect.
type ConfigValue struct {
	Value   string
	Default bool // not set by the caller
}

// Effective returns every setting in effect by name. The embedder is "default"
// as long as the engine is not open.
func (c Config) Effective() map[string]ConfigValue {
	f := c.filled()
	weights := c.Weights == fuse.Weights{}
	v := map[string]ConfigValue{
		"chunk.max_words":          {strconv.Itoa(f.Chunk.MaxWords), c.Chunk.MaxWords == 0},
		"chunk.overlap":            {strconv.Itoa(f.Chunk.Overlap), c.Chunk.Overlap == 0},
		"depth":                    {strconv.Itoa(f.Depth), c.Depth == 0},
		"weights.vector":           {number(f.Weights.Vector), weights},
		"weights.lexical":          {number(f.Weights.Lexical), weights},
		"rrf_k":                    {strconv.Itoa(f.RRFK), c.RRFK == 0},
		"pool_size":                {strconv.Itoa(f.PoolSize), c.PoolSize == 0},
		"batch_size":               {strconv.Itoa(f.BatchSize), c.BatchSize == 0},
		"concurrency":              {strconv.Itoa(f.Concurrency), c.Concurrency == 0},
		"optional.vector":          {strconv.FormatBool(f.Optional.Vector), !c.Optional.Vector},
		"optional.lexical":         {strconv.FormatBool(f.Optional.Lexical), !c.Optional.Lexical},
		"boosts.title":             {number(f.Boosts.Title), c.Boosts.Title == 0},
		"boosts.recency":           {number(f.Boosts.Recency.Weight), c.Boosts.Recency.Weight == 0},
		"boosts.recency.half_days": {number(f.Boosts.Recency.HalfDays), c.Boosts.Recency.HalfDays == 0},
		"boosts.source":            {f.Boosts.sources(), len(c.Boosts.Source) == 0},
		"read_only":                {strconv.FormatBool(f.ReadOnly), !c.ReadOnly},
		"embedder":                 {"default", true},
		"judge":                    {"none", true},
	}
	given := c.Channels.list()
	for i, s := range f.Channels.list() {
		v["channels."+s.name] = ConfigValue{strconv.FormatBool(s.On), !s.On}
		v["channels."+s.name+".weight"] = ConfigValue{number(s.Weight), given[i].Weight == 0}
	}
	if c.Embedder != nil {
		v["embedder"] = ConfigValue{modelName(c.Embedder.Info()), false}
	}
	if c.Judge != nil {
		v["judge"] = ConfigValue{c.Judge.Name(), false}
	}
	return v
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// modelName is short and still tells models apart.
func modelName(info embed.Info) string {
	return fmt.Sprintf("%s@%.12s pooling=%s dim=%d max_tokens=%d", info.Name, info.Digest, info.Pooling, info.Dim, info.MaxTokens)
}
