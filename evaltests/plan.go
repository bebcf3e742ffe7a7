package evaltests

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

// call is one question to be asked: a case, for the repeat-th time.
type call struct {
	pack.Case
	repeat int
}

// calls lists the plan once a repeat: a second round, not a second question in
// a row, which a cache of the subject would answer.
func (s *Suite) calls() []call {
	var out []call
	for repeat := range max(1, s.env.Repeat) {
		for _, c := range s.Cases {
			out = append(out, call{c, repeat})
		}
	}
	return out
}

// planned are the ids of the cases that this process runs, and, of a shard,
// those of the whole plan.
func (s *Suite) planned() (plan, whole []string) {
	plan = []string{}
	for _, c := range s.Cases {
		plan = append(plan, c.Question.ID)
	}
	return plan, s.whole
}

// workers is how many cases are asked at a time.
func (s *Suite) workers() int {
	if s.env.Concurrency > 0 {
		return s.env.Concurrency
	}
	return max(1, s.Workers)
}

// each runs f over the calls, up to n of them at a time and started in their
// order, until one returns an error or ctx is done.
func each(ctx context.Context, n int, calls []call, f func(context.Context, call) error) error {
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(n)
	for _, c := range calls {
		if inner.Err() != nil {
			break // the rest is not reached, and the verdict says so
		}
		group.Go(func() error {
			if inner.Err() != nil {
				return nil
			}
			return f(inner, c)
		})
	}
	return group.Wait()
}

// name is the end of the name of the call's Go test. What a filter selects of
// a case it selects of its repeats.
func (c call) name() string {
	name := "case=" + c.Question.ID
	if c.repeat > 0 {
		name += fmt.Sprintf("/repeat=%d", c.repeat)
	}
	return name
}

// sideBySide calls f for every call in n goroutines, and returns when all are
// done.
func sideBySide(n int, calls []call, f func(call)) {
	next := make(chan call)
	var workers sync.WaitGroup
	for range n {
		workers.Go(func() {
			for c := range next {
				f(c)
			}
		})
	}
	for _, c := range calls {
		next <- c
	}
	close(next)
	workers.Wait()
}
