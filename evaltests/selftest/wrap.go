package selftest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/seed"
)

// wrapped is a subject whose answers are changed on their way out. It has the
// optional capabilities of the subject inside.
type wrapped struct {
	change
	inner evaltests.Subject
	calls atomic.Int64
}

// change is what a mutation does; nil fields do nothing.
type change struct {
	before     func(ctx context.Context, call int) error
	after      func(call int, o record.Observation) record.Observation
	substrates func([]evaltests.Substrate) []evaltests.Substrate
	corpus     func([]pack.Document) []pack.Document
	survey     func(*seed.Survey)
	channels   []string // that are on, instead of the subject's
	pool       int      // instead of the subject's
}

func (w *wrapped) Search(ctx context.Context, q pack.Question) (record.Observation, error) {
	call := int(w.calls.Add(1))
	if w.before != nil {
		if err := w.before(ctx, call); err != nil {
			return record.Observation{}, err
		}
	}
	o, err := w.inner.Search(ctx, q)
	if err == nil && w.after != nil {
		o = w.after(call, o)
	}
	return o, err
}

func (w *wrapped) Ingest(ctx context.Context, corpus []pack.Document) error {
	in, ok := w.inner.(evaltests.Ingester)
	if !ok {
		return nil
	}
	if w.corpus != nil {
		corpus = w.corpus(corpus)
	}
	return in.Ingest(ctx, corpus)
}

func (w *wrapped) Fingerprint(ctx context.Context) (evaltests.Fingerprint, error) {
	if f, ok := w.inner.(evaltests.Fingerprinter); ok {
		return f.Fingerprint(ctx)
	}
	return evaltests.Fingerprint{}, nil
}

func (w *wrapped) Substrates(ctx context.Context) ([]evaltests.Substrate, error) {
	var list []evaltests.Substrate
	if r, ok := w.inner.(evaltests.SubstrateReporter); ok {
		var err error
		if list, err = r.Substrates(ctx); err != nil {
			return nil, err
		}
	}
	if w.substrates != nil {
		list = w.substrates(list)
	}
	return list, nil
}

// wrap makes a mutation of the trial's subject.
func wrap(c change) func(*Trial) error {
	return func(t *Trial) error {
		w := &wrapped{change: c, inner: t.Subject}
		if t.Subject = w; c.survey == nil && c.pool == 0 {
			if _, ok := w.inner.(surveyed); !ok {
				return nil
			}
		}
		t.Subject = &wrappedSurvey{w}
		return nil
	}
}

// wrappedSurvey is a subject that can be surveyed, as the one inside.
type wrappedSurvey struct{ *wrapped }

// Survey is that of the subject inside, changed on its way out.
func (w *wrappedSurvey) Survey(ctx context.Context) (seed.Survey, error) {
	inner, ok := w.inner.(evaltests.Surveyor)
	if !ok {
		return seed.Survey{}, errors.New("selftest: the subject cannot be surveyed")
	}
	v, err := inner.Survey(ctx)
	if err == nil && w.survey != nil {
		v.Counts = slices.Clone(v.Counts)
		w.survey(&v)
	}
	return v, err
}

// Channels are those of the subject inside.
func (w *wrappedSurvey) Channels() []string {
	if w.channels != nil {
		return w.channels
	}
	if inner, ok := w.inner.(evaltests.ChannelReporter); ok {
		return inner.Channels()
	}
	return nil
}

// Pool is that of the subject inside.
func (w *wrappedSurvey) Pool() int {
	if inner, ok := w.inner.(interface{ Pool() int }); ok && w.pool == 0 {
		return inner.Pool()
	}
	return w.pool
}

// ranking changes the final ranking only.
func ranking(f func([]record.Entry) []record.Entry) func(*Trial) error {
	return wrap(change{after: func(_ int, o record.Observation) record.Observation {
		o.Ranking = f(slices.Clone(o.Ranking))
		// The final stage is what users see: keep it equal to the ranking.
		o.Stages = slices.DeleteFunc(slices.Clone(o.Stages), func(s record.Stage) bool { return s.Name == record.Final })
		return o
	}})
}

// every fails each n-th call with the error that f makes.
func every(n int, f func(ctx context.Context) error) func(*Trial) error {
	return wrap(change{before: func(ctx context.Context, call int) error {
		if call%n == 0 {
			return f(ctx)
		}
		return nil
	}})
}

// only does f on one call.
func only(at int, f func(ctx context.Context) error) func(*Trial) error {
	return wrap(change{before: func(ctx context.Context, call int) error {
		if call == at {
			return f(ctx)
		}
		return nil
	}})
}

// deadStage empties a stage in every answer.
func deadStage(name string) func(*Trial) error {
	return wrap(change{after: func(_ int, o record.Observation) record.Observation {
		o.Stages = slices.Clone(o.Stages)
		for i := range o.Stages {
			if o.Stages[i].Name == name {
				o.Stages[i].Entries, o.Stages[i].Total = nil, 0
			}
		}
		return o
	}})
}

func reversed(es []record.Entry) []record.Entry {
	slices.Reverse(es)
	return es
}

func swapped(i, j int) func([]record.Entry) []record.Entry {
	return func(es []record.Entry) []record.Entry {
		if len(es) > max(i, j) {
			es[i], es[j] = es[j], es[i]
		}
		return es
	}
}

func dropFirst(es []record.Entry) []record.Entry { return es[min(1, len(es)):] }

func firstTwice(es []record.Entry) []record.Entry {
	return append(es, es[:min(1, len(es))]...)
}

func truncated(n int) func([]record.Entry) []record.Entry {
	return func(es []record.Entry) []record.Entry { return es[:min(n, len(es))] }
}

func foreign(es []record.Entry) []record.Entry {
	for i := range es {
		es[i].Doc = "other:" + es[i].Doc
	}
	return es
}

func scored(f func(i int, s float64) float64) func([]record.Entry) []record.Entry {
	return func(es []record.Entry) []record.Entry {
		for i := range es {
			es[i].Score = f(i, es[i].Score)
		}
		return es
	}
}

func nextUp(_ int, s float64) float64 { return math.Nextafter(s, math.Inf(1)) }

var errInjected = errors.New("injected error")

// hang waits for the deadline, as a subject that honours its context does.
func hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// stuck never returns in time, whatever the context says.
func stuck(release <-chan struct{}) func(context.Context) error {
	return func(context.Context) error {
		<-release
		return errInjected
	}
}

func empty([]pack.Document) []pack.Document { return nil }

func uncounted(list []evaltests.Substrate) []evaltests.Substrate {
	for i := range list {
		list[i].Err = fmt.Errorf("no such table: %s", list[i].Name)
	}
	return list
}

func miscounted(list []evaltests.Substrate) []evaltests.Substrate {
	for i := range list {
		list[i].Counted++
	}
	return list
}
