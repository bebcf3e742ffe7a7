package progress_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/progress"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

// line is a sound line, the n-th of a file.
func line(n int) progress.Line {
	digest := fmt.Sprintf("%064x", n+1)
	digest = digest[52:] + digest[:52]
	return progress.Line{
		V: 1, ID: digest[:12], Suite: "toy", Arm: "base", Tier: "full", Date: time.Date(2026, 1, 1+n, 0, 0, 0, 0, time.UTC),
		Commit: strings.Repeat("a", 40), Record: digest, Hashes: record.Hashes{Question: "q", Treatment: "t", SeedKey: "s"},
		Verdict: "PASS", Planned: 10, Scored: 9, Headline: []progress.Figure{{Measure: "nDCG@10", Mean: .5, N: 8, Planned: 8}},
		Note: "a note", Evidence: progress.Single, Status: progress.Open,
	}
}

func text(t testing.TB, lines ...progress.Line) []byte {
	t.Helper()
	var out []byte
	for _, l := range lines {
		data, err := json.Marshal(l)
		require.NoError(t, err)
		out = append(append(out, data...), '\n')
	}
	return out
}

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*progress.Line)
		err    string // empty: it is read
	}{
		{"sound", func(*progress.Line) {}, ""},
		{"interrupted", func(l *progress.Line) {
			l.Evidence, l.Headline, l.Hashes = progress.Interrupted, nil, record.Hashes{}
		}, ""},
		{"withdrawn", func(l *progress.Line) { l.Status, l.Why = progress.Withdrawn, "wrong cache" }, ""},
		{"other format", func(l *progress.Line) { l.V = 2 }, "v = 2; this tool reads 1"},
		{"other suite", func(l *progress.Line) { l.Suite = "other" }, `suite "other" in the file of toy`},
		{"id of another record", func(l *progress.Line) { l.ID = "0123456789ab" }, `id "0123456789ab"`},
		{"record", func(l *progress.Line) { l.Record = "x" }, "want the digest of a record"},
		{"no note", func(l *progress.Line) { l.Note = " " }, "note is empty"},
		{"note of two lines", func(l *progress.Line) { l.Note = "a\nb" }, "want one line"},
		{"note with an escape", func(l *progress.Line) { l.Note = "a\x1b[31m" }, "want one line"},
		{"long note", func(l *progress.Line) { l.Note = strings.Repeat("x", 1001) }, "at most 1000 bytes"},
		{"no date", func(l *progress.Line) { l.Date = time.Time{} }, "no date"},
		{"short commit", func(l *progress.Line) { l.Commit = "abc" }, `commit "abc"`},
		{"more scored than planned", func(l *progress.Line) { l.Scored = 11 }, "11 of 10 scored"},
		{"no denominator", func(l *progress.Line) { l.Headline[0].N = 0 }, "0 of 8 cases"},
		{"more than planned in the mean", func(l *progress.Line) { l.Headline[0].N = 9 }, "9 of 8 cases"},
		{"evidence", func(l *progress.Line) { l.Evidence = "gut" }, `evidence "gut"`},
		{"paired with nothing", func(l *progress.Line) { l.Evidence = progress.Paired }, "the one comes with the other"},
		{"figures of an interrupted run", func(l *progress.Line) { l.Evidence = progress.Interrupted }, "has no headline"},
		{"no question", func(l *progress.Line) { l.Hashes.Question = "" }, "no question hash"},
		{"status", func(l *progress.Line) { l.Status = "great" }, `status "great"`},
		{"withdrawn without a reason", func(l *progress.Line) { l.Status = progress.Withdrawn }, "why is empty"},
		{"a reason without withdrawal", func(l *progress.Line) { l.Why = "x" }, "only a withdrawn line has one"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := line(1)
			tc.change(&l)
			got, err := progress.Parse("progress.jsonl", "toy", text(t, line(0), l))
			if tc.err != "" {
				require.ErrorContains(t, err, tc.err)
				assert.True(t, strings.HasPrefix(err.Error(), "progress.jsonl:2: "), err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, []progress.Line{line(0), l}, got)
		})
	}
	_, err := progress.Parse("p", "toy", text(t, line(0), line(0)))
	require.ErrorContains(t, err, "a second line of one record")
	_, err = progress.Parse("p", "toy", []byte(`{"v":1,"trust":"me"}`))
	require.ErrorContains(t, err, "trust")
}

func FuzzParse(f *testing.F) {
	f.Add(text(f, line(0), line(1)))
	f.Add([]byte(`{"v":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		lines, err := progress.Parse("p", "toy", data)
		if err != nil {
			return
		}
		again, err := progress.Parse("p", "toy", text(t, lines...))
		require.NoError(t, err, "what is read can be written and read")
		assert.Len(t, again, len(lines))
	})
}

// TestDraw: a series is broken where figures do not compare, and only there.
func TestDraw(t *testing.T) {
	sound := strings.Repeat("b", 40)
	breaks := []compare.Break{{V: 1, Defect: "gold was wrong", FirstSound: sound}}
	after := func(first, commit string) (bool, error) {
		if strings.HasPrefix(commit, "f") {
			return false, errors.New("unknown commit")
		}
		return commit > first, nil
	}
	for _, tc := range []struct {
		name    string
		second  func(*progress.Line)
		breaks  []compare.Break
		broken  string // of the second point; empty: it is not
		unsound string
		quoted  bool
	}{
		{"equal questions", func(*progress.Line) {}, nil, "", "", true},
		{"another configuration", func(l *progress.Line) { l.Hashes.Treatment = "u" }, nil, "", "", true},
		{"another question", func(l *progress.Line) { l.Hashes.Question = "r" }, nil, "another question, r after q", "", true},
		{"another measure", func(l *progress.Line) { l.Headline[0].Measure = "RR@10" }, nil, "another first measure, RR@10 after nDCG@10", "", true},
		{"another arm is another series", func(l *progress.Line) { l.Arm, l.Hashes.Question = "light", "r" }, nil, "", "", true},
		{"withdrawn", func(l *progress.Line) { l.Status, l.Hashes.Question = progress.Withdrawn, "r" }, nil, "", "", false},
		{"interrupted", func(l *progress.Line) { l.Headline = nil }, nil, "", "", false},
		{"across a break", func(l *progress.Line) { l.Commit = strings.Repeat("c", 40) }, breaks, "a measurement break lies between: gold was wrong", "", true},
		{"before a break", func(*progress.Line) {}, breaks, "", "gold was wrong (first sound commit bbbbbbbbbbbb)", false},
		{"a break of another arm", func(*progress.Line) {}, []compare.Break{{Defect: "x", FirstSound: sound, Arms: []string{"light"}}}, "", "", true},
		{"a break of another measure", func(*progress.Line) {}, []compare.Break{{Defect: "x", FirstSound: sound, Measures: []string{"AP"}}}, "", "", true},
		{"a break that cannot be placed", func(l *progress.Line) { l.Commit = strings.Repeat("f", 40) }, breaks, "a measurement break lies between", "cannot be told: unknown commit", false},
		{"of no commit", func(l *progress.Line) { l.Commit = "" }, breaks, "a measurement break lies between", "names no commit", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			first, second, third := line(0), line(1), line(2)
			tc.second(&second)
			series := progress.Draw("toy", []progress.Line{third, second, first}, tc.breaks, after)
			var p *progress.Point
			for _, s := range series {
				for i := range s.Points {
					if s.Points[i].ID == second.ID {
						p = &s.Points[i]
					}
				}
			}
			require.NotNil(t, p)
			if tc.broken == "" {
				assert.Empty(t, p.Broken)
			}
			assert.Contains(t, p.Broken, tc.broken)
			if tc.unsound == "" {
				assert.Empty(t, p.Unsound)
			}
			assert.Contains(t, p.Unsound, tc.unsound)
			_, quoted := p.Quotable()
			assert.Equal(t, tc.quoted, quoted)
			last := series[0].Points[len(series[0].Points)-1]
			assert.Equal(t, third.ID, last.ID, "by the time of the runs")
			assert.Equal(t, tc.broken != "" && len(series) == 1, last.Broken != "", "a series that left a question does not come back unseen: %s", last.Broken)
		})
	}
}

// TestNew: what a line says is what the record and its report say.
func TestNew(t *testing.T) {
	f := &record.File{Path: "toy.1.1.jsonl", State: record.Complete, End: &record.End{SHA256: line(7).Record}, Run: record.Run{
		Suite: "toy", Arm: "base", Plan: []string{"a", "b"}, Hashes: record.Hashes{Question: "q", Treatment: "t", SeedKey: "s"},
		LeftOut: map[string]int{"x": 3}, Context: record.Context{Commit: strings.Repeat("a", 40), DirtyFiles: 2},
	}, Rows: []record.Row{{Case: "a", Outcome: record.Outcome{State: record.Scored}}, {Case: "b", Outcome: record.Outcome{State: record.Refused}}}}
	shown := report.Suite{Verdict: "PASS", Use: "direction", UseWhy: "a sample", Headline: []report.Figure{{Measure: "nDCG@10", Mean: .5, N: 1, Planned: 2}}}
	began := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	l, err := progress.New(f, shown, began, "why", nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"direction: a sample", "1 of 2 refused", "a sample: 3 cases left out", "2 changed files beside the commit"}, l.Limits)
	assert.Equal(t, progress.Single, l.Evidence)
	assert.Equal(t, 1, l.Scored)
	_, err = progress.New(f, shown, began, "why", []progress.Line{l})
	require.ErrorContains(t, err, "has a line already")
	_, err = progress.New(f, shown, began, "", nil)
	require.ErrorContains(t, err, "note is empty")

	other := line(3)
	l, err = progress.New(f, shown, began, "why", []progress.Line{other})
	require.NoError(t, err)
	assert.Equal(t, progress.Reproduced, l.Evidence, "another run, the same figures")
	other.Status, other.Why = progress.Withdrawn, "x"
	l, err = progress.New(f, shown, began, "why", []progress.Line{other})
	require.NoError(t, err)
	assert.Equal(t, progress.Single, l.Evidence, "what was withdrawn reproduces nothing")
	other = line(3)
	other.Headline[0].Mean = .6
	l, err = progress.New(f, shown, began, "why", []progress.Line{other})
	require.NoError(t, err)
	assert.Equal(t, progress.Single, l.Evidence, "other figures reproduce nothing")

	f.Run.Repeats = 2
	l, err = progress.New(f, shown, began, "why", nil)
	require.NoError(t, err)
	assert.Equal(t, progress.Repeated, l.Evidence)

	f.State = record.Tampered
	_, err = progress.New(f, shown, began, "why", nil)
	require.ErrorContains(t, err, "the record was edited")
	f.State, f.End, f.Detail = record.Truncated, nil, "no end line"
	l, err = progress.New(f, report.Suite{}, began, "why", nil)
	require.NoError(t, err)
	assert.Equal(t, progress.Interrupted, l.Evidence)
	assert.Contains(t, l.Limits, "interrupted: no end line")
	before := l.ID
	f.Lines++
	assert.NotEqual(t, before, progress.IDOf(f), "a run that was taken up again is another line")
}

// TestUpdate: writers take turns, and a change that fails leaves the file.
func TestUpdate(t *testing.T) {
	dir := t.TempDir()
	files := progress.Files{Goldens: filepath.Join(dir, "goldens"), Lock: filepath.Join(dir, "locks", "progress.lock")}
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			assert.NoError(t, files.Update("toy", func(lines []progress.Line) ([]progress.Line, error) { return append(lines, line(n)), nil }))
		})
	}
	all.Wait()
	lines, err := files.Read("toy")
	require.NoError(t, err)
	assert.Len(t, lines, 8)
	path := filepath.Join(files.Goldens, "toy", progress.FileName)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	for name, change := range map[string]func([]progress.Line) ([]progress.Line, error){
		"fails":      func([]progress.Line) ([]progress.Line, error) { return nil, errors.New("no") },
		"is unsound": func(l []progress.Line) ([]progress.Line, error) { l[0].Note = ""; return l, nil },
		"is twice":   func(l []progress.Line) ([]progress.Line, error) { return append(l, l[0]), nil },
	} {
		require.Error(t, files.Update("toy", change), name)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(before), string(after), name)
	}
	suite, err := files.Withdraw(line(3).ID, "a wrong cache")
	require.NoError(t, err)
	assert.Equal(t, "toy", suite)
	_, err = files.Settle(line(3).ID)
	require.ErrorContains(t, err, "is withdrawn")
	_, err = files.Settle(line(4).ID)
	require.NoError(t, err)
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing is left beside")
	_, err = files.Read("../toy")
	require.Error(t, err)
}
