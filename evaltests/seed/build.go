package seed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/touchstone-eval/touchstone/evaltests/digest"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

// Kind is a kind of runner: where the stores of a run come from.
type Kind string

// The kinds of runner.
const (
	Ephemeral Kind = "ephemeral" // a fresh store in a temporary folder, removed at the end
	Cached    Kind = "cached"    // read-only use of a content-addressed seed
)

// Scope is what one store holds.
type Scope string

// The scopes.
const (
	BySuite Scope = "suite" // the whole corpus
	ByGroup Scope = "group" // the documents of one group: a conversation, a tenant
	ByCase  Scope = "case"  // the documents of one case's group, fresh for each case
)

// Scopes lists the scopes.
func Scopes() []Scope { return []Scope{BySuite, ByGroup, ByCase} }

// Request asks for one store.
type Request struct {
	Kind      Kind
	Cache     string // EVAL_CACHE: seeds lie below its folder seeds
	Pack      string // name of the pack
	Digest    string // of the pack's content
	Unit      string // of the pack: document or chunk
	Group     string // or case; empty for the whole corpus
	Documents []pack.Document
	Contract  *Contract // nil: counts must agree, and nothing more is asked
	Pool      int       // largest candidate pool of any arm
	CapPool   bool
	ByGroup   bool // measures are by group: see [Given.ByGroup]

	Consolidated string // see [Given.Consolidated]

	Flags       Flags
	Concurrency int // batches side by side; below 1 is 1
}

// Seed is a store that may be measured. Close it when the store is closed.
type Seed struct {
	Dir      string
	Key      string // empty for an ephemeral store of a subject that cannot tell its parts
	Parts    Parts
	Decision Decision
	Took     time.Duration // of Build
	Mark     Mark          // with the account of the filling, of this run or a former one
	Survey   Survey
	Result   Result

	lock   *flock.Flock
	remove bool
}

// Close lets go of the seed; an ephemeral store is removed.
func (s *Seed) Close() error {
	var errs []error
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	if s.remove {
		errs = append(errs, os.RemoveAll(s.Dir))
	}
	s.lock, s.remove = nil, false
	return errors.Join(errs...)
}

// Build makes or finds the store that r asks for, fit to be measured: marked,
// stamped, its content as stamped, its contract held. It is the only place
// where documents become a store. A store that cannot be used is a
// [*RefusedError], and stays as it is.
func Build(ctx context.Context, e Engine, r Request) (*Seed, error) {
	start := time.Now()
	b := &builder{ctx: ctx, engine: e, Request: r}
	b.Concurrency = max(b.Concurrency, 1)
	s, err := b.build()
	if err != nil {
		return nil, fmt.Errorf("seed %s: %w", b.name(), err)
	}
	s.Took = time.Since(start)
	return s, nil
}

// Look says what [Build] would find and do, and changes nothing: the decision
// is of the store that is there, which is closed again.
func Look(ctx context.Context, e Engine, r Request) (*Seed, error) {
	b := &builder{ctx: ctx, engine: e, Request: r}
	fail := func(err error) (*Seed, error) { return nil, fmt.Errorf("seed %s: %w", b.name(), err) }
	if err := b.address(); err != nil {
		return fail(err)
	}
	dir := Place(b.Cache, b.Pack, b.Group, b.key)
	if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) {
		s := &Seed{Dir: dir, Key: b.key, Parts: b.parts, Decision: Decide(b.parts, Found{}, b.Flags)}
		return s, nil
	}
	lock, err := take(ctx, dir+LockSuffix, false, b.Flags)
	if err != nil {
		return fail(err)
	}
	s, _, err := b.look(dir)
	if err = errors.Join(err, lock.Close()); err != nil {
		return fail(err)
	}
	return s, nil
}

type builder struct {
	Request
	ctx    context.Context
	engine Engine
	parts  Parts
	key    string
}

func (b *builder) name() string {
	if b.Group == "" {
		return b.Pack
	}
	return b.Pack + "/" + b.Group
}

// address finds the key of what is asked for.
func (b *builder) address() error {
	parts, err := b.engine.Parts(b.ctx)
	if err != nil {
		return err
	}
	b.parts = parts.With(Parts{PartFormat: FormatVersion, PartPack: b.Digest, PartGroup: b.Group})
	b.key, err = b.parts.Key()
	return err
}

func (b *builder) build() (*Seed, error) {
	err := b.address()
	switch {
	case b.Kind == Ephemeral:
		return b.ephemeral() // needs no key
	case b.Kind != Cached:
		return nil, fmt.Errorf("runner %q: want %s or %s", b.Kind, Ephemeral, Cached)
	case err != nil:
		return nil, &RefusedError{Reason: "no ingest fingerprint: " + err.Error(), Action: "say runner = \"ephemeral\" in suite.toml"}
	case b.Cache == "":
		return nil, errors.New("no cache folder was given; set EVAL_CACHE")
	}
	return b.cached()
}

func (b *builder) ephemeral() (_ *Seed, err error) {
	dir, err := os.MkdirTemp("", "touchstone-seed-")
	if err != nil {
		return nil, err
	}
	s := &Seed{Dir: dir, Key: b.key, Parts: b.parts, remove: true, Decision: Decision{Action: ToBuild, Reason: "ephemeral"}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	return s, b.fill(s, "ephemeral", nil)
}

// Place is the folder of a seed below a cache, by its pack, group and key.
func Place(cache, packName, group, key string) string {
	unit := "all"
	if group != "" {
		// A group is anybody's text: the digest keeps groups apart, the rest
		// is for people.
		unit = "group-" + plain(group) + "-" + digest.Abbrev(digest.Bytes([]byte(group)))
	}
	return filepath.Join(cache, "seeds", plain(packName), unit, key[:min(16, len(key))])
}

// What stands beside the folder of a seed: a lock, and the folder in which a
// process fills it.
const (
	LockSuffix    = ".lock"
	StagingSuffix = ".new"
)

// plain keeps of a name what no file system minds.
func plain(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, name)
	return name[:min(40, len(name))]
}

// rounds is how often the folder is looked at again after its lock changed
// hands.
const rounds = 4

func (b *builder) cached() (*Seed, error) {
	dir := Place(b.Cache, b.Pack, b.Group, b.key)
	var made *Decision
	for range rounds {
		// Readers share; who finds what is wanted needs no more.
		lock, err := take(b.ctx, dir+LockSuffix, false, b.Flags)
		if err != nil {
			return nil, err
		}
		s, found, err := b.look(dir)
		if err == nil && s.Decision.Action == ToReuse {
			if s.lock = lock; made != nil {
				s.Decision = *made
			}
			return s, nil
		}
		if err := errors.Join(err, lock.Close()); err != nil {
			return nil, err
		}
		if s.Decision.Action == ToRefuse {
			return nil, &RefusedError{Reason: dir + ": " + s.Decision.Reason, Action: s.Decision.Do}
		}
		if made, err = b.make(dir, found); err != nil {
			return nil, err
		}
	}
	return nil, &RefusedError{Reason: dir + ": other processes change it all the time", Action: "let them end first"}
}

// look says what lies in dir and what is to be done about it. What may be
// reused is checked as a fresh store would be.
func (b *builder) look(dir string) (*Seed, Found, error) {
	found, mark, err := b.find(dir)
	if err != nil {
		return nil, found, err
	}
	s := &Seed{Dir: dir, Key: b.key, Parts: b.parts, Mark: mark, Decision: Decide(b.parts, found, b.Flags)}
	switch s.Decision.Action {
	case ToReuse:
		if err := b.check(s); err != nil {
			// A store that cannot be surveyed, as one that lost a file, is no
			// better than one that violates: it may be wiped, if that is allowed.
			if b.ctx.Err() != nil {
				return nil, found, err
			}
			found.Why = err.Error()
			s.Decision = Decide(b.parts, found, b.Flags)
		}
	case ToBuild:
		if from, ok, err := b.stale(dir); err != nil {
			return nil, found, err
		} else if ok {
			s.Decision = Decision{Action: ToMigrate, Reason: "a stale seed can be brought up to date: " + from}
		}
	}
	return s, found, nil
}

// find reads mark, stamp and content digest of a folder.
func (b *builder) find(dir string) (Found, Mark, error) {
	if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) {
		return Found{}, Mark{}, nil
	} else if err != nil {
		return Found{}, Mark{}, err
	}
	f := Found{Exists: true}
	mark, ours, err := ReadMark(dir)
	if err != nil || !ours {
		return f, mark, nil // a mark that cannot be read is none
	}
	f.Ours = true
	text, found, err := b.engine.ReadStamp(b.ctx, dir)
	switch {
	case err != nil:
		f.Why = "its stamp cannot be read: " + err.Error()
		return f, mark, b.ctx.Err()
	case !found:
		return f, mark, nil
	}
	stamp, err := ParseStamp(text)
	if err != nil {
		f.Why = err.Error()
		return f, mark, nil
	}
	f.Stamp = &stamp
	content, err := b.engine.Content(b.ctx, dir)
	switch {
	case err != nil:
		f.Why = "its content cannot be checked: " + err.Error()
		return f, mark, b.ctx.Err()
	case content != stamp.Content:
		f.Why = fmt.Sprintf("its content %.12s is not what was stamped, %.12s: the stamp was forged, or the store was changed", content, stamp.Content)
	default:
		f.Fit = true // what was stamped was complete, and it is what was stamped
	}
	return f, mark, nil
}

// check surveys the store of s and holds it to the contract.
func (b *builder) check(s *Seed) (err error) {
	if s.Survey, err = b.engine.Survey(b.ctx, s.Dir); err != nil {
		return err
	}
	contract := Contract{Embedder: Embedder{Off: true}}
	if b.Contract != nil {
		contract = *b.Contract
	}
	s.Result = contract.Check(s.Survey, b.given())
	return s.Result.Err()
}

func (b *builder) given() Given {
	groups := map[string]bool{}
	for _, d := range b.Documents {
		groups[d.Group] = true
	}
	g := Given{Pack: b.Digest, Documents: len(b.Documents), Unit: b.Unit, CapPool: b.CapPool, Groups: len(groups), ByGroup: b.ByGroup, Name: b.Pack, Consolidated: b.Consolidated}
	if b.Contract != nil { // a pack without a contract makes no promise of its size
		g.Pool = b.Pool
	}
	return g
}
