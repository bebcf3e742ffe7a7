package selftest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// runs are the mutants of how a run is made: waivers, plausibility, latency,
// repeats, shards, interruption.
func runs() []Mutant {
	const (
		ndcg, drift = "gate nDCG@10", "gate drift"
		paired      = "gate paired nDCG@10"
		latency     = "gate latency p95"
	)
	refuse := func(cases ...int) func(*Trial) error {
		return wrap(change{before: func(_ context.Context, call int) error {
			if slices.Contains(cases, call) {
				return record.Refuse("no model", "run make models")
			}
			return nil
		}})
	}
	return []Mutant{
		{Name: "a case refused, its waiver ended", Verdict: gate.CNM, Red: []string{gate.KeyRefused},
			Says: []string{"its waiver ended 2020-01-01"}, Apply: both(waived("no model", 1, "2020-01-01"), refuse(7))},
		{Name: "more cases refused than are waived", Verdict: gate.CNM, Red: []string{gate.KeyRefused},
			Says: []string{"its waiver covers 1 of 2"}, Apply: both(waived("no model", 1, "9999-12-31"), refuse(7, 9))},
		{Name: "a case refused for a reason that is not waived", Verdict: gate.CNM, Red: []string{gate.KeyRefused},
			Says: []string{"no waiver of the suite is for this reason"}, Apply: both(waived("no network", 9, "9999-12-31"), refuse(7))},

		{Name: "answers from a cache, faster than a search is", Verdict: gate.CNM, Red: []string{gate.KeyTooFast},
			Says: []string{"no search takes less than 5000"}, Apply: both(atLeast(5*time.Millisecond), fromCache)},
		{Name: "benign: no faster than a search is", Verdict: gate.PASS, Apply: both(atLeast(2*time.Millisecond), slowed(3*time.Millisecond, 0))},
		{Name: "a search that is too slow", Verdict: gate.REGRESSED, Red: []string{latency},
			Says: []string{"is above the ceiling 1.0 ms"}, Apply: both(within(1), slowed(3*time.Millisecond, 0))},
		{Name: "benign: a search that is too slow, advisory", Verdict: gate.PASS, Says: []string{"advisory (regressed)"},
			Apply: both(within(1), advisory, slowed(3*time.Millisecond, 0))},
		{Name: "a machine that turns busy", Verdict: gate.CNM, Red: []string{latency},
			Says: []string{"latencies: they drift"}, Apply: both(again(evaltests.Env{Repeat: 2}), within(60_000), steady(0.5), slowed(time.Millisecond, 64))},
		{Name: "latencies of cases that ran side by side", Verdict: gate.CNM, Red: []string{latency},
			Says: []string{"4 cases ran at a time"}, Apply: both(again(evaltests.Env{Concurrency: 4}), within(60_000))},
		{Name: "benign: cases side by side", Verdict: gate.PASS, Apply: again(evaltests.Env{Concurrency: 4})},
		{Name: "a floor inside the interval that was asked for", Verdict: gate.REGRESSED, Red: []string{drift, ndcg},
			Says: []string{"inconclusive: the interval"}, Apply: both(certain, rankOnce(7, dropFirst))},

		{Name: "ranks 1 and 2 swapped when asked again", Verdict: gate.REGRESSED, Red: []string{drift, ndcg, paired},
			Says: []string{"first divergent rank 1"}, Apply: both(again(evaltests.Env{Repeat: 2}), wrap(change{after: func(call int, o record.Observation) record.Observation {
				if call > 40 {
					return reranked(o, swapped(0, 1))
				}
				return o
			}}))},
		{Name: "a case that fails when asked again", Verdict: gate.REGRESSED, Red: []string{"gate count failed", drift, ndcg},
			Says: []string{"injected error"}, Apply: both(again(evaltests.Env{Repeat: 2}), only(47, func(context.Context) error { return errInjected }))},
		{Name: "benign: each case asked twice", Verdict: gate.PASS, Apply: again(evaltests.Env{Repeat: 2})},

		{Name: "a shard missing", Verdict: gate.CNM, Red: []string{KeyMerge}, Says: []string{"missing shards: 2/3"}, Apply: sharded(1, 3)},
		{Name: "a shard twice", Verdict: gate.CNM, Red: []string{KeyMerge}, Says: []string{"shard 2/3 is there twice"}, Apply: sharded(1, 2, 2, 3)},
		{Name: "a shard of another configuration", Verdict: gate.CNM, Red: []string{KeyMerge},
			Says: []string{"differ in config.rrf_k, hashes.treatment"}, Apply: both(configChanges(2), sharded(1, 2, 3))},
		{Name: "a shard whose record was cut", Verdict: gate.CNM, Red: []string{KeyMerge}, Says: []string{"record is truncated"}, Apply: shardCut},
		{Name: "a shard alone", Verdict: gate.CNM, Red: []string{gate.KeyShard},
			Says: []string{"partial by shard: 2/3 is", "touchstone merge"}, Apply: again(evaltests.Env{Shard: evaltests.Shard{I: 2, N: 3}})},
		{Name: "benign: three shards, joined", Verdict: gate.PASS, Apply: sharded(3, 1, 2)},

		{Name: "benign: killed and taken up again", Verdict: gate.PASS, Apply: interrupted},
		{Name: "taken up again under another configuration", Verdict: gate.CNM, Red: []string{KeyResume},
			Says: []string{"the interrupted run differs in config.rrf_k, hashes.treatment"}, Apply: both(configChanges(1), interrupted)},
	}
}

func waived(reason string, most int, until string) func(*Trial) error {
	return func(t *Trial) error {
		t.Suite.Waivers = append(t.Suite.Waivers, record.Waiver{Reason: reason, Max: most, Until: until})
		return nil
	}
}

// again makes the suite anew under another environment.
func again(env evaltests.Env) func(*Trial) error {
	return func(t *Trial) error {
		s, err := remade(t.Suite, env)
		if err == nil {
			t.Suite = s
		}
		return err
	}
}

func remade(old *evaltests.Suite, env evaltests.Env) (*evaltests.Suite, error) {
	env.Tier = "smoke"
	s, err := evaltests.NewSuite(old.Pack, env)
	if err != nil {
		return nil, err
	}
	s.Golden, s.GoldenDir, s.Paired = old.Golden, old.GoldenDir, old.Paired
	s.CaseTimeout, s.RequireStages, s.Gates = old.CaseTimeout, old.RequireStages, slices.Clone(old.Gates)
	s.Waivers, s.Limits, s.Contract = old.Waivers, old.Limits, old.Contract
	return s, nil
}

func atLeast(d time.Duration) func(*Trial) error {
	return func(t *Trial) error {
		t.Suite.Limits.MinMicros = d.Microseconds()
		return nil
	}
}

func steady(share float64) func(*Trial) error {
	return func(t *Trial) error {
		t.Suite.Limits.LatencyDrift = share
		return nil
	}
}

// within adds a blocking latency gate with a ceiling in milliseconds.
func within(ms float64) func(*Trial) error {
	return func(t *Trial) error {
		t.Suite.Gates = append(t.Suite.Gates, gate.Spec{Latency: "p95", Ceiling: &ms, Blocking: true})
		return nil
	}
}

func advisory(t *Trial) error {
	t.Suite.Gates[len(t.Suite.Gates)-1].Blocking = false
	return nil
}

func certain(t *Trial) error {
	t.Suite.Gates = slices.Clone(t.Suite.Gates)
	t.Suite.Gates[0].Certainty = true
	return nil
}

// slowed sleeps before each call, and forty times as long behind the first n,
// if n is not 0.
func slowed(d time.Duration, n int) func(*Trial) error {
	return wrap(change{before: func(_ context.Context, call int) error {
		if n > 0 && call > n {
			time.Sleep(40 * d)
			return nil
		}
		time.Sleep(d)
		return nil
	}})
}

// fromCache answers every question from what it was answered before.
func fromCache(t *Trial) error {
	t.Subject = &cache{toIngest: t.Subject, cases: t.Suite.Cases, answers: map[string]record.Observation{}}
	return nil
}

type cache struct {
	toIngest evaltests.Subject
	cases    []pack.Case
	answers  map[string]record.Observation
}

func (c *cache) Ingest(ctx context.Context, corpus []pack.Document) error {
	if in, ok := c.toIngest.(evaltests.Ingester); ok {
		if err := in.Ingest(ctx, corpus); err != nil {
			return err
		}
	}
	for _, x := range c.cases {
		o, err := c.toIngest.Search(ctx, x.Question)
		if err != nil {
			return err
		}
		c.answers[x.Question.Text] = o
	}
	return nil
}

func (c *cache) Fingerprint(ctx context.Context) (evaltests.Fingerprint, error) {
	return (&wrapped{inner: c.toIngest}).Fingerprint(ctx)
}

func (c *cache) Search(_ context.Context, q pack.Question) (record.Observation, error) {
	return c.answers[q.Text], nil
}

func reranked(o record.Observation, f func([]record.Entry) []record.Entry) record.Observation {
	o.Ranking = f(slices.Clone(o.Ranking))
	o.Stages = slices.DeleteFunc(slices.Clone(o.Stages), func(s record.Stage) bool { return s.Name == record.Final })
	return o
}

func rankOnce(at int, f func([]record.Entry) []record.Entry) func(*Trial) error {
	return wrap(change{after: func(call int, o record.Observation) record.Observation {
		if call == at {
			return reranked(o, f)
		}
		return o
	}})
}

// configChanges makes the subject tell another configuration from its n-th
// fingerprint on, after the first n.
func configChanges(n int) func(*Trial) error {
	return func(t *Trial) error {
		t.Subject = &unsteady{wrapped: wrapped{inner: t.Subject}, after: n}
		return nil
	}
}

type unsteady struct {
	wrapped
	after, asked int
}

func (u *unsteady) Fingerprint(ctx context.Context) (evaltests.Fingerprint, error) {
	print, err := u.wrapped.Fingerprint(ctx)
	if u.asked++; u.asked > u.after {
		print.Config = map[string]record.Set{"rrf_k": {Value: "1"}}
	}
	return print, err
}

// sharded runs the shards and joins those that are listed, of as many as the
// last one's number. Without a suite file a merge has no golden, so the trial
// has none.
func sharded(which ...int) func(*Trial) error {
	return func(t *Trial) error {
		t.Evaluate = func(ctx context.Context, t *Trial) (*evaltests.Run, error) { return merge(ctx, t, which, nil) }
		return nil
	}
}

func shardCut(t *Trial) error {
	t.Evaluate = func(ctx context.Context, t *Trial) (*evaltests.Run, error) {
		return merge(ctx, t, []int{1, 2, 3}, truncate)
	}
	return nil
}

const tree = "0123456789abcdef" // the trial may run outside a checkout

func merge(ctx context.Context, t *Trial, which []int, spoil func(string) error) (*evaltests.Run, error) {
	t.Suite.Golden, t.Suite.Paired = nil, false
	n := slices.Max(which)
	base := filepath.Dir(t.Folder.Dir)
	var dirs []string
	for _, i := range which {
		folder, err := record.NewFolder(filepath.Join(base, "shards"), ".", "selftest", nil)
		if err != nil {
			return nil, err
		}
		folder.Tree = tree
		if err := folder.Write(); err != nil {
			return nil, err
		}
		s, err := remade(t.Suite, evaltests.Env{Shard: evaltests.Shard{I: i, N: n}})
		if err != nil {
			return nil, err
		}
		run, err := evaltests.Evaluate(ctx, s.In(folder), t.Subject)
		if err != nil {
			return nil, err
		}
		if spoil != nil && i == n {
			if err := spoil(run.Path); err != nil {
				return nil, err
			}
		}
		dirs = append(dirs, folder.Dir)
	}
	folder, runs, err := evaltests.Merge(dirs, filepath.Join(base, "merged"), tree, evaltests.Env{})
	if err != nil {
		return nil, &stopError{KeyMerge, err}
	}
	t.Folder = folder
	return runs[0], nil
}

// interrupted runs the trial, cuts its record within the twelfth case, as a
// kill would leave it, and takes the run up again.
func interrupted(t *Trial) error {
	t.Evaluate = func(ctx context.Context, t *Trial) (*evaltests.Run, error) {
		run, err := once(ctx, t)
		if err != nil {
			return nil, err
		}
		data, err := os.ReadFile(run.Path)
		if err != nil {
			return nil, err
		}
		lines := bytes.SplitAfter(data, []byte("\n"))
		cut := bytes.Join(lines[:12], nil)
		cut = append(cut, lines[12][:len(lines[12])/2]...)
		if err := os.WriteFile(run.Path, cut, 0o644); err != nil {
			return nil, err
		}
		t.Folder.Resumed = append(t.Folder.Resumed, time.Unix(0, 0).UTC())
		if err := t.Folder.Write(); err != nil {
			return nil, err
		}
		if t.Suite, err = remade(t.Suite, evaltests.Env{}); err != nil {
			return nil, err
		}
		run, err = once(ctx, t)
		if err != nil {
			return nil, &stopError{KeyResume, err}
		}
		return run, nil
	}
	return nil
}
