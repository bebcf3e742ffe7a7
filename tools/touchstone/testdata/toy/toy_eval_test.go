//go:build eval

package toy

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// counter ranks documents by the words they share with the question.
type counter struct {
	corpus []pack.Document
	asked  atomic.Int64
}

func (c *counter) Ingest(_ context.Context, corpus []pack.Document) error {
	c.corpus = corpus
	return nil
}

func (c *counter) Search(ctx context.Context, q pack.Question) (record.Observation, error) {
	asked := int(c.asked.Add(1))
	toy, at, _ := strings.Cut(os.Getenv("TOY"), ":")
	if at == "" {
		at = "3"
	}
	now := strconv.Itoa(asked) == at
	switch toy {
	case "skip":
		return record.Observation{}, record.Skip("the toy does not feel like it")
	case "refuse":
		return record.Observation{}, record.Refuse("the toy has no batteries", "insert batteries")
	case "fail":
		return record.Observation{}, errors.New("the toy is broken")
	case "kill":
		if now {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			time.Sleep(time.Minute)
		}
	case "crash":
		if now {
			go func() { panic("the toy fell down") }()
			time.Sleep(time.Minute)
		}
	case "hang":
		if now {
			<-ctx.Done()
			return record.Observation{}, ctx.Err()
		}
	}
	words := strings.Fields(strings.ToLower(q.Text))
	var obs record.Observation
	for i, d := range c.corpus {
		score := -float64(i) / 100 // no two scores are equal
		for _, w := range strings.Fields(strings.ToLower(d.Text)) {
			if slices.Contains(words, w) {
				score++
			}
		}
		if score >= 0.5 {
			obs.Ranking = append(obs.Ranking, record.Entry{Doc: d.ID, Score: score})
		}
	}
	slices.SortStableFunc(obs.Ranking, func(a, b record.Entry) int { return cmp.Compare(b.Score, a.Score) })
	if toy == "reverse" || toy == "waver" && asked > 6 {
		slices.Reverse(obs.Ranking)
	}
	return obs, nil
}

// TestMain may drop the result, as too many do.
func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv("TOY") == "swallow" {
		code = 0
	}
	os.Exit(code)
}

func TestToy(t *testing.T) {
	if os.Getenv("TOY") == "never" {
		t.Skip("not today")
	}
	suite := evaltests.Load(t, "pack/suite.toml")
	suite.Run(t, &counter{}).Require(t)
}

func TestBeside(t *testing.T) {
	if toy := os.Getenv("TOY"); toy == "beside" || toy == "swallow" {
		t.Error("a test beside the suite is red")
	}
	if os.Getenv("TOY") == "below" {
		t.Run("below", func(t *testing.T) { t.Error("a subtest beside the suite is red") })
	}
}
