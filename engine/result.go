package engine

import "time"

// Query is a question to an [Engine].
type Query struct {
	Text    string
	K       int               // most hits to return, at least 1
	Filters map[string]string // meta values that a document must have, all of them, byte by byte
	AsOf    string            // RFC 3339 date or time of the question; empty if unknown, never taken from the clock
	Unit    Unit              // what a hit stands for; empty means UnitChunk
	Explain bool              // also say how each final hit came about; changes no ranking
}

// Unit is what a hit stands for.
type Unit string

// The units of a ranking.
const (
	UnitChunk    Unit = "chunk"    // a document appears as often as its passages do
	UnitDocument Unit = "document" // of each document only the first passage
)

// Hit is a ranked passage.
type Hit struct {
	ChunkID    string
	DocumentID string
	Score      float64 // of the stage it is listed by; compares within one stage only
	Explain    string  // in Result.Hits, with Query.Explain
}

// Result is an answered query.
type Result struct {
	Hits     []Hit     // those of the final stage
	Stages   []Stage   // all seven, in order
	Channels []Channel // vector, lexical, graph, temporal, pages, episodes
	Config   map[string]ConfigValue
}

// Names of the stages, in order.
const (
	StageVector     = "vector"
	StageLexical    = "lexical"
	StageFusion     = "fusion"
	StageBoosted    = "boosted"
	StageCandidates = "candidates"
	StageRerank     = "rerank"
	StageFinal      = "final"
)

// State says what became of a stage.
type State string

// The states of a stage.
const (
	Executed State = "executed"
	Skipped  State = "skipped" // hands on what it was given
	Failed   State = "failed"  // only of an optional arm
)

// Stage is one step of a search.
type Stage struct {
	Name    string
	State   State
	Reason  string // why it was skipped, failed, found nothing or changed nothing
	Hits    []Hit  // what the next stage was given, in order
	Total   int    // passages that it could have returned, before its cut
	CutAt   int    // most passages that it returns; 0 if it does not cut
	Latency time.Duration
}

// Stage returns the stage of a name, and whether there is one.
func (r *Result) Stage(name string) (Stage, bool) {
	for _, s := range r.Stages {
		if s.Name == name {
			return s, true
		}
	}
	return Stage{}, false
}

// Channel says what an arm had to do with the final hits. A channel that found
// nothing is neither skipped nor fired.
type Channel struct {
	Name        string
	Fired       bool   // it ran and found something
	Contributed bool   // a final hit is among what it found
	Skipped     string // why it did not run ("off", "no substrate: ..."); empty if it did
	Hits        []Hit  // what it handed to the fusion; nil for vector and lexical, whose stages have it
}
