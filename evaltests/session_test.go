package evaltests_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// answer is a subject made of a function.
type answer func(ctx context.Context, q pack.Question) (record.Observation, error)

func (f answer) Search(ctx context.Context, q pack.Question) (record.Observation, error) {
	return f(ctx, q)
}

// evaluate runs a suite over three questions with gold d0, d1, d2.
// deadline is short enough to wait for, in tests in which a call hangs.
const deadline = 100 * time.Millisecond

// evaluate runs a suite of three cases. Calls have the deadline of the suite
// unless change sets one: a busy machine may let any call wait for a while.
func evaluate(t *testing.T, subject evaltests.Subject, change func(*evaltests.Suite)) *evaltests.Run {
	t.Helper()
	s, err := evaltests.LoadSuite(writePack(t, 3, minimal), evaltests.Env{Tier: "smoke"})
	require.NoError(t, err)
	if change != nil {
		change(s)
	}
	folder, err := record.NewFolder(t.TempDir(), ".", "test", nil)
	require.NoError(t, err)
	run, err := evaltests.Evaluate(t.Context(), s.In(folder), subject)
	require.NoError(t, err)
	return run
}

func found(docs ...string) (record.Observation, error) {
	var o record.Observation
	for i, d := range docs {
		o.Ranking = append(o.Ranking, record.Entry{Doc: d, Score: -float64(i)})
	}
	return o, nil
}

// TestSubjectSeesNoGold: what a subject receives has no field that could
// carry gold, and no id that encodes the class of the case.
func TestSubjectSeesNoGold(t *testing.T) {
	var fields []string
	typ := reflect.TypeFor[pack.Question]()
	for i := range typ.NumField() {
		fields = append(fields, typ.Field(i).Name)
	}
	assert.Equal(t, []string{"ID", "Text", "AsOf", "Filters"}, fields, "a new field must be shown to carry no gold")

	var seen []pack.Question
	run := evaluate(t, answer(func(_ context.Context, q pack.Question) (record.Observation, error) {
		seen = append(seen, q)
		return found("d0")
	}), nil)
	require.Len(t, seen, 3)
	for i, q := range seen {
		text, err := json.Marshal(q)
		require.NoError(t, err)
		assert.NotContains(t, string(text), run.Rows[i].Case)
		for id := range run.Rows[i].Gold {
			assert.NotContains(t, strings.ReplaceAll(string(text), q.ID, ""), `"`+id+`"`)
		}
	}
	assert.NotEqual(t, seen[0].ID, seen[1].ID)
}

func TestOutcomes(t *testing.T) {
	for _, tc := range []struct {
		name    string
		subject answer
		state   record.State
		reason  string
		action  string
	}{
		{"scored", func(context.Context, pack.Question) (record.Observation, error) { return found("d1", "d0") }, record.Scored, "", ""},
		{"nothing found is scored", func(context.Context, pack.Question) (record.Observation, error) { return found() }, record.Scored, "", ""},
		{"failed", func(context.Context, pack.Question) (record.Observation, error) {
			return record.Observation{}, errors.New("disk on fire")
		}, record.Failed, "disk on fire", "mend"},
		{"refused", func(context.Context, pack.Question) (record.Observation, error) {
			return record.Observation{}, record.Refuse("no model", "run make models")
		}, record.Refused, "no model", "run make models"},
		{"refused without a reason", func(context.Context, pack.Question) (record.Observation, error) {
			return record.Observation{}, record.Refuse("", "")
		}, record.Refused, "gave no reason", ""},
		{"skipped", func(context.Context, pack.Question) (record.Observation, error) {
			return record.Observation{}, record.Skip("not mine")
		}, record.Skipped, "not mine", ""},
		{"deadline honoured", func(ctx context.Context, _ pack.Question) (record.Observation, error) {
			<-ctx.Done()
			return record.Observation{}, ctx.Err()
		}, record.TimedOut, "no answer within 100ms", "raise case_timeout"},
		{"deadline of its own", func(context.Context, pack.Question) (record.Observation, error) {
			return record.Observation{}, context.DeadlineExceeded
		}, record.TimedOut, "no answer", ""},
		{"answer just after the deadline", func(ctx context.Context, _ pack.Question) (record.Observation, error) {
			<-ctx.Done()
			return found("d0")
		}, record.TimedOut, "no answer within 100ms", ""},
		{"panic", func(context.Context, pack.Question) (record.Observation, error) { panic("boom") }, record.Failed, "panic: boom", "artifacts"},
		{"goexit", func(context.Context, pack.Question) (record.Observation, error) {
			runtime.Goexit()
			return record.Observation{}, nil
		}, record.Failed, "ended its goroutine", ""},
		{"twice the same id", func(context.Context, pack.Question) (record.Observation, error) { return found("d0", "d0") }, record.Failed, `"d0" is ranked twice, at 1 and 2`, ""},
		{"unknown id", func(context.Context, pack.Question) (record.Observation, error) { return found("d0", "zz") }, record.Failed, `1 ids are not in the corpus, for instance ["zz"]`, ""},
		{"empty id", func(context.Context, pack.Question) (record.Observation, error) { return found("") }, record.Failed, "empty document id at rank 1", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			run := evaluate(t, tc.subject, func(s *evaltests.Suite) {
				if tc.state == record.TimedOut {
					s.CaseTimeout = deadline
				}
			})
			require.NotEmpty(t, run.Rows)
			got := run.Rows[0].Outcome
			assert.Equal(t, tc.state, got.State)
			assert.Contains(t, got.Reason, tc.reason)
			assert.Contains(t, got.Action, tc.action)
			sum := 0
			for _, n := range run.Verdict.Outcomes {
				sum += n
			}
			assert.Equal(t, run.Verdict.Planned, sum, "outcomes sum to the plan")
		})
	}
}

func TestPanicLeavesItsStack(t *testing.T) {
	run := evaluate(t, answer(func(context.Context, pack.Question) (record.Observation, error) { panic("boom") }), nil)
	stacks, err := filepath.Glob(filepath.Join(run.Folder.Dir, "artifacts", "*.stack.txt"))
	require.NoError(t, err)
	require.Len(t, stacks, 3)
	text, err := os.ReadFile(stacks[0])
	require.NoError(t, err)
	assert.Contains(t, string(text), "session_test.go")
}

// TestCancelled: what was not asked is not reached, and the run says so.
func TestCancelled(t *testing.T) {
	s, err := evaltests.LoadSuite(writePack(t, 3, minimal), evaltests.Env{Tier: "smoke"})
	require.NoError(t, err)
	folder, err := record.NewFolder(t.TempDir(), ".", "test", nil)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	run, err := evaltests.Evaluate(ctx, s.In(folder), answer(func(context.Context, pack.Question) (record.Observation, error) {
		cancel()
		return found("d0")
	}))
	require.NoError(t, err)
	assert.Equal(t, gate.CNM, run.Verdict.Verdict)
	assert.Equal(t, 2, run.Verdict.Outcomes[record.NotReached])
}

// TestInterrupted: a call that an interrupt ended is no failure of the subject.
func TestInterrupted(t *testing.T) {
	s, err := evaltests.LoadSuite(writePack(t, 3, minimal), evaltests.Env{Tier: "smoke"})
	require.NoError(t, err)
	folder, err := record.NewFolder(t.TempDir(), ".", "test", nil)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	run, err := evaltests.Evaluate(ctx, s.In(folder), answer(func(ctx context.Context, _ pack.Question) (record.Observation, error) {
		cancel()
		<-ctx.Done()
		return record.Observation{}, ctx.Err()
	}))
	require.NoError(t, err)
	assert.Equal(t, gate.CNM, run.Verdict.Verdict)
	assert.Equal(t, map[record.State]int{record.NotReached: 3}, run.Verdict.Outcomes)
}

func TestNotRunHere(t *testing.T) {
	never := answer(func(context.Context, pack.Question) (record.Observation, error) {
		t.Error("asked although the suite is not run here")
		return found()
	})
	full := strings.Replace(minimal, "smoke", "full", 1)
	s, err := evaltests.LoadSuite(writePack(t, 3, full), evaltests.Env{Tier: "smoke"})
	require.NoError(t, err)
	folder, err := record.NewFolder(t.TempDir(), ".", "test", nil)
	require.NoError(t, err)
	run, err := evaltests.Evaluate(t.Context(), s.In(folder), never)
	require.NoError(t, err)
	assert.Equal(t, gate.NotRun, run.Verdict.Verdict)
	assert.Contains(t, run.Verdict.Reasons[0], "set EVAL_TIER=full")

	f, err := record.Read(run.Path)
	require.NoError(t, err)
	assert.Equal(t, record.Complete, f.State)
	assert.NotEmpty(t, f.Run.NotRun)
}

// TestRunTwice: same input, same output, run folder and times apart.
func TestRunTwice(t *testing.T) {
	subject := answer(func(_ context.Context, q pack.Question) (record.Observation, error) {
		return found("d"+q.Text[len(q.Text)-1:], "d0", "d1", "d2")
	})
	one := func() string {
		run := evaluate(t, answer(func(ctx context.Context, q pack.Question) (record.Observation, error) {
			o, err := subject(ctx, q)
			seen := map[string]bool{}
			var unique []record.Entry
			for _, e := range o.Ranking {
				if !seen[e.Doc] {
					unique = append(unique, e)
				}
				seen[e.Doc] = true
			}
			o.Ranking = unique
			return o, err
		}), nil)
		for i := range run.Rows {
			run.Rows[i].Micros = 0
		}
		text, err := json.Marshal([]any{run.Rows, run.Gates, run.Verdict, run.Line.Hashes})
		require.NoError(t, err)
		return string(text)
	}
	assert.Equal(t, one(), one())
}

// TestRunAsSubtests shows the path that go test users take.
func TestRunAsSubtests(t *testing.T) {
	s, err := evaltests.LoadSuite(writePack(t, 3, minimal+"[[gate]]\nmeasure = \"Success@10\"\nfloor = 0.99\n"), evaltests.Env{Tier: "smoke"})
	require.NoError(t, err)
	folder, err := record.NewFolder(t.TempDir(), ".", "test", nil)
	require.NoError(t, err)
	run := s.In(folder).Run(t, answer(func(context.Context, pack.Question) (record.Observation, error) { return found("d0", "d1", "d2") }))
	run.Require(t)
	assert.Equal(t, gate.PASS, run.Verdict.Verdict)
	assert.Equal(t, "TestRunAsSubtests", run.Line.Test)
	assert.Equal(t, "github.com/touchstone-eval/touchstone/evaltests", run.Line.Package)
}

// TestCaseDigest: a golden is of a question, its gold and the documents of its
// group; a change elsewhere leaves it.
func TestCaseDigest(t *testing.T) {
	digests := func(change func(p *pack.Pack)) []string {
		p := &pack.Pack{Manifest: pack.Manifest{Name: "p", Unit: "document"}}
		for _, group := range []string{"", "a", "b"} {
			p.Documents = append(p.Documents, pack.Document{ID: "d" + group, Text: "text", Group: group})
			p.Cases = append(p.Cases, pack.Case{
				Question: pack.Question{ID: "q" + group, Text: "what"}, Group: group,
				Gold: pack.Gold{Answerable: true, Grades: map[string]int{"d" + group: 1}},
			})
		}
		change(p)
		s, err := evaltests.NewSuite(p, evaltests.Env{Tier: "smoke"})
		require.NoError(t, err)
		folder, err := record.NewFolder(t.TempDir(), ".", "test", nil)
		require.NoError(t, err)
		run, err := evaltests.Evaluate(t.Context(), s.In(folder), answer(func(context.Context, pack.Question) (record.Observation, error) { return found() }))
		require.NoError(t, err)
		var out []string
		for _, r := range run.Rows {
			out = append(out, r.Digest)
		}
		return out
	}
	base := digests(func(*pack.Pack) {})
	for name, tc := range map[string]struct {
		change func(p *pack.Pack)
		moved  [3]bool
	}{
		"nothing":            {func(*pack.Pack) {}, [3]bool{}},
		"a question":         {func(p *pack.Pack) { p.Cases[0].Question.Text = "who" }, [3]bool{true, false, false}},
		"gold":               {func(p *pack.Pack) { p.Cases[1].Gold.Grades["da"] = 2 }, [3]bool{false, true, false}},
		"a group's document": {func(p *pack.Pack) { p.Documents[2].Text = "other" }, [3]bool{false, false, true}},
		"a shared document":  {func(p *pack.Pack) { p.Documents[0].Text = "other" }, [3]bool{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := digests(tc.change)
			for i, moved := range tc.moved {
				assert.Equal(t, moved, base[i] != got[i], "case %d", i)
			}
		})
	}
}
