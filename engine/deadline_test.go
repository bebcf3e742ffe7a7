package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/rerank"
)

// late is a judge that its deadline always overtakes.
type late struct{}

func (late) Name() string { return "late" }
func (late) Judge(context.Context, string, []rerank.Passage) ([]float64, error) {
	return nil, context.DeadlineExceeded
}

// TestJudgeOutOfTime: the order handed to the judge is the answer, and the
// stage says why.
func TestJudgeOutOfTime(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, engine.Config{})
	ingest(t, e, corpus(30)...)
	q := engine.Query{Text: "wordaa fox", K: 10}
	want := search(t, e, q)
	shut(t, e)

	e = open(t, dir, engine.Config{Judge: late{}})
	got := search(t, e, q)
	if diff := cmp.Diff(want.Hits, got.Hits); diff != "" || len(got.Hits) == 0 {
		t.Errorf("hits without a judge and with a late one (-without +late):\n%s", diff)
	}
	stage, _ := got.Stage(engine.StageRerank)
	if stage.State != engine.Skipped || !strings.Contains(stage.Reason, "rerank by late: out of time") {
		t.Errorf("stage %s, %q", stage.State, stage.Reason)
	}
}
