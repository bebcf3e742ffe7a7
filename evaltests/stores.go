package evaltests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/touchstone-eval/touchstone/evaltests/digest"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/seed"
)

// StoreOpener is a subject that makes its own stores, one for each scope of a
// suite, through [seed.Build]. Its own Search is never called.
type StoreOpener interface {
	Subject
	// OpenStore opens the store that r asks for. An error that is a
	// [seed.RefusedError] refuses the cases of that store, with its action.
	OpenStore(ctx context.Context, r seed.Request) (Store, error)
	// Runner is the kind of runner for a suite that names none.
	Runner() seed.Kind
	// Pool is the largest candidate pool of any arm, 0 for none.
	Pool() int
}

// Store is an open store as a subject.
type Store interface {
	Subject
	Seed() *seed.Seed
	Close() error
}

// ChannelReporter is a subject that says which channels are on. Each must be
// live ([seed.AssertLive]) before a question is asked.
type ChannelReporter interface {
	Channels() []string
}

// Surveyor is a subject that can be held to the contract of a pack although
// it makes its store itself.
type Surveyor interface {
	Survey(ctx context.Context) (seed.Survey, error)
}

// mostOpen is how many cached stores are open at a time; an ephemeral store is
// open as long as its cases last.
const mostOpen = 8

// unit is a store with the cases that are asked of it.
type unit struct {
	name      string // group or case; empty for the whole corpus
	documents []pack.Document
	known     map[string]bool
	store     Store
	refuse    *record.Outcome
}

// stores are the units of a run over a [StoreOpener].
type stores struct {
	mu      sync.Mutex // cases may run side by side
	opener  StoreOpener
	kind    seed.Kind
	scope   seed.Scope
	content string
	units   map[string]*unit
	order   []string
	recent  []string // open ones, the last used last
}

// runnerOf is the kind of runner of a suite with a subject.
func (s *Suite) runnerOf(subject Subject) seed.Kind {
	if s.Runner != "" {
		return s.Runner
	}
	if o, ok := subject.(StoreOpener); ok {
		return o.Runner()
	}
	return seed.Ephemeral
}

// scopeOf is the scope of a suite: that of suite.toml, else the whole corpus.
func (s *Suite) scopeOf() seed.Scope {
	if s.Scope != "" {
		return s.Scope
	}
	return seed.BySuite
}

// unitOf names the store that a case is asked of.
func (s *Suite) unitOf(c pack.Case) string {
	switch s.scopeOf() {
	case seed.ByGroup:
		return c.Group
	case seed.ByCase:
		return c.Question.ID
	}
	return ""
}

// openStores makes the stores of the run. A subject that does not make its own
// can do with one only.
func (x *session) openStores(ctx context.Context, content string) {
	s := x.suite
	kind, scope := s.runnerOf(x.subject), s.scopeOf()
	x.run.Runner, x.run.Scope = string(kind), string(scope)
	opener, ok := x.subject.(StoreOpener)
	switch {
	case !ok && kind == seed.Cached:
		x.refuseAll("runner = \"cached\", and the subject has no ingest fingerprint by which its stores could be found again",
			"say runner = \"ephemeral\" in suite.toml")
		return
	case !ok && scope != seed.BySuite:
		x.refuseAll(fmt.Sprintf("scope = %q, and the subject holds one store only", scope), "say scope = \"suite\" in suite.toml, or let the subject open stores")
		return
	case !ok:
		return
	}
	x.stores = &stores{opener: opener, kind: kind, content: content}
	x.stores.units, x.stores.order = s.units()
	if scope == seed.ByCase && kind == seed.Ephemeral {
		return // each is made when its case comes
	}
	for _, name := range x.stores.order {
		if u := x.stores.units[name]; u.refuse == nil {
			x.openUnit(ctx, u)
		}
	}
}

// units are the stores that the plan needs, by name and in its order.
func (s *Suite) units() (units map[string]*unit, order []string) {
	units = map[string]*unit{}
	for _, c := range s.Cases {
		name := s.unitOf(c)
		if units[name] == nil {
			units[name] = s.newUnit(name, c)
			order = append(order, name)
		}
	}
	return units, order
}

// Requests are the stores that a run of the suite over the subject would ask
// for, whether it was planned or not. An error says why it cannot be measured.
func (s *Suite) Requests(opener StoreOpener) ([]seed.Request, error) {
	switch {
	case s.problem != nil:
		return nil, errors.New(sentence(s.problem.reason, s.problem.action))
	case s.notRun != "":
		return nil, errors.New(s.notRun)
	}
	content, err := s.Pack.Digest()
	if err != nil {
		return nil, err
	}
	units, order := s.units()
	var out []seed.Request
	for _, name := range order {
		u := units[name]
		if u.refuse != nil {
			return nil, errors.New(u.refuse.Reason + "; " + u.refuse.Action)
		}
		out = append(out, s.request(u, opener, s.runnerOf(opener), content))
	}
	return out, nil
}

func (s *Suite) newUnit(name string, c pack.Case) *unit {
	u := &unit{name: name, documents: s.Pack.Documents, known: map[string]bool{}}
	if s.scopeOf() != seed.BySuite {
		group := c.Group
		if s.scopeOf() == seed.ByCase && group == "" {
			group = c.Question.ID
		}
		u.documents = nil
		for _, d := range s.Pack.Documents {
			if d.Group == group && group != "" {
				u.documents = append(u.documents, d)
			}
		}
		if len(u.documents) == 0 {
			u.refuse = &record.Outcome{State: record.Refused, Reason: fmt.Sprintf("scope = %q, and no document is of group %q", s.scopeOf(), group),
				Action: "give documents and cases their group, or say scope = \"suite\""}
		}
	}
	for _, d := range u.documents {
		u.known[d.ID] = true
	}
	return u
}

// openUnit opens the store of a unit, or notes why its cases are refused.
func (x *session) openUnit(ctx context.Context, u *unit) {
	s := x.suite
	r := s.request(u, x.stores.opener, x.stores.kind, x.stores.content)
	var store Store
	err := guard(func() (err error) { store, err = x.stores.opener.OpenStore(ctx, r); return err })
	if err == nil {
		if err = x.assertLive(store, store.Seed().Survey); err != nil {
			err = errors.Join(err, store.Close())
		}
	}
	if err != nil {
		u.refuse = refusedBy(err)
		return
	}
	u.store = store
	x.noteSeed(u, store.Seed())
	x.stores.recent = append(x.stores.recent, u.name)
	// A store that another case is being asked of must stay open.
	if x.stores.kind == seed.Cached && len(x.stores.recent) > mostOpen && s.workers() == 1 {
		x.closeUnit(x.stores.units[x.stores.recent[0]])
	}
}

// request asks for the store of a unit.
func (s *Suite) request(u *unit, opener StoreOpener, kind seed.Kind, content string) seed.Request {
	r := seed.Request{
		Kind: kind, Cache: cmp.Or(s.env.Cache, defaultCache(".")), Pack: s.Pack.Manifest.Name, Digest: content, Unit: s.Pack.Manifest.Unit,
		Group: u.name, Documents: u.documents, Contract: s.Contract, Pool: opener.Pool(), CapPool: s.CapPool,
		Consolidated: s.Consolidated,
		Flags:        seed.Flags{AllowWipe: s.env.AllowWipe, MigrateStale: s.env.MigrateStale, ParallelOK: s.env.ParallelOK},
		Concurrency:  s.env.Concurrency,
	}
	r.ByGroup = u.name == "" && s.byGroup()
	return r
}

// refusedBy makes of an error the outcome of all cases of a store.
func refusedBy(err error) *record.Outcome {
	o := &record.Outcome{State: record.Refused, Reason: err.Error(), Action: "mend the store, or what fills it"}
	var refused *seed.RefusedError
	var dead *seed.DeadError
	switch {
	case errors.As(err, &refused):
		o.Action = refused.Action
		o.Reason = strings.TrimSuffix(strings.TrimSuffix(o.Reason, refused.Action), "; ")
	case errors.As(err, &dead):
		o.Action = seed.Reseed
		o.Reason = strings.TrimSuffix(o.Reason, "; "+seed.Reseed)
	}
	return o
}

// assertLive asserts every channel that the subject has on.
func (x *session) assertLive(subject Subject, v seed.Survey) error {
	r, ok := subject.(ChannelReporter)
	if !ok {
		return nil
	}
	for _, channel := range r.Channels() {
		if err := seed.AssertLive(channel, v); err != nil {
			return err
		}
	}
	return nil
}

// noteSeed records where a store came from, once.
func (x *session) noteSeed(u *unit, s *seed.Seed) {
	if slices.ContainsFunc(x.run.Seeds, func(n record.Seed) bool { return n.Group == u.name }) {
		return
	}
	n := record.Seed{
		Group: u.name, Key: s.Key, Parts: s.Parts, Decision: string(s.Decision.Action), Reason: s.Decision.Reason,
		Documents: len(u.documents), Micros: s.Took.Microseconds(), Report: s.Result.Report, Allowed: s.Result.Allowed,
	}
	if f := s.Mark.Fill; f != nil {
		n.Filled = f.Micros
		n.Concurrency = f.Concurrency
		for _, step := range f.Steps {
			n.Steps = append(n.Steps, record.SeedStep{Name: step.Name, Micros: step.Micros, Concurrency: step.Concurrency})
		}
	}
	for _, k := range s.Mark.Skip {
		n.Skipped = append(n.Skipped, record.SkippedStep{Step: k.Step, Reason: k.Reason, Documents: k.Documents})
	}
	x.run.Seeds = append(x.run.Seeds, n)
}

// storeFor returns the subject that a case is asked of, and which ids it may
// return.
func (x *session) storeFor(ctx context.Context, c pack.Case) (Subject, *record.Outcome) {
	if x.stores == nil {
		return x.subject, nil
	}
	x.stores.mu.Lock()
	defer x.stores.mu.Unlock()
	u := x.stores.units[x.suite.unitOf(c)]
	if u.refuse == nil && u.store == nil {
		x.openUnit(ctx, u)
	}
	if u.refuse != nil {
		return nil, u.refuse
	}
	if at := slices.Index(x.stores.recent, u.name); at >= 0 {
		x.stores.recent = append(slices.Delete(x.stores.recent, at, at+1), u.name)
	}
	return u.store, nil
}

// knows tells which documents may be ranked for a case.
func (x *session) knows(c pack.Case) func(id string) bool {
	if x.stores == nil {
		return func(id string) bool { return x.known[id] }
	}
	u := x.stores.units[x.suite.unitOf(c)]
	return func(id string) bool { return u.known[id] }
}

func (x *session) closeUnit(u *unit) {
	if u == nil || u.store == nil {
		return
	}
	if err := u.store.Close(); err != nil {
		x.broken = append(x.broken, fmt.Sprintf("the store %q could not be closed: %v", u.name, err))
	}
	u.store = nil
	x.stores.recent = slices.DeleteFunc(x.stores.recent, func(name string) bool { return name == u.name })
}

// closeStores closes what is open.
func (x *session) closeStores() {
	if x.stores == nil {
		return
	}
	for _, name := range x.stores.order {
		x.closeUnit(x.stores.units[name])
	}
}

// refusal is why a case is not asked, or nil.
func (x *session) refusal(ctx context.Context, c pack.Case) *record.Outcome {
	x.mu.Lock()
	all := x.refuse
	x.mu.Unlock()
	if all != nil {
		return all
	}
	_, refuse := x.storeFor(ctx, c)
	return refuse
}

// seedKey is the content address of what is searched: of one store its own, of
// several the digest over them by group; else what the subject says.
func (x *session) seedKey(print Fingerprint) (string, error) {
	keys := map[string]any{}
	for _, s := range x.run.Seeds {
		keys[s.Group] = s.Key
	}
	switch {
	case len(keys) == 0:
		return print.SeedKey, nil
	case len(keys) == 1 && x.run.Seeds[0].Group == "":
		x.run.Hashes.Store = print.SeedKey
		return x.run.Seeds[0].Key, nil
	}
	x.run.Hashes.Store = print.SeedKey
	return seedsKey(keys)
}

// seedsKey is the digest over the keys of several stores, by group.
func seedsKey(keys map[string]any) (string, error) { return digest.Pairs("touchstone/seeds/1", keys) }

// setStore takes the keys of suite.toml about stores.
func (s *Suite) setStore(f suiteFile) error {
	s.Runner, s.Scope, s.CapPool, s.Consolidated = seed.Kind(f.Runner), seed.Scope(f.Scope), f.CapPool, f.Consolidated
	if !slices.Contains([]seed.Kind{"", seed.Ephemeral, seed.Cached}, s.Runner) {
		return fmt.Errorf("runner = %q; want %s or %s", f.Runner, seed.Ephemeral, seed.Cached)
	}
	if s.Scope != "" && !slices.Contains(seed.Scopes(), s.Scope) {
		return fmt.Errorf("scope = %q; want %s, %s or %s", f.Scope, seed.BySuite, seed.ByGroup, seed.ByCase)
	}
	return nil
}

// readContract reads the contract of the pack, if it has one.
func (s *Suite) readContract() error {
	if s.Pack.Dir == "" {
		return nil // made in Go
	}
	c, found, err := seed.ReadContract(s.Pack.Dir)
	if err != nil || !found {
		return err
	}
	s.Contract = &c
	return nil
}
