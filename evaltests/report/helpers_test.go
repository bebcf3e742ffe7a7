package report_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

// hostile is text that would do harm in a terminal, in Markdown or in HTML.
const hostile = "\x1b[31mred\x1b]0;title\x07 <script>alert(1)</script></details> | a | `b` *c* [d](javascript:e) \u202egnp.exe\u2066 \u200b\u009b2J http://evil.example @all #1 & 'x' \"y\"\r\nnext\tcell \\| $(rm -rf ~)"

var today = time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)

func p(v float64) *float64 { return &v }

func docs(ids ...string) []record.Entry {
	var es []record.Entry
	for i, id := range ids {
		es = append(es, record.Entry{Doc: id, Score: 1 / float64(i+1)})
	}
	return es
}

// fillers are n documents that are no gold.
func fillers(n int) []string {
	var ids []string
	for i := range n {
		ids = append(ids, fmt.Sprintf("other%d", i))
	}
	return ids
}

// row is a scored case; lexical finds the gold at rank 1, the final ranking
// has it at the given rank, 0 for not at all.
func row(suite, id, stratum string, at int) record.Row {
	ranked, rr := fillers(12), 0.0
	if at > 0 {
		ranked = slices.Insert(ranked, at-1, "gold")
		rr = 1 / float64(at)
	}
	recall := 0.0 // of gold and weak, which follows a gold at the top
	switch {
	case at == 1:
		ranked, recall = slices.Insert(ranked, 1, "weak"), 1
	case at >= 2 && at <= 5:
		recall = 0.5
	}
	measures := func(rr float64) map[string]float64 { return map[string]float64{"RR": rr, "R@5": recall} }
	return record.Row{
		Suite: suite, Arm: "base", Mode: "default", Case: id, Question: "what is " + id + "?", Stratum: stratum,
		Gold: map[string]int{"gold": 2, "weak": 1, "none": 0}, Answer: true, Outcome: record.Outcome{State: record.Scored},
		Ranking: docs(ranked...), Measures: measures(rr), Micros: int64(1000 + 100*at),
		Stages: []record.Stage{
			{Name: "lexical", State: record.Executed, Entries: docs("gold", "other0"), Total: 40, Micros: 300, Measures: map[string]float64{"RR": 1}},
			{Name: "rerank", State: record.SkippedStage, Reason: "off"},
			{Name: "final", State: record.Executed, Entries: docs(ranked...), Total: len(ranked), Micros: 700, Measures: map[string]float64{"RR": rr}},
		},
	}
}

func ended(suite, id string, state record.State, reason, action string) record.Row {
	r := row(suite, id, "plain", 1)
	r.Ranking, r.Stages, r.Measures = nil, nil, nil
	r.Outcome = record.Outcome{State: state, Reason: reason, Action: action}
	return r
}

func unanswerable(suite, id string) record.Row {
	r := row(suite, id, "none", 0)
	r.Answer, r.Gold, r.Measures = false, map[string]int{}, nil
	for i := range r.Stages {
		r.Stages[i].Measures = nil
	}
	return r
}

type suite struct {
	rows   []record.Row
	specs  []gate.Spec
	notRun string
	plan   []string // more than the rows
	edit   func(*record.Verdict)
}

// write writes the record of a suite and returns it as read, with a path that
// does not depend on the process.
func (s suite) write(t testing.TB, name string) *record.File {
	t.Helper()
	run := record.Run{
		Suite: name, Arm: "base", Tier: "full", Nonce: "nonce", Test: "TestSuites", Package: "example.org/m/evals",
		NotRun: s.notRun, Headline: []string{"RR", "R@5"}, Measures: []string{"RR", "R@5"}, Unit: "document",
		Pack: record.PackID{Name: name, Version: "1", Digest: "0123456789abcdef", Role: "guard", Authored: "self", Documents: 50},
	}
	for _, r := range s.rows {
		run.Plan = append(run.Plan, r.Case)
	}
	run.Plan = append(run.Plan, s.plan...)
	var gates []record.Gate
	for _, spec := range s.specs {
		gates = append(gates, gate.Evaluate(spec, s.rows))
	}
	verdict := gate.Decide(gate.FactsOf(run, s.rows, gates, today))
	if s.notRun != "" {
		verdict = record.Verdict{Verdict: gate.NotRun, Reasons: []string{s.notRun}}
	}
	if s.edit != nil {
		s.edit(&verdict)
	}
	w, err := record.Create(t.TempDir(), name)
	require.NoError(t, err)
	require.NoError(t, w.Run(run))
	for _, r := range s.rows {
		require.NoError(t, w.Row(r))
	}
	for _, g := range gates {
		require.NoError(t, w.Gate(g))
	}
	require.NoError(t, w.Verdict(verdict))
	require.NoError(t, w.End(record.End{Wall: 1.25}))
	f, err := record.Read(w.Path())
	require.NoError(t, err)
	f.Path = "run/" + name + ".jsonl"
	return f
}

func build(t testing.TB, files ...*record.File) report.Run {
	t.Helper()
	v := gate.Judge(&record.Folder{Nonce: "nonce", Started: today}, files, nil, "full", "linux/amd64/v1")
	r, err := report.Build("run", "full", v)
	require.NoError(t, err)
	return r
}

func passing(name string) suite {
	var s suite
	for i := range 24 {
		s.rows = append(s.rows, row(name, fmt.Sprintf("q%02d", i), []string{"plain", "hard"}[i%2], 1+i%3))
	}
	s.rows = append(s.rows, unanswerable(name, "u1"))
	s.specs = []gate.Spec{{Measure: "RR", Floor: p(.5), Target: p(.9)}, {Count: "failed", Ceiling: p(0)}}
	return s
}

func regressed(name string) suite {
	s := passing(name)
	s.rows[0] = row(name, "q00", "plain", 12)
	s.rows[1] = row(name, "q01", "hard", 0)
	s.rows[2] = ended(name, "q02", record.Failed, "panic: index out of range", "see artifacts/x")
	s.rows[3] = row(name, "q03", "hard", 11)
	s.rows[4] = row(name, "q04", "plain", 0)
	s.rows[4].Stages[0].Entries = docs("other1")
	s.specs = []gate.Spec{{Measure: "RR", Floor: p(.6), Target: p(.9)}, {Measure: "RR", Stratum: "hard", Floor: p(.7)}, {Count: "failed", Ceiling: p(0)}}
	return s
}

func refused(name string) suite {
	s := passing(name)
	for i := range 3 {
		s.rows[i] = ended(name, fmt.Sprintf("q%02d", i), record.Refused, "the model is not here", "run make models")
	}
	s.rows[3] = ended(name, "q03", record.TimedOut, "no answer within 5s", "find out what hangs")
	return s
}

func nasty(name string) suite {
	s := passing(name)
	for i := range 2 {
		r := row(name, fmt.Sprintf("q%02d %s", i, hostile), hostile, 0)
		r.Question, r.Group, r.Warnings = hostile, hostile, []string{hostile}
		r.Gold = map[string]int{hostile: 1}
		r.Ranking = docs(hostile + "2")
		for j := range r.Stages {
			r.Stages[j].Name += hostile
			r.Stages[j].Reason = hostile
			r.Stages[j].Measures = map[string]float64{hostile: 1}
		}
		s.rows[i] = r
	}
	s.rows[2] = ended(name, "q02", record.Failed, hostile, hostile)
	s.specs = []gate.Spec{{Measure: "RR", Stratum: hostile, Floor: p(.5)}}
	return s
}

func text(t testing.TB, r report.Run, st report.Style) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, report.Text(&b, r, st))
	return b.String()
}

func markdown(t testing.TB, r report.Run) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, report.Markdown(&b, r))
	return b.String()
}
