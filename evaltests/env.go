package evaltests

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Env is the environment of a run, read in one place. A name that starts with
// EVAL_ and is not known is refused: a misspelt variable would otherwise be a
// setting that silently does nothing.
type Env struct {
	Tier        string         // EVAL_TIER: smoke (default), full, deep
	Limit       int            // EVAL_LIMIT=n: at most n cases of every suite, stratified; 0 is no limit
	Limits      map[string]int // EVAL_LIMIT=suite=n,...: the same for single suites
	Out         string         // EVAL_OUT: folder of run folders, or, with a nonce, the run folder itself
	Packs       string         // EVAL_PACKS: folder of external packs
	Nonce       string         // EVAL_NONCE: set by `touchstone eval`, never by hand
	CaseTimeout time.Duration  // EVAL_CASE_TIMEOUT: overrides the suite's; 0 leaves it
	Bless       string         // EVAL_BLESS: the one suite whose golden this run is to replace; empty or 0 is none
	BlessReason string         // EVAL_BLESS_REASON: why its rankings were meant to move

	Cache        string // EVAL_CACHE: folder of seeds; default .touchstone/cache beside the nearest go.mod
	AllowWipe    bool   // EVAL_ALLOW_WIPE: a seed that cannot be used may be wiped
	MigrateStale bool   // EVAL_MIGRATE_STALE: a stale seed may be brought up to date in a copy
	ParallelOK   bool   // EVAL_PARALLEL_OK: a second process may read a seed that is in use
	Concurrency  int    // EVAL_CONCURRENCY: documents ingested and cases asked at a time; 0 leaves it to the suite
	Baseline     string // EVAL_BASELINE: what the run is held to, "golden" or the folder of a run; empty is nothing
	Shard        Shard  // EVAL_SHARD=i/n: the part of the plan that is run; zero is all of it
	Repeat       int    // EVAL_REPEAT: how often each case is asked; 0 is once
}

// passive are read elsewhere.
var passive = []string{"EVAL_MODELS"}

// ParseEnv reads the EVAL_ names of environ (as os.Environ gives them).
func ParseEnv(environ []string) (Env, error) {
	env := Env{Tier: "smoke"}
	var problems []string
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "EVAL_") {
			continue
		}
		if err := env.set(name, value); err != nil {
			problems = append(problems, err.Error())
		}
	}
	if env.Cache == "" {
		env.Cache = defaultCache(".")
	}
	switch blessing := env.Bless != ""; {
	case blessing && strings.TrimSpace(env.BlessReason) == "":
		problems = append(problems, "EVAL_BLESS is set and EVAL_BLESS_REASON is not; say why the rankings were meant to move")
	case !blessing && env.BlessReason != "":
		problems = append(problems, "EVAL_BLESS_REASON is set and EVAL_BLESS names no suite; unset it")
	}
	if len(problems) > 0 {
		sort.Strings(problems)
		return Env{}, fmt.Errorf("environment: %s", strings.Join(problems, "; "))
	}
	return env, nil
}

// set takes one variable.
func (e *Env) set(name, value string) (err error) {
	switch name {
	case "EVAL_TIER":
		if !gate.ValidTier(value) {
			return fmt.Errorf("EVAL_TIER=%q; want smoke, full or deep", value)
		}
		e.Tier = value
	case "EVAL_LIMIT":
		err = e.setLimit(value)
	case "EVAL_OUT":
		e.Out = value
	case "EVAL_CACHE":
		e.Cache = value
	case "EVAL_PACKS":
		e.Packs = value
	case "EVAL_NONCE":
		e.Nonce = value
	case "EVAL_CASE_TIMEOUT":
		e.CaseTimeout, err = time.ParseDuration(value)
		if err != nil || e.CaseTimeout <= 0 {
			return fmt.Errorf("EVAL_CASE_TIMEOUT=%q; want a duration such as 5s", value)
		}
	case "EVAL_BLESS":
		err = e.setBless(value)
	case "EVAL_BLESS_REASON":
		e.BlessReason = value
	case "EVAL_BASELINE":
		e.Baseline = value
	case "EVAL_ALLOW_WIPE":
		e.AllowWipe, err = parseBool(name, value)
	case "EVAL_MIGRATE_STALE":
		e.MigrateStale, err = parseBool(name, value)
	case "EVAL_PARALLEL_OK":
		e.ParallelOK, err = parseBool(name, value)
	case "EVAL_SHARD":
		e.Shard, err = ParseShard(value)
		if err != nil {
			err = fmt.Errorf("EVAL_SHARD=%w", err)
		}
	case "EVAL_REPEAT":
		e.Repeat, err = parseCount(name, value)
	case "EVAL_CONCURRENCY":
		e.Concurrency, err = parseCount(name, value)
	default:
		if !slices.Contains(passive, name) {
			return fmt.Errorf("%s is not a name this suite knows; correct or unset it", name)
		}
	}
	return err
}

// parseBool reads a switch by its value: X=0 is off, not on.
func parseBool(name, value string) (bool, error) {
	if value == "" {
		return false, nil
	}
	on, err := strconv.ParseBool(value)
	if err != nil {
		return false, fmt.Errorf("%s=%q; want 1 or 0", name, value)
	}
	return on, nil
}

// parseCount reads a number of at least 1; empty and 0 are the default.
func parseCount(name, value string) (int, error) {
	if value == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s=%q; want a number of at least 1", name, value)
	}
	return n, nil
}

// defaultCache is where seeds are kept when EVAL_CACHE does not say.
func defaultCache(dir string) string {
	if root, ok := record.ModuleRoot(dir); ok {
		return filepath.Join(root, ".touchstone", "cache")
	}
	return filepath.Join(os.TempDir(), "touchstone-cache")
}

// setBless takes the name of one suite. A blessing is never a plain yes: one
// suite at a time, by name.
func (e *Env) setBless(value string) error {
	switch no, err := strconv.ParseBool(value); {
	case value == "" || err == nil && !no:
		return nil
	case err == nil || !record.ValidSuite(value):
		return fmt.Errorf("EVAL_BLESS=%q; want the name of one suite, or 0", value)
	}
	e.Bless = value
	return nil
}

func (e *Env) setLimit(value string) error {
	bad := fmt.Errorf("EVAL_LIMIT=%q; want a number of at least 1, or suite=n,...", value)
	if n, err := strconv.Atoi(value); err == nil {
		if n < 1 {
			return bad
		}
		e.Limit = n
		return nil
	}
	e.Limits = map[string]int{}
	for _, part := range strings.Split(value, ",") {
		suite, number, ok := strings.Cut(part, "=")
		n, err := strconv.Atoi(number)
		if _, twice := e.Limits[suite]; !ok || err != nil || n < 1 || twice {
			return bad
		}
		e.Limits[suite] = n
	}
	return nil
}

// limitFor is the most cases a suite may plan, 0 for no limit.
func (e Env) limitFor(suite string) int {
	if n, ok := e.Limits[suite]; ok {
		return n
	}
	return e.Limit
}

// Banner is one line that says what is in force.
func (e Env) Banner() string {
	parts := []string{"tier " + e.Tier}
	if e.Limit > 0 {
		parts = append(parts, fmt.Sprintf("limit %d", e.Limit))
	}
	for _, suite := range sortedKeys(e.Limits) {
		parts = append(parts, fmt.Sprintf("limit %s=%d", suite, e.Limits[suite]))
	}
	if e.CaseTimeout > 0 {
		parts = append(parts, "case timeout "+e.CaseTimeout.String())
	}
	if e.Bless != "" {
		parts = append(parts, "to bless "+e.Bless)
	}
	if e.Baseline != "" {
		parts = append(parts, "baseline "+e.Baseline)
	}
	if !e.Shard.All() {
		parts = append(parts, "shard "+e.Shard.String())
	}
	if e.Repeat > 1 {
		parts = append(parts, fmt.Sprintf("each case %d times", e.Repeat))
	}
	for _, s := range []struct {
		on   bool
		text string
	}{{e.AllowWipe, "seeds may be wiped"}, {e.MigrateStale, "stale seeds may be migrated"}, {e.ParallelOK, "seeds may be shared by processes"}} {
		if s.on {
			parts = append(parts, s.text)
		}
	}
	parts = append(parts, e.levers())
	if e.Packs == "" {
		parts = append(parts, "EVAL_PACKS not set")
	} else {
		parts = append(parts, "packs "+e.Packs)
	}
	return strings.Join(parts, ", ")
}

// levers names what makes a run faster at the price of its latencies.
func (e Env) levers() string {
	if e.Concurrency > 1 {
		return fmt.Sprintf("performance levers: concurrency %d (takes up to %d times the memory of one, and latencies do not count)", e.Concurrency, e.Concurrency)
	}
	return "performance levers: none"
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
