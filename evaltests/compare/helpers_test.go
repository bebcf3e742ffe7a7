package compare_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/rank"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// width of the rankings of the tests.
const width = 12

// ranked is a list with the relevant document at a rank; rank 0, or one past
// the width, leaves it out. The lists are shared: replace one, never edit it.
func ranked(at int) []record.Entry { return lists[min(at, width+1)] }

var lists = func() (out [width + 2][]record.Entry) {
	for at := range out {
		out[at] = list(at)
	}
	return out
}()

func list(at int) []record.Entry {
	var out []record.Entry
	for i := 1; i <= width; i++ {
		doc := fmt.Sprintf("d%02d", i)
		if i == at {
			doc = "gold"
		}
		out = append(out, record.Entry{Doc: doc, Score: float64(width - i)})
	}
	return out
}

// row is a scored case that goes through two arms, fusion, pool and reranker:
// the lexical arm, fusion and candidates have the relevant document at rank
// `before`, and the final ranking at rank `at`.
func row(id string, before, at int) record.Row {
	executed := func(name string, at int) record.Stage {
		return record.Stage{Name: name, State: record.Executed, Entries: ranked(at), Total: width}
	}
	r := record.Row{
		Suite: "s", Arm: "base", Mode: "default", Case: id, Question: "where is " + id + "?", Stratum: "all", Digest: "of " + id,
		Gold: map[string]int{"gold": 1}, Answer: true, Outcome: record.Outcome{State: record.Scored}, Ranking: ranked(at), Micros: 1000,
		Stages: []record.Stage{
			{Name: "vector", State: record.SkippedStage, Reason: "its weight is 0"},
			executed("lexical", before), executed("fusion", before), executed("candidates", before), executed("rerank", at), executed("final", at),
		},
		Channels: []record.Channel{{Name: "vector", Skipped: "its weight is 0"}, {Name: "lexical", Fired: true, Contributed: true}},
	}
	return r
}

// ended is a case that ended otherwise.
func ended(id string, state record.State, reason string) record.Row {
	r := row(id, 1, 1)
	r.Outcome = record.Outcome{State: state, Reason: reason}
	r.Ranking, r.Stages, r.Channels, r.Measures = nil, nil, nil, nil
	return r
}

// side is a complete record of rows under a configuration.
func side(label string, config map[string]string, rows ...record.Row) compare.Side {
	f := &record.File{Path: "testdata/" + label + ".jsonl", State: record.Complete, Rows: rows, End: &record.End{SHA256: "digest of " + label}}
	f.Run = record.Run{
		Suite: "s", Arm: "base", Mode: "default", Headline: []string{"RR@10"}, Measures: []string{"RR@10", "Success@1"}, Unit: "document",
		Hashes:   record.Hashes{Question: "q", SeedKey: "k"},
		Identity: record.Identity{Class: "linux/amd64/v1"}, Config: map[string]record.Set{},
	}
	for k, v := range config {
		f.Run.Config[k] = record.Set{Value: v}
	}
	seal(f)
	for _, r := range rows {
		if !slices.Contains(f.Run.Plan, r.Case) {
			f.Run.Plan = append(f.Run.Plan, r.Case)
		}
	}
	return compare.Side{Label: label, File: f}
}

// seal gives a record the hash of its configuration, as a run does.
func seal(f *record.File) {
	hash, err := record.TreatmentHash(f.Run.Config)
	if err != nil {
		panic(err)
	}
	f.Run.Hashes.Treatment = hash
}

// ranks makes a side whose case i has the relevant document at rank at[i].
func ranks(label string, config map[string]string, at ...int) compare.Side {
	var rows []record.Row
	for i, r := range at {
		rows = append(rows, row(fmt.Sprintf("q%04d", i), 5, r))
	}
	return side(label, config, rows...)
}

var (
	without = map[string]string{"judge": "none"}
	with    = map[string]string{"judge": "m"}
	judge   = compare.Options{Vary: []string{"judge"}}
)

// again is the same run once more: identical rankings, another record.
func again(s compare.Side) compare.Side {
	f := *s.File
	f.End = &record.End{SHA256: s.File.End.SHA256 + " again"}
	return compare.Side{Label: s.Label + " again", File: &f}
}

// one compares one treatment.
func one(t testing.TB, base, treatment compare.Side, o compare.Options) *compare.Treatment {
	t.Helper()
	c, err := compare.Compare(base, []compare.Side{treatment}, o)
	require.NoError(t, err)
	return c.Treatments[0]
}

func measured(t testing.TB, name string, entries []record.Entry) float64 {
	t.Helper()
	m, err := metric.Parse(name)
	require.NoError(t, err)
	ids, _, _ := record.Documents(entries)
	r, err := rank.New(ids, nil)
	require.NoError(t, err)
	v, err := m.Eval(metric.Grades{"gold": 1}, r)
	require.NoError(t, err)
	return v
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }
