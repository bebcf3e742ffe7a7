package evaltests

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests/digest"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/rank"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// grace is how long a subject may take to notice that its time is up before
// its call is abandoned.
const grace = 250 * time.Millisecond

// maxAbandoned calls may hang; then the rest is refused as subject-stuck,
// since each abandoned call keeps its goroutine and whatever it holds.
const maxAbandoned = 3

// session is one suite invocation: it writes the record as the cases go by.
type session struct {
	suite   *Suite
	subject Subject
	writer  *record.Writer
	run     record.Run
	known   map[string]bool       // document ids of the corpus
	groups  map[string]string     // digest of the documents of a group
	stores  *stores               // of a subject that makes its own; nil for others
	held    bool                  // the contract holds for the store of a subject that made it itself
	kept    map[string]record.Row // rows of an interrupted run, by identity
	earlier *record.Run           // its run line
	ended   *record.File          // the whole record of that run, when it was complete
	started time.Time
	wall    *float64 // seconds, where the time since started is not it

	mu        sync.Mutex // cases may run side by side; guards what follows
	rows      []record.Row
	broken    []string // what makes the whole measurement worthless
	refuse    *record.Outcome
	abandoned int
}

// testName tells the record which Go test it came from.
type testName struct{ name, pkg string }

// begin opens the record, fills the subject and writes the run line.
func (s *Suite) begin(ctx context.Context, subject Subject, test testName) (*session, error) {
	if s.folder == nil {
		folder, err := processFolder(s.env)
		if err != nil {
			return nil, err
		}
		s.folder = folder
	}
	x := &session{suite: s, subject: subject, started: time.Now()}
	x.run = s.runLine(test)
	if err := x.decide(); err != nil {
		return nil, err
	}
	if s.problem != nil {
		x.broken = append(x.broken, sentence(s.problem.reason, s.problem.action))
	}
	var err error
	if x.resumes() {
		if err = x.resume(); err != nil {
			x.close()
			return nil, err
		}
		if x.ended != nil {
			return x, nil
		}
	}
	if s.notRun == "" && s.problem == nil {
		if err := x.prepare(ctx); err != nil {
			return nil, err
		}
	}
	if x.earlier != nil {
		return x, x.sameRun()
	}
	if x.writer == nil {
		if x.writer, err = record.Create(s.folder.Dir, s.Name); err != nil {
			return nil, err
		}
	}
	return x, x.writer.Run(x.run)
}

// runLine is what the suite alone says of a run.
func (s *Suite) runLine(test testName) record.Run {
	run := record.Run{
		Suite: s.Name, Arm: s.Arm, Mode: "default", Tier: s.env.Tier, Shard: s.env.Shard.String(), Nonce: s.folder.Nonce,
		Test: test.name, Package: test.pkg, Plan: []string{}, LeftOut: s.LeftOut, Headline: s.Headline,
		Measures: names(s.Measures), Require: s.RequireStages, Limits: s.Limits, Waivers: s.Waivers, NotRun: s.notRun,
		Timeout: s.CaseTimeout.Milliseconds(), Identity: record.CurrentIdentity(), Context: record.CurrentContext("."),
	}
	if s.env.Repeat > 1 {
		run.Repeats = s.env.Repeat
	}
	if n := s.workers(); n > 1 {
		run.Workers = n
	}
	for _, g := range s.Gates {
		run.Gates = append(run.Gates, g.Name())
		run.Specs = append(run.Specs, record.GateSpec(g))
	}
	if s.Golden != nil {
		run.Gates = append(run.Gates, s.goldenGates()...)
		run.GoldenK = s.Golden.K
	}
	return run
}

// prepare fills the subject and takes its fingerprint.
func (x *session) prepare(ctx context.Context) error {
	s := x.suite
	p := s.Pack
	content, err := p.Digest()
	if err != nil {
		return err
	}
	x.run.Unit = p.Manifest.Unit
	x.run.Pack = record.PackID{
		Name: p.Manifest.Name, Version: p.Manifest.Version, Digest: content,
		Role: p.Manifest.Role, Authored: p.Manifest.Authored, Documents: len(p.Documents),
	}
	if err := x.packFacts(); err != nil {
		return err
	}
	x.run.Plan, x.run.Whole = s.planned()
	questions := x.run.Whole
	if questions == nil {
		questions = x.run.Plan
	}
	x.known = make(map[string]bool, len(p.Documents))
	for _, d := range p.Documents {
		x.known[d.ID] = true
	}
	if in, ok := x.subject.(Ingester); ok {
		if err := guard(func() error { return in.Ingest(ctx, p.Documents) }); err != nil {
			x.refuseAll("ingest failed: "+err.Error(), "make the subject take the corpus")
		}
	}
	x.openStores(ctx, content)
	x.checkSubstrates(ctx)
	x.checkContract(ctx)
	x.noteContract()
	var print Fingerprint
	if f, ok := x.subject.(Fingerprinter); ok {
		err := guard(func() (err error) { print, err = f.Fingerprint(ctx); return err })
		if err != nil {
			x.refuseAll("fingerprint failed: "+err.Error(), "make the subject tell its configuration")
		}
	}
	x.run.Config = print.Config
	if x.run.Hashes.SeedKey, err = x.seedKey(print); err != nil {
		return err
	}
	if x.run.Hashes.Treatment, err = record.TreatmentHash(print.Config); err != nil {
		return err
	}
	x.run.Hashes.Question, err = digest.Pairs("touchstone/question/1", map[string]any{
		"pack": content, "unit": p.Manifest.Unit, "plan": questions, "row_version": record.Version,
		"distractors": len(p.Documents), "runner": x.run.Runner, "scope": x.run.Scope,
	})
	return err
}

// checkSubstrates refuses every case over a store that is empty, or whose
// counts are unknown or disagree.
func (x *session) checkSubstrates(ctx context.Context) {
	r, ok := x.subject.(SubstrateReporter)
	if !ok || x.refuse != nil || x.stores != nil {
		return // stores of a seed were checked when they were opened
	}
	var list []Substrate
	if err := guard(func() (err error) { list, err = r.Substrates(ctx); return err }); err != nil {
		x.refuseAll("substrates are unknown: "+err.Error(), "make the subject count what it searches")
		return
	}
	var wrong []string
	if len(list) == 0 {
		wrong = append(wrong, "substrates are unknown: the subject reports none")
	}
	for _, s := range list {
		switch {
		case s.Err != nil:
			wrong = append(wrong, fmt.Sprintf("substrate %s: count unknown: %v", s.Name, s.Err))
		case s.Name == "":
			wrong = append(wrong, fmt.Sprintf("a substrate without a name: %d entries", s.Counted))
		case s.Counted < 0 || s.Enumerated < 0: // what many stores answer when they cannot count
			wrong = append(wrong, fmt.Sprintf("substrate %s: count unknown: counted %d, enumerated %d", s.Name, s.Counted, s.Enumerated))
		case s.Counted != s.Enumerated:
			wrong = append(wrong, fmt.Sprintf("substrate %s: counted %d, enumerated %d", s.Name, s.Counted, s.Enumerated))
		case s.Counted == 0 && !s.Optional:
			wrong = append(wrong, fmt.Sprintf("substrate %s: 0 entries (needs > 0)", s.Name))
		case s.Name == "documents" && s.Counted != len(x.known):
			wrong = append(wrong, fmt.Sprintf("substrate documents: %d entries, the pack has %d", s.Counted, len(x.known)))
		}
	}
	if len(wrong) > 0 {
		x.refuseAll(strings.Join(wrong, "; "), "ingest again")
	}
}

func (x *session) refuseAll(reason, action string) {
	if x.refuse == nil {
		x.refuse = &record.Outcome{State: record.Refused, Reason: reason, Action: action}
	}
}

// one asks a case for the given time, from 0, and writes its row.
func (x *session) one(ctx context.Context, c pack.Case, repeat int) (record.Row, error) {
	row := record.Row{
		Suite: x.suite.Name, Arm: x.suite.Arm, Mode: "default", Repeat: repeat, Case: c.Question.ID, Question: c.Question.Text,
		Stratum: c.Stratum, Group: c.Group, Tags: c.Tags, Gold: c.Gold.Grades, Answer: c.Gold.Answerable, Excluded: excluded(c),
	}
	if kept, ok := x.kept[row.Identity()]; ok {
		x.keep(kept)
		return kept, nil
	}
	var err error
	if row.Digest, err = x.caseDigest(c); err != nil {
		return row, err
	}
	refuse := x.refusal(ctx, c)
	x.mu.Lock()
	row.Unfit = x.abandoned > 0
	x.mu.Unlock()
	if refuse != nil {
		row.Outcome = *refuse
	} else {
		obs, outcome, took := x.ask(ctx, c)
		row.Micros, row.Outcome = took.Microseconds(), outcome
		if outcome.State == record.Scored {
			x.score(&row, obs, x.knows(c))
		}
		if outcome.State == record.NotReached {
			return row, nil // the run was interrupted; such a case has no row
		}
	}
	if err := x.writer.Row(row); err != nil {
		return row, err
	}
	x.keep(row)
	return row, nil
}

func (x *session) keep(row record.Row) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.rows = append(x.rows, row)
}

// caseDigest pins question, gold, and the documents of its group, if it is
// asked in one: a golden of another digest is of another case.
func (x *session) caseDigest(c pack.Case) (string, error) {
	pins := map[string]any{
		"text": c.Question.Text, "as_of": c.Question.AsOf, "filters": c.Question.Filters,
		"gold": c.Gold, "group": c.Group,
	}
	if c.Group != "" {
		documents, err := x.groupDigest(c.Group)
		if err != nil {
			return "", err
		}
		pins["documents"] = documents
	}
	return digest.Pairs("touchstone/case/1", pins)
}

// groupDigest is over the documents of a group, by id.
func (x *session) groupDigest(group string) (string, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if d, ok := x.groups[group]; ok {
		return d, nil
	}
	documents := map[string]any{}
	for _, d := range x.suite.Pack.Documents {
		if d.Group == group {
			documents[d.ID] = d
		}
	}
	d, err := digest.Pairs("touchstone/group/1", documents)
	if err != nil {
		return "", err
	}
	if x.groups == nil {
		x.groups = map[string]string{}
	}
	x.groups[group] = d
	return d, nil
}

// opaque is the question as the subject sees it: pack ids may encode the
// class of a case ("_abs"), so the subject gets a digest instead.
func (x *session) opaque(c pack.Case) pack.Question {
	q := c.Question
	q.ID = "q-" + digest.Abbrev(digest.Bytes([]byte(x.run.Pack.Name+"\x00"+q.ID)))
	q.Filters = maps.Clone(q.Filters)
	return q
}

// ask calls the subject under the case deadline.
func (x *session) ask(parent context.Context, c pack.Case) (record.Observation, record.Outcome, time.Duration) {
	type reply struct {
		obs   record.Observation
		err   error
		stack []byte
	}
	replies := make(chan reply, 1)
	question := x.opaque(c)
	subject, _ := x.storeFor(parent, c)
	// The clock starts before the deadline is set: a call whose deadline has
	// passed has always taken that long.
	start := time.Now()
	ctx, cancel := context.WithTimeout(parent, x.suite.CaseTimeout)
	defer cancel()
	go func() {
		r := reply{err: errors.New("the subject ended its goroutine without returning")}
		defer func() {
			if p := recover(); p != nil {
				r = reply{err: fmt.Errorf("panic: %v", p), stack: debug.Stack()}
			}
			replies <- r
		}()
		r.obs, r.err = subject.Search(ctx, question)
	}()
	timedOut := record.Outcome{
		State: record.TimedOut, Reason: fmt.Sprintf("no answer within %v", x.suite.CaseTimeout),
		Action: "find out what hangs, or raise case_timeout",
	}
	var r reply
	select {
	case r = <-replies:
	case <-ctx.Done():
		select {
		case r = <-replies:
		case <-time.After(grace):
			if parent.Err() != nil {
				return record.Observation{}, record.Outcome{State: record.NotReached}, time.Since(start)
			}
			x.mu.Lock()
			if x.abandoned++; x.abandoned >= maxAbandoned {
				x.refuseAll(fmt.Sprintf("subject-stuck: %d calls never returned", x.abandoned), "make the subject honour its context")
			}
			x.mu.Unlock()
			timedOut.Reason += "; the call was abandoned"
			return record.Observation{}, timedOut, time.Since(start)
		}
	}
	took := time.Since(start)
	// An answer that comes in the grace is too late all the same: what counts
	// must not depend on who wins a race.
	if took >= x.suite.CaseTimeout && r.stack == nil {
		return record.Observation{}, timedOut, took
	}
	if r.err == nil {
		return r.obs, record.Outcome{State: record.Scored}, took
	}
	if o, ok := record.Declined(r.err); ok {
		if o.Reason == "" {
			o.Reason = "the subject gave no reason"
		}
		return r.obs, o, took
	}
	if parent.Err() != nil && errors.Is(r.err, parent.Err()) {
		return r.obs, record.Outcome{State: record.NotReached}, took
	}
	if errors.Is(r.err, context.DeadlineExceeded) {
		return r.obs, timedOut, took
	}
	o := record.Outcome{State: record.Failed, Reason: r.err.Error(), Action: "mend the subject; explain the case for its stages"}
	if r.stack != nil {
		if path, err := x.artifact(c.Question.ID, "stack", r.stack); err == nil {
			o.Action = "see " + path
		}
	}
	return r.obs, o, took
}

// artifact stores data below the run folder. The name is a digest: case ids
// are hostile text and may hold slashes.
func (x *session) artifact(caseID, kind string, data []byte) (string, error) {
	dir := filepath.Join(x.suite.folder.Dir, "artifacts")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	name := fmt.Sprintf("%s.%s.%s.txt", x.suite.Name, digest.Abbrev(digest.Bytes([]byte(caseID))), kind)
	return filepath.Join("artifacts", name), os.WriteFile(filepath.Join(dir, name), data, 0o644)
}

// score validates an observation and computes the measures of every stage.
func (x *session) score(row *record.Row, obs record.Observation, known func(id string) bool) {
	failed := func(err error) {
		row.Outcome = record.Outcome{State: record.Failed, Reason: err.Error(), Action: "mend what the subject returns"}
	}
	if o, no := obs.RequireCoverage(x.suite.Contract != nil && x.suite.Contract.Coverage.Pages); no {
		row.Outcome = o
		return
	}
	if err := obs.Validate(known); err != nil {
		failed(err)
		return
	}
	// A subject may use its slices again for the next answer.
	row.Ranking, row.Stages = slices.Clone(obs.Ranking), slices.Clone(obs.Stages)
	row.Channels, row.Warnings = slices.Clone(obs.Channels), slices.Clone(obs.Warnings)
	for i := range row.Stages {
		row.Stages[i].Entries = slices.Clone(row.Stages[i].Entries)
	}
	for i := range row.Channels {
		row.Channels[i].Hits = slices.Clone(row.Channels[i].Hits)
	}
	if at := record.RisingScore(obs.Ranking); at > 0 {
		row.Warnings = append(row.Warnings, fmt.Sprintf("score rises at rank %d", at))
	}
	row.Unit = x.run.Unit
	if !row.Ranked() {
		return
	}
	measured, collapsed, err := measure(x.suite.Measures, row.Gold, obs.Ranking)
	if err != nil {
		failed(err)
		return
	}
	if collapsed {
		row.Unit += ", chunks collapsed"
	}
	row.Measures = measured
	if record.Pages(obs.Ranking) {
		if row.Blind, _, err = measure(x.suite.Measures, row.Gold, record.Blind(obs.Ranking)); err != nil {
			failed(err)
			return
		}
	}
	if err := metric.CheckInvariants(measured); err != nil {
		x.mu.Lock()
		x.broken = append(x.broken, fmt.Sprintf("the instrument is wrong: case %s: %v", row.Case, err))
		x.mu.Unlock()
	}
	for i, s := range row.Stages {
		if s.State != record.Executed {
			continue
		}
		if row.Stages[i].Measures, _, err = measure(x.suite.StageMeasures, row.Gold, s.Entries); err != nil {
			failed(fmt.Errorf("stage %s: %w", s.Name, err))
			return
		}
	}
}

// measure computes measures over the documents of entries.
func measure(ms []metric.Measure, gold map[string]int, entries []record.Entry) (map[string]float64, bool, error) {
	ids, _, collapsed := record.Documents(entries)
	r, err := rank.New(ids, nil)
	if err != nil {
		return nil, false, err
	}
	got, err := metric.EvalAll(ms, metric.Grades(gold), r)
	if err != nil {
		return nil, false, err
	}
	out := make(map[string]float64, len(ms))
	for i, m := range ms {
		out[m.String()] = got[i]
	}
	return out, collapsed, nil
}

// finish evaluates gates and drift and completes the record.
func (x *session) finish(partial bool) (*Run, error) {
	x.closeStores()
	s := x.suite
	if x.ended != nil {
		return x.asRecorded(), nil
	}
	record.SortRows(x.run.Plan, x.rows)
	run := &Run{Suite: s, Folder: s.folder, Rows: x.rows, Path: x.writer.Path()}
	if s.notRun == "" && s.problem == nil && !partial && x.run.Shard == "" {
		run.Gates = gate.All(x.run, x.rows)
		if s.Golden != nil {
			if err := x.drift(run); err != nil {
				return nil, err
			}
		}
		x.holdToBaseline(run)
	}
	facts := gate.FactsOf(x.run, x.rows, run.Gates, time.Now().UTC())
	facts.Broken, facts.Partial = x.broken, partial
	if s.notRun != "" {
		run.Verdict = record.Verdict{Verdict: gate.NotRun, Reasons: []string{s.notRun}, Outcomes: map[record.State]int{}}
	} else {
		run.Verdict = gate.Decide(facts)
	}
	if x.blesses() {
		toBless(&run.Verdict)
	}
	for _, g := range run.Gates {
		if err := x.writer.Gate(g); err != nil {
			return nil, err
		}
	}
	if err := x.writer.Verdict(run.Verdict); err != nil {
		return nil, err
	}
	end := record.End{Load: record.Load(), Resume: len(s.folder.Resumed), Wall: time.Since(x.started).Seconds()}
	if x.wall != nil {
		end.Wall = *x.wall
	}
	err := x.writer.End(end)
	run.Line = x.run
	if err == nil && x.blesses() {
		run.Blessing = x.bless(run.Path)
		err = noteBlessing(s.folder.Dir, s.Name, run.Blessing)
	}
	return run, err
}

// guard calls f and turns a panic into an error.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}

func names(ms []metric.Measure) []string {
	out := make([]string, len(ms))
	for i, m := range ms {
		out[i] = m.String()
	}
	return out
}

func sentence(reason, action string) string {
	if action == "" {
		return reason
	}
	return reason + "; run: " + action
}
